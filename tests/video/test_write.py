"""Writing: what is written can be read, plays in browsers, is whole or absent."""

import os
import signal
import subprocess
import sys
import time

import av
import numpy as np
import pytest

from orcalign.video import iter_frames, read_video, write_mp4


def smooth(count: int, height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[:height, :width]
    frames = [
        np.stack(
            [
                127 + 120 * np.sin(x / 20 + k / 5),
                127 + 120 * np.cos(y / 15),
                127 + 100 * np.sin((x + y) / 25 - k / 7),
            ],
            -1,
        )
        for k in range(count)
    ]
    return np.stack(frames).astype(np.uint8)


@pytest.mark.parametrize("shape", [(64, 96), (61, 83), (1, 1), (2, 7), (224, 224)])
@pytest.mark.parametrize("fps", [10, 29.97, 0.5])
def test_mp4_round_trip(tmp_path, shape, fps):
    frames = smooth(8, *shape)
    write_mp4(tmp_path / "a.mp4", frames, fps)
    clip = read_video(tmp_path / "a.mp4")
    height, width = (side + side % 2 for side in shape)
    assert clip.frames.shape == (8, height, width, 3)
    assert np.abs(clip.frames[:, : shape[0], : shape[1]].astype(int) - frames).mean() < 4
    assert clip.fps == pytest.approx(fps)
    np.testing.assert_allclose(clip.times, np.arange(8) / fps, atol=1e-3)


def test_colours_survive(tmp_path):
    for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (200, 40, 90)):
        frames = np.empty((3, 32, 32, 3), np.uint8)
        frames[:] = colour
        write_mp4(tmp_path / "a.mp4", frames, 10)
        assert np.abs(read_video(tmp_path / "a.mp4").frames.astype(int) - frames).max() <= 4


def test_odd_edges_are_replicated(tmp_path):
    frames = np.zeros((2, 31, 31, 3), np.uint8)
    frames[:, -1, :] = frames[:, :, -1] = 255
    write_mp4(tmp_path / "a.mp4", frames, 10, crf=0)
    assert read_video(tmp_path / "a.mp4").frames[0, -1, -1].min() > 240


def test_mp4_is_what_browsers_play(tmp_path):
    write_mp4(tmp_path / "a.mp4", smooth(8, 64, 96), 10)
    data = (tmp_path / "a.mp4").read_bytes()
    assert data[4:8] == b"ftyp"
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(tmp_path / "a.mp4")) as container:
        context = container.streams.video[0].codec_context
        assert (context.name, context.pix_fmt) == ("h264", "yuv420p")
        assert context.profile in ("High", "Main", "Constrained Baseline")
        assert (context.colorspace, context.color_primaries, context.color_trc, context.color_range) == (
            1,
            1,
            1,
            1,
        )


@pytest.mark.parametrize("shape", [(62, 84), (64, 96), (128, 128)])
def test_same_frames_same_bytes(shape, tmp_path):
    frames = smooth(20, *shape)
    seen = set()
    for k in range(12):
        # Fresh rubbish in the freed memory: an encoder that reads what it never wrote shows it here.
        rubbish = [np.random.default_rng([k, n]).bytes(3000 * n) for n in range(60)]
        del rubbish
        write_mp4(tmp_path / "a.mp4", frames, 10)
        seen.add((tmp_path / "a.mp4").read_bytes())
    assert len(seen) == 1


def test_a_lower_quality_is_smaller(tmp_path):
    frames = smooth(8, 64, 96)
    for crf in (40, 10):
        write_mp4(tmp_path / f"{crf}.mp4", frames, 10, crf)
    assert (tmp_path / "40.mp4").stat().st_size < (tmp_path / "10.mp4").stat().st_size
    assert np.abs(read_video(tmp_path / "10.mp4").frames.astype(int) - frames).mean() < 3


def test_frames_may_come_one_by_one(tmp_path, videos):
    write_mp4(tmp_path / "a.mp4", (frame.image for frame in iter_frames(videos["mp4"])), 10)
    assert len(read_video(tmp_path / "a.mp4")) == 30


