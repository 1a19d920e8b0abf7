from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from orcalign.encoders import encode_stream, make_encoder


@pytest.fixture
def encoder():
    return make_encoder("pixels", size=4)


def test_same_as_all_at_once(encoder, frames):
    streamed = np.concatenate(list(encode_stream(encoder, (frames[i : i + 2] for i in range(0, 7, 2)))))
    np.testing.assert_array_equal(streamed, encoder(frames))


def test_an_error_while_fetching_is_raised_after_what_came_before(encoder, frames):
    def chunks():
        yield frames
        raise OSError("the camera is gone")

    stream = encode_stream(encoder, chunks())
    assert next(stream).shape[0] == 7
    with pytest.raises(OSError, match="camera"):
        next(stream)


def test_stopping_early_stops_fetching(encoder, frames):
    fetched = []

    def endless():
        while True:
            fetched.append(1)
            yield frames

    stream = encode_stream(encoder, endless(), ahead=2)
    next(stream)
    stream.close()
    count = len(fetched)
    assert count <= 5
    time.sleep(0.05)
    assert len(fetched) == count
    assert not [thread for thread in threading.enumerate() if thread.name == "orcalign-fetch"]


def test_fetching_and_encoding_overlap(frames):
    class Slow:
        def __call__(self, frames, progress=None):
            time.sleep(0.05)
            return np.zeros((len(frames), 1), np.float32)

    def slow_chunks():
        for _ in range(8):
            time.sleep(0.05)
            yield frames

    start = time.perf_counter()
    assert len(list(encode_stream(Slow(), slow_chunks()))) == 8
    assert time.perf_counter() - start < 0.7  # 0.8 one after the other, 0.45 side by side


def test_ahead_is_at_least_one(encoder):
    with pytest.raises(ValueError, match="ahead is 0"):
        encode_stream(encoder, [], ahead=0)
