"""Runs that are paid for whole clips, by a small video model of transformers with random weights."""

import pytest
from training.small_runs import SMALL, assert_same, run_to_end

from orcalign import config
from orcalign.report.training_run import run_page
from orcalign.training import start_run

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    torch.manual_seed(0)
    small = transformers.VideoMAEConfig(
        hidden_size=16, num_attention_heads=2, num_hidden_layers=1, intermediate_size=16, image_size=32, patch_size=16,
        num_frames=4, tubelet_size=2,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("network")
    transformers.VideoMAEModel(small).save_pretrained(folder)
    return str(folder)


def clip_config(network, **settings):
    return config("nav2d", recipe="roboclip", settings={
        "steps": 180, **SMALL, "reward.set": [f"network={network}"], **settings
    })  # fmt: skip


@pytest.fixture(scope="module")
def run(network, tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "run", clip_config(network))


def test_it_trains_with_sac_and_is_paid_at_the_end(run, network):
    assert run.config.agent.agent == "sac"
    episodes, (*_, last) = list(run.records("episode")), run.records("evaluation")
    assert all(-1 <= one["similarity"] <= 1 for one in episodes)
    assert last["chosen_by"] == "similarity"
    notes = [note["text"] for note in run.records("note")]
    assert not any("in the place of" in text for text in notes), "what a user names stands in for nothing by itself"


def test_with_a_collector_beside_the_learner_it_is_the_same_run(run, network, tmp_path):
    assert_same(run, run_to_end(tmp_path / "run", clip_config(network), workers=1))


def test_its_page_shows_one_bar(run):
    page = run_page(run.path)
    assert "cannot be shown" not in page
    assert 'class="one-bar"' in page
    assert "similarity" in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("network=i4d", "did you mean 'i3d'"),
        ("netwrk=i3d", "did you mean 'network'"),
        ("network=./nowhere", "There is no folder ./nowhere"),
        ("network=s3d", "give the public HowTo100M file with --weights"),
        ("frames=1", "frames is 1"),
    ],
)
def test_bad_settings_leave_nothing_behind(given, said, tmp_path):
    with pytest.raises((ValueError, OSError), match=said):
        start_run(clip_config("x", **{"reward.set": [given]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
