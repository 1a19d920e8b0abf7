"""The video's reward at every step."""

import warnings

import numpy as np
import pytest
from envs.wrappers.counting import Counting
from rewards.toys import Ease, Speed

from orcalign.envs import StackedPixels, StepReward, make
from orcalign.envs.wrappers.rewards import OtherTaskWarning


def test_gymnasium_accepts_it(check_gymnasium, counted, reward_of):
    check_gymnasium(StepReward(Counting(), reward_of(counted(4))))


def test_rewards_are_those_of_the_whole_episode(counted, reward_of, still):
    reward = reward_of(counted(5), temperature=0.3)
    env = StepReward(Counting(ends=8), reward)
    for _ in range(2):  # the second episode starts from nothing
        env.reset()
        steps = [env.step(still) for _ in range(8)]
        assert [step[1] for step in steps] == reward(counted(8)).reward.tolist()
    assert steps[-1][2] is True
    assert max(step[1] for step in steps) > 0.9


def test_the_environments_own_reward_and_success_stay(counted, reward_of, still):
    env = StepReward(Counting(), reward_of(counted(4)))
    env.reset()
    info = env.step(still)[4]
    assert (info["env_reward"], info["success"], info["other"]) == (1.5, True, 1)
    assert 0 <= info["progress"] <= 1


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({"matcher": "dtw"}, "known only at the end of an episode; causal ones are orca"),
        ({"matcher": "temporal_ot"}, "known only at the end"),
        ({"context": 3}, "looks 2 frames ahead.*use context=1 or direction='past'"),
    ],
)
def test_what_looks_ahead_is_refused_with_the_alternative(counted, reward_of, settings, way):
    with pytest.raises(ValueError, match=f"{way}.*or use EpisodeReward"):
        StepReward(Counting(), reward_of(counted(4), **settings))


def test_context_over_the_past_is_accepted(counted, reward_of, still):
    reward = reward_of(counted(4), context=3, direction="past")
    env = StepReward(Counting(ends=6), reward)
    env.reset()
    assert [env.step(still)[1] for _ in range(6)] == reward(counted(6)).reward.tolist()


def test_it_works_on_pixels_without_drawing_twice(counted, reward_of, still):
    env = StepReward(StackedPixels(Counting()), reward_of(counted(4)))
    env.reset()
    env.step(still)
    assert env.unwrapped.drawn == 2


def test_an_environment_without_pictures_is_refused(counted, reward_of):
    with pytest.raises(ValueError, match="draws no pictures"):
        StepReward(Counting(render_mode=None), reward_of(counted(4)))
    with pytest.raises(ValueError, match=r"draws no pictures .*orcalign.envs.make\(task, render='fast'\)"):
        StepReward(make("door-close", render=None), reward_of(counted(4)))


def test_a_demo_of_the_other_render_mode_is_refused(reward_of):
    frames = np.random.default_rng(0).integers(0, 255, (4, 16, 16, 3), np.uint8)
    env = make("door-close", render="fast", size=16)
    with pytest.raises(ValueError, match="is rendered 'paper' and the learner 'fast'"):
        StepReward(env, reward_of(frames, render="paper"))
    StepReward(env, reward_of(frames, render="fast"))
    StepReward(env, reward_of(frames, render="unknown"))
    env.close()


def test_a_demo_of_another_task_warns_unless_told_not_to(counted, reward_of):
    reward = reward_of(counted(4), task="door-open")
    env = make("nav2d")
    with pytest.warns(OtherTaskWarning, match="shows the task 'door-open' and the environment is 'nav2d'"):
        StepReward(env, reward)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StepReward(env, reward, warn_other_task=False)
        StepReward(env, reward_of(counted(4), task="nav2d"))
        StepReward(env, reward_of(counted(4)))


def test_a_reward_that_needs_no_frames_pays_in_a_world_without_pictures(still):
    env = StepReward(Counting(render_mode=None), Speed(2.0))
    for _ in range(2):
        env.reset()
        steps = [env.step(still) for _ in range(3)]
        assert [step[1] for step in steps] == [2, 2, 2]
        assert [step[4]["way"] for step in steps] == [1, 2, 3]
        assert steps[0][4]["env_reward"] == 1.5
    assert env.unwrapped.drawn == 0
    with pytest.raises(ValueError, match=r"known only at the end of an episode.*or use EpisodeReward"):
        StepReward(Counting(render_mode=None), Ease())
