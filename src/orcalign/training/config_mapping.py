"""A run's config as plain values, the way it stands in `config.yaml`, and back."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from orcalign.agents import AgentSettings, find_settings
from orcalign.training.config import TrainConfig


def to_mapping(config: TrainConfig) -> dict[str, Any]:
    """Plain values, one section a topic, as they stand in `config.yaml`.

    >>> to_mapping(TrainConfig(task="nav2d", steps=300))["reward"]["matcher"]
    'orca'
    """
    plain: dict[str, Any] = _plain(dataclasses.asdict(config))
    return plain


def from_mapping(values: Mapping[str, Any]) -> TrainConfig:
    """The config that `to_mapping` was given; an unknown key names the known ones.

    >>> config = TrainConfig(task="nav2d", steps=300)
    >>> from_mapping(to_mapping(config)) == config
    True
    """
    made: TrainConfig = _build(TrainConfig, values, "")
    return made


def _build(kind: Any, values: Any, where: str) -> Any:
    if not isinstance(values, Mapping):
        raise ValueError(f"{where or 'the config'} is {values!r}; it must be a mapping of names to values.")
    if kind is AgentSettings:
        kind = find_settings(values.get("agent", "drqv2"))
    hints = get_type_hints(kind)
    for name in values:
        if name not in hints:
            near = difflib.get_close_matches(str(name), hints, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"the config has no field {where}{name!r};{hint} Known: {', '.join(hints)}.")
    made = {
        name: _build(hints[name], value, f"{name}.") if dataclasses.is_dataclass(hints[name])
        else _typed(f"{where}{name}", value, hints[name])
        for name, value in values.items()
    }  # fmt: skip
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
    if str(wanted).startswith("tuple") and isinstance(value, (list, tuple)):
        return tuple(str(entry) for entry in value)
    if wanted is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if wanted is str and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if wanted in (int, bool, str) and type(value) is wanted:
        return value
    raise ValueError(f"{name} is {value!r}; it must be of type {getattr(wanted, '__name__', wanted)}.")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value
