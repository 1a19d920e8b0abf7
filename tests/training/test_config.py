"""A config is checked where it is made, and survives being written down."""

from dataclasses import replace

import pytest

from orcalign.training import PRESETS, preset
from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_mapping, to_mapping
from orcalign.training.reward_config import RewardConfig
from orcalign.training.run_folder import config_text, read_config


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_survives_yaml(tmp_path, name):
    config = preset(name, "door-close")
    config = replace(config, reward=replace(config.reward, set=("window=3",), pretrain="temporal_ot"))
    (tmp_path / "config.yaml").write_text(config_text(config))
    assert read_config(tmp_path / "config.yaml") == config


def test_the_paper_preset_is_the_papers():
    config = preset("paper", "door-close")
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
    assert (config.reward.critic_only, config.reward.scale, config.reward.context) == (6000, "first", 3)
    assert (config.evaluation.eval_every, config.evaluation.eval_episodes) == (10_000, 10)
    assert (config.encoder.encoder, config.encoder.encoder_size, config.collect.render) == (
        "resnet50",
        224,
        "paper",
    )


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
            "did you mean 'temporal_ot'? Known: auto, ",
        ),
        (
            {"task": "nav2d", "encoder": {"places": "worst"}},
            "look is 'whole'; use --look object, or --places all",
        ),
        (
            {
                "task": "nav2d",
                "encoder": {"places": "worst", "look": "object"},
                "reward": {"distance": "euclidean"},
            },
            "distance is 'euclidean'; use --distance cosine, or --places all",
        ),
        (
            {"task": "nav2d", "reward": {"scale": "fist"}},
            "scale is 'fist'; it must be one of first, best, none",
        ),
        ({"task": "nav2d", "reward": {"context": 1.5}}, "reward.context is 1.5; it must be of type int"),
        ({"task": "nav2d", "collect": {"noise": "blue"}}, "Known: white, pink"),
        ({"task": "nav2d", "agent": {"agent": "ppo"}}, "Known: drqv2, sac"),
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


def test_settings_reach_the_method_that_has_them():
    config = RewardConfig(pretrain="temporal_ot", set=("window=4",), floor=0.1, temperature="0.5")
    assert config.settings_of("temporal_ot") == {"window": 4}
    assert config.settings_of("orca") == {"temperature": 0.5, "floor": 0.1}
