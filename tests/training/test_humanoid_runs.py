"""Runs on the humanoid in small: the paper's settings, the reward from pictures, ends of episodes, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from orcalign.envs.posed_data import PosedData, make_posed_data
from orcalign.rewards import load_reward
from orcalign.training.collector import Collector, Order
from orcalign.training.episode import EpisodeStore
from orcalign.training.joint_predictors import find_predictor, read_errors, train_joints
from orcalign.training.presets import config
from orcalign.training.start import start_run, train

TASK = "humanoid-arms-out"
SIZE = 64


@pytest.fixture(scope="module")
def predictor(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("joints")
    make_posed_data("humanoid-arms-down", folder / "data", frames=60, size=SIZE)
    data = PosedData.load(folder / "data")
    made = train_joints(data, updates=3)
    assert list(read_errors(made, data))[-1] == "arms (radians)"
    made.save(folder / "joints.safetensors")
    return folder / "joints.safetensors"


def small(predictor: Path, **more):
    settings = {
        "steps": 60, "encoder.predictor": str(predictor), "collect.frame_size": SIZE, "collect.random_steps": 60,
        "agent.hidden": 16, "agent.batch": 8, "evaluation.eval_episodes": 1, "evaluation.eval_choosing": 0,
        "evaluation.eval_every": 60, **more,
    }  # fmt: skip
    return config(TASK, settings=settings)


def test_the_paper_preset_has_the_papers_humanoid_settings():
    for recipe, pretrain, own in (
        ("orca", "temporal_ot", ()),
        ("orca_np", None, ()),
        ("temporal_ot", None, ()),
        ("ot", None, ("epsilon=0",)),
        ("threshold", None, ("threshold=0.7",)),
        ("dtw", None, ()),
    ):
        found = config(TASK, "paper", recipe)
        assert (found.steps, found.agent.agent, found.reward.pretrain) == (2_000_000, "sac", pretrain)
        assert (found.reward.distance, found.reward.context, found.reward.set) == ("euclidean", 1, own)
        assert (found.encoder.look, found.reward.confidence, found.reward.stability) == ("joints", True, 1.0)
        assert (found.collect.repeat, found.collect.ends, found.collect.render) == (None, None, "paper")
        assert found.reward.temperature(0.0) == found.reward.temperature(1.0) == 1.0
        assert found.reward.floor == 0.0
    # A tenth of ten frames, the matcher's own default, which an aligned demo would not have.
    assert config(TASK, "paper", "temporal_ot").demo.demo_kind == "misaligned"


def test_a_run_is_paid_from_pictures_for_every_part_and_goes_by_its_evidence(predictor, tmp_path):
    run = train(small(predictor), tmp_path / "run", workers=0)
    description = json.loads((run.path / "reward.json").read_text())["reward"]["parts"][0]
    assert [description["kind"], *(part["kind"] for part in description["parts"])] == ["sum", "product", "stability"]
    reward = load_reward(run.path)
    records = [json.loads(line) for line in run.metrics_file.read_text().splitlines()]
    (last,) = (one for one in records if one["kind"] == "evaluation" and one["step"] >= 60)
    assert 0 <= last["confidence"] <= 1
    episodes = [one for one in records if one["kind"] == "episode"]
    assert episodes[0]["length"] < 60, "random actions fall within a second"
    number = episodes[0]["episode"]
    data = EpisodeStore(run.path / "episodes").path(number).read_bytes()
    from orcalign.training.episode import PlayedEpisode

    kept = PlayedEpisode.from_bytes(data)
    assert kept.terminated
    assert {"0.cost_0", "0.confidence", "1.height", "1.squares"} == set(kept.evidence.arrays)
    assert kept.evidence["0.cost_0"].shape == (len(kept), 10)
    assert kept.evidence["1.height"][-1] < 1.0
    assert episodes[0]["reward"] == pytest.approx(reward.pay([kept.evidence])[0].sum())


def test_the_reference_follows_by_true_angles_and_is_paid_for_standing(tmp_path, monkeypatch):
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path))
    settings = {"steps": 60, "follow.posed_frames": 100, "follow.posed_updates": 3, "collect.frame_size": SIZE}
    settings |= {"agent.hidden": 16, "agent.batch": 8, "collect.random_steps": 60, "evaluation.eval_episodes": 1}
    settings |= {"evaluation.eval_choosing": 0, "evaluation.eval_every": 60, "evaluation.eval_last": 1}
    run = train(TASK, tmp_path / "run", recipe="follow_posed", settings=settings, workers=0)
    description = json.loads((run.path / "reward.json").read_text())["reward"]["parts"][0]
    assert [part["kind"] for part in description["parts"]] == ["follow", "stability"]
    assert description["parts"][0]["entities"]["hand"] == [16, 17, 18, 19, 20, 21]
    assert description["parts"][0]["learner"] == "states"


def test_evaluation_goes_on_after_a_fall_and_counts_steps_of_the_simulation(predictor, tmp_path):
    settings = small(predictor)
    run = start_run(settings, tmp_path / "run")
    collector = Collector(settings, load_reward(run.path))
    still = {name: np.zeros_like(value) for name, value in _weights(collector).items()}
    played = collector.play(Order(0, 1, still, evaluation=0, observe=False))
    assert len(played) == 60
    assert not played.terminated
    assert played.total == 0
    # As if the arms were there from the start: success while it stands, in steps of 0.015 s.
    collector.env.unwrapped.goal = np.zeros(6)
    standing = collector.play(Order(0, 1, still, evaluation=0, observe=False))
    assert 2 * standing.success.sum() - 1 <= standing.total <= 2 * standing.success.sum() + 1
    assert standing.total > 15
    collector.close()


def _weights(collector):
    from orcalign.agents import make_agent

    world = collector.world
    return make_agent(collector.config.agent, world.observation_shape, len(world.action_low), 0).policy_weights()


def test_what_does_not_fit_is_refused_in_a_sentence(predictor, tmp_path):
    with pytest.raises(ValueError, match="made for render 'fast', not for 'paper'"):
        find_predictor(str(predictor), TASK, 1, 1, "paper", SIZE)
    with pytest.raises(ValueError, match="made for size 64, not for 128"):
        find_predictor(str(predictor), TASK, 1, 1, "fast", None)
    with pytest.raises(ValueError, match="'door-close' has no joints"):
        find_predictor(str(predictor), "door-close", 1, 1, "fast", SIZE)
    with pytest.raises(ValueError, match="confidence is that of a joint predictor"):
        start_run(config("nav2d", settings={"reward.confidence": True}), tmp_path / "a")
    with pytest.raises(ValueError, match="nothing of 'nav2d' can fall"):
        start_run(config("nav2d", settings={"reward.stability": 1.0}), tmp_path / "b")
    with pytest.raises(ValueError, match=r"ends is 'falls', and the info of .* has no such entry; it has .*fallen"):
        train(small(predictor, **{"collect.ends": "falls"}), tmp_path / "c", workers=0)
