"""The paper's own numbers, with the table that they come from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    source: str
    steps: int | None
    seeds: int | None
    rows: str
    columns: str
    values: dict[str, dict[str, tuple[float, float]]]
    """Row to column to mean and standard error."""
    average: dict[str, tuple[float, float]]


@cache
def _file() -> dict[str, Any]:
    text = resources.files("orcalign.experiments").joinpath("paper_values.json").read_text("utf-8")
    values: dict[str, Any] = json.loads(text)
    return values


def paper_table(study: str) -> PaperTable | None:
    """What the paper has for a study; None if it has no numbers.

    >>> paper_table("misaligned").values["door-close"]["orca"]
    (0.88, 0.01)
    """
    entry = _file().get(study)
    if not isinstance(entry, dict):
        return None

    def pairs(row: dict[str, list[float]] | None) -> dict[str, tuple[float, float]]:
        return {name: (pair[0], pair[1]) for name, pair in (row or {}).items()}

    values = {name: pairs(row) for name, row in entry["values"].items()}
    return PaperTable(
        entry["source"], entry.get("steps"), entry.get("seeds"), entry["rows"], entry["columns"], values,
        pairs(entry.get("average")),
    )  # fmt: skip
