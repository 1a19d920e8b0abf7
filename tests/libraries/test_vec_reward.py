"""One wrapper for all environments of a step: the same bits as one around each."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from envs.wrappers.counting import Counting
from rewards.test_push_each import Counted
from rewards.toys import Speed
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack, VecMonitor

import orcalign
from orcalign.envs import FrameInfo, StackedPixels, StepReward
from orcalign.envs.wrappers.rewards import OtherTaskWarning
from orcalign.libraries import VideoVecReward
from orcalign.rewards import VideoReward

ENDS = (4, 7, 5)


def worlds(wrap, ends=ENDS, kind=DummyVecEnv, **settings):
    return kind([lambda end=end: wrap(Counting(ends=end, **settings)) for end in ends])


def played(venv, steps, dim=1):
    """Rewards [T, n], and infos of each step, with an action that no one repeats."""
    venv.reset()
    rng = np.random.default_rng(0)
    seen = [venv.step(rng.uniform(-1, 1, (venv.num_envs, dim)).astype(np.float32)) for _ in range(steps)]
    return np.array([step[1] for step in seen]), [step[3] for step in seen]


@pytest.mark.parametrize("context", [1, 3])
@pytest.mark.parametrize("terminates", [True, False])
def test_every_episode_is_paid_to_its_last_frame(context, terminates, counted, reward_of):
    """Worlds that end at different times, and go on: the terminal frame is paid, and never the next episode's first."""
    reward = reward_of(counted(6), context=context, direction="past")
    rewards, infos = played(VideoVecReward(worlds(FrameInfo, terminates=terminates), reward), 15)
    for k, end in enumerate(ENDS):
        expected = reward(counted(end)).reward.astype(np.float32)
        assert rewards[:, k].tolist() == np.tile(expected, 5)[:15].tolist()
        ended = [step[k] for t, step in enumerate(infos) if (t + 1) % end == 0]
        assert all(info["TimeLimit.truncated"] is not terminates for info in ended)
        assert {info["terminal_observation"][0] for info in ended} == {end}
        assert all((info["frame"] == counted(end)[-1]).all() for info in ended)


def test_it_is_a_step_reward_around_each(counted, reward_of):
    reward = reward_of(counted(6), context=2, direction="past", matcher="orca_progress")
    together, infos = played(VideoVecReward(worlds(FrameInfo), reward), 12)
    alone, theirs = played(worlds(lambda env: StepReward(env, reward)), 12)
    assert together.tolist() == alone.tolist()
    for step, other in zip(infos, theirs, strict=True):
        for one, two in zip(step, other, strict=True):
            for name in ("progress", "coverage", "env_reward", "success", "other"):
                assert one[name] == two[name]
    assert max(step[1]["progress"] for step in infos) > 0.9


def test_one_call_of_the_encoder_a_step(counted):
    encoder = Counted()
    venv = VideoVecReward(worlds(FrameInfo), VideoReward(counted(4), encoder, context=1))
    encoder.calls.clear()
    played(venv, 6)
    assert encoder.calls == [3] * 6


@pytest.mark.parametrize("wrap", [VecMonitor, lambda venv: VecFrameStack(venv, 2)])
def test_between_other_wrappers(wrap, counted, reward_of):
    reward = reward_of(counted(6))
    plain, _ = played(VideoVecReward(worlds(FrameInfo), reward), 9)
    assert played(VideoVecReward(wrap(worlds(FrameInfo)), reward), 9)[0].tolist() == plain.tolist()
    assert played(wrap(VideoVecReward(worlds(FrameInfo), reward)), 9)[0].tolist() == plain.tolist()


def test_states_are_those_of_the_episode():
    """Of pixels, too, the state is the environment's; after an episode the next begins at its own first state."""
    for wrap in (lambda env: env, lambda env: FrameInfo(StackedPixels(env, size=16))):
        venv = VideoVecReward(worlds(wrap), Speed(2.0))
        rewards, infos = played(venv, 10)
        assert (rewards == 2).all()
        assert [info["way"] for info in [step[0] for step in infos]] == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2]


def test_observations_in_parts(counted, reward_of):
    class Parts(gymnasium.ObservationWrapper):
        observation_space = gymnasium.spaces.Dict({"a": gymnasium.spaces.Box(0, 1000, (2,), np.float64)})

        def observation(self, observation):
            return {"a": observation}

    reward = reward_of(counted(6))
    parts, _ = played(VideoVecReward(worlds(lambda env: FrameInfo(Parts(env))), reward), 9)
    assert parts.tolist() == played(VideoVecReward(worlds(FrameInfo), reward), 9)[0].tolist()


def test_environments_that_hand_over_no_frames_are_refused(counted, reward_of):
    with pytest.raises(ValueError, match=r"wrap each of them in orcalign\.envs\.FrameInfo"):
        VideoVecReward(worlds(lambda env: env), reward_of(counted(4)))
    with pytest.raises(ValueError, match=r"known only at the end.*or use EpisodeReward"):
        VideoVecReward(worlds(FrameInfo), VideoReward(counted(4), "pixels", matcher="dtw"))
    demo = orcalign.Demo(counted(4), task="push")
    with pytest.warns(OtherTaskWarning, match="'push' and the environment is 'nav2d'"):
        VideoVecReward(make_vec_env(lambda: orcalign.make("nav2d"), wrapper_class=FrameInfo), reward_of(demo))


@pytest.mark.slow
def test_environments_in_processes_of_their_own(counted, reward_of):
    reward = reward_of(counted(6), context=3, direction="past")
    here, _ = played(VideoVecReward(worlds(FrameInfo), reward), 12)
    venv = VideoVecReward(worlds(FrameInfo, kind=SubprocVecEnv), reward)
    assert played(venv, 12)[0].tolist() == here.tolist()
    venv.close()


def test_without_stable_baselines3_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None\n"
        "import orcalign, orcalign.libraries\n"
        "try: orcalign.VideoVecReward\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.count("\n") == 1
    assert "pip install 'orcalign[sb3]'" in said
