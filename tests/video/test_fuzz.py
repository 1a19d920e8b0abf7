"""Damaged files: whatever the bytes are, they decode or give one readable error, soon and without a crash.

Batches run in their own process, so that a crash inside the codec library is a failed test that names the
variant, and a hang is cut short.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

VIDEOS = ["mp4", "mov", "webm", "avi", "mkv", "gif"]
IMAGES = ["png", "jpg", "bmp", "webp", "tiff"]

# Runs in the child: reads each variant, prints its number before and its outcome after.
CHILD = """
import sys, time
from pathlib import Path
import av
from orcalign.video import VideoOptions, read_video

for path in sorted(Path(sys.argv[1]).iterdir()):
    for allow in (False, True):
        print("start", path.name, allow, flush=True)
        begin = time.perf_counter()
        fps = 5 if allow else None
        options = VideoOptions(size=32, max_frames=200, allow_truncated=allow, start=0.2, fps=fps)
        try:
            clip = read_video(path, options)
            assert clip.frames.shape[1:] == (32, 32, 3) and 1 <= len(clip) <= 200
            assert (clip.times[1:] >= clip.times[:-1]).all() and clip.fps > 0
            outcome = "decoded"
        except (ValueError, OSError) as error:
            assert not isinstance(error, av.FFmpegError), repr(error)
            text = str(error)
            assert path.name in text and text.endswith(".") and len(text) < 600 and text.isprintable(), text
            outcome = "refused"
        seconds = time.perf_counter() - begin
        assert seconds < 5, f"{path.name} took {seconds:.1f} s"
        print("end", path.name, outcome, flush=True)
"""


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three random injuries."""
    array = np.frombuffer(data, np.uint8).copy()
    for _ in range(rng.integers(1, 4)):
        size = len(array)
        if size < 16:
            break
        # Half of the injuries hit the headers, where they do the most.
        limit = min(size, 600) if rng.random() < 0.5 else size
        start = int(rng.integers(0, limit))
        length = int(rng.integers(1, max(2, size // 8)))
        kind = rng.integers(0, 7)
        if kind == 0:
            places = rng.integers(0, limit, size=rng.integers(1, 12))
            array[places] ^= (1 << rng.integers(0, 8, size=len(places))).astype(np.uint8)
        elif kind == 1:
            array = array[: max(1, start)]
        elif kind == 2:
            array[start : start + length] = 0
        elif kind == 3:
            array[start : start + length] = 255
        elif kind == 4:
            source = int(rng.integers(0, size))
            array = np.concatenate([array[:start], array[source : source + length], array[start:]])
        elif kind == 5:
            array = np.concatenate([array[:start], array[start + length :]])
        else:
            part = array[start : start + length]
            array[start : start + length] = rng.integers(0, 256, size=len(part), dtype=np.uint8)
    return array.tobytes()


def run_batch(folder: Path, expected: int) -> dict[str, int]:
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(folder)],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        output = late.stdout.decode() if isinstance(late.stdout, bytes) else str(late.stdout)
        pytest.fail(f"hangs: {output.splitlines()[-1]}")
    lines = done.stdout.splitlines()
    last = lines[-1] if lines else "nothing"
    assert done.returncode == 0, f"exit {done.returncode} after {last!r}: {done.stderr[-800:]}"
    assert done.stderr == ""
    outcomes = [line.split()[-1] for line in lines if line.startswith("end")]
    assert len(outcomes) == 2 * expected
    return {name: outcomes.count(name) for name in ("decoded", "refused")}


def injure(source: Path, folder: Path, count: int, seed: int) -> None:
    data = source.read_bytes()
    folder.mkdir()
    for k in range(count):
        variant = mutate(data, np.random.default_rng([seed, k]))
        (folder / f"{k:05d}{source.suffix}").write_bytes(variant)


def injure_images(still, image: np.ndarray, ending: str, folder: Path, count: int, seed: int) -> None:
    folder.mkdir()
    whole = still(folder / f"whole.{ending}", image).read_bytes()
    (folder / f"whole.{ending}").unlink()
    for k in range(count):
        inside = folder / f"{k:05d}"
        inside.mkdir()
        (inside / f"a.{ending}").write_bytes(whole)
        (inside / f"b.{ending}").write_bytes(mutate(whole, np.random.default_rng([seed, k])))


def save_npz(path: Path, frames: np.ndarray, compressed: bool) -> Path:
    (np.savez_compressed if compressed else np.savez)(path, frames=frames, fps=10.0)
    return path


@pytest.mark.parametrize("ending", VIDEOS)
def test_videos(videos, tmp_path, ending):
    injure(videos[ending], tmp_path / "variants", 60, seed=1)
    outcomes = run_batch(tmp_path / "variants", 60)
    # Both must happen, or the injuries are too light or too heavy to say anything.
    assert outcomes["decoded"] > 5
    assert outcomes["refused"] > 5


def test_images(still, bar, tmp_path):
    for ending in IMAGES:
        injure_images(still, bar(1)[0], ending, tmp_path / ending, 12, seed=2)
        assert run_batch(tmp_path / ending, 12)["refused"] > 2


@pytest.mark.parametrize("compressed", [False, True])
def test_npz(bar, tmp_path, compressed):
    injure(save_npz(tmp_path / "a.npz", bar(6), compressed), tmp_path / "variants", 40, seed=3)
    assert run_batch(tmp_path / "variants", 40)["refused"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("ending", VIDEOS)
def test_many_videos(videos, tmp_path, ending):
    for seed in (10, 11, 12, 13):
        injure(videos[ending], tmp_path / f"variants{seed}", 250, seed)
        run_batch(tmp_path / f"variants{seed}", 250)


@pytest.mark.slow
@pytest.mark.parametrize("ending", IMAGES)
def test_many_images(still, bar, tmp_path, ending):
    injure_images(still, bar(1)[0], ending, tmp_path / "variants", 400, seed=20)
    run_batch(tmp_path / "variants", 400)


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_many_npz(bar, tmp_path, compressed):
    injure(save_npz(tmp_path / "a.npz", bar(6), compressed), tmp_path / "variants", 500, seed=30)
    run_batch(tmp_path / "variants", 500)
