"""Many streams, one call of the encoder: the same bits as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewards.clips import clip
from rewards.toys import Speed

from orcalign.encoders import make_encoder
from orcalign.rewards import VideoReward, push_each

DEMO = clip(np.linspace(0, 1, 15))


class Counted:
    """An encoder that says how many frames it was given at each call."""

    def __init__(self):
        self._inner = make_encoder("pixels")
        self.name, self.size, self.spatial = self._inner.name, self._inner.size, self._inner.spatial
        self.dim, self.fingerprint, self.calls = self._inner.dim, self._inner.fingerprint, []

    def __call__(self, frames, progress=None):
        self.calls.append(len(frames))
        return self._inner(frames, progress)


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(st.lists(st.booleans(), min_size=4, max_size=4).filter(any), min_size=1, max_size=12),
    context=st.integers(1, 3),
    composed=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_together_is_one_by_one_whoever_comes_when(steps, context, composed, seed):
    """At each step some of four streams push; one of them begins anew now and then."""
    rng = np.random.default_rng(seed)
    video = VideoReward(DEMO, "pixels", context=context, direction="past", temperature=0.1)
    other = VideoReward(DEMO[::-1], "pixels", context=1, temperature=0.2)
    reward = video + 0.5 * other + Speed(2.0) if composed else video
    streams, alone = ([reward.stream() for _ in range(4)] for _ in range(2))
    zero = np.zeros(1, np.float32)
    for one in (*streams, *alone):
        one.reset(zero)
    for wanted in steps:
        there = [k for k, here in enumerate(wanted) if here]
        frames = [rng.integers(0, 256, (48, 64, 3), np.uint8) for _ in there]
        zeros = [zero] * len(there)
        found = push_each([streams[k] for k in there], frames, zeros, zeros)
        assert found == [alone[k].push(frame, zero, zero) for k, frame in zip(there, frames, strict=True)]
        again = rng.integers(4)
        streams[again].reset(zero)
        alone[again].reset(zero)


def test_one_call_for_all_that_share_an_encoder_and_a_size():
    encoder = Counted()
    reward = VideoReward(DEMO, encoder, context=1)
    streams = [reward.stream() for _ in range(5)]
    encoder.calls.clear()
    large = np.zeros((96, 128, 3), np.uint8)
    push_each(streams, [DEMO[0]] * 5)
    assert encoder.calls == [5]
    push_each(streams, [DEMO[0], large, DEMO[1], large, DEMO[2]])
    assert encoder.calls == [5, 3, 2]


def test_a_frame_that_is_refused_changes_no_stream():
    reward = VideoReward(DEMO, "pixels", context=1, temperature=0.05)
    streams = [reward.stream() for _ in range(3)]
    push_each(streams, DEMO[:3])
    before = [one.progress for one in streams]
    for bad, sentence in ((DEMO[0, :20], "different shape"), (DEMO[0] / 255, "uint8"), (DEMO, "one .H,W,3. at a time")):
        with pytest.raises(ValueError, match=sentence):
            push_each(streams, [DEMO[3], DEMO[4], bad])
    assert [one.progress for one in streams] == before
    assert [one._trackers[0].frames_seen for one in streams] == [1] * 3
    with pytest.raises(ValueError, match="3 streams and 2 frames"):
        push_each(streams, DEMO[:2])
