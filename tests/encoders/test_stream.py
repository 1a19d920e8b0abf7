from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from orcalign.encoders import encode_stream, make_encoder
from orcalign.encoders.backbone import fetch_ahead


@pytest.fixture
def encoder():
    return make_encoder("pixels", size=4)


def test_same_as_all_at_once(encoder, frames):
    streamed = encode_stream(encoder, (frames[i : i + 2] for i in range(0, 7, 2)))
    np.testing.assert_array_equal(streamed, encoder(frames))


@pytest.mark.parametrize("expected", [0, 10, 29, 40])
@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_a_network_takes_chunks_as_they_come(engine, expected):
    network = make_encoder("efficientnet-lite0", size=64, engine=engine)
    frames = np.random.default_rng(0).integers(0, 256, (29, 70, 90, 3), np.uint8)
    seen = []
    chunks = (frames[i : i + 3] for i in range(0, 29, 3))
    streamed = encode_stream(network, chunks, progress=seen.append, expected=expected)
    np.testing.assert_allclose(streamed, network(frames), atol=1e-4)
    assert seen == sorted(seen)
    assert seen[-1] == 29


def test_nothing_gives_no_features(encoder):
    assert encode_stream(encoder, []).shape == (0, 48)


def test_an_error_while_fetching_is_raised(encoder, frames):
    def chunks():
        yield frames
        raise OSError("the camera is gone")

    with pytest.raises(OSError, match="camera"):
        encode_stream(encoder, chunks())
    assert not [thread for thread in threading.enumerate() if thread.name == "orcalign-fetch"]


def test_an_error_while_encoding_stops_fetching(frames):
    class Broken:
        def __call__(self, frames, progress=None):
            raise RuntimeError("out of memory")

    def endless():
        while True:
            yield frames

    with pytest.raises(RuntimeError, match="out of memory"):
        encode_stream(Broken(), endless())
    assert not [thread for thread in threading.enumerate() if thread.name == "orcalign-fetch"]


def test_fetching_is_only_a_little_ahead(frames):
    fetched = []

    def endless():
        while True:
            fetched.append(1)
            yield frames

    stream = fetch_ahead(endless(), ahead=2)
    next(stream)
    time.sleep(0.05)
    stream.close()
    count = len(fetched)
    assert count <= 5
    time.sleep(0.05)
    assert len(fetched) == count


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
    assert len(encode_stream(Slow(), slow_chunks())) == 8 * len(frames)
    assert time.perf_counter() - start < 0.7  # 0.8 one after the other, 0.45 side by side


def test_ahead_is_at_least_one(encoder):
    with pytest.raises(ValueError, match="ahead is 0"):
        encode_stream(encoder, [], ahead=0)
