"""Settings, the registry, and what an import costs."""

import ast
import dataclasses
import inspect
import itertools
import re
import subprocess
import sys

import pytest
import tyro

from orcalign.agents import AGENTS, AgentSettings, make_agent, make_policy


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agent": "SAC"}, "no agent 'SAC'"),
        ({"agent": "sacc"}, "did you mean 'sac'\\? Known: drqv2, sac"),
        ({"bootstrap": "n"}, "bootstrap is 'n'; it must be 'gamma\\^n' or 'gamma'"),
        ({"hidden": 0}, "hidden is 0; it must be a whole number of at least 1"),
        ({"n_step": 2.0}, "n_step is 2.0; it must be a whole number"),
        ({"batch": True}, "batch is True"),
        ({"trunk": -1}, "trunk is -1; it must be a whole number of at least 0"),
        ({"shift": -1}, "shift is -1"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; it must be finite and positive, such as 0.0001"),
        ({"learning_rate": "1e-4"}, "learning_rate is '1e-4'"),
        ({"gamma": 1.01}, "gamma is 1.01; it must lie between 0 and 1"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"target_smoothing": -0.1}, "target_smoothing is -0.1"),
        ({"target_noise": float("inf")}, "target_noise is inf; it must be finite and not negative"),
        ({"target_noise_clip": -1.0}, "target_noise_clip is -1.0"),
        (
            {"action_penalty": -0.01},
            "action_penalty is -0.01; it must be finite and not negative, such as 0.01",
        ),
        ({"entropy_temperature": -0.5}, "entropy_temperature is -0.5"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        AgentSettings(**changes)


def test_limits_are_allowed():
    AgentSettings(
        gamma=1.0, target_smoothing=1.0, target_noise=0.0, trunk=0, shift=0, entropy_temperature=0.0
    )


def test_settings_are_a_command_line_with_help_for_every_field():
    parsed = tyro.cli(
        AgentSettings, args=["--agent", "sac", "--entropy-temperature", "0.1", "--gamma", "0.9"]
    )
    assert parsed == AgentSettings(agent="sac", entropy_temperature=0.1, gamma=0.9)


def test_every_field_explains_itself_on_the_command_line(capsys):
    body = ast.parse(inspect.getsource(AgentSettings)).body[0].body
    said = {
        field.target.id: text.value.value
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    assert list(said) == [field.name for field in dataclasses.fields(AgentSettings)]
    with pytest.raises(SystemExit):
        tyro.cli(AgentSettings, args=["--help"])
    shown = re.sub(r"[^\w]+", " ", capsys.readouterr().out)
    for name, text in said.items():
        assert " ".join(re.findall(r"\w+", text)[:5]) in shown, name


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_can_be_made(name):
    settings = AgentSettings(agent=name, hidden=8)
    make_policy(settings, (4,), 2).load(make_agent(settings, (4,), 2, seed=0).policy_weights())
    assert AGENTS[name].summary


@pytest.mark.parametrize(
    ("settings", "shape", "action_dim", "seed", "device", "words"),
    [
        (
            {"agent": "sac"},
            (9, 84, 84),
            2,
            0,
            "cpu",
            "'sac' learns from states, .* use one that takes images: drqv2",
        ),
        ({}, (9, 84), 2, 0, "cpu", r"shape \(9, 84\); it must be a state \(D,\) or an image \(C, H, W\)"),
        ({}, (9, 84, 10), 2, 0, "cpu", "84x10 pixels; it must be at least 15x15"),
        ({}, (4,), 0, 0, "cpu", "action has 0 dimensions"),
        ({}, (4,), 2, -1, "cpu", "seed is -1; it must be a whole number"),
        ({}, (4,), 2, 0, "gpu", "device 'gpu' cannot be used .*; use 'cpu'"),
    ],
)
def test_what_cannot_be_made_is_refused(settings, shape, action_dim, seed, device, words):
    with pytest.raises(ValueError, match=words):
        make_agent(AgentSettings(**settings), shape, action_dim, seed, device)


def test_torch_waits_until_an_agent_is_made():
    code = "import sys, orcalign.agents; print([m for m in ('torch', 'gymnasium', 'av') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
