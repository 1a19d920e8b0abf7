"""Environments that go wrong, for `module:function`."""

import gymnasium
import numpy as np

from orcalign.envs.nav2d.env import Nav2D


class Faulty(gymnasium.Wrapper):
    """Nav2D that at one step of one episode raises, or observes what is not a number."""

    def __init__(self, fault, after):
        super().__init__(Nav2D(render_mode="rgb_array"))
        self._fault, self._left = fault, after

    def step(self, action):
        observation, *rest = self.env.step(action)
        self._left -= 1
        if self._left == 0 and self._fault == "raises":
            return 1 / 0
        if self._left == 0 and self._fault == "nan":
            observation = observation * np.float32(np.nan)
        return observation, *rest


def raises():
    return gymnasium.wrappers.TimeLimit(Faulty("raises", 200), 30)


def nan():
    return gymnasium.wrappers.TimeLimit(Faulty("nan", 200), 30)


class Mute(gymnasium.Wrapper):
    """Nav2D that says nothing of success."""

    def step(self, action):
        *seen, info = self.env.step(action)
        return *seen, {name: value for name, value in info.items() if name != "success"}


def mute():
    return gymnasium.wrappers.TimeLimit(Mute(Nav2D(render_mode="rgb_array")), 30)


class Draws(gymnasium.Wrapper):
    """Nav2D that draws nothing, black, in sizes that change, from right to left, or in quite other colours; or whose
    observations are not a number from the first step on, or grow."""

    def __init__(self, how):
        super().__init__(Nav2D(render_mode="rgb_array"))
        self._how, self._steps = how, 0

    def step(self, action):
        observation, *rest = self.env.step(action)
        self._steps += 1
        if self._how == "nans":
            observation = observation * np.float32(np.nan)
        if self._how == "grows":
            observation = np.append(observation, np.zeros(self._steps, np.float32))
        return observation, *rest

    def render(self):
        frame = self.env.render()
        return {
            "nothing": None,
            "black": frame * 0,
            "sizes": frame.repeat(1 + self._steps % 2, axis=0),
        }.get(self._how, frame)


def _limited(how):
    return lambda: gymnasium.wrappers.TimeLimit(Draws(how), 30)


nothing, black, sizes, nans, grows, well = map(_limited, ("nothing", "black", "sizes", "nans", "grows", "well"))
