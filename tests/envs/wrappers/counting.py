"""A world that can be checked by counting: the picture is as bright as the step number."""

import gymnasium
import numpy as np


class Counting(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, ends=100, terminates=True, render_mode="rgb_array"):
        self.observation_space = gymnasium.spaces.Box(0.0, 1000.0, (2,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.ends, self.terminates, self.render_mode = ends, terminates, render_mode
        self.steps = self.drawn = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(2), {}

    def step(self, action):
        self.steps += 1
        done = self.steps >= self.ends
        info = {"success": self.steps % 2 == 1, "other": self.steps}
        return (
            np.full(2, float(self.steps)),
            1.5,
            done and self.terminates,
            done and not self.terminates,
            info,
        )

    def render(self):
        self.drawn += 1
        frame = np.full((16, 16, 3), 10 * self.steps, np.uint8)
        frame[:, self.steps % 16] = 255
        return frame
