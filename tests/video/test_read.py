"""Reading: every format, trimming, resampling by timestamps, pixel formats, limits."""

import itertools
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from orcalign.video import VideoOptions, iter_frames, read_video


@pytest.mark.parametrize("ending", ["mp4", "mov", "webm", "avi", "mkv", "gif"])
class TestEveryFormat:
    def test_all_frames_in_order(self, videos, which, ending):
        clip = read_video(videos[ending])
        assert clip.frames.shape == (30, 48, 64, 3)
        assert clip.frames.dtype == np.uint8
        assert clip.frames.flags.c_contiguous
        assert [which(f) for f in clip.frames[:28]] == list(range(28))
        assert clip.fps == pytest.approx(10)
        np.testing.assert_allclose(clip.times, np.arange(30) / 10, atol=0.006)
        assert clip.source == str(videos[ending])

    def test_pixels_are_those_written(self, videos, bar, ending):
        error = np.abs(read_video(videos[ending]).frames.astype(int) - bar())
        # rgb8 of the plain gif encoder has 8x8x4 colours; the others blur chroma at the bar's edges.
        assert error.mean() < (16 if ending == "gif" else 6)
        assert error[:, 30:, 62:].mean() < (16 if ending == "gif" else 4)

    def test_trim_is_half_open(self, videos, which, ending):
        clip = read_video(videos[ending], VideoOptions(start=0.5, end=1.0))
        assert [which(f) for f in clip.frames] == [5, 6, 7, 8, 9]

    def test_resample_down_up_and_same(self, videos, which, ending):
        down = read_video(videos[ending], VideoOptions(fps=5, end=2.0))
        assert [which(f) for f in down.frames] == list(range(0, 20, 2))
        assert down.fps == 5
        up = read_video(videos[ending], VideoOptions(fps=20, start=1.0, end=1.5))
        assert [which(f) for f in up.frames] == [10, 10, 11, 11, 12, 12, 13, 13, 14, 14]
        same = read_video(videos[ending], VideoOptions(fps=10))
        assert len(same) == 30

    def test_truncated_is_an_error_unless_allowed(self, videos, which, ending, tmp_path):
        data = videos[ending].read_bytes()
        # The index of mov files is at the end: nothing can be decoded without it.
        if ending == "mov":
            pytest.skip("covered by test_errors")
        cut = tmp_path / f"cut.{ending}"
        cut.write_bytes(data[: int(len(data) * 0.9)])
        with pytest.raises(ValueError, match="cut off"):
            read_video(cut)
        kept = read_video(cut, VideoOptions(allow_truncated=True))
        assert 10 <= len(kept) < 31
        assert [which(f) for f in kept.frames[:10]] == list(range(10))
        sound = read_video(cut, VideoOptions(end=0.5))
        assert len(sound) == 5


def test_variable_frame_rate_is_resampled_by_time(encode, bar, which, tmp_path):
    stamps = [0, 40, 80, 500, 520, 900, 1400, 1433, 1467, 1500]
    for ending in ("mkv", "mp4"):
        file = encode(tmp_path / f"vfr.{ending}", bar(10), "libx264", "yuv420p", stamps_ms=stamps)
        clip = read_video(file)
        np.testing.assert_allclose(clip.times * 1000, stamps, atol=1)
        resampled = read_video(file, VideoOptions(fps=10, end=1.5))
        # On screen at 0.0, 0.1, … 1.4 s: the last frame stamped at or before that time.
        expected = [max(i for i, s in enumerate(stamps) if s <= 100 * k) for k in range(15)]
        assert [which(f) for f in resampled.frames] == expected
        np.testing.assert_allclose(resampled.times, np.arange(15) / 10)


def test_rounded_timestamps_do_not_repeat_frames(encode, bar, which, tmp_path):
    # Matroska rounds 2/30 s up to 67 ms: strictly, frame 2 is not yet on screen at 66.67 ms.
    stamps = [round(1000 * k / 30) for k in range(28)]
    file = encode(tmp_path / "thirty.mkv", bar(28), "libx264", "yuv420p", stamps_ms=stamps)
    assert [which(f) for f in read_video(file, VideoOptions(fps=30)).frames][:28] == list(range(28))


def test_seeking_finds_the_same_frames_as_decoding(encode, bar, which, tmp_path):
    for ending in ("mp4", "mkv", "avi"):
        codec = "mpeg4" if ending == "avi" else "libx264"
        file = encode(tmp_path / f"long.{ending}", np.tile(bar(28), (5, 1, 1, 1)), codec, "yuv420p", gop=20)
        everything = read_video(file)
        late = read_video(file, VideoOptions(start=9.3, end=10.2))
        np.testing.assert_array_equal(late.frames, everything.frames[93:102])
        np.testing.assert_allclose(late.times, everything.times[93:102])
        resampled = read_video(file, VideoOptions(start=9.35, fps=10, end=10.0))
        np.testing.assert_array_equal(resampled.frames[0], everything.frames[93])


