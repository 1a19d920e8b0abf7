"""Time as a share of the episode."""

import gymnasium
import numpy as np
import pytest
from envs.wrappers.counting import Counting

from orcalign.envs import TimeFraction


def test_gymnasium_accepts_it(check_gymnasium):
    check_gymnasium(TimeFraction(Counting(), 10))


def test_time_runs_from_0_to_1_and_starts_again(still):
    env = TimeFraction(Counting(), 4)
    assert env.reset()[0].tolist() == [0, 0, 0]
    assert [env.step(still)[0][-1] for _ in range(5)] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert env.reset()[0][-1] == 0


def test_the_space_has_the_new_number():
    env = TimeFraction(Counting(), 4)
    assert env.observation_space == gymnasium.spaces.Box(
        np.array([0.0, 0.0, 0.0]), np.array([1000.0, 1000.0, 1.0]), dtype=np.float64
    )


def test_the_type_is_kept():
    env = TimeFraction(gymnasium.make("CartPole-v1"), 4)
    observation, _ = env.reset(seed=0)
    assert observation.dtype == np.float32
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Blackjack-v1"])
def test_observations_that_are_not_flat_are_refused(name):
    with pytest.raises(ValueError, match="flat Box of floats only: flatten them"):
        TimeFraction(gymnasium.make(name), 4)


@pytest.mark.parametrize("steps", [0, 2.5, True])
def test_a_wrong_length_is_refused(steps):
    with pytest.raises(ValueError, match="at least 1"):
        TimeFraction(Counting(), steps)
