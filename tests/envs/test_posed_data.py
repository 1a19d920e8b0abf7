"""Data sets of posed scenes: whole or continued, the same however they came about, and refused where they are not."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from orcalign.envs.posed_data import PosedData, describe, make_posed_data
from orcalign.locks import FolderInUseError


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr("orcalign.envs.posed_data.SHARD", 30)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """120 frames in one sitting."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    return folder, make_posed_data("nav2d", folder, 120, size=32)


def test_what_is_in_it(whole):
    folder, digest = whole
    data = PosedData.load(folder)
    assert (len(data), data.frames.shape, data.states.shape) == (136, (136, 32, 32, 3), (136, 4))
    assert data.groups.tolist() == np.repeat(range(8), 17).tolist()
    assert np.flatnonzero(data.rests).tolist() == list(range(0, 136, 17))
    assert data.about["digest"] == digest
    assert data.entities.hand == (0, 1)
    assert data.about == {**describe("nav2d", size=32), "digest": digest}


def test_it_is_the_same_in_several_sittings_and_shards(whole, small_shards, tmp_path):
    told = []
    make_posed_data("nav2d", tmp_path / "data", 20, size=32)
    digest = make_posed_data("nav2d", tmp_path / "data", 120, size=32, progress=lambda *now: told.append(now))
    assert digest == whole[1]
    data, other = PosedData.load(tmp_path / "data"), PosedData.load(whole[0])
    assert (data.frames == other.frames).all()
    assert (data.states == other.states).all()
    assert len(list((tmp_path / "data").glob("*.npz"))) == 4
    assert told[0] == (34, 120)
    assert told[-1] == (120, 120)
    assert make_posed_data("nav2d", tmp_path / "data", 50, size=32) == digest, "more than enough is there"
    assert make_posed_data("nav2d", tmp_path / "other", 120, size=32, seed=1) != digest


def test_a_kill_loses_a_shard_at_most(whole, tmp_path):
    folder = tmp_path / "data"
    code = (
        "import sys, time; from pathlib import Path; import orcalign.envs.posed_data as made\n"
        "made.SHARD = 30\n"
        "def told(done, total):\n"
        "    if done > 90: print('there', flush=True); time.sleep(60)\n"
        "made.make_posed_data('nav2d', Path(sys.argv[1]), 120, size=32, progress=told)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, folder], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"there\n"
    with pytest.raises(FolderInUseError, match=f"the data set .* is in use by process {process.pid}"):
        make_posed_data("nav2d", folder, 120, size=32)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert 60 <= len(PosedData.load(folder)) < 120
    assert make_posed_data("nav2d", folder, 120, size=32) == whole[1]


def test_other_scenes_are_refused(whole, tmp_path):
    folder, _ = whole
    for settings, named in (
        ({"task": "nav2d-order"}, "task .*nav2d-order"),
        ({"seed": 1}, "seed 0, and 1 is wanted"),
        ({"size": 48}, "size 32, and 48 is wanted"),
    ):
        with pytest.raises(ValueError, match=f"holds scenes with {named}"):
            make_posed_data(**{"task": "nav2d", "folder": folder, "size": 32, **settings})
    (tmp_path / "letter.txt").write_text("dear")
    for path in (tmp_path, tmp_path / "letter.txt"):
        with pytest.raises(ValueError, match="is no posed data; choose another folder"):
            make_posed_data("nav2d", path, 10)
    with pytest.raises(ValueError, match=r"it has no manifest\.json"):
        PosedData.load(tmp_path)


def test_what_cannot_be_made_leaves_no_frames_behind(tmp_path):
    for task, settings, named in (
        ("CartPole-v1", {}, "cannot be posed"),
        ("nav2d", {"camera": "corner"}, "one view only and no camera 'corner'"),
        ("drawer-open", {"camera": "cornre"}, "did you mean 'corner'"),
        ("drawer-open", {"render": "quick"}, "render is 'quick'"),
        ("nav2d", {"frames": 0}, "frames is 0"),
        ("nav2d", {"seed": -1}, "seed is -1"),
    ):
        with pytest.raises(ValueError, match=named):
            make_posed_data(task, tmp_path / "data", **settings)
        assert {path.name for path in tmp_path.rglob("*")} <= {"data", "lock"}
    make_posed_data("nav2d", tmp_path / "data", 10)


def test_damage_is_seen(tmp_path):
    make_posed_data("nav2d", tmp_path, 60, size=16)
    shard = tmp_path / "shard-00000.npz"
    with np.load(shard) as packed:
        columns = dict(packed)
    columns["states"][3, 0] += 0.01
    np.savez(shard, **columns)
    with pytest.raises(ValueError, match="is not what was written"):
        PosedData.load(tmp_path)
    shard.write_bytes(shard.read_bytes()[:-900])
    with pytest.raises(ValueError, match="is damaged"):
        PosedData.load(tmp_path)
    shard.unlink()
    with pytest.raises(ValueError, match=r"is damaged .*No such file"):
        PosedData.load(tmp_path)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"format": 99, "about": {}, "shards": []}))
    with pytest.raises(ValueError, match="has format 99, and this version reads 1"):
        PosedData.load(tmp_path)
    manifest.write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        PosedData.load(tmp_path)
