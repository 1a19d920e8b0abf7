"""Actions held for several steps."""

import pytest
from envs.wrappers.counting import Counting

from orcalign.envs import ActionRepeat


def test_gymnasium_accepts_it(check_gymnasium):
    check_gymnasium(ActionRepeat(Counting(), 3))


def test_rewards_are_summed_and_the_last_step_speaks(still):
    env = ActionRepeat(Counting(), 2)
    env.reset()
    observation, reward, terminated, truncated, info = env.step(still)
    assert observation.tolist() == [2, 2]
    assert reward == 3.0
    # Step 1 of the two was successful, step 2 was not.
    assert info == {"success": False, "other": 2, "successes": [True, False]}
    assert not terminated
    assert not truncated


@pytest.mark.parametrize("terminates", [True, False])
def test_it_stops_where_the_episode_ends(terminates, still):
    env = ActionRepeat(Counting(ends=5, terminates=terminates), 3)
    env.reset()
    assert env.step(still)[2:4] == (False, False)
    observation, reward, terminated, truncated, _ = env.step(still)
    assert (terminated, truncated) == (terminates, not terminates)
    assert observation[0] == 5
    assert reward == 3.0, "two steps were left"


def test_nothing_is_drawn_in_between(still):
    env = ActionRepeat(Counting(), 4)
    env.reset()
    env.step(still)
    assert env.unwrapped.drawn == 0


@pytest.mark.parametrize("repeat", [0, -1, 1.5, True])
def test_a_wrong_repeat_is_refused(repeat):
    with pytest.raises(ValueError, match="at least 1"):
        ActionRepeat(Counting(), repeat)
