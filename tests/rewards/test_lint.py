from __future__ import annotations

import numpy as np
import pytest
from rewards.clips import clip
from scipy.ndimage import gaussian_filter

from orcalign.encoders import make_encoder
from orcalign.rewards import lint_demo, wise_to_train
from orcalign.rewards.measured import calibrate_demo
from orcalign.video import Demo, read_video, write_mp4

LINE = np.linspace(0, 1, 40)
GOOD = clip(LINE)


def found(frames, **more):
    return {finding.code: finding for finding in lint_demo(frames, **more)}


@pytest.mark.parametrize("encoder", [None, "pixels"])
def test_a_good_demo_has_no_findings(encoder):
    features = make_encoder(encoder)(GOOD) if encoder else None
    findings = lint_demo(GOOD, features)
    assert findings == []
    assert wise_to_train(findings)


def test_a_good_demo_stays_good_through_a_codec(tmp_path):
    write_mp4(tmp_path / "good.mp4", GOOD, fps=10, crf=28)
    frames = read_video(tmp_path / "good.mp4").frames
    assert lint_demo(frames, make_encoder("pixels")(frames)) == []


@pytest.mark.parametrize("noise", [0, 6])
def test_long_pause(noise):
    where = np.concatenate([LINE[:20], np.full(15, LINE[20]), LINE[21:]])
    frames = clip(where, height=192, width=256, block=48)
    grain = np.random.default_rng(0).integers(-noise, noise + 1, frames.shape)
    frames = np.clip(frames + grain, 0, 255).astype(np.uint8)
    findings = found(frames)
    assert set(findings) == {"long-pause"}
    assert findings["long-pause"].frames == ((20, 35),)
    assert "15 frames" in findings["long-pause"].message
    assert wise_to_train(findings.values())


def test_duplicate_frames():
    findings = found(clip(np.repeat(LINE, 2)))
    assert set(findings) == {"duplicate-frames"}
    assert findings["duplicate-frames"].severity == "note"
    assert findings["duplicate-frames"].frames == tuple((2 * k, 2 * k + 2) for k in range(40))


def test_jump():
    other = 255 - clip(LINE[20:])
    findings = found(np.concatenate([clip(LINE[:20]), other]))
    assert set(findings) == {"jump"}
    assert findings["jump"].frames == ((19, 21),)


def test_black_frames():
    faded = GOOD.copy()
    faded[-3:] = 4
    findings = found(faded)
    assert findings["black-frames"].frames == ((37, 40),)
    assert not wise_to_train(findings.values())  # black would be the goal
    blink = GOOD.copy()
    blink[12] = 0
    assert found(blink)["black-frames"].severity == "warning"
    assert found(blink)["black-frames"].frames == ((12, 13),)


def test_last_frame_looks_like_the_first():
    home = clip(np.concatenate([LINE, LINE[::-1]]))
    findings = found(home)
    assert findings["returns-to-start"].frames == ((0, 1), (79, 80))
    assert "--end" in findings["returns-to-start"].advice


def test_last_frame_looks_like_the_first_to_the_encoder_only():
    angle = np.linspace(0, 2 * np.pi, 40)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert "to the encoder" in found(GOOD, features=circle)["returns-to-start"].message
    half = np.stack([np.cos(angle / 2), np.sin(angle / 2)], axis=1)
    assert "returns-to-start" not in found(GOOD, features=half)


@pytest.mark.parametrize("J", [1, 2])
def test_too_short(J):
    findings = lint_demo(GOOD[:J])
    assert "too-short" in {f.code for f in findings}
    assert not wise_to_train(findings)


def test_too_long():
    small = {"height": 8, "width": 400, "block": 4}
    moving = Demo(clip(np.linspace(0, 1, 300), **small), fps=30)
    (finding,) = [f for f in lint_demo(moving) if f.code == "too-long"]
    assert finding.severity == "warning"
    assert "--fps 10" in finding.advice
    assert "orca_log" in finding.advice
    endless = Demo(clip(np.linspace(0, 1, 800), **small), fps=30)
    (finding,) = [f for f in lint_demo(endless) if f.code == "too-long"]
    assert finding.severity == "error"


def test_static():
    findings = lint_demo(GOOD[[0] * 20])
    assert [f.code for f in findings] == ["static"]
    assert not wise_to_train(findings)


@pytest.mark.parametrize("side", [48, 64, 96, 128, 192, 256])
@pytest.mark.parametrize("sigma", [1, 3, 5, 8])
def test_grain_alone_is_static_at_any_size(side, sigma):
    rng = np.random.default_rng(side + sigma)
    scene = rng.integers(60, 200, (8, 8, 3)).repeat(side // 8, 0).repeat(side // 8, 1)
    grainy = np.clip(scene + rng.normal(0, sigma, (25, side, side, 3)), 0, 255).astype(np.uint8)
    assert "static" in found(grainy)
    with pytest.raises(ValueError, match="error static"):
        calibrate_demo(Demo(grainy), make_encoder("pixels")(grainy), "cosine")


@pytest.mark.parametrize("sigma", [0, 3, 8])
def test_motion_in_grain_is_not_static(sigma):
    frames = clip(LINE, height=72, width=96, block=18)
    grain = np.random.default_rng(sigma).normal(0, sigma, frames.shape)
    assert not found(np.clip(frames + grain, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("side", [64, 128, 224])
def test_a_camera_that_moves_all_of_the_picture_is_not_static(side):
    ground = gaussian_filter(np.random.default_rng(side).normal(size=(side, side + 40, 3)), (3, 3, 0))
    ground = np.interp(ground, (ground.min(), ground.max()), (0, 255)).astype(np.uint8)
    panned = np.stack([ground[:, t : t + side] for t in range(40)])
    assert not {"static", "long-pause", "duplicate-frames"} & set(found(panned))


def test_slow_motion_below_noise_from_frame_to_frame_is_not_static():
    ramp = np.repeat(np.arange(60, 160, dtype=np.uint8)[:, None, None, None], 3, axis=3)
    frames = np.broadcast_to(ramp, (100, 16, 16, 3)).copy()
    assert "static" not in found(frames)


def test_frames_that_the_encoder_cannot_tell_apart():
    features = make_encoder("pixels")(GOOD)
    blind = features.copy()
    blind[10:16] = features[10]
    findings = found(GOOD, features=blind)
    assert set(findings) == {"indistinct-frames"}
    assert findings["indistinct-frames"].frames == ((10, 16),)
    assert findings["indistinct-frames"].severity == "warning"
    pooled = make_encoder("pixels", pooled=True)(GOOD)  # the mean colour of a block that only moves
    findings = found(GOOD, features=pooled)
    assert findings["indistinct-frames"].severity == "error"
    assert not wise_to_train(findings.values())


def test_real_weights_see_the_block_move():
    tall = clip(LINE, height=96, width=128, block=24)
    assert lint_demo(tall, make_encoder("efficientnet-lite0", threads=1)(tall)) == []


def test_worst_first_and_readable():
    frames = clip(np.concatenate([LINE[:20], np.full(15, LINE[20]), LINE[21:]]))
    frames[0] = 0
    findings = lint_demo(frames)
    assert [f.severity for f in findings] == sorted(
        (f.severity for f in findings), key=["error", "warning", "note"].index
    )
    assert str(findings[0]).startswith("error black-frames (frames 0): 1 of 54 frames are black.")


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="one at a time"):
        lint_demo([GOOD, GOOD])
    with pytest.raises(ValueError, match="features of 3 frames for a demo of 40"):
        lint_demo(GOOD, np.ones((3, 4)))
