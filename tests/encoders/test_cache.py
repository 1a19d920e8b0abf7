from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from orcalign.encoders import CachedEncoder, FeatureCache, make_encoder
from orcalign.encoders.cache import cache_dir
from orcalign.encoders.resize import Pixels


class Counting(Pixels):
    """Pixels that know how often they were asked."""

    calls = 0

    def __call__(self, frames, progress=None):
        self.calls += 1
        return super().__call__(frames, progress)


def entries(folder):
    return sorted(path for path in folder.iterdir())


def test_a_second_time_comes_from_disk(tmp_path, frames):
    encoder = Counting(8)
    first = CachedEncoder(encoder, FeatureCache(tmp_path))(frames)
    done: list[int] = []
    second = CachedEncoder(encoder, FeatureCache(tmp_path))(frames, done.append)
    np.testing.assert_array_equal(first, second)
    assert (encoder.calls, done) == (1, [7])


def test_other_frames_shapes_and_encoders_are_other_entries(tmp_path, frames):
    cache = FeatureCache(tmp_path)
    other = frames.copy()
    other[3, 5, 5, 1] ^= 1
    encoder = Counting(8)
    cached = CachedEncoder(encoder, cache)
    for clip in (frames, other, frames[:6], frames.reshape(7, 64, 48, 3)):
        np.testing.assert_array_equal(cached(clip), Pixels(8)(clip))
    assert encoder.calls == 4
    assert CachedEncoder(Counting(4), cache)(frames).shape == (7, 48)


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign", "other shape"])
def test_a_damaged_entry_is_computed_again(tmp_path, frames, damage):
    cached = CachedEncoder(Counting(8), FeatureCache(tmp_path))
    expected = cached(frames)
    (path,) = entries(tmp_path)
    data = bytearray(path.read_bytes())
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        data[len(data) // 2] ^= 16
        path.write_bytes(data)
    elif damage == "other shape":
        cached.cache.put(path.stem, expected[:3])
    else:
        path.write_bytes(b"" if damage == "empty" else b"hello" * 100)
    np.testing.assert_array_equal(cached(frames), expected)
    assert cached.encoder.calls == 2
    cached(frames)
    assert cached.encoder.calls == 2


def test_an_entry_is_a_plain_numpy_file(tmp_path, frames):
    expected = CachedEncoder(Pixels(8), FeatureCache(tmp_path))(frames)
    np.testing.assert_array_equal(np.load(entries(tmp_path)[0], allow_pickle=False), expected)


def test_the_least_recently_used_goes_first(tmp_path):
    features = np.zeros((10, 100), np.float32)  # 4,160 bytes with header and hash
    cache = FeatureCache(tmp_path, limit_bytes=3 * 4_200)
    for age, key in [(30, "aa"), (20, "bb"), (10, "cc")]:
        cache.put(key, features)
        then = time.time() - age
        os.utime(tmp_path / f"{key}.npy", (then, then))
    assert cache.get("aa") is not None  # used now, so "bb" is the oldest
    cache.put("dd", features)
    assert [path.stem for path in entries(tmp_path)] == ["aa", "cc", "dd"]


def test_too_large_for_the_limit_is_not_kept(tmp_path):
    cache = FeatureCache(tmp_path, limit_bytes=1_000)
    cache.put("aa", np.zeros((10, 100), np.float32))
    assert entries(tmp_path) == []


def test_leftovers_of_a_killed_process_are_swept_and_files_being_written_are_not(tmp_path):
    old, new = tmp_path / ".aa-old.part.npy", tmp_path / ".bb-new.part.npy"  # as orcalign.files names them
    for path in (old, new):
        path.write_bytes(b"half" * 100)
    os.utime(old, (1, 1))
    FeatureCache(tmp_path, limit_bytes=300).put("aa", np.zeros((1, 1), np.float32))
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_cannot_be_made_costs_the_cache_only(tmp_path, frames, caplog):
    (tmp_path / "file").write_text("in the way")
    cached = CachedEncoder(Pixels(8), FeatureCache(tmp_path / "file" / "below"))
    np.testing.assert_array_equal(cached(frames), Pixels(8)(frames))
    assert "Features are not cached" in caplog.text


@pytest.mark.parametrize("key", ["", "../escape", "ABC"])
def test_a_key_is_hex(tmp_path, key):
    with pytest.raises(ValueError, match="is not lower-case hex"):
        FeatureCache(tmp_path).get(key)


def hammer(folder, seed):
    cache = FeatureCache(folder, limit_bytes=40_000)  # room for some 9 of 16 entries: constant eviction
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(400):
        number = int(rng.integers(16))
        key = f"{number:02x}"
        if rng.random() < 0.05:
            (folder / f"{key}.npy").write_bytes(b"garbage")
        found = cache.get(key)
        if found is not None:
            hits += 1
            assert (found == number).all(), f"{key} holds {found.ravel()[0]}"
        cache.put(key, np.full((10, 100), number, np.float32))
    assert hits > 0


def test_two_processes_at_once(tmp_path):
    command = [sys.executable, "-W", "error", __file__, str(tmp_path)]
    workers = [subprocess.Popen([*command, seed], stderr=subprocess.PIPE) for seed in ("1", "2")]
    complaints = [worker.communicate(timeout=60)[1].decode() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], complaints
    assert not [text for text in complaints if "not cached" in text], complaints
    sizes = [path.stat().st_size for path in entries(tmp_path) if path.suffix == ".npy"]
    assert sum(sizes) <= 40_000 + 4_200


def test_where_it_lives(monkeypatch, tmp_path):
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert FeatureCache().folder == tmp_path / "mine" / "features"
    monkeypatch.delenv("ORCALIGN_CACHE")
    assert cache_dir() == tmp_path / "xdg" / "orcalign"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "orcalign"


def test_make_encoder_takes_a_folder(tmp_path, frames):
    encoder = make_encoder("pixels", cache=tmp_path)
    encoder(frames)
    assert len(entries(tmp_path)) == 1
    assert encoder.fingerprint == make_encoder("pixels").fingerprint


if __name__ == "__main__":
    hammer(Path(sys.argv[1]), int(sys.argv[2]))
