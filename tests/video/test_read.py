"""Reading: every format, trimming, resampling by timestamps, seeking, limits."""

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


def test_a_wrong_index_does_not_give_wrong_frames(encode, bar, which, tmp_path, monkeypatch):
    from orcalign.video import decode

    file = encode(tmp_path / "long.mp4", np.tile(bar(28), (5, 1, 1, 1)), "libx264", "yuv420p", gop=20)

    def too_late(container, stream, seconds):
        container.seek(stream.start_time + int((seconds + 3) / stream.time_base), stream=stream)
        return True

    monkeypatch.setattr(decode, "_seek", too_late)
    late = read_video(file, VideoOptions(start=9.3, end=10.0))
    assert [which(f) for f in late.frames] == [k % 28 for k in range(93, 100)]


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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_memory_does_not_grow_with_the_length(encode, bar, tmp_path):
    frames = np.tile(bar(28, 480, 640), (9, 1, 1, 1))
    # One key frame only: a reader that keeps what it decoded would hold 250 frames of 0.5 MB.
    file = encode(tmp_path / "a.mp4", frames, "libx264", "yuv420p", gop=250, options={"preset": "ultrafast"})
    code = (
        "import re, sys\n"
        "from orcalign.video import iter_frames\n"
        "def used(): return int(re.search(r'VmRSS:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1024\n"
        "seen = [used() for _ in iter_frames(sys.argv[1])]\n"
        "print(len(seen), max(seen[40:]) - seen[40])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    count, growth = done.stdout.split()
    assert int(count) == 252
    assert float(growth) < 20


def test_importing_costs_no_codec():
    code = "import sys, orcalign.video; assert 'av' not in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
