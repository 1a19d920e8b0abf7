"""A world in the plane in which a hand pushes a block to a goal that may lie anywhere, for `module:function`."""

from typing import ClassVar

import gymnasium
import numpy as np


class Pushing(gymnasium.Env):
    """observation: hand, block, goal, each [2] in units of a decimetre; what the hand touches it takes along."""

    metadata: ClassVar = {"render_modes": ["rgb_array"]}
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (8,), np.float64)
    action_space = gymnasium.spaces.Box(-2.0, 2.0, (2,), np.float32)
    render_mode = "rgb_array"

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.hand = np.zeros(2)
        self.block, self.goal = (self.np_random.uniform(-3, 3, 2) for _ in range(2))
        self.before = self.hand
        return self._seen(), {}

    def step(self, action):
        way = 0.2 * np.asarray(action, np.float64)
        self.before = self.hand
        if np.linalg.norm(self.hand - self.block) < 1:
            self.block = self.block + way
        self.hand = np.clip(self.hand + way, -4, 4)
        success = bool(np.linalg.norm(self.block - self.goal) < 0.5)
        return self._seen(), 0.0, False, False, {"success": success}

    def _seen(self):
        return np.concatenate([self.hand, self.block, self.goal, self.hand - self.before])

    def render(self):
        frame = np.full((48, 48, 3), 40, np.uint8)
        for (x, y), colour in ((self.goal, (250, 40, 40)), (self.block, (40, 250, 40)), (self.hand, (250, 250, 250))):
            row, column = (int(np.clip(20 + 4 * value, 0, 44)) for value in (y, x))
            frame[row : row + 4, column : column + 4] = colour
        return frame


def push():
    return gymnasium.wrappers.TimeLimit(Pushing(), 30)
