"""orcalign predictor data, train."""

import json

import pytest
from cli.small_commands import refused

from orcalign.cli import main
from orcalign.costs.predicted.eye import Eye
from orcalign.training.posed_eyes import posed_eye


def run(*words):
    main(["predictor", *(str(word) for word in words)])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A data set of the 2D navigation, with an eye in it that has hardly learned."""
    folder = tmp_path_factory.mktemp("predictor") / "data"
    run("data", "nav2d", "--out", folder, "--frames", 60)
    run("train", folder, "--updates", 20)
    return folder


def test_an_eye_knows_where_it_comes_from(trained, capsys):
    eye = Eye.load(trained / "eye.safetensors")
    manifest = json.loads((trained / "manifest.json").read_text())
    assert eye.about["task"] == "nav2d"
    assert (eye.about["render"], eye.about["size"], eye.about["camera"]) == ("fast", 64, None)
    assert (eye.about["source"], eye.about["frames"], eye.about["updates"]) == ("posed", 68, 20)
    assert len(eye.about["data"]) == 64
    assert manifest["about"]["entities"] == eye.entities.plain()
    assert "hand" in eye.errors
    run("train", trained, "--updates", 20, "--out", trained.parent / "again.safetensors")
    said = capsys.readouterr().out
    assert "median cm" in said
    assert "68 posed frames of nav2d" in said
    assert Eye.load(trained.parent / "again.safetensors").digest == eye.digest, "the same command, the same eye"


def test_what_a_user_can_have_done_wrong(trained, tmp_path, capsys):
    assert "did you mean 'drawer-open'?" in refused(capsys, "predictor", "data", "drawer-opne")
    assert "cannot be posed" in refused(capsys, "predictor", "data", "CartPole-v1", "--out", tmp_path / "a")
    assert "seed 0, and 3 is wanted" in refused(capsys, "predictor", "data", "nav2d", "--out", trained, "--seed", 3)
    assert "give --overwrite" in refused(capsys, "predictor", "train", trained)
    assert "must be a file that ends in" in refused(
        capsys, "predictor", "train", trained, "--out", tmp_path / "eye.npz"
    )
    assert "it has no manifest.json" in refused(capsys, "predictor", "train", tmp_path)
    assert "updates is 0" in refused(
        capsys, "predictor", "train", trained, "--updates", 0, "--out", tmp_path / "eye.safetensors"
    )
    assert not (tmp_path / "eye.safetensors").exists()


def test_the_eye_of_a_task_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path))
    told = []
    path = posed_eye("nav2d", frames=60, updates=20, tell=lambda *now: told.append(now))
    assert [what for k, (what, _, _) in enumerate(told) if k == 0 or told[k - 1][0] != what] == [
        "posing",
        "looking",
        "learning",
    ]
    assert told[-1] == ("learning", 20, 20)
    assert Eye.load(path).about["task"] == "nav2d"
    assert not list((tmp_path / "posed").iterdir()), "its data is gone"
    before = path.stat().st_mtime_ns
    assert posed_eye("nav2d", frames=60, updates=20, tell=lambda *now: told.append(now)) == path
    assert path.stat().st_mtime_ns == before
    assert told[-1] == ("learning", 20, 20)
    assert posed_eye("nav2d", frames=60, updates=21) != path
