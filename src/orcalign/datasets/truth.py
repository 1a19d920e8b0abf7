"""What is known of episodes by other means, and how well the labels agree with it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.checks import near_miss
from orcalign.datasets.labels import Labels
from orcalign.datasets.parquet import read_table
from orcalign.experiments.ordering import failure_auroc, kendall_tau, value_order_correlation

KNOWN = ("success", "rank", "quality")
"""Done or not; 1 is best; higher is better."""
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class Agreement:
    """The field's measures; None where the truth does not say enough."""

    episodes: int
    """Of which something is known."""
    voc: float | None
    """Mean value-order correlation of dense progress in the episodes that succeeded."""
    tau: float | None
    """Kendall's tau-b of scores with ranks or quality."""
    auroc: float | None
    """How well the score tells failures."""

    def words(self) -> str:
        """In a line."""
        named = {"VOC of successes": self.voc, "Kendall's tau": self.tau, "failure AUROC": self.auroc}
        found = [f"{name} {value:.3f}" for name, value in named.items() if value is not None]
        return f"against the truth of {self.episodes} episodes: {', '.join(found) or 'nothing to compare'}"


def read_truth(path: Path, known: Sequence[int]) -> dict[int, dict[str, float]]:
    """Of each episode what a .csv, .json (a list of objects) or .parquet file says: success, rank or quality.

    Args:
        path: it has `episode_index` and one of those.
        known: numbers of the episodes that there are.
    """
    rows = _rows(path)
    names = list(dict.fromkeys(name for row in rows for name in row))
    used = [name for name in KNOWN if name in names]
    if "episode_index" not in names or not used:
        near = near_miss(names[-1] if names else "", ("episode_index", *KNOWN))
        raise ValueError(
            f"{str(path)!r} has the columns {', '.join(names) or '(none)'};{near} It must have "
            f"episode_index and one of {', '.join(KNOWN)}."
        )
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        number = int(_number(path, "episode_index", row.get("episode_index")))
        if number not in known:
            raise ValueError(f"{str(path)!r} tells of episode {number}, and the data set has no such episode.")
        values = {name: _number(path, name, row[name]) for name in used if row.get(name) not in (None, "")}
        found[number] = values
    return found


def agreement(labels: Sequence[Labels], truth: Mapping[int, Mapping[str, float]], demo: int | None) -> Agreement:
    """How labels agree with the truth; the demo itself is left out, it agrees with anything."""
    told = [one for one in labels if one.number in truth and one.number != demo]

    def pairs(name: str) -> tuple[list[float], list[float]]:
        there = [one for one in told if name in truth[one.number]]
        return [one.score for one in there], [truth[one.number][name] for one in there]

    scores, success = pairs("success")
    better, quality = pairs("quality")
    if not better:
        better, ranks = pairs("rank")
        quality = [-rank for rank in ranks]
    good = [one for one in told if truth[one.number].get("success", 1.0) > 0]
    orders = [voc for one in good if (voc := value_order_correlation(one.dense)) is not None]
    return Agreement(
        len(told),
        float(np.mean(orders)) if orders else None,
        kendall_tau(better, quality) if better else None,
        failure_auroc(scores, [one > 0 for one in success]) if scores else None,
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise FileNotFoundError(f"{str(path)!r} does not exist; give a .csv, .json or .parquet file.")
    ending = path.suffix.lower()
    if ending == ".parquet":
        return list(read_table(path).to_pylist())
    try:
        text = path.read_text(encoding="utf-8-sig")
        if ending == ".csv":
            return list(csv.DictReader(text.splitlines()))
        if ending == ".json":
            rows = json.loads(text)
            if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
                return rows
            raise ValueError("it is no list of objects")
    except (ValueError, RecursionError, csv.Error) as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error}); give a table as .csv, .json or .parquet.") from None
    raise ValueError(f"{str(path)!r} is a {ending or 'file without ending'}; give a .csv, .json or .parquet file.")


def _number(path: Path, name: str, value: Any) -> float:
    try:
        number = _WORDS[value.strip().lower()] if str(value).strip().lower() in _WORDS else float(value)
    except (TypeError, ValueError, AttributeError):
        number = float("nan")
    if isinstance(value, (bool, np.bool_)):
        number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{str(path)!r} has {name} {value!r}; it must be a number.")
    return number
