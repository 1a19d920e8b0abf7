"""Rewards are sent to other processes: copies pay the same bits."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest
from rewards.clips import clip
from rewards.toys import ATTEMPT, Ease, Speed, earned, evidence_of

from orcalign.encoders import ENCODERS, WeightsUnavailable, make_encoder
from orcalign.rewards import Moment, Staged, VideoReward

DEMO = clip(np.linspace(0, 1, 6))


def check_copies(reward, elsewhere):
    expected = earned(reward)
    kept = pickle.dumps(reward)
    unpickled = pickle.loads(kept)  # noqa: S301 (made a line before)
    assert earned(unpickled) == expected
    assert earned(copy.deepcopy(reward)) == expected
    assert elsewhere(earned, reward) == expected


@pytest.fixture(scope="module")
def elsewhere():
    """A process that was started afresh and calls what it is sent."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield lambda function, *arguments: pool.apply(function, arguments)


@pytest.mark.parametrize("name", [name for name, one in ENCODERS.items() if "hub" not in str(one.weights)])
def test_videos_with_every_encoder_whose_weights_come_with_a_package(name, elsewhere):
    try:
        encoder = make_encoder(name, size=max(8, ENCODERS[name].size // 64 * 32), threads=1)
    except (WeightsUnavailable, ImportError) as reason:
        pytest.skip(str(reason))
    check_copies(VideoReward(DEMO, encoder, context=2, calibrated=True), elsewhere)


def test_rewards_of_rewards(elsewhere):
    video = VideoReward(
        DEMO,
        make_encoder(size=64, threads=1),
        context=1,
        matcher="orca_progress",
        calibrated=True,
        guide=True,
    )
    dtw = video.with_matcher("dtw")
    check_copies(video + 0.5 * dtw, elsewhere)
    check_copies(video * Ease() + Speed(2.0), elsewhere)
    staged = Staged([dtw, video + 0.5 * Speed(learns=True)], (0, 50), 100, scale=None)
    staged.learn([evidence_of(staged, ATTEMPT)], Moment(60, 1))
    check_copies(staged, elsewhere)
    # A copy's parts share their model as the original's do.
    first, second = copy.deepcopy(video + dtw).parts
    assert first.observer is second.observer


def test_a_reward_from_a_folder(tmp_path, elsewhere):
    from orcalign.rewards.description import load_reward, save_description
    from orcalign.video import Demo

    Demo(DEMO).save(tmp_path / "demo")
    video = VideoReward(DEMO, "pixels", calibrated=True)
    save_description(tmp_path, (video + video.with_matcher("dtw")).describe())
    reward = load_reward(tmp_path)
    check_copies(pickle.loads(pickle.dumps(reward)), elsewhere)  # noqa: S301 (nothing has been made yet)
    assert earned(reward)[1] == earned(video + video.with_matcher("dtw"))[1]
