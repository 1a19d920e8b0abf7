"""orcalign label at the command line."""

import json

import pyarrow.parquet as pq
import pytest
from datasets.small import COURSES, write_small
from datasets.test_labelling import files_of

from orcalign.cli import main
from orcalign.datasets.lerobot import open_dataset


@pytest.fixture
def root(tmp_path):
    return write_small(tmp_path / "disc", codec="h264")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_from_data_set_to_page(root, capsys, tmp_path):
    (tmp_path / "truth.json").write_text(
        json.dumps([{"episode_index": 5, "success": False}, {"episode_index": 1, "success": True}])
    )
    before = files_of(root)
    more = ["--reward", "--truth", "truth.json", "--explain", "1", "--rrd", "a.rrd"]
    main(["label", str(root), "--demo", "episode:0", "--encoder", "pixels", *more])
    out = capsys.readouterr().out
    assert "6 episodes labelled (all now)" in out
    assert "failure AUROC 1.000" in out
    line = next(line for line in out.splitlines() if line.startswith("train with it: lerobot-train"))
    assert f"--rabc_progress_path={root}/orcalign_progress.parquet" in line
    assert f"--dataset.root={root}" in line
    added = {str(name) for name in set(files_of(root)) - set(before)}
    assert all(name.startswith("orcalign") for name in added)
    assert {
        "orcalign_page.html",
        "orcalign_progress.parquet",
        "orcalign_reward.parquet",
        "orcalign_episode_000005.html",
    } <= added
    assert {name: digest for name, digest in files_of(root).items() if name in before} == before
    assert (tmp_path / "a.rrd").read_bytes()[:4] == b"RRF2"
    assert "How well was the demo followed?" in (root / "orcalign_episode_000005.html").read_text().replace(
        "how", "How"
    )
    main(["label", str(root), "--demo", "episode:0", "--encoder", "pixels", "--explain", "0"])
    assert "(0 now)" in capsys.readouterr().out


def fails(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["label", *map(str, words), "--encoder", "pixels"])
    assert ended.value.code == 2
    *_, last = capsys.readouterr().err.strip().splitlines()
    assert last.startswith("orcalign: ")
    return last


def test_what_is_wrong_is_one_line(root, capsys, tmp_path):
    assert "is missing" not in fails(capsys, "no/where/here", "--demo", "episode:0")
    assert "of at least 0" in fails(capsys, root, "--demo", "episode:0", "--explain", "-1")
    assert "did you mean 'bottleneck'" in fails(capsys, root, "--demo", "episode:0", "--matcher", "bottlenek")
    assert "did you mean 'observation.images.front'" in fails(
        capsys, root, "--demo", "episode:0", "--camera", "observation.image.front"
    )
    assert "did you mean 'episode:3'" in fails(capsys, root, "--demo", "epsode:3")
    assert "episode 17" in fails(capsys, root, "--demo", "episode:17")
    assert "truth.csv" in fails(capsys, root, "--demo", "episode:0", "--truth", "truth.csv")
    (tmp_path / "file").write_text("")
    assert "file" in fails(capsys, root, "--demo", "episode:0", "--out", tmp_path / "file")
    assert not list(root.glob("orcalign*"))
    video = open_dataset(root).episodes[-1].video
    video.write_bytes(video.read_bytes()[:900])
    assert video.name in fails(capsys, root, "--demo", "episode:0")
    assert not (root / "orcalign_progress.parquet").exists()
    assert not (root / "orcalign_page.html").exists()


def test_a_name_on_the_hub_is_read_from_its_copy_here(root, tmp_path, capsys, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    cache = tmp_path / "hub" / "datasets--some--disc"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text("a" * 40)
    (cache / "snapshots").mkdir()
    root.rename(cache / "snapshots" / ("a" * 40))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    main(["label", "some/disc", "--demo", "episode:0", "--encoder", "pixels", "--explain", "0"])
    assert "--dataset.repo_id=some/disc --use_rabc" in capsys.readouterr().out
    table = pq.read_table(tmp_path / "orcalign-disc" / "orcalign_progress.parquet")
    assert len(table) == sum(map(len, COURSES))
    assert "the hub does not give" in fails(capsys, "some/other", "--demo", "episode:0")
