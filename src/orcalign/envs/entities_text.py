"""Entities as YAML with comments, by which a person can check them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.entities import Entities
from orcalign.envs.entities_guess import Row


def as_yaml(task: str, entities: Entities | None, rows: Sequence[Row] | None, state: npt.NDArray[np.floating]) -> str:
    """What `Entities.from_file` reads; comments say where each part is after a reset, and what was seen of a guess.

    >>> print(as_yaml("nav2d", Entities((0, 1), unit=60.0), None, np.array([0.5, 0.25, 0.0])), end="")
    # Entities of nav2d, as its suite knows them.
    # hand      0 1          at a reset: 30.0 15.0 cm
    hand: [0, 1]
    unit: 60.0
    """
    known = "as its suite knows them" if rows is None else "guessed from random play: check them"
    lines = [f"# Entities of {task}, {known}."]
    seen = {row.part: row for row in rows or ()}
    parts = [] if entities is None else [part.name for part in entities.parts]
    for name in [*parts, *(row.part for row in rows or () if row.part not in parts)]:
        numbers = _numbers(entities, name) if entities is not None and name in parts else seen[name].numbers
        line = f"# {name:<9} {' '.join(map(str, numbers)):<12}"
        if entities is not None and name in parts:
            line += f" at a reset: {' '.join(f'{x:.1f}' for x in entities.read(state)[entities.at(name)])} cm"
        if name in seen:
            line += f"; {seen[name].seen}" + ("" if seen[name].sure else "; NOT SURE")
        lines.append(line)
    if entities is not None:
        empty = Entities(entities.hand).plain()
        for name, value in entities.plain().items():
            if name == "hand" or value != empty[name]:
                lines.append(f"{name}: {value}")
    return "\n".join(lines) + "\n"


def _numbers(entities: Entities, name: str) -> tuple[int, ...]:
    if name == "gripper":
        return () if entities.gripper is None else (entities.gripper,)
    if name.startswith("object"):
        return entities.objects[int(name.split()[1]) - 1]
    return entities.hand if name == "hand" else entities.goal