class TestPixels:
    @pytest.mark.parametrize(
        ("name", "codec", "pix_fmt"),
        [
            ("ten.mp4", "libx264", "yuv420p10le"),
            ("ten.mkv", "libx265", "yuv420p10le"),
            ("ffv1.mkv", "ffv1", "yuv444p16le"),
            ("rgb.mov", "qtrle", "rgb24"),
        ],
    )
    def test_deep_and_rgb_colours(self, encode, tmp_path, name, codec, pix_fmt):
        frames = np.empty((4, 48, 64, 3), np.uint8)
        frames[:] = (200, 40, 90)
        options = {"x265-params": "log-level=none:pools=1"} if codec == "libx265" else {}
        clip = read_video(encode(tmp_path / name, frames, codec, pix_fmt, options=options))
        assert np.abs(clip.frames.astype(int) - frames).max() <= 3

    def test_grey(self, encode, tmp_path):
        ramp = np.tile(np.arange(64, dtype=np.uint8) * 4, (3, 48, 1))
        file = encode(tmp_path / "grey.mkv", ramp, "ffv1", "gray", source_format="gray")
        np.testing.assert_array_equal(read_video(file).frames, np.repeat(ramp[..., None], 3, axis=3))

    def test_alpha_lies_over_black(self, encode, tmp_path):
        argb = np.empty((3, 48, 64, 4), np.uint8)
        argb[:] = (255, 200, 100, 50)
        argb[:, :, 32:, 0] = 128
        argb[:, 24:, :, 0] = 0
        file = encode(tmp_path / "alpha.mov", argb, "qtrle", "argb", source_format="argb")
        frame = read_video(file).frames[0]
        assert frame[5, 5].tolist() == [200, 100, 50]
        assert frame[5, 60].tolist() == [100, 50, 25]
        assert frame[40, 5].tolist() == [0, 0, 0]

    def test_alpha_of_webm_is_not_lost(self, encode, tmp_path):
        rgba = np.empty((5, 48, 64, 4), np.uint8)
        rgba[:] = (200, 100, 50, 255)
        rgba[:, :, 32:, 3] = 0
        options = {"deadline": "realtime", "auto-alt-ref": "0"}
        file = encode(
            tmp_path / "a.webm", rgba, "libvpx-vp9", "yuva420p", source_format="rgba", options=options
        )
        frame = read_video(file).frames[2].astype(int)
        assert np.abs(frame[20, 10] - (200, 100, 50)).max() < 8
        assert frame[20, 55].max() < 8

    @pytest.mark.parametrize("space", ["bt709", "smpte170m"])
    def test_named_colour_space_is_used(self, encode, tmp_path, space):
        # The YUV of pure red in each standard, by hand: 16 + 219 Kr and 128 + 112 * (-Kr / (1 - Kb)).
        luma, blue = {"bt709": (63, 102), "smpte170m": (81, 90)}[space]
        yuv = np.full((3, 72, 64), luma, np.uint8)
        yuv[:, 48:60], yuv[:, 60:] = blue, 240
        params = f"colormatrix={space}:colorprim={space}:transfer={space}:range=tv"
        file = tmp_path / "red.mp4"
        _encode_yuv(file, yuv, params)
        assert np.abs(read_video(file).frames[0, 20, 20].astype(int) - (255, 0, 0)).max() <= 3

    @pytest.mark.parametrize(
        ("matrix", "turn"),
        [
            # Columns of the matrix are where the x and y axes go on the display, as 16.16 numbers.
            ([0, 65536, 0, -65536, 0, 0, 0, 0, 2**30], lambda f: np.rot90(f, -1)),
            ([0, -65536, 0, 65536, 0, 0, 0, 0, 2**30], lambda f: np.rot90(f, 1)),
            ([-65536, 0, 0, 0, -65536, 0, 0, 0, 2**30], lambda f: np.rot90(f, 2)),
            ([-65536, 0, 0, 0, 65536, 0, 0, 0, 2**30], lambda f: f[:, ::-1]),
        ],
    )
    def test_rotation_metadata(self, encode, bar, tmp_path, matrix, turn):
        plain = encode(tmp_path / "plain.mp4", bar(5), "libx264", "yuv420p")
        turned = encode(tmp_path / "turned.mp4", bar(5), "libx264", "yuv420p", matrix=matrix)
        for a, b in zip(read_video(plain).frames, read_video(turned).frames, strict=True):
            np.testing.assert_array_equal(turn(a), b)

    def test_odd_sizes(self, encode, bar, tmp_path):
        frames = bar(3, 47, 63)
        file = encode(tmp_path / "odd.mkv", frames, "ffv1", "bgr0")
        np.testing.assert_array_equal(read_video(file).frames, frames)


