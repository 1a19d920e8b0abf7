"""Videos that nobody would film: whatever they show, a reward is a bounded number or a refusal in a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewards.clips import clip

from orcalign.rewards import VideoReward, check

WEIGHT = 10.0


@st.composite
def videos(draw, longest=9):
    """uint8 [T,16,16,3]: black, white, one colour, one picture repeated, noise, motion, or parts of these."""
    T = draw(st.integers(1, longest))
    kind = draw(st.sampled_from(["black", "white", "grey", "repeated", "noise", "motion", "flash"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    level = {"black": 0, "white": 255}.get(kind, 127)
    frames = np.full((T, 16, 16, 3), level, np.uint8)
    if kind == "repeated":
        frames[:] = rng.integers(0, 256, (16, 16, 3))
    elif kind == "noise":
        frames = rng.integers(0, 256, frames.shape, np.uint8)
    elif kind == "motion":
        frames = clip(np.linspace(0, 1, T), height=16, width=16, block=4)
    elif kind == "flash":
        frames[T // 2] = 255
    return frames


@settings(max_examples=120)
@given(
    demo=videos(),
    learner=videos(),
    context=st.integers(1, 4),
    direction=st.sampled_from(["past", "future"]),
    distance=st.sampled_from(["cosine", "euclidean"]),
    calibrated=st.booleans(),
)
def test_a_bounded_number_or_a_sentence(demo, learner, context, direction, distance, calibrated):
    refusal = ""
    try:
        reward = VideoReward(
            demo,
            "pixels",
            distance,
            context,
            direction,
            "orca_progress",
            calibrated,
            weight=WEIGHT,
        )
    except ValueError as error:
        refusal = str(error)
    if refusal:
        assert calibrated
        assert "calibration needs two frames that can be told apart" in refusal
        assert len(demo) == 1 or np.ptp(demo.astype(int), axis=0).max() == 0
        return
    result = reward(learner)
    assert result.reward.shape == (len(learner),)
    assert np.isfinite(result.reward).all()
    assert result.reward.min() >= 0
    assert result.reward.max() <= WEIGHT + 1 + 1e-9
    assert result.total <= WEIGHT + len(learner) + 1e-9
    assert (reward.relabel(result.raw_costs[0][None])[0] == result.reward).all()
    assert np.isfinite(reward.story(result).final_progress)
    if len(learner) >= 6:
        table = check(result.raw_costs[0], ["orca_progress"], {"orca_progress": reward.matcher_settings[0]})
        assert np.isfinite(table.margin).all()


@pytest.mark.parametrize("J", [1, 2])
def test_one_or_two_demo_frames_are_covered_and_then_held(J):
    film = clip(np.linspace(0, 1, 2))[2 - J :]
    reward = VideoReward(film, "pixels", context=1, matcher="orca_progress", temperature=0.01)
    assert reward(film).reward.tolist() == pytest.approx([11.0] if J == 1 else [10.0, 1.0], abs=1e-6)
    held = reward(film[[-1] * 5])
    assert held.reward[1:] == pytest.approx([held.match.orca_reward[-1]] * 4)


def test_a_learner_shorter_than_the_demo_gets_what_it_has_covered():
    demo = clip(np.linspace(0, 1, 21))
    reward = VideoReward(demo, "pixels", context=1, matcher="orca_progress", temperature=1e-4)
    half = reward(demo[:11])  # 11 of the 20 frames before the last
    assert half.total == pytest.approx(WEIGHT * 11 / 20, abs=1e-3)
    assert reward(demo).total == pytest.approx(WEIGHT + 1, abs=1e-3)


def test_check_knows_who_is_fooled():
    """The rollout arrives and stays; each alteration of it earns less."""
    line = np.linspace(0, 1, 40)
    cost = np.abs(np.concatenate([line, np.ones(20)])[:, None] - line[::2])
    table = check(cost, ["orca_progress"], {"orca_progress": {"temperature": 0.1}}, context=1)
    assert table.fooled_by("orca_progress") == ()
