"""Confidence and stability: the paper's reward from its parts, kept with the episode and seen once."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.rewards import Evidence, Rollout, Staged, VideoReward
from orcalign.rewards.description import REWARDS, reward_class
from orcalign.rewards.steady import ConfidenceReward, StabilityReward
from orcalign.video import Demo


class Known:
    """A cost model that knows costs and confidence, and counts how often it is asked."""

    own_scale, encoder = None, None
    demo_features = (np.eye(3),)
    asked = 0

    def begin(self, first):
        return lambda frames, progress=None: np.arange(len(frames), dtype=float)[:, None]

    def compare(self, features, first=None):
        self.asked += 1
        return (np.abs(np.asarray(features) - np.arange(3.0)),)

    def beside(self, features):
        return {"confidence": 1 / (1 + np.asarray(features)[:, 0])}

    def between(self, demo):
        return np.abs(np.arange(3.0)[:, None] - np.arange(3.0))


def test_the_papers_sum_is_paid_from_one_look_at_the_episode():
    model, frames = Known(), np.zeros((4, 8, 8, 3), np.uint8)
    video = VideoReward(Demo(frames[:3]), model=model, context=1)
    reward = ConfidenceReward(video) * video + 0.5 * StabilityReward(height=1, upright=1.3, effort=0.016)
    states = np.array([[0, 9.0], [0, 1.3], [0, 1.3], [0, 0.3], [0, 2.3]], np.float32)
    actions = np.array([[0, 0], [1, 1], [0, 0], [0.5, 0]], np.float32)
    evidence = Evidence(4, reward.observe(Rollout(4, frames, states, actions)))
    assert model.asked == 1
    matched = video.score_costs([np.abs(np.arange(4.0)[:, None] - np.arange(3.0))]).reward
    wanted = matched / np.arange(1, 5)
    wanted += 0.5 * (np.exp([0, 0, -1, -1]) - 0.016 * np.array([0, 2, 0, 0.25]))
    assert reward.pay([evidence])[0] == pytest.approx(wanted, abs=1e-6)
    said = reward.follow(evidence)
    assert said["confidence"] == pytest.approx(np.mean(1 / np.arange(1, 5)))
    assert {"progress", "coverage"} <= set(said)


def test_stages_that_differ_in_the_matcher_alone_look_once():
    model, frames = Known(), np.zeros((4, 8, 8, 3), np.uint8)
    first = VideoReward(Demo(frames[:3]), model=model, context=1)
    stages = [
        video * ConfidenceReward(video) + StabilityReward(height=0)
        for video in (first, first.with_matcher("temporal_ot"))
    ]
    staged = Staged(stages, (0, 5), 10)
    rollout = Rollout(4, frames, np.zeros((5, 1), np.float32), np.zeros((4, 1), np.float32))
    evidence = Evidence(4, staged.observe(rollout))
    assert model.asked == 1
    assert set(evidence.arrays) == {"0.cost_0", "0.confidence", "1.height", "1.squares"}
    assert [stage.name for stage in stages] == ["orca", "temporal_ot"]


def test_standing_is_told_from_falling_and_needs_no_picture():
    reward = StabilityReward(height=0)
    assert reward.need.frames == 0
    assert StabilityReward.from_description(reward.describe(), None).describe() == reward.describe()
    assert reward_class("stability") is StabilityReward
    assert "confidence" in REWARDS
    with pytest.raises(ValueError, match="height is -1"):
        StabilityReward(height=-1)


def test_stability_step_by_step_is_that_of_the_episode():
    reward, rng = StabilityReward(height=1), np.random.default_rng(0)
    states, actions = rng.uniform(0, 2, (5, 3)).astype("f4"), rng.uniform(-1, 1, (4, 2)).astype("f4")
    whole = reward.pay([Evidence(4, reward.observe(Rollout(4, states=states, actions=actions)))])[0]
    stream = reward.stream()
    stream.reset(states[0])
    assert [
        stream.push(None, state, action) for state, action in zip(states[1:], actions, strict=True)
    ] == whole.tolist()
    with pytest.raises(ValueError, match="without its state or its action"):
        stream.push(None, states[0])