@pytest.mark.parametrize("write", [write_mp4])
class TestFailures:
    def check(self, write, path, frames, kind, words, fps=10.0):
        before = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
        with pytest.raises(kind, match=words):
            write(path, frames, fps)
        assert (sorted(path.parent.iterdir()) if path.parent.is_dir() else []) == before

    def test_no_folder(self, write, tmp_path):
        (tmp_path / "file").touch()
        self.check(write, tmp_path / "file" / "a.mp4", smooth(2, 8, 8), FileExistsError, "folder that exists")

    def test_folders_that_are_not_there_are_made(self, write, tmp_path):
        write(tmp_path / "a" / "b" / "c.mp4", smooth(2, 8, 8), 10)
        assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["c.mp4"]

    def test_target_is_a_folder(self, write, tmp_path):
        (tmp_path / "a.mp4").mkdir()
        self.check(write, tmp_path / "a.mp4", smooth(2, 8, 8), IsADirectoryError, "it is a folder")

    def test_bad_frames(self, write, tmp_path):
        for frames, words in (
            (np.zeros((2, 8, 8, 3)), "float64"),
            (np.zeros((2, 8, 8), np.uint8), r"\[8, 8\]"),
            (np.zeros((2, 8, 8, 4), np.uint8), r"\[8, 8, 4\]"),
            (np.zeros((0, 8, 8, 3), np.uint8), "no frames"),
            ([np.zeros((8, 8, 3), np.uint8), np.zeros((8, 9, 3), np.uint8)], "one size"),
        ):
            self.check(write, tmp_path / "a.mp4", frames, ValueError, words)

    def test_bad_rate(self, write, tmp_path):
        for fps in (0.0, -1.0, float("nan"), float("inf"), 5000.0):
            self.check(write, tmp_path / "a.mp4", smooth(2, 8, 8), ValueError, f"fps={fps}", fps)

    def test_source_of_frames_fails(self, write, tmp_path):
        def frames():
            yield np.zeros((8, 8, 3), np.uint8)
            raise PermissionError("the camera is off.")

        self.check(write, tmp_path / "a.mp4", frames(), PermissionError, "^the camera is off")

    def test_an_old_file_survives_a_failure(self, write, tmp_path):
        (tmp_path / "a.mp4").write_bytes(b"old")
        self.check(write, tmp_path / "a.mp4", np.zeros((2, 8, 8), np.uint8), ValueError, "uint8")
        assert (tmp_path / "a.mp4").read_bytes() == b"old"

    def test_full_disk(self, write, tmp_path):
        code = (
            "import resource, sys, numpy as np\n"
            f"from orcalign.video import {write.__name__} as write\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
            "frames = np.random.default_rng(0).integers(0, 256, (20, 64, 64, 3), dtype=np.uint8)\n"
            "try: write(sys.argv[1], frames, 10)\n"
            "except OSError as error: print(type(error).__name__, error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "a.mp4")], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("OSError Cannot write")
        assert "a.mp4" in done.stdout
        assert list(tmp_path.iterdir()) == []


def test_the_new_file_takes_the_place_of_the_old(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"old")
    (tmp_path / "reader.mp4").hardlink_to(tmp_path / "a.mp4")
    write_mp4(tmp_path / "a.mp4", smooth(2, 8, 8), 10)
    # Whoever had the old file open still sees all of it.
    assert (tmp_path / "reader.mp4").read_bytes() == b"old"
    assert len(read_video(tmp_path / "a.mp4")) == 2


def test_bad_crf(tmp_path):
    with pytest.raises(ValueError, match="crf=60"):
        write_mp4(tmp_path / "a.mp4", smooth(2, 8, 8), 10, crf=60)


def test_kill_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.mp4"
    target.write_bytes(b"old")
    code = (
        "import sys, time, numpy as np\n"
        "from orcalign.video import write_mp4\n"
        "def frames():\n"
        "    for k in range(100_000):\n"
        "        if k == 60: print('going', flush=True)\n"
        "        yield np.random.default_rng(k).integers(0, 256, (64, 64, 3), dtype=np.uint8)\n"
        "write_mp4(sys.argv[1], frames(), 10)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert target.read_bytes() == b"old"
