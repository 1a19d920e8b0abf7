"""A config is checked where it is made, and survives being written down."""

from dataclasses import dataclass, replace

import pytest

from orcalign.checks import Ramp, Scale
from orcalign.training import PRESETS, RECIPES, config_mapping
from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_mapping, to_mapping, with_settings
from orcalign.training.presets import config as config_of
from orcalign.training.reward_config import RewardConfig
from orcalign.training.run_folder import read_config


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_config_survives_yaml(tmp_path, preset, recipe):
    settings = {"reward.temperature": "1:0.5", "reward.scale": 2, "reward.pretrain": "temporal_ot"}
    config = config_of("door-close", preset, recipe, settings)
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    assert read_config(tmp_path / "config.yaml") == TrainConfig.from_yaml(config.to_yaml()) == config
    assert (config.reward.temperature, config.reward.scale) == (Ramp(1, 0.5), Scale(2.0))


def test_each_says_more_than_the_one_before():
    """Preset, suite, recipe, user."""
    assert config_of("door-close").encoder.encoder == "efficientnet-lite0"
    assert config_of("nav2d").encoder.encoder == "pixels"
    assert config_of("nav2d", "paper").encoder.encoder == "resnet50", "the suite's defaults are the laptop's"
    assert (config_of("nav2d").agent.gamma, config_of("nav2d", recipe="ot").agent.gamma) == (0.95, 0.9)
    assert config_of("nav2d", settings={"agent.gamma": 0.5}).agent.gamma == 0.5
    orca = config_of("door-close", "paper")
    assert (orca.recipe, orca.reward.matchers) == ("orca", ("temporal_ot", "orca"))
    # Whoever names a reward means no recipe.
    own = config_of("nav2d", settings={"reward.matcher": "orca", "steps": 5})
    assert (own.recipe, own.label, own.agent.gamma, own.steps) == ("", "orca", 0.9, 5)
    own = config_of("nav2d", settings={"reward.reward": "my_robot:Reward", "reward.set": ["speed=2"]})
    assert (own.label, own.reward.extra_settings()) == ("my_robot:Reward", {"speed": 2})


def test_a_recipe_is_a_label_alone():
    config = config_of("nav2d", recipe="ot")
    assert replace(config, recipe="mine").label == "mine"
    assert to_mapping(replace(config, recipe="")) == {**to_mapping(config), "recipe": ""}


def test_a_section_may_be_of_a_class_that_it_names(monkeypatch):
    @dataclass(frozen=True)
    class Other:
        agent: str = "other"
        hidden: int = 8
        own: float = 1.0

    def choose(name, hint, values):
        return Other if name == "agent" and values.get("agent") == "other" else hint

    monkeypatch.setattr(config_mapping, "section_class", choose)
    config = config_of("nav2d", settings={"agent.agent": "other", "agent.own": 2})
    assert config.agent == Other(own=2.0), "what the other class has of its own was left behind"
    assert from_mapping(to_mapping(config)) == config
    with pytest.raises(ValueError, match=r"no field agent\.'gamma'"):
        config_of("nav2d", settings={"agent.agent": "other", "agent.gamma": 0.9})
    assert with_settings(to_mapping(config), {"agent.agent": "drqv2"})["agent"] == {
        "agent": "drqv2",
        "hidden": 8,
    }


def test_the_paper_preset_is_the_papers():
    config = config_of("door-close", "paper")
    assert (config.demo.demo_end, config.demo.demo_order) == ("script", "drawn")
    laptop = config_of("door-close").demo
    assert (laptop.demo_end, laptop.demo_order) == ("hold", "central")
    assert (config.agent.batch, config.agent.hidden, config.agent.learning_rate) == (512, 256, 1e-4)
    assert config.agent.gamma == 0.9
    assert (config.agent.n_step, config.agent.target_smoothing, config.agent.bootstrap) == (
        3,
        0.005,
        "gamma^n",
    )
    assert (config.collect.random_steps, config.collect.learning_starts) == (2000, 500)
    assert (config.collect.noise_start, config.collect.noise_end, config.collect.noise) == (0.4, 0.0, "white")
    assert (config.collect.updates_per_step, config.collect.replay, config.steps) == (0.5, 150_000, 1_000_000)
    assert (config.reward.critic_only, str(config.reward.scale), config.reward.context) == (6000, "first", 3)
    assert (config.reward.pretrain, config.reward.keep_replay) == ("temporal_ot", False)
    assert (str(config.reward.temperature), config.reward.direction, config.encoder.look) == ("1.0", "future", "whole")
    assert (config.evaluation.eval_every, config.evaluation.eval_episodes) == (10_000, 10)
    assert (config.encoder.encoder, config.encoder.encoder_size, config.collect.render) == (
        "resnet50",
        224,
        "paper",
    )
    assert (config.collect.updates, config.collect.in_flight) == ("step", 0)


