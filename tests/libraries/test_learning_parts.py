"""Relabelled replay, running scale, and the callback, inside Stable-Baselines3's own loop."""

import json

import gymnasium
import numpy as np
import pytest
from envs.wrappers.counting import Counting
from hypothesis import given, settings
from hypothesis import strategies as st
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import DummyVecEnv

from orcalign.envs import EpisodeReward, FrameInfo
from orcalign.libraries import (
    FollowCallback,
    RelabelDictReplayBuffer,
    RelabelReplayBuffer,
    RunningScale,
    VideoVecReward,
)
from orcalign.rewards import VideoReward
from orcalign.video import read_video

BOX = gymnasium.spaces.Box(-1, 1, (1,))


def small():
    """Settings; the library writes into them."""
    return {"policy_kwargs": {"net_arch": [8]}, "batch_size": 8, "device": "cpu", "seed": 0}


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.lists(st.integers(1, 6), min_size=12, max_size=12), min_size=1, max_size=3),
    size=st.integers(2, 30),
    steps=st.integers(1, 40),
    parts=st.booleans(),
)
def test_every_ended_step_has_its_reward_and_no_other_is_drawn(lengths, size, steps, parts):
    """Steps are named by their observation, and each earns a number that its name says."""
    n = len(lengths)
    space = gymnasium.spaces.Dict({"a": gymnasium.spaces.Box(-1e9, 1e9, (1,))}) if parts else BOX
    kind = RelabelDictReplayBuffer if parts else RelabelReplayBuffer
    buffer = kind(size * n, space, BOX, "cpu", n_envs=n)
    ends = [set(np.cumsum(one)) for one in lengths]
    begun, ended = [0] * n, [[] for _ in range(n)]
    for t in range(steps):
        name = (100 * np.arange(n) + t)[:, None].astype(np.float32)
        seen = {"a": name} if parts else name
        done = np.array([t + 1 in ends[k] for k in range(n)])
        infos = [{} for _ in range(n)]
        for k in np.flatnonzero(done):
            infos[k]["episode_rewards"] = 100 * k + np.arange(begun[k], t + 1) + 0.5
            ended[k] += range(begun[k], t + 1)
            begun[k] = t + 1
        buffer.add(seen, seen, np.zeros((n, 1)), np.zeros(n), done, infos)
    drawable = [t for t in range(max(0, steps - size), steps) if all(t in one for one in ended)]
    if not drawable:
        with pytest.raises(ValueError, match=r"no episode has ended yet.*learning_starts"):
            buffer.sample(8)
        return
    batch = buffer.sample(200)
    names = (batch.observations["a"] if parts else batch.observations).numpy().ravel()
    assert (batch.rewards.numpy().ravel() == names + 0.5).all()
    assert set((names % 100).astype(int)) <= set(drawable)


def test_rewards_that_do_not_fit_the_steps_are_refused():
    buffer, zero = RelabelReplayBuffer(8, BOX, BOX, "cpu"), np.zeros((1, 1))
    with pytest.raises(ValueError, match="3 rewards for an episode of 1 steps"):
        buffer.add(zero, zero, zero, np.zeros(1), np.array([True]), [{"episode_rewards": np.zeros(3)}])


def test_sac_learns_from_the_rewards_of_the_whole_episode(counted):
    reward = VideoReward(counted(4), "pixels", matcher="temporal_ot")
    venv = RunningScale(DummyVecEnv([lambda end=end: EpisodeReward(Counting(end), reward) for end in (5, 8)]))
    model = SAC(
        "MlpPolicy", venv, replay_buffer_class=RelabelReplayBuffer, learning_starts=20, buffer_size=200, **small()
    )
    model.learn(60)
    kept = model.replay_buffer
    for k, end in enumerate((5, 8)):
        expected = reward(counted(end)).reward.astype(np.float32)
        episodes = 30 // end
        assert kept.rewards[: episodes * end, k].tolist() == np.tile(expected, episodes).tolist()
    # What is drawn has the scale of now; what is kept has none.
    drawn = kept.sample(500, env=model.get_vec_normalize_env()).rewards.numpy().ravel()
    known = np.float32(kept.rewards[:24].ravel() * venv.scale)
    assert np.isin(drawn.round(4), known.round(4)).all()


def test_the_scale_follows_the_latest_episodes():
    class Paid(gymnasium.RewardWrapper):
        def reward(self, reward):
            return self.paid

    worlds = [Paid(Counting(2)), Paid(Counting(4))]
    worlds[0].paid, worlds[1].paid = 0.0, -0.5
    venv = RunningScale(DummyVecEnv([lambda one=one: one for one in worlds]), target=10, episodes=2)
    venv.reset()
    still = np.zeros((2, 1), np.float32)
    paid = [venv.step(still)[1].tolist() for _ in range(4)]
    # Nothing is known until an episode has paid anything: the second one, -2 at its end, which is scaled already.
    assert paid == [[0, -0.5]] * 3 + [[0, -2.5]]
    worlds[1].paid = 2.0
    for _ in range(4):
        venv.step(still)
    assert list(venv.sums) == [2, 8]
    assert venv.scale == 2
    assert venv.get_original_reward().tolist() == [0, 2]
    assert venv.unnormalize_reward(venv.normalize_reward(np.ones(1))) == 1
    venv.training = False
    worlds[1].paid = 100.0
    for _ in range(4):
        venv.step(still)
    assert venv.scale == 2


@pytest.mark.parametrize("algorithm", ["sac", "ppo"])
def test_log_and_film(algorithm, counted, reward_of, tmp_path):
    reward = reward_of(counted(6))
    venv = VideoVecReward(DummyVecEnv([lambda end=end: FrameInfo(Counting(end)) for end in (5, 8)]), reward)
    if algorithm == "sac":
        model = SAC("MlpPolicy", venv, learning_starts=20, **small())
    else:
        model = PPO("MlpPolicy", venv, n_steps=40, **small())
    model.set_logger(configure(str(tmp_path / "log"), ["json", "tensorboard"]))
    model.learn(80, callback=FollowCallback(tmp_path / "films", every=20), log_interval=1)
    model.logger.close()
    lines = [json.loads(line) for line in (tmp_path / "log" / "progress.json").read_text().splitlines()]
    logged = [line for line in lines if "follow/progress" in line]
    assert logged
    expected = {"progress", "coverage", "success", "env_return"}
    assert expected == {name.removeprefix("follow/") for name in logged[-1] if name.startswith("follow/")}
    ends = {end: reward.stream() for end in (5, 8)}
    for end, live in ends.items():
        [live.push(frame) for frame in counted(end)]
    low, high = sorted(live.progress for live in ends.values())
    assert low <= logged[-1]["follow/progress"] <= high
    assert 7.5 <= logged[-1]["follow/env_return"] <= 12
    films = sorted((tmp_path / "films").iterdir())
    # Episodes of five steps in two environments end at every tenth of the steps counted.
    assert [film.name for film in films] == [f"{steps:010d}.mp4" for steps in (10, 30, 50, 70)]
    for film in films:
        frames = read_video(film).frames
        assert len(frames) == 5
        assert np.abs(frames.astype(int) - counted(5)).mean() < 12


def test_films_need_frames(counted, tmp_path):
    reward = VideoReward(counted(4), "pixels", matcher="temporal_ot")
    venv = DummyVecEnv([lambda: EpisodeReward(Counting(5), reward)])
    with pytest.raises(ValueError, match=r"no frames to film; wrap the environments in orcalign\.envs\.FrameInfo"):
        SAC("MlpPolicy", venv, **small()).learn(10, callback=FollowCallback(tmp_path))
