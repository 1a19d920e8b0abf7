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
