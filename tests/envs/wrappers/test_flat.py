"""Dict observations as one row."""

import gymnasium
import numpy as np
import pytest
from envs.wrappers.counting import Counting
from gymnasium.spaces import Box, Dict, Discrete

from orcalign.envs import Flat
from orcalign.envs.wrappers.flat import layout_of

GOALS = {"observation": Box(-1, 1, (4,)), "achieved_goal": Box(-9, 9, (2,)), "desired_goal": Box(-9, 9, (2,))}


class Counted(Counting):
    """Counts in a Dict whose keys come in any order; one is part of another, one a single number."""

    def __init__(self, keys=("z", "a", "m")):
        super().__init__()
        spaces = {
            "z": Box(0, 1000, (2,), np.float32),
            "a": Dict({"y": Box(0, 9, ()), "b/c": Box(0, 9, (1,))}),
            "m": Box(0, 99, (1,), int),
        }
        self.observation_space = Dict([(key, spaces[key]) for key in keys])

    def _seen(self):
        n = self.steps
        seen = {"m": np.array([n]), "z": np.array([n, 2 * n], np.float32)}
        return seen | {"a": {"b/c": np.array([0.5], np.float32), "y": np.float32(n / 2)}}

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        return self._seen(), info

    def step(self, action):
        _, *rest = super().step(action)
        return self._seen(), *rest


@pytest.mark.parametrize("keys", [("z", "a", "m"), ("a", "m", "z"), ("m", "z", "a")])
def test_the_order_is_that_of_the_names(keys, still):
    env = Flat(Counted(keys))
    env.reset(seed=0)
    env.step(still)
    row, *_ = env.step(still)
    assert row.tolist() == [0.5, 1.0, 2.0, 2.0, 4.0]
    assert env.observation_layout == {"a/b/c": slice(0, 1), "a/y": slice(1, 2), "m": slice(2, 3), "z": slice(3, 5)}
    assert row.dtype == np.float64, "whole numbers of 64 bits fit into no smaller float"
    assert env.observation_space.contains(row)
    assert env.observation_space.high.tolist() == [9, 9, 99, 1000, 1000]


def test_it_is_what_gymnasium_flattens():
    """Whose spaces are in alphabetical order if they are made of a dict."""
    keys = ("a", "m", "z")
    ours, theirs = Flat(Counted(keys)), gymnasium.wrappers.FlattenObservation(Counted(keys))
    assert np.array_equal(ours.reset()[0], theirs.reset()[0])


def test_small_floats_stay_small():
    env = gymnasium.wrappers.TransformObservation(Counting(), lambda seen: seen, Dict(GOALS))
    assert Flat(env).observation_space.dtype == np.float32


@pytest.mark.parametrize("part", [Discrete(3), Box(0, 255, (8, 8, 3), np.uint8), Dict({"n": Discrete(2)})])
def test_what_is_no_row_of_numbers_is_refused(part):
    space = Dict({**GOALS, "other": part})
    assert layout_of(space) is None
    env = gymnasium.wrappers.TransformObservation(Counting(), lambda seen: seen, space)
    with pytest.raises(ValueError, match="only a Dict of Boxes of at most one dimension can be flattened"):
        Flat(env)
