"""The episodes of a run, read again by Minari."""

import numpy as np
import pytest
from cli.small_commands import refused, train

from orcalign.cli import main
from orcalign.training.collector import rescale
from orcalign.training.episode import EpisodeStore, PlayedEpisode

minari = pytest.importorskip("minari")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("run") / "nav2d", "--task=nav2d", "--recipe=orca_np", steps=120)


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_minari_reads_is_what_was_played(run, datasets, capsys):
    main(["export", str(run.path), "--minari", "nav2d/video-v0"])
    assert "minari.load_dataset('nav2d/video-v0')" in capsys.readouterr().out
    found = minari.load_dataset("nav2d/video-v0")
    store = EpisodeStore(run.path / "episodes")
    played = [PlayedEpisode.from_bytes(store.path(k).read_bytes()) for k in range(4)]
    paid = run.reward().pay([one.evidence for one in played])
    assert found.total_episodes == 4
    assert found.storage.metadata["algorithm_name"] == "drqv2"
    space = found.action_space
    for one, mine, rewards in zip(found.iterate_episodes(), played, paid, strict=True):
        assert np.array_equal(one.observations, mine.observations)
        assert np.array_equal(one.actions, rescale(mine.actions, space.low, space.high))
        assert one.rewards.tolist() == rewards.tolist()
        assert one.truncations.tolist() == [False] * 29 + [not mine.terminated]
        assert one.terminations.tolist() == [False] * 29 + [mine.terminated]
        assert one.infos["success"][1:].tolist() == mine.success.tolist()
        assert one.infos["env_reward"][1:].tolist() == mine.env_rewards.tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nothing_is_overwritten_and_nothing_left_half_done(run, datasets, capsys, monkeypatch):
    main(["export", str(run.path), "--minari", "nav2d/video-v0"])
    before = sorted(datasets.rglob("*"))
    assert "is there already" in refused(capsys, "export", run.path, "--minari", "nav2d/video-v0")
    assert "not a run" in refused(capsys, "export", datasets, "--minari", "nav2d/other-v0")
    assert "Malformed" in refused(capsys, "export", run.path, "--minari", "no spaces please")

    def full(*_, **__):
        raise OSError(28, "No space left on device", "main_data.hdf5")

    monkeypatch.setattr(minari.dataset._storages.hdf5_storage.HDF5Storage, "update_episodes", full)
    assert "No space left" in refused(capsys, "export", run.path, "--minari", "nav2d/other-v0")
    assert sorted(datasets.rglob("*")) == before


def test_without_minari_one_sentence_says_what_to_install(run, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "minari", None)
    said = refused(capsys, "export", run.path, "--minari", "a/b-v0")
    assert "pip install 'orcalign[minari]'" in said
