"""Reading and encoding a file at the same time."""

from pathlib import Path

import numpy as np
import pytest

import orcalign
from orcalign.encoders import make_encoder
from orcalign.report.clips import SHOWN, VideoFrames, encode_file
from orcalign.report.scoring import ScoreSettings, score_clips
from orcalign.video import VideoOptions, read_video, write_mp4


@pytest.mark.parametrize("count", [2, 15, 16, 17, 100])
@pytest.mark.parametrize("claimed", [None, 0, 3, 16, 500])
def test_frames_and_features_are_those_of_the_whole_file(tmp_path, monkeypatch, count, claimed):
    """Whatever the file claims of its length: too little, too much, nothing."""
    if claimed is not None:
        monkeypatch.setattr("orcalign.report.clips.count_frames", lambda *_: claimed)
    monkeypatch.setattr("orcalign.report.clips.CHUNK", 4)
    path = tmp_path / "clip.mp4"
    write_mp4(path, np.random.default_rng(0).integers(0, 256, (count, 32, 48, 3), np.uint8), 25)
    encoder = make_encoder("pixels")
    options = VideoOptions(longest=24)
    clip = encode_file(path, encoder, options)
    expected = read_video(path, options).frames
    np.testing.assert_array_equal(clip.frames, expected)
    np.testing.assert_array_equal(clip.features, encoder(expected))
    assert clip.fps == pytest.approx(25)


def test_chunks_are_not_changed_later(tmp_path):
    """They are views of what is kept, and an engine may read them when the next are already being decoded."""
    path = tmp_path / "clip.mp4"
    write_mp4(path, np.random.default_rng(0).integers(0, 256, (50, 32, 32, 3), np.uint8), 25)
    source = VideoFrames(path, VideoOptions())
    pairs = [(chunk, chunk.copy()) for chunk in source.chunks()]
    for chunk, before in pairs:
        np.testing.assert_array_equal(chunk, before)
    assert len(source.frames()) == 50


def test_attempts_are_scored_in_one_call(tmp_path, monkeypatch):
    films = np.random.default_rng(0).integers(0, 256, (2, 12, 32, 32, 3), np.uint8)
    for name, film in zip(("demo", "other"), films, strict=True):
        write_mp4(tmp_path / f"{name}.mp4", film, 25)
    monkeypatch.chdir(tmp_path)
    paper = {"paper": True, "context": 1}
    sheet = orcalign.score("demo.mp4", ["demo.mp4", "other.mp4"], ("orca", "dtw"), encoder="pixels", **paper)
    options = VideoOptions(longest=SHOWN)
    clips = [encode_file(Path(f"{name}.mp4"), make_encoder("pixels"), options) for name in ("demo", "other")]
    expected = score_clips(clips[0], clips, ScoreSettings(("orca", "dtw"), **paper))
    for found, one in zip(sheet.attempts, expected.attempts, strict=True):
        for name in ("orca", "dtw"):
            np.testing.assert_array_equal(found.matches[name].reward, one.matches[name].reward)
    (alone,) = orcalign.score("demo.mp4", tmp_path / "other.mp4", encoder=make_encoder("pixels")).attempts
    assert list(alone.matches) == ["bottleneck"]
    assert alone.verdict is not None
    (same,) = orcalign.score("demo.mp4", "demo.mp4", encoder=make_encoder("pixels")).attempts
    assert same.verdict is not None
    assert (same.verdict.score, same.verdict.text, same.story.spans) == (1.0, "followed", ())
    with pytest.raises(ValueError, match="no attempt was given"):
        orcalign.score("demo.mp4", [])
    with pytest.raises(ValueError, match="did you mean 'orca'"):
        orcalign.score("demo.mp4", ["other.mp4"], "orka")