def _encode_yuv(path: Path, planes: np.ndarray, params: str) -> None:
    import av

    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = planes.shape[2], planes.shape[1] * 2 // 3, "yuv420p"
        stream.codec_context.options = {"x264-params": params, "qp": "0"}
        for k, image in enumerate(planes):
            frame = av.VideoFrame.from_ndarray(image, format="yuv420p")
            frame.pts = k
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


class TestShape:
    def test_crop_and_resize(self, videos):
        assert read_video(videos["mp4"], VideoOptions(size=20)).frames.shape == (30, 20, 20, 3)
        assert read_video(videos["mp4"], VideoOptions(size=(10, 30))).frames.shape == (30, 10, 30, 3)
        assert read_video(videos["mp4"], VideoOptions(size=96)).frames.shape == (30, 96, 96, 3)

    def test_crop_takes_the_middle(self, tmp_path):
        frames = np.zeros((2, 10, 20, 3), np.uint8)
        frames[:, :, 5:15] = 255
        np.savez(tmp_path / "a.npz", frames=frames)
        cropped = read_video(tmp_path / "a.npz", VideoOptions(centre_crop=True)).frames
        assert cropped.shape == (2, 10, 10, 3)
        assert cropped.min() == 255

    def test_shrinking_averages(self, tmp_path):
        checker = np.indices((64, 64)).sum(0) % 2 * 255
        np.savez(tmp_path / "a.npz", frames=np.repeat(checker[None, :, :, None], 3, 3).astype(np.uint8))
        small = read_video(tmp_path / "a.npz", VideoOptions(size=16)).frames.astype(int)
        assert np.abs(small - 127.5).max() < 3


class TestLimits:
    def test_too_many_is_known_before_decoding(self, videos, monkeypatch):
        from orcalign.video import decode

        monkeypatch.setattr(decode, "_frames", lambda *_: pytest.fail("decoded"))
        with pytest.raises(ValueError, match=r"max_frames=10.*--fps.*--start"):
            read_video(videos["mp4"], VideoOptions(max_frames=10))
        with pytest.raises(ValueError, match="about 300 frames"):
            read_video(videos["mkv"], VideoOptions(max_frames=10, fps=100))

    def test_limit_holds_while_streaming(self, videos):
        frames = iter_frames(videos["mp4"], VideoOptions(max_frames=29))
        assert len(list(itertools.islice(frames, 29))) == 29
        with pytest.raises(ValueError, match="max_frames=29"):
            next(frames)
        assert len(read_video(videos["mp4"], VideoOptions(max_frames=30))) == 30

    def test_four_hours(self, encode, bar, which, tmp_path):
        hours = [0, 1000, 7_200_000, 14_400_000]
        file = encode(tmp_path / "long.mkv", bar(4), "libx264", "yuv420p", stamps_ms=hours)
        with pytest.raises(ValueError, match=r"lasts 14400.* s and would give about 43200\d frames.*--fps"):
            read_video(file, VideoOptions(fps=30))
        clip = read_video(file, VideoOptions(fps=1 / 60, size=16, centre_crop=True))
        assert len(clip) == 241

    def test_trim_or_rate_gets_below_the_limit(self, videos):
        assert len(read_video(videos["mp4"], VideoOptions(max_frames=10, fps=3))) == 9
        assert len(read_video(videos["mp4"], VideoOptions(max_frames=10, end=1.0))) == 10

    def test_memory_limit_names_the_way_out(self, videos):
        with pytest.raises(ValueError, match=r"GiB for 30 frames.*--size"):
            read_video(videos["mp4"], VideoOptions(max_bytes=100_000))
        assert len(list(iter_frames(videos["mp4"], VideoOptions(max_bytes=100_000)))) == 30

    def test_streaming_holds_one_frame(self, tmp_path):
        frames = np.zeros((300, 100, 100, 3), np.uint8)
        np.savez_compressed(tmp_path / "a.npz", frames=frames)
        tracemalloc.start()
        for _ in iter_frames(tmp_path / "a.npz"):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20 * frames[0].nbytes


def test_importing_costs_no_codec():
    code = "import sys, orcalign.video; assert 'av' not in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
