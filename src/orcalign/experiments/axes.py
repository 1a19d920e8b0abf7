"""The axes that a study may have, and what a value on each does to the config of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from orcalign.agents import AgentSettings, switch_agent
from orcalign.checks import Ramp, require
from orcalign.encoders.registry import ENCODERS
from orcalign.envs import find_task
from orcalign.experiments.methods import METHODS
from orcalign.training.config import (
    DEMO_KINDS,
    POLICY_INPUTS,
    CollectConfig,
    DemoConfig,
    TrainConfig,
)
from orcalign.training.config_mapping import from_mapping, to_mapping
from orcalign.training.reward_config import RewardConfig

Change = Callable[[TrainConfig, str], TrainConfig]
OBJECT_FRAMES = 192
"""Least side of the drawn frames for methods that look at a part of them, where the preset names a side."""


@dataclass(frozen=True)
class Axis:
    """One direction of a grid. Values are words, as a user types them."""

    name: str
    summary: str
    change: Change
    """Puts a value into a config; refuses values that are none of its own."""
    known: tuple[str, ...] = ()
    """All values, where they can be listed."""


def _task(config: TrainConfig, value: str) -> TrainConfig:
    # The preset was made for the task already; here only the name is checked.
    find_task(value)
    return config


def _method(config: TrainConfig, value: str) -> TrainConfig:
    require("method", value, tuple(METHODS))
    method = METHODS[value]
    reward = _reward(config.reward, tuple(method.reward.items()))
    agent = _agent(config.agent, tuple(method.agent.items()))
    collect = _collect(config.collect, tuple(method.collect.items()))
    encoder = replace(config.encoder, **method.encoder)
    if encoder.look != "whole" and collect.frame_size is not None:
        # A part of such a picture still has enough to see.
        collect = _collect(collect, (("frame_size", max(collect.frame_size, OBJECT_FRAMES)),))
    return replace(config, reward=reward, agent=agent, collect=collect, encoder=encoder)


@cache
def _reward(base: RewardConfig, changes: tuple[tuple[str, Any], ...]) -> RewardConfig:
    # A reward config tries its method on a small episode; thousands of cells share a few of them.
    return replace(base, **dict(changes))


@cache
def _agent(base: AgentSettings, changes: tuple[tuple[str, Any], ...]) -> AgentSettings:
    return replace(base, **dict(changes))


@cache
def _collect(base: CollectConfig, changes: tuple[tuple[str, Any], ...]) -> CollectConfig:
    return replace(base, **dict(changes))


def _demo_kind(config: TrainConfig, value: str) -> TrainConfig:
    changed = replace(config, demo=replace(config.demo, demo_kind=value))
    if value == "aligned" and config.reward.matcher == "temporal_ot":
        # The paper's window for aligned demos; otherwise it is a tenth of the demo, the method's own default.
        return replace(changed, reward=_reward(changed.reward, (("set", ("window=10",)),)))
    return changed


def _demos(config: TrainConfig, value: str) -> TrainConfig:
    """A number of demos of the same speed; 4-mixed are of different speeds."""
    count, _, mixed = value.partition("-")
    if not count.isdigit() or mixed not in ("", "mixed"):
        raise ValueError(f"demos is {value!r}; give a number, such as 4, or 4-mixed for different speeds.")
    kind = "mixed" if mixed else config.demo.demo_kind
    return replace(config, demo=DemoConfig((), kind, int(count), config.demo.demo_seed))


def _encoder(config: TrainConfig, value: str) -> TrainConfig:
    require("encoder", value, tuple(ENCODERS))
    same = value == config.encoder.encoder
    size = config.encoder.encoder_size if same else None
    return replace(config, encoder=replace(config.encoder, encoder=value, encoder_size=size))


def _policy_input(config: TrainConfig, value: str) -> TrainConfig:
    return replace(config, collect=_collect(config.collect, (("policy_input", value),)))


def _temperature(config: TrainConfig, value: str) -> TrainConfig:
    Ramp.parse("temperature", value, above=0)
    return replace(config, reward=_reward(config.reward, (("temperature", value),)))


def _floor(config: TrainConfig, value: str) -> TrainConfig:
    return replace(config, reward=_reward(config.reward, (("floor", _number("floor", value)),)))


def _context(config: TrainConfig, value: str) -> TrainConfig:
    return replace(config, reward=_reward(config.reward, (("context", _whole("context", value)),)))


def _seed(config: TrainConfig, value: str) -> TrainConfig:
    return replace(config, seed=_whole("seed", value))


def _demo_number(config: TrainConfig, value: str) -> TrainConfig:
    """Another demo, and another seed with it: methods that are compared get the same pair."""
    number = _whole("demo_number", value)
    return replace(config, seed=number, demo=replace(config.demo, demo_seed=number))


def _whole(name: str, value: str) -> int:
    if not value.isdigit():
        raise ValueError(f"{name} is {value!r}; it must be a whole number, such as 0.")
    return int(value)


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; it must be a number, such as 0.05.") from None


# fmt: off
AXES: dict[str, Axis] = {
    axis.name: axis
    for axis in (
        # In the order in which they are applied: demo_kind looks at the method, demos at the kind.
        Axis("task", "what is learned", _task),
        Axis("method", "the reward", _method, tuple(METHODS)),
        Axis("demo_kind", "how the demo's time is changed", _demo_kind, DEMO_KINDS),
        Axis("demos", "how many demos; 4-mixed are of different speeds", _demos),
        Axis("encoder", "what turns frames into features", _encoder, tuple(ENCODERS)),
        Axis("policy_input", "what the policy sees", _policy_input, POLICY_INPUTS),
        Axis("temperature", "of methods that have one", _temperature),
        Axis("floor", "distance below which a frame counts as reached", _floor),
        Axis("context", "frames over which distances are averaged", _context),
        Axis("demo_number", "which demo, and the run's seed with it", _demo_number),
        Axis("seed", "of the run", _seed),
    )
}
# fmt: on


def with_settings(config: TrainConfig, settings: Mapping[str, Any]) -> TrainConfig:
    """The config with some fields changed, named as in `config.yaml`; an unknown one lists the known.

    >>> from orcalign.training.presets import preset
    >>> with_settings(preset("laptop", "nav2d"), {"agent.hidden": 16}).agent.hidden
    16
    >>> with_settings(preset("laptop", "nav2d"), {"agent.hiden": 16})
    Traceback (most recent call last):
    ...
    ValueError: the config has no field agent.'hiden'; did you mean 'hidden'? Known: ...
    """
    if not settings:
        return config
    sections = {field.name for field in dataclasses.fields(config)}
    if "agent.agent" in settings:
        config = replace(config, agent=switch_agent(config.agent, settings["agent.agent"]))
    plain = to_mapping(config)
    for name, value in settings.items():
        section, dot, key = name.partition(".")
        if dot and section in sections:
            plain[section][key] = value
        else:
            plain[name] = value
    return from_mapping(plain)
