"""Settings, the registry, and what an import costs."""

import ast
import dataclasses
import inspect
import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
import tyro
from agents.batches import random_batch

from orcalign.agents import (
    AGENTS,
    AgentSettings,
    DrQv2Settings,
    SACSettings,
    XQCSettings,
    find_settings,
    make_agent,
    make_policy,
)
from orcalign.agents.registry import AgentEntry

every_agent = pytest.mark.parametrize("name", AGENTS)


@every_agent
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agent": "SAC"}, "agent is 'SAC'; Known: drqv2, sac, xqc"),
        ({"agent": "sacc"}, "did you mean 'sac'\\? Known: drqv2, sac, xqc"),
        ({"bootstrap": "n"}, "bootstrap is 'n'; Known: gamma\\^n, gamma"),
        ({"hidden": 0}, "hidden is 0; it must be a whole number of at least 1"),
        ({"n_step": 2.0}, "n_step is 2.0; it must be a whole number"),
        ({"batch": True}, "batch is True"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; it must be a finite number above 0"),
        ({"learning_rate": "1e-4"}, "learning_rate is '1e-4'"),
        ({"gamma": 1.01}, "gamma is 1.01; it must lie between 0 and 1, such as 0.99"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"gamma": True}, "gamma is True"),
        ({"target_smoothing": -0.1}, "target_smoothing is -0.1"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(name, changes, words):
    with pytest.raises(ValueError, match=words):
        find_settings(name)(**changes)


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        (DrQv2Settings, {"shift": -1}, "shift is -1"),
        (SACSettings, {"trunk": -1}, "trunk is -1; it must be a whole number of at least 0"),
        (XQCSettings, {"layers": 0}, "layers is 0; it must be a whole number of at least 1"),
        (XQCSettings, {"batch": 1}, "batch is 1; it must be at least 2"),
        (XQCSettings, {"entropy_temperature": -0.5}, "entropy_temperature is -0.5"),
        (
            DrQv2Settings,
            {"target_noise": float("inf")},
            "target_noise is inf; it must be a finite number of at least 0",
        ),
        (DrQv2Settings, {"target_noise_clip": -1.0}, "target_noise_clip is -1.0"),
        (DrQv2Settings, {"action_penalty": -0.01}, "action_penalty is -0.01"),
        (SACSettings, {"entropy_temperature": -0.5}, "entropy_temperature is -0.5"),
        (
            DrQv2Settings,
            {"agent": "sac"},
            "agent is 'sac', and DrQv2Settings is not what .*; make SACSettings instead",
        ),
        (
            SACSettings,
            {"agent": "drqv2"},
            "agent is 'drqv2', and SACSettings is not what .*; make DrQv2Settings instead",
        ),
        (AgentSettings, {"agent": "sac"}, "AgentSettings is not what .*; make SACSettings instead"),
    ],
    ids=str,
)
def test_an_agents_own_settings_are_its_own(kind, changes, words):
    with pytest.raises(ValueError, match=words):
        kind(**changes)


def test_limits_are_allowed():
    DrQv2Settings(gamma=1.0, target_smoothing=1.0, target_noise=0.0, target_noise_clip=0.0, trunk=0, shift=0)
    SACSettings(gamma=0, entropy_temperature=0.0)


def test_settings_are_a_command_line():
    parsed = tyro.cli(SACSettings, args=["--entropy-temperature", "0.1", "--gamma", "0.9"])
    assert parsed == SACSettings(entropy_temperature=0.1, gamma=0.9)


@every_agent
def test_every_field_explains_itself_on_the_command_line(name, capsys):
    said = {}
    for kind in (one for one in reversed(find_settings(name).__mro__) if issubclass(one, AgentSettings)):
        body = ast.parse(inspect.getsource(kind)).body[0].body
        said |= {
            field.target.id: text.value.value
            for field, text in itertools.pairwise(body)
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
        }
    assert list(said) == [field.name for field in dataclasses.fields(find_settings(name))]
    with pytest.raises(SystemExit):
        tyro.cli(find_settings(name), args=["--help"])
    shown = re.sub(r"[^\w]+", " ", capsys.readouterr().out)
    for field, text in said.items():
        assert " ".join(re.findall(r"\w+", text)[:5]) in shown, field


@every_agent
def test_every_agent_can_be_made(name):
    settings = find_settings(name)(hidden=8)
    assert settings.agent == name
    make_policy(settings, (4,), 2).load(make_agent(settings, (4,), 2, seed=0).policy_weights())


def test_a_third_agent_is_a_module_and_a_line(monkeypatch):
    here = "agents.third_agent"
    entry = AgentEntry(f"{here}:CloningSettings", f"{here}:Cloning", "orcalign.agents.networks:Actor", False, False)
    monkeypatch.setitem(AGENTS, "cloning", entry)
    settings = find_settings("cloning")(hidden=8, learning_rate=1e-2)
    agent, policy = make_agent(settings, (5,), 2, seed=0), make_policy(settings, (5,), 2)
    losses = [agent.update(random_batch(0))["actor_loss"].item() for _ in range(20)]
    assert losses[-1] < losses[0] / 2
    policy.load(agent.policy_weights())
    assert policy.act(np.zeros(5)).shape == (2,)


@pytest.mark.parametrize(
    ("name", "shape", "action_dim", "seed", "device", "words"),
    [
        (
            "sac",
            (9, 84, 84),
            2,
            0,
            "cpu",
            "'sac' learns from states, .* use one that takes images: drqv2",
        ),
        (
            "drqv2",
            (9, 84),
            2,
            0,
            "cpu",
            r"shape \(9, 84\); it must be a state \(D,\) or an image \(C, H, W\)",
        ),
        ("drqv2", (9, 84, 10), 2, 0, "cpu", "84x10 pixels; it must be at least 15x15"),
        ("drqv2", (4,), 0, 0, "cpu", "action has 0 dimensions"),
        ("drqv2", (4,), 2, -1, "cpu", "seed is -1; it must be a whole number"),
        ("drqv2", (4,), 2, 0, "gpu", "device 'gpu' cannot be used .*; use 'cpu'"),
    ],
)
def test_what_cannot_be_made_is_refused(name, shape, action_dim, seed, device, words):
    with pytest.raises(ValueError, match=words):
        make_agent(find_settings(name)(), shape, action_dim, seed, device)


def test_torch_waits_until_an_agent_is_made():
    """Settings are for command lines, and kernels may be compiled ahead where there is no torch."""
    code = (
        "import sys, orcalign.agents, orcalign.agents.cpu.losses, orcalign.agents.drqv2.losses, "
        "orcalign.agents.sac.losses; orcalign.agents.SACSettings(); orcalign.agents.XQCSettings(); "
        "print([m for m in ('torch', 'gymnasium', 'av') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_config_has_the_settings_of_the_agent_that_it_names():
    from orcalign.training.config_mapping import from_mapping, to_mapping, with_settings

    config = from_mapping({"task": "nav2d", "agent": {"agent": "sac", "entropy_temperature": 0.2}})
    assert config.agent == SACSettings(entropy_temperature=0.2)
    assert from_mapping(to_mapping(config)) == config
    assert from_mapping({"task": "nav2d", "agent": {"shift": 2}}).agent == DrQv2Settings(shift=2)
    with pytest.raises(ValueError, match=r"no field agent\.'shift'"):
        from_mapping({"task": "nav2d", "agent": {"agent": "sac", "shift": 2}})
    back = with_settings(to_mapping(config), {"agent.agent": "drqv2", "agent.shift": 2})
    assert from_mapping(back).agent == DrQv2Settings(shift=2)
