"""What every encoder promises, checked on the default one, on both engines that run on a CPU."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from orcalign.encoders import Encoder, make_encoder

ENGINES_HERE = ("openvino", "torch")


@pytest.fixture(scope="module", params=["openvino", "torch", "pixels"])
def encoder(request):
    if request.param == "pixels":
        return make_encoder("pixels")
    pytest.importorskip(request.param)
    return make_encoder(size=64, engine=request.param, threads=2, batch=4)


def test_shape_and_type(encoder, frames):
    features = encoder(frames)
    assert isinstance(encoder, Encoder)
    assert features.shape == (7, encoder.dim)
    assert features.dtype == np.float32
    assert np.isfinite(features).all()


def test_equal_frames_equal_features_and_the_other_way_round(encoder, frames):
    features = encoder(frames[[0, 1, 2, 1]])
    np.testing.assert_allclose(features[1], features[3], atol=1e-5)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        assert np.abs(features[i] - features[j]).max() > 0.1


@pytest.mark.parametrize("T", [1, 2, 5, 7])
def test_a_frame_does_not_depend_on_its_neighbours(encoder, frames, T):
    np.testing.assert_allclose(encoder(frames[:T]), encoder(frames)[:T], atol=1e-4)


def test_no_frames_no_features(encoder, frames):
    assert encoder(frames[:0]).shape == (0, encoder.dim)


def test_views_and_read_only_frames(encoder, frames):
    expected = encoder(np.ascontiguousarray(frames[::2, :, ::-1]))
    view = frames[::2, :, ::-1]
    view.flags.writeable = False
    np.testing.assert_array_equal(encoder(view), expected)


def test_progress_counts_up_to_all_frames(encoder, frames):
    seen: list[int] = []
    encoder(frames, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 7


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((2, 8, 8, 3), np.float32), np.zeros((8, 8, 3), np.uint8), np.zeros((2, 8, 8, 4), np.uint8)],
)
def test_wrong_frames_are_refused(encoder, wrong):
    with pytest.raises(ValueError, match=r"an encoder takes (uint8|\[T,H,W,3\])"):
        encoder(wrong)


def test_engines_agree(frames, cosine):
    a, b = (make_encoder(engine=engine)(frames) for engine in ENGINES_HERE)
    assert cosine(a, b) > 1 - 1e-6
    np.testing.assert_allclose(a, b, atol=1e-3)


@pytest.mark.parametrize("batch", [1, 3, 16])
@pytest.mark.parametrize("threads", [1, 2])
def test_batch_and_threads_change_nothing(frames, batch, threads):
    expected = make_encoder(size=64, engine="openvino", threads=1, batch=16)(frames)
    found = make_encoder(size=64, engine="openvino", threads=threads, batch=batch)(frames)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_two_threads_may_share_an_encoder(frames):
    from concurrent.futures import ThreadPoolExecutor

    encoder = make_encoder(size=64, engine="openvino", threads=2, batch=2)
    clips = [frames[i % 3 :] for i in range(12)]
    with ThreadPoolExecutor(4) as pool:
        for clip, features in zip(clips, pool.map(encoder, clips), strict=True):
            np.testing.assert_allclose(features, encoder(clip), atol=1e-5)


def test_an_error_in_progress_leaves_the_encoder_usable(frames):
    encoder = make_encoder(size=64, engine="openvino", threads=2, batch=1)

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoder(frames, stop)
    np.testing.assert_allclose(encoder(frames[:1]), encoder(frames)[:1], atol=1e-5)


def test_the_fingerprint_knows_everything_that_changes_features():
    prints = [
        make_encoder(size=64).fingerprint,
        make_encoder(size=96).fingerprint,
        make_encoder(size=64, pooled=True).fingerprint,
        make_encoder(size=64, engine="torch").fingerprint,
        make_encoder("pixels").fingerprint,
        make_encoder("pixels", size=8).fingerprint,
    ]
    assert len(set(prints)) == len(prints)
    assert make_encoder(size=64, batch=3, threads=1).fingerprint == prints[0]


def test_the_engine_is_announced():
    said: list[str] = []
    make_encoder(size=64, engine="openvino", threads=1, announce=said.append)
    assert len(said) == 1
    assert "efficientnet-lite0 runs on OpenVINO" in said[0]


def test_importing_costs_nothing_heavy_and_a_kept_network_needs_no_torch(frames):
    make_encoder(size=64, engine="openvino")
    code = (
        "import sys, numpy; from orcalign.encoders import make_encoder\n"
        "heavy = {'torch', 'openvino', 'transformers', 'huggingface_hub', 'safetensors'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "make_encoder(size=64, engine='openvino')(numpy.zeros((2, 9, 9, 3), numpy.uint8))\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
