"""Reading and encoding a file at the same time."""

import numpy as np
import pytest

from orcalign.encoders import make_encoder
from orcalign.report.clips import VideoFrames, encode_file
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
