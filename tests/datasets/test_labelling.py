"""Labelling: what is written, that nothing else changes, and that a kill costs nothing but time."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from datasets.small import COURSES, TRUTH

import orcalign.datasets.store
from orcalign.datasets.labeller import LabelOrder, LabelSettings, read_demo
from orcalign.datasets.labelling import here, label_dataset
from orcalign.datasets.labels import PROGRESS, REWARD, ranked
from orcalign.datasets.lerobot import open_dataset
from orcalign.datasets.store import EPISODES
from orcalign.datasets.truth import agreement, read_truth

SETTINGS = LabelSettings(encoder="pixels")


def order_of(root, settings=SETTINGS, demo="episode:0"):
    dataset = open_dataset(root)
    return LabelOrder(dataset, read_demo(dataset, demo), demo, settings)


def files_of(root):
    return {
        path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def labelled(recorded, tmp_path_factory):
    return label_dataset(order_of(recorded), tmp_path_factory.mktemp("out"), with_reward=True)


def test_the_table_is_what_lerobot_reads(labelled):
    table = pq.read_table(labelled.progress)
    names = ["index", "episode_index", "frame_index", "progress_sparse", "progress_dense"]
    kinds = ["int64", "int64", "int64", "float", "float"]
    assert table.schema.names == names
    assert [str(kind) for kind in table.schema.types] == kinds
    assert b"pixels" in table.schema.metadata[b"reward_model_path"]
    lengths = list(map(len, COURSES))
    assert table["index"].to_pylist() == list(range(sum(lengths)))
    assert table["episode_index"].to_pylist() == np.repeat(np.arange(len(lengths)), lengths).tolist()
    assert table["frame_index"].to_pylist() == [t for length in lengths for t in range(length)]
    values = np.stack([table[name].to_numpy() for name in names[3:]])
    assert ((values >= 0) & (values <= 1)).all()
    rewards = pq.read_table(labelled.reward)
    assert rewards.schema.names == [*names[:3], "next.reward"]
    assert rewards["next.reward"].to_numpy().shape == (sum(lengths),)


def test_lerobots_own_reader_weighs_frames_by_it(labelled):
    rabc = pytest.importorskip("lerobot.utils.rabc", reason="LeRobot is not installed; make setup brings it")
    torch = pytest.importorskip("torch")
    weights = rabc.RABCWeights(
        labelled.progress, chunk_size=5, head_mode="dense", kappa=0.05, device=torch.device("cpu")
    )
    assert weights.get_stats()["num_frames"] == sum(map(len, COURSES))
    starts = np.cumsum([0, *map(len, COURSES)])

    def raw(indices):
        found, _ = weights.compute_batch_weights({"index": torch.tensor(indices)})
        return found

    # A frame of the second episode that goes on, one of the third that stalls, one of the fourth that turns back.
    on, stalls, back = raw([starts[1] + 10, starts[2] + 14, starts[3] + 20]).tolist()
    assert on > stalls > back == pytest.approx(0, abs=1e-5)


def test_progress_says_what_was_done(labelled):
    dense = [one.dense for one in labelled.labels]
    sparse = [one.sparse for one in labelled.labels]
    assert all((np.diff(curve) >= 0).all() for curve in sparse)
    assert all((d <= s + 1e-6).all() for d, s in zip(dense, sparse, strict=True))
    for good in (0, 1, 4):
        assert dense[good][-1] > 0.9
    assert dense[2][-1] < 0.6
    # Turning back, the robot is where it began, and what it covered stays covered.
    assert dense[3].max() > 0.4
    assert dense[3][-1] < 0.15
    assert sparse[3][-1] > 0.4
    assert ranked(labelled.labels)[0].number == 5


def test_the_field_s_measures(labelled, truth):
    known = read_truth(truth, range(len(COURSES)))
    found = agreement(labelled.labels, known, demo=0)
    assert (found.episodes, found.auroc) == (5, 1.0)
    assert found.voc > 0.99
    assert found.tau > 0.5
    assert {number: one["success"] for number, one in known.items()} == {k: t[0] for k, t in enumerate(TRUTH)}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "episode,success\n0,1\n", "must have episode_index"),
        ("a.csv", "episode_index,sucess\n0,1\n", "did you mean 'success'"),
        ("a.csv", "episode_index,success\n77,1\n", "no such episode"),
        ("a.csv", "episode_index,success\n0,perhaps\n", "success 'perhaps'; it must be a number"),
        ("a.json", '{"episode_index": 0}', "no list of objects"),
        ("a.txt", "", "give a .csv, .json or .parquet"),
        ("a.parquet", "no", "corrupt or no parquet"),
    ],
)
def test_truth_that_is_none(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        read_truth(tmp_path / name, range(6))


def test_truth_in_other_forms(tmp_path):
    (tmp_path / "a.json").write_text('[{"episode_index": 0, "success": true}, {"episode_index": 1, "success": false}]')
    assert read_truth(tmp_path / "a.json", range(2)) == {0: {"success": 1.0}, 1: {"success": 0.0}}


def test_what_was_there_stays_as_it_was(own, labelled):
    before = files_of(own)
    again = label_dataset(order_of(own), own)
    after = files_of(own)
    assert {name: after[name] for name in before} == before
    assert all(name.name.startswith("orcalign") for name in set(after) - set(before))
    assert again.progress.read_bytes() == labelled.progress.read_bytes()
    # A second time nothing is labelled; with other settings everything is.
    assert label_dataset(order_of(own), own).fresh == 0
    assert label_dataset(order_of(own, LabelSettings("orca", encoder="pixels")), own).fresh == len(COURSES)


def test_who_fails_half_way_has_written_no_table_and_goes_on(own, labelled, monkeypatch):
    monkeypatch.setattr(orcalign.datasets.store, "FLUSH_SECONDS", 0.0)
    last = open_dataset(own).episodes[-1].video
    whole = last.read_bytes()
    order = order_of(own)
    last.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    with pytest.raises(ValueError, match=r"cut off|not a video"):
        label_dataset(order, own)
    assert not (own / PROGRESS).exists()
    assert not (own / REWARD).exists()
    assert len(list(own.glob("orcalign_part_*"))) == 4
    last.write_bytes(whole)
    done = label_dataset(order_of(own), own)
    assert done.fresh == 2
    assert done.progress.read_bytes() == labelled.progress.read_bytes()
    assert not list(own.glob("orcalign_part_*"))


def test_a_video_shorter_than_its_table(own):
    order = order_of(own)
    one = order.dataset.episodes[-1]
    longer = type(one)(one.number, one.start, one.length + 3, one.video, one.begins)
    vars(order.dataset).update(episodes=(*order.dataset.episodes[:-1], longer))
    with pytest.raises(ValueError, match="has 20 of the 23 frames of episode 5"):
        label_dataset(order, own)


def test_a_full_disk_leaves_nothing_half_written(own, monkeypatch):
    def full(path, *parts):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    before = files_of(own)
    monkeypatch.setattr("orcalign.datasets.parquet.write_file", full)
    with pytest.raises(OSError, match="No space left"):
        label_dataset(order_of(own), own)
    after = files_of(own)
    assert {name for name in after if name not in before} == {Path("orcalign_labels.lock")}


def test_two_at_a_time_are_refused(own):
    def second(order, labeller, episodes, told):
        with pytest.raises(OSError, match="is in use by process"):
            label_dataset(order, own)
        return here(order, labeller, episodes, told)

    assert label_dataset(order_of(own), own, second).fresh == len(COURSES)


KILLED = """
import sys, time
from datasets.test_labelling import order_of
from pathlib import Path
import orcalign.datasets.store
from orcalign.datasets.labelling import here, label_dataset
orcalign.datasets.store.FLUSH_SECONDS = 0.0
def slowly(*given):
    for labels in here(*given):
        yield labels
        print(labels.number, flush=True)
        time.sleep(0.05 if labels.number < 2 else 60)
label_dataset(order_of(Path(sys.argv[1])), Path(sys.argv[1]), slowly)
"""


def test_killed_it_goes_on_and_ends_with_the_same_bytes(own, labelled):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, own]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        while run.stdout.readline().strip() != "2":
            assert run.poll() is None
        time.sleep(0.2)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
        run.stdout.close()
    assert not (own / PROGRESS).exists()
    done = label_dataset(order_of(own), own)
    assert 0 < done.fresh < len(COURSES)
    assert done.progress.read_bytes() == labelled.progress.read_bytes()
    assert (own / EPISODES).is_file()
