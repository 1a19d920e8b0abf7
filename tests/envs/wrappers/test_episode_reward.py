"""The video's reward at the end of the episode."""

import numpy as np
import pytest
from envs.wrappers.counting import Counting
from rewards.toys import Ease, Speed

from orcalign.envs import EpisodeReward, make
from orcalign.envs.wrappers.rewards import OtherTaskWarning
from orcalign.matching import MATCHERS
from orcalign.rewards import Evidence, Rollout


def test_gymnasium_accepts_it(check_gymnasium, counted, reward_of):
    check_gymnasium(EpisodeReward(Counting(), reward_of(counted(4), matcher="dtw")))


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("terminates", [True, False])
def test_the_last_step_pays_for_all(matcher, terminates, counted, reward_of, still):
    reward = reward_of(counted(5), context=3, matcher=matcher)
    env = EpisodeReward(Counting(ends=7, terminates=terminates), reward)
    for _ in range(2):
        env.reset()
        steps = [env.step(still) for _ in range(7)]
        expected = reward(counted(7))
        assert [step[1] for step in steps[:-1]] == [0.0] * 6
        assert steps[-1][1] == expected.total
        # The terminal frame, white in column 7, is one of the seven.
        assert steps[-1][4]["episode_rewards"].tolist() == expected.reward.tolist()
        assert all("episode_rewards" not in step[4] for step in steps[:-1])
        evidence = Evidence(7, reward.observe(Rollout(7, counted(7))))
        followed = {name: steps[-1][4][name] for name in ("progress", "coverage", "reached")}
        assert followed == reward.follow(evidence)
        assert all("progress" not in step[4] for step in steps[:-1])


def test_an_episode_that_was_left_is_forgotten(counted, reward_of, still):
    env = EpisodeReward(Counting(ends=4), reward_of(counted(4)))
    env.reset()
    env.step(still)
    env.reset()
    rewards = [env.step(still) for _ in range(4)][-1][4]["episode_rewards"]
    assert rewards.shape == (4,)


def test_the_environments_own_reward_and_success_stay(counted, reward_of, still):
    env = EpisodeReward(Counting(ends=3), reward_of(counted(4)))
    env.reset()
    for k in range(1, 4):
        info = env.step(still)[4]
        assert (info["env_reward"], info["success"], info["other"]) == (1.5, k % 2 == 1, k)


def test_a_renderer_that_reuses_its_array_is_no_trouble(counted, reward_of, still, monkeypatch):
    canvas, draw = np.zeros((16, 16, 3), np.uint8), Counting.render

    def render(self):
        canvas[:] = draw(self)
        return canvas

    reward = reward_of(counted(5))
    expected = reward(counted(5)).reward
    monkeypatch.setattr(Counting, "render", render)
    env = EpisodeReward(Counting(ends=5), reward)
    env.reset()
    steps = [env.step(still) for _ in range(5)]
    assert np.array_equal(steps[-1][4]["episode_rewards"], expected)


def test_what_does_not_fit_is_refused(counted, reward_of):
    with pytest.raises(ValueError, match="draws no pictures"):
        EpisodeReward(Counting(render_mode=None), reward_of(counted(4)))
    with pytest.warns(OtherTaskWarning):
        EpisodeReward(make("nav2d"), reward_of(counted(4), task="push"))
    env = make("push", size=16)
    with pytest.raises(ValueError, match="is rendered 'paper' and the learner 'fast'"):
        EpisodeReward(env, reward_of(counted(4), render="paper"))
    env.close()


def test_a_reward_that_needs_no_frames_pays_in_a_world_without_pictures(still):
    env = EpisodeReward(Counting(ends=3, render_mode=None), Speed(2.0) + Ease())
    for _ in range(2):
        env.reset()
        steps = [env.step(0.5 * (still + 1)) for _ in range(3)]
        assert [step[1] for step in steps] == [0, 0, 3 * 2.5]
        info = steps[-1][4]
        assert info["episode_rewards"].tolist() == [2.5, 2.5, 2.5]
        assert (info["way"], info["ease"], info["env_reward"]) == (3, 0.5, 1.5)
    assert env.unwrapped.drawn == 0