def test_the_papers_second_column_is_sacs():
    config = config_of("door-close", "paper", settings={"agent.agent": "sac"})
    agent, collect, evaluation = config.agent, config.collect, config.evaluation
    assert (agent.learning_rate, agent.batch, agent.gamma, agent.target_smoothing) == (1e-3, 256, 0.99, 0.005)
    assert (agent.hidden, agent.trunk, agent.n_step, config.steps) == (256, 0, 1, 2_000_000)
    assert (collect.updates_per_step, collect.updates) == (1.0, "step")
    assert (collect.learning_starts, evaluation.eval_every, evaluation.eval_episodes) == (6000, 20_000, 8)
    assert config_of("door-close", "laptop", settings={"agent.agent": "sac"}).agent.gamma == 0.95
    given = config_of("door-close", "paper", settings={"agent.agent": "sac", "agent.gamma": 0.9})
    assert given.agent.gamma == 0.9


@pytest.mark.parametrize("own", [(), ("epsilon=0.5",)])
@pytest.mark.parametrize(("recipe", "preset"), [("temporal_ot", "laptop"), ("orca", "paper")])
def test_temporal_ot_has_the_papers_window_for_aligned_demos(own, recipe, preset):
    settings = {"demo.demo_kind": "aligned", **({"reward.set": list(own)} if own else {})}
    reward = config_of("door-close", preset, recipe, settings).reward
    assert reward.video_settings("temporal_ot").of_matcher("temporal_ot")["window"] == 10
    assert reward.set == (*own, "window=10")
    settings["reward.set"] = ["window=3"]
    assert config_of("door-close", preset, recipe, settings).reward.extra_settings() == {"window": 3}
    settings = {"demo.demo_kind": "misaligned"}
    assert "window" not in config_of("door-close", preset, recipe, settings).reward.extra_settings()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": "door-clos"}, "did you mean 'door-close'"),
        ({"task": "door-close", "steps": 0}, "steps is 0; it must be at least 1"),
        ({"task": "Pendulum-v1"}, "has no misaligned demo of its own; give a video with --demo"),
        ({"task": "nav2d", "stepps": 3}, "no field 'stepps'; did you mean 'steps'?"),
        ({"task": "nav2d", "reward": {"matcher": "orka"}}, "did you mean 'orca'?"),
        (
            {"task": "nav2d", "reward": {"temperature": "1:0"}},
            "temperature is '1:0'; it must be a number above 0",
        ),
        (
            {"task": "nav2d", "reward": {"set": ["windw=3"], "pretrain": "temporal_ot"}},
            "did you mean 'window'?",
        ),
        ({"task": "nav2d", "reward": {"set": ["window"]}}, "give name=value"),
        (
            {"task": "nav2d", "reward": {"pretrain": "temporal_to"}},
            "did you mean 'temporal_ot'? Known: orca, ",
        ),
        (
            {"task": "nav2d", "reward": {"scale": "fist"}},
            "scale is 'fist'; it must be one of first, none, or a number above 0",
        ),
        (
            {"task": "nav2d", "reward": {"temperature": True}},
            "reward.temperature is True; it must be of type Ramp",
        ),
        (
            {"task": "nav2d", "reward": {"reward": "mine"}},
            "give video, follow, gaifo, roboclip, text, or one of your own as module:Class",
        ),
        ({"task": "nav2d", "reward": {"pool": "mean"}}, "pool is 'mean'; Known: auto, max, best"),
        ({"task": "nav2d", "reward": {"context": 1.5}}, "reward.context is 1.5; it must be of type int"),
        ({"task": "nav2d", "collect": {"noise": "blue"}}, "Known: white, pink"),
        ({"task": "nav2d", "agent": {"agent": "ppo"}}, "Known: drqv2, sac, xqc"),
        ({"steps": 5}, "names no task"),
        ([], "must be a mapping"),
    ],
)
def test_mistakes_are_named(change, words):
    with pytest.raises(ValueError, match=words.replace("?", r"\?").replace("(", r"\(")):
        from_mapping(change)


def test_a_file_that_is_not_yaml(tmp_path):
    (tmp_path / "config.yaml").write_text("task: [")
    with pytest.raises(ValueError, match="is not YAML"):
        read_config(tmp_path / "config.yaml")


def test_a_mapping_holds_plain_values_only():
    def plain(value):
        if isinstance(value, dict):
            return all(plain(entry) for entry in value.values())
        return isinstance(value, (str, int, float, bool, list, type(None)))

    assert plain(to_mapping(TrainConfig("nav2d")))


def test_settings_reach_the_matcher_that_has_them():
    config = RewardConfig(pretrain="temporal_ot", set=("window=4",), floor=0.1, temperature=Ramp(0.5, 0.5))
    merged = [config.video_settings(name).of_matcher(name) for name in config.matchers]
    assert merged == [{"window": 4}, {"temperature": 0.5, "floor": 0.1}]
