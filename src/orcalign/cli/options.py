"""Every field of a run's config as an option: for tyro, which reads types, defaults and help from classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

import tyro


def value_of(option: str, words: Sequence[str]) -> str | None:
    """What was typed after an option, if it was.

    >>> value_of("--task", ["train", "--task", "nav2d"]), value_of("--task", ["--task=push"]), value_of("--task", [])
    ('nav2d', 'push', None)
    """
    for k, word in enumerate(words):
        if word == option and k + 1 < len(words):
            return words[k + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def with_import(words: Sequence[str], commands: Collection[str]) -> list[str]:
    """The words without --import MODULE, and the task as MODULE:TASK: it is the value of --task, or what stands behind
    the command.

    >>> with_import(["train", "--import", "my_envs", "--task", "Lift-v0"], {"train"})
    ['train', '--task', 'my_envs:Lift-v0']
    >>> with_import(["entities", "Lift-v0", "--import=my_envs"], {"entities"})
    ['entities', 'my_envs:Lift-v0']
    """
    module, left = value_of("--import", words), list(words)
    if module is None:
        return left
    at = next(k for k, word in enumerate(left) if word.partition("=")[0] == "--import")
    del left[at : at + (1 if "=" in left[at] else 2)]
    named = next((k for k, word in enumerate(left) if word.partition("=")[0] == "--task"), None)
    behind = next((len(name.split()) for name in commands if left[: len(name.split())] == name.split()), len(left))
    place = behind if named is None else named + ("=" not in left[named])
    if place >= len(left) or (named is None and left[place][:2] == "--"):
        raise ValueError(f"--import {module} is for a task that it registers; name the task, too.")
    option, equals, task = left[place].rpartition("=")
    left[place] = option + equals + (task if ":" in task else f"{module}:{task}")
    return left


def typed_fields(words: Sequence[str]) -> list[str]:
    """The fields of the config whose options were typed, whatever their values: those are the user's.

    >>> typed_fields(["train", "--steps=3", "--no-calibrated", "--frame_size", "64"])
    ['steps', 'reward.calibrated', 'collect.frame_size']
    """
    from orcalign.training.config_mapping import field_types

    named = {word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")}
    # No two sections have a field of the same name.
    options = {field: field.rpartition(".")[2].replace("_", "-") for field in field_types() if field != "recipe"}
    return [field for field, name in options.items() if {f"--{name}", f"--no-{name}"} & named]


def unchecked(kind: Any, plain: Mapping[str, Any]) -> Any:
    """The same settings in classes without rules: tyro would put what they raise into a box with its own words."""
    from orcalign.training.config_mapping import is_section, section_class

    hints, values, sections = get_type_hints(kind), dict(plain), {}
    for name, hint in hints.items():
        value = values.get(name)
        if is_section(hint):
            inner = section_class(name, hint, value or {})
            values[name] = sections[name] = unchecked(inner, value or {})
            hints[name] = type(values[name])
        elif name == "recipe":
            # The command has an option of that name, which does more.
            hints[name] = Annotated[hint, tyro.conf.Fixed, tyro.conf.Suppress]
        if isinstance(value, list):
            values[name] = tuple(value)
        elif isinstance(value, str) and hasattr(hint, "parse"):
            values[name] = hint.parse(value)
    body = {
        "__post_init__": lambda self: None,
        "__doc__": str(kind.__doc__).partition("\n\n")[0],
        "__annotations__": hints,
        **sections,
    }
    made: Any = dataclass(frozen=True)(type(kind.__name__, (kind,), body))
    return made(**values)


def text_settings() -> Any:
    """Tells tyro how settings are typed that are one text each, such as 1.0:0.25."""
    from orcalign.checks import Ramp, Scale

    registry = tyro.constructors.ConstructorRegistry()

    @registry.primitive_rule
    def rule(info: tyro.constructors.PrimitiveTypeInfo) -> Any:
        kind: Any = info.type
        if kind not in (Ramp, Scale):
            return None
        return tyro.constructors.PrimitiveConstructorSpec(
            nargs=1,
            metavar="X[:Y]" if kind is Ramp else "first|none|X",
            # What cannot be parsed is for the config to refuse, in its own words.
            instance_from_str=lambda words: words[0],
            is_instance=lambda value: isinstance(value, (kind, str)),
            str_from_instance=lambda value: [str(value)],
        )

    return registry
