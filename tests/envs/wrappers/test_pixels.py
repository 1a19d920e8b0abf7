"""Stacked frames as observations."""

import numpy as np
import pytest
from envs.wrappers.counting import Counting

from orcalign.envs import Frames, StackedPixels


def test_gymnasium_accepts_it(check_gymnasium):
    check_gymnasium(StackedPixels(Counting()))


def test_the_newest_frame_is_last(still):
    env = StackedPixels(Counting(), size=16)
    observation, info = env.reset()
    assert (observation.shape, observation.dtype) == ((9, 16, 16), np.uint8)
    assert info["state"].tolist() == [0, 0]
    # Column 8 is background in all of these: its brightness is ten times the step.
    assert observation[:, 0, 8].tolist() == [0] * 9
    for _ in range(4):
        observation, *_, info = env.step(still)
    assert observation[:, 0, 8].tolist() == [20] * 3 + [30] * 3 + [40] * 3
    assert info["state"].tolist() == [4, 4]
    assert info["success"] is False
    assert env.reset()[0][:, 0, 8].tolist() == [0] * 9


def test_rows_and_columns_are_not_exchanged(still):
    env = StackedPixels(Counting(), size=16)
    env.reset()
    observation, *_ = env.step(still)
    assert (observation[6:, :, 1] == 255).all(), "column 1 is white after step 1"


def test_size_and_stack():
    env = StackedPixels(Counting(), size=84, stack=2)
    assert env.reset()[0].shape == env.observation_space.shape == (6, 84, 84)


def test_one_picture_a_step_serves_policy_and_reward(still):
    for env in (StackedPixels(Counting()), StackedPixels(Frames(Counting()))):
        env.reset()
        env.step(still)
        env.render()
        assert env.unwrapped.drawn == 2


@pytest.mark.parametrize("wrong", [{"size": 0}, {"stack": 0}, {"size": 2.0}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        StackedPixels(Counting(), **wrong)


def test_an_environment_without_pictures_is_refused():
    with pytest.raises(ValueError, match="draws no pictures"):
        StackedPixels(Counting(render_mode=None))
