from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewards.clips import clip

from orcalign.rewards import VideoReward

DEMO = clip(np.linspace(0, 1, 15))
PROGRESS = {"matcher": "orca_progress"}


def pixels(demo=DEMO, **more):
    return VideoReward(demo, encoder="pixels", **more)


@settings(max_examples=40, deadline=None)
@given(
    J=st.integers(1, 20),
    T=st.integers(1, 80),
    context=st.integers(1, 6),
    distance=st.sampled_from(["cosine", "euclidean"]),
    temperature=st.floats(1e-3, 10),
    floor=st.floats(0, 0.5),
    demos=st.integers(1, 3),
    method=st.sampled_from([{}, PROGRESS, {**PROGRESS, "weight": 3.0}]),
    seed=st.integers(0, 2**32 - 1),
)
def test_stream_is_the_episode_bit_for_bit(J, T, context, distance, temperature, floor, demos, method, seed):
    rng = np.random.default_rng(seed)
    # Progress is paid once, of the demo that is best in the end: with several there is no stream.
    demos = 1 if method else demos
    films = [rng.integers(0, 256, (J + k, 16, 16, 3), np.uint8) for k in range(demos)]
    reward = pixels(
        films,
        distance=distance,
        context=context,
        direction="past",
        temperature=temperature,
        floor=floor,
        **method,
    )
    features = rng.normal(size=(T, 768)).astype(np.float32)
    result = reward.score_features(features)
    live = reward.stream()
    for t in range(T):
        assert live.push_features(features[t]) == result.reward[t]
        progress = [match.progress[t] for match in result.matches]
        assert live.progress == max(progress)
        assert (live.coverage == result.matches[live.demo].assignment[t]).all()
    assert live._trackers[0].frames_seen == T


def test_frames_reset_and_errors():
    reward = pixels(context=1, temperature=0.05)
    expected = reward(DEMO).reward.tolist()
    live = reward.stream()
    assert live.progress == 0
    assert [live.push(frame) for frame in DEMO[:7]] == expected[:7]
    before = live.progress
    for bad, sentence in (
        (DEMO, "one .H,W,3. at a time"),
        (DEMO[0].astype(float), "uint8"),
        (DEMO[0, :20], "different shape"),
    ):
        with pytest.raises(ValueError, match=sentence):
            live.push(bad)
    with pytest.raises(ValueError, match="finite"):
        live.push_features(np.full(768, np.nan))
    with pytest.raises(ValueError, match="same encoder"):
        live.push_features(np.ones(3))
    with pytest.raises(ValueError, match="one frame's"):
        live.push_features(np.ones((2, 768)))
    assert (live._trackers[0].frames_seen, live.progress) == (7, before)
    assert [live.push(frame) for frame in DEMO[7:]] == expected[7:]
    live.reset()
    assert (live._trackers[0].frames_seen, live.progress) == (0, 0)
    assert [live.push(frame) for frame in DEMO] == expected


def test_reset_forgets_the_context_too():
    reward = pixels(context=4, direction="past")
    live = reward.stream()
    first = [live.push(frame) for frame in DEMO]
    live.reset()
    assert [live.push(frame) for frame in DEMO] == first


def test_two_streams_are_independent():
    reward = pixels(context=1)
    a, b = reward.stream(), reward.stream()
    for frame in DEMO:
        a.push(frame)
    assert b.progress == 0 < a.progress


def test_where_the_learner_is_can_fall_and_does_not_jump():
    reward = pixels(context=1, calibrated=True)
    live = reward.stream()
    there = []
    for t in (*range(15), *range(13, 4, -1)):
        live.push(DEMO[t])
        there.append(live.at)
    assert there == [*range(15), *range(13, 4, -1)]
    # A demo that ends where it began: the first frame is the beginning.
    round_trip = np.concatenate([DEMO, DEMO[-2::-1]])
    live = pixels(round_trip, context=1).stream()
    seen = []
    for frame in round_trip:
        live.push(frame)
        seen.append(live.at)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, len(round_trip) - 1)
    live.reset()
    assert live.at == 0


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, r"context=3 with direction 'future' looks 2 frames ahead.*context=1 or direction='past'"),
        ({"matcher": "dtw", "context": 1}, r"only at the end.*causal ones are orca, orca_log, orca_progress"),
        ({"matcher": "threshold", "context": 1}, r"only 'orca', 'orca_progress' and 'bottleneck' have a stream"),
        ({"demo": [DEMO, DEMO], "context": 1, "pool": "best"}, r"pool='best'.*use pool='max'"),
        (
            {"demo": [DEMO, DEMO], "context": 1, **PROGRESS},
            r"pool='best'.*use pool='max' and the matcher 'orca'",
        ),
    ],
)
def test_what_cannot_stream_says_what_can(more, sentence):
    reward = pixels(**more)
    with pytest.raises(ValueError, match=sentence):
        reward.stream()
