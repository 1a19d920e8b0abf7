"""How well scores agree with what somebody knows of the attempts: the field's metrics."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orcalign.experiments.ordering import failure_auroc, kendall_tau, value_order_correlation
from orcalign.report.scoring import ScoreSheet


@dataclass(frozen=True)
class Truth:
    """What is known of the attempts, by path as given."""

    ranks: Mapping[str, float]
    """1 is best."""
    success: Mapping[str, bool]

    def words(self, sheet: ScoreSheet) -> list[str]:
        """A line for each metric."""
        found = self.metrics(sheet)
        names = {
            "kendall": "Kendall's tau of score and rank",
            "failure_auroc": "AUROC of the score for failure",
            "value_order": "value-order correlation (progress with time) of good attempts, mean",
        }
        return [f"{text}: {found[name]:.3f}" for name, text in names.items() if name in found]

    def metrics(self, sheet: ScoreSheet) -> dict[str, float]:
        """Those that can be had: two different ranks, a success and a failure, progress that moves."""
        judged = {one.clip.path: one for one in sheet.attempts if one.verdict is not None}
        scores = {path: one.verdict.score for path, one in judged.items() if one.verdict is not None}
        ranked = [path for path in scores if path in self.ranks]
        known = [path for path in scores if path in self.success]
        orders = [value_order_correlation(one.progress) for path, one in judged.items() if self.success.get(path, True)]
        moved = [order for order in orders if order is not None]
        found = {
            "kendall": kendall_tau([scores[path] for path in ranked], [-self.ranks[path] for path in ranked]),
            "failure_auroc": failure_auroc([scores[path] for path in known], [self.success[path] for path in known]),
            "value_order": float(np.mean(moved)) if moved else None,
        }
        return {name: value for name, value in found.items() if value is not None}


def read_truth(path: Path, rollouts: Sequence[Path]) -> Truth:
    """A CSV file with a column path and one or both of rank and success; other columns are left alone."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{str(path)!r} cannot be read as CSV ({error}); give a file with columns path, rank."
        ) from None
    columns = set(rows[0]) if rows else set()
    if "path" not in columns or not columns & {"rank", "success"}:
        raise ValueError(
            f"{str(path)!r} has the columns {', '.join(map(str, sorted(columns))) or 'none'}; it needs path, and rank "
            f"(1 is best) or success (0 or 1)."
        )
    given = {name: str(one) for one in rollouts for name in (str(one), one.name)}
    ranks: dict[str, float] = {}
    success: dict[str, bool] = {}
    for number, row in enumerate(rows, start=2):
        named = given.get(row["path"] or "")
        if named is None:
            raise ValueError(f"{str(path)!r}, line {number}: {row['path']!r} is none of the attempts that were given.")
        for column in ("rank", "success"):
            value = row.get(column)
            if value in (None, ""):
                continue
            try:
                number_of = float(str(value))
            except ValueError:
                raise ValueError(f"{str(path)!r}, line {number}: {column} is {value!r}; give a number.") from None
            if column == "rank":
                ranks[named] = number_of
            elif number_of in (0.0, 1.0):
                success[named] = bool(number_of)
            else:
                raise ValueError(f"{str(path)!r}, line {number}: success is {value!r}; give 0 or 1.")
    return Truth(ranks, success)
