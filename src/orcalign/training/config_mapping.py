"""A run's config as plain values, the way it stands in `config.yaml`, and back; and with some settings changed."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from orcalign.agents import AGENTS, find_settings
from orcalign.checks import near_miss
from orcalign.training.config import TrainConfig


def section_class(name: str, hint: Any, values: Mapping[str, Any]) -> Any:
    """The class of a section of the config: of the agent's, the one that the agent named in it has."""
    return find_settings(str(values.get("agent", "drqv2"))) if name == "agent" else hint


def is_section(hint: Any) -> bool:
    """Whether a field has fields of its own; a value that is one text, such as a `Ramp`, has none."""
    return dataclasses.is_dataclass(hint) and not hasattr(hint, "parse")


def to_mapping(config: Any) -> dict[str, Any]:
    """Plain values, one section a topic, as they stand in `config.yaml`.

    >>> to_mapping(TrainConfig(task="nav2d", steps=300))["reward"]["temperature"]
    '1.0'
    """
    return {field.name: _plain(getattr(config, field.name)) for field in dataclasses.fields(config)}


def from_mapping(values: Mapping[str, Any]) -> TrainConfig:
    """The config that `to_mapping` was given; an unknown key names the known ones.

    >>> config = TrainConfig(task="nav2d", steps=300)
    >>> from_mapping(to_mapping(config)) == config
    True
    """
    made: TrainConfig = _build(TrainConfig, values, "")
    return made


def with_settings(plain: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping with some fields changed, named as in {"steps": 300, "agent.hidden": 16}; checked by `from_mapping`.

    Where a setting chooses another class for a section, what that class does not have is left behind.

    >>> with_settings({"task": "nav2d", "agent": {"batch": 8}}, {"agent.hidden": 16})
    {'task': 'nav2d', 'agent': {'batch': 8, 'hidden': 16}}
    """
    hints = get_type_hints(TrainConfig)
    changed = {name: dict(value) if isinstance(value, Mapping) else value for name, value in plain.items()}
    own: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        section, dot, key = name.partition(".")
        if dot and is_section(hints.get(section)):
            own.setdefault(section, {})[key] = value
        else:
            changed[name] = value
    for section, values in own.items():
        merged = {**changed.get(section, {}), **values}
        known = get_type_hints(section_class(section, hints[section], merged))
        changed[section] = {name: value for name, value in merged.items() if name in known or name in values}
    return changed


def field_types() -> dict[str, Any]:
    """All fields of the config, those of every agent, by their dotted names, with their types; sections are none.

    >>> field_types()["reward.context"]
    <class 'int'>
    """
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(TrainConfig).items():
        if is_section(hint):
            for agent in AGENTS if name == "agent" else ("",):
                inner = get_type_hints(section_class(name, hint, {"agent": agent}))
                found.update({f"{name}.{key}": value for key, value in inner.items()})
        else:
            found[name] = hint
    return found


def from_word(name: str, word: str) -> Any:
    """The value of a field that is written as a word.

    >>> from_word("reward.context", "3"), from_word("reward.calibrated", "false"), from_word("encoder.weights", "none")
    (3, False, None)
    """
    hint = field_types()[name]
    kinds = get_args(hint) or (hint,)
    if word == "none" and type(None) in kinds:
        return None
    if bool in kinds and word in ("true", "false"):
        return word == "true"
    if str(hint).startswith("tuple"):
        return word.split()
    with contextlib.suppress(ValueError):
        if int in kinds or float in kinds:
            return int(word) if int in kinds else float(word)
    # What is left is text, or a mistake that `from_mapping` names.
    return word


def _build(kind: Any, values: Any, where: str) -> Any:
    if not isinstance(values, Mapping):
        raise ValueError(f"{where or 'the config'} is {values!r}; it must be a mapping of names to values.")
    hints = get_type_hints(kind)
    for name in values:
        if name not in hints:
            raise ValueError(
                f"the config has no field {where}{name!r};{near_miss(name, hints)} Known: {', '.join(hints)}."
            )
    made = {}
    for name, value in values.items():
        if is_section(hints[name]):
            inner = section_class(name, hints[name], value if isinstance(value, Mapping) else {})
            made[name] = _build(inner, value, f"{name}.")
        else:
            made[name] = _typed(f"{where}{name}", value, hints[name])
    try:
        return kind(**made)
    except TypeError:
        raise ValueError("the config names no task; add one, such as task: door-close.") from None


def _typed(name: str, value: Any, hint: Any) -> Any:
    """YAML knows no tuples and writes 1.0 as it likes; anything else of another type is a mistake."""
    kinds = get_args(hint) if type(None) in get_args(hint) else (hint,)
    if value is None and type(None) in kinds:
        return None
    wanted = next(kind for kind in kinds if kind is not type(None))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hasattr(wanted, "parse") and (number or isinstance(value, (str, wanted))):
        return wanted.parse(value, name.rpartition(".")[2])
    if str(wanted).startswith("tuple") and isinstance(value, (list, tuple)):
        return tuple(str(entry) for entry in value)
    if wanted in (float, str) and number:
        return wanted(value)
    if wanted in (int, bool, str) and type(value) is wanted:
        return value
    raise ValueError(f"{name} is {value!r}; it must be of type {getattr(wanted, '__name__', wanted)}.")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_mapping(value) if is_section(value) else str(value)
    return list(value) if isinstance(value, tuple) else value
