"""make bench: does `orcalign score` tell good attempts from bad ones, in scenes on which nothing was chosen?

python -m benchmarks.score_quality [--chosen]

Films of 16 families (`benchmarks.films`) are drawn once and kept in runs/films. Pairs are a good and a bad attempt of
one family; the threshold is one for all. With --chosen only the half for choosing is looked at, and nothing stored.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.films import FAMILIES, Attempt, Family
from benchmarks.films.nuisances import NUISANCES
from benchmarks.timing import machine, store
from orcalign.encoders import make_encoder
from orcalign.rewards import VideoReward, judge
from orcalign.video import Demo

KEPT = Path("runs/films")
PLAIN = "none"
Scorer = Callable[[Any], float]


class Row(NamedTuple):
    """One film, scored."""

    family: str
    held_out: bool
    name: str
    nuisance: str
    good: bool
    score: float
    done: bool
    verdict: str
    orca: float


def films(family: Family) -> tuple[Any, list[Attempt]]:
    """The demo and the attempts, drawn if they have not been."""
    path = KEPT / f"{family.name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        attempts = {f"{one.name}|{int(one.good)}": one.frames for one in family.attempts()}
        np.savez_compressed(path, **{"demo|": family.demo(), **attempts})
    with np.load(path) as kept:
        found = {name: kept[name] for name in kept.files}
    demo = found.pop("demo|")
    return demo, [Attempt(name[:-2], name.endswith("1"), frames) for name, frames in found.items()]


def variants(number: int, attempts: list[Attempt]) -> Iterator[tuple[str, Attempt]]:
    """Every attempt of a family as it is, and with each nuisance a good or a bad one, in turn."""
    for one in attempts:
        yield PLAIN, one
    good, bad = ([one for one in attempts if one.good is kind] for kind in (True, False))
    for k, (name, change) in enumerate(NUISANCES.items()):
        these = (good, bad)[(number + k) % 2]
        one = these[(number + k // 2) % len(these)]
        yield name, one._replace(frames=change(one.frames))


def measure(family: Family, encoders: tuple[Any, Any], rivals: bool) -> tuple[list[Row], float, int]:
    """Rows of a family, and the seconds and frames that scoring took."""
    demo, attempts = films(family)
    upright = NUISANCES["portrait"](demo)
    fine, whole = encoders
    rewards = {
        name: (
            VideoReward(Demo(frames), fine, look="fine", matcher="bottleneck", calibrated=True, context=1),
            VideoReward(Demo(frames), whole, calibrated=True) if rivals else None,
        )
        for name, frames in (("", demo), ("portrait", upright))
    }
    rows, spent, count = [], 0.0, 0
    for nuisance, one in variants(FAMILIES.index(family), attempts):
        reward, rival = rewards["portrait" if nuisance == "portrait" else ""]
        start = time.process_time()
        verdict = judge(reward, one.frames).verdict
        spent, count = spent + time.process_time() - start, count + len(one.frames)
        orca = rival(one.frames).total if rival is not None else 0.0
        told = verdict.score, verdict.done, verdict.text, orca
        rows.append(Row(family.name, family.held_out, one.name, nuisance, one.good, *told))
    return rows, spent, count


def pairs(rows: list[Row], by: str) -> tuple[float, int]:
    """Pairs of a good and a bad attempt of one family that are ranked right, a tie being half of one; and all."""
    right, count = 0.0, 0
    for family in {row.family for row in rows}:
        good, bad = (
            np.array([getattr(row, by) for row in rows if row.family == family and row.good is kind])
            for kind in (True, False)
        )
        right += float((good[:, None] > bad).sum() + 0.5 * (good[:, None] == bad).sum())
        count += len(good) * len(bad)
    return right, count


def auroc(rows: list[Row], by: str) -> float:
    """Area under the curve of one threshold for all families."""
    good, bad = (np.array([getattr(row, by) for row in rows if row.good is kind]) for kind in (True, False))
    return float((good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean())


def summary(rows: list[Row]) -> dict[str, Any]:
    """The figures of one half."""
    (fine, count), (orca, _) = pairs(rows, "score"), pairs(rows, "orca")
    goods, bads = ([row for row in rows if row.good is kind] for kind in (True, False))
    return {
        "families": len({row.family for row in rows}),
        "good": len(goods),
        "bad": len(bads),
        "pairs": count,
        "pairs right": fine / count,
        "pairs right, calibrated ORCA": orca / count,
        "AUROC": auroc(rows, "score"),
        "AUROC, calibrated ORCA": auroc(rows, "orca"),
        "good ones done": sum(row.done for row in goods) / len(goods),
        "bad ones done": sum(row.done for row in bads) / len(bads),
    }


def by_nuisance(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """Of each nuisance: its films against the plain ones of the other kind, and what they are called."""
    found = {}
    for name in (PLAIN, *NUISANCES):
        these = [row for row in rows if row.nuisance == name]
        plain = [row for row in rows if row.nuisance == PLAIN]
        right = count = 0.0
        for kind in (True, False):
            mixed = [row for row in these if row.good is kind] + [row for row in plain if row.good is not kind]
            a, b = pairs(mixed, "score")
            right, count = right + a, count + b
        called = [sum(row.done for row in these if row.good is kind) for kind in (True, False)]
        films = [sum(row.good is kind for row in these) for kind in (True, False)]
        found[name] = {"pairs": count, "right": right / count, "done": called, "films": films}
    return found


def table(halves: dict[str, list[Row]], milliseconds: float, here: dict[str, Any]) -> str:
    """For people."""
    lines = [
        "# Score: does it tell good from bad?",
        "",
        f"`make bench` on {here['cpu']}: {sum(map(len, halves.values()))} films of {len(FAMILIES)} families (eight",
        "drawn, six of Meta-world, two of gymnasium-robotics; benchmarks/films), with and without nuisances.",
        "*Calibrated ORCA* is `--matcher orca --paper --calibrated`. The half held out was not looked at before the",
        "settings were final.",
        "",
    ]
    figures = {name: summary(rows) for name, rows in halves.items()}
    lines += ["| | " + " | ".join(figures) + " |", "|---|" + "---|" * len(figures)]
    for key in next(iter(figures.values())):
        cells = [one[key] for one in figures.values()]
        share = isinstance(cells[0], float)
        shown = [
            (f"{cell:.3f}" if key.startswith("AUROC") else f"{cell:.1%}") if share else str(cell) for cell in cells
        ]
        lines.append(f"| {key} | " + " | ".join(shown) + " |")
    lines += ["", f"{milliseconds:.1f} ms of one core for each frame, camera, light and encoder included.", ""]
    lines += ["Held out, by nuisance (its films against the plain ones of the other kind):", ""]
    lines += ["| nuisance | pairs right | good films done | bad films done |", "|---|---|---|---|"]
    for name, one in by_nuisance(halves["held out"] if "held out" in halves else halves["chosen"]).items():
        (good, bad), (goods, bads) = one["done"], one["films"]
        lines.append(f"| {name} | {one['right']:.1%} | {good} of {goods} | {bad} of {bads} |")
    wrong = [row for rows in halves.values() for row in rows if row.done is not row.good]
    lines += ["", "What one threshold calls wrongly:", ""]
    for row in wrong:
        kind = "good" if row.good else "bad"
        lines.append(f"- {row.family}, {row.name}, {row.nuisance}: {kind}, score {row.score:.2f}, {row.verdict}")
    return "\n".join(lines) + "\n"


def main() -> None:
    only = "--chosen" in sys.argv
    encoders = make_encoder("efficientnet-lite0-fine", threads=1), make_encoder("efficientnet-lite0", threads=1)
    halves: dict[str, list[Row]] = {"chosen": []} if only else {"chosen": [], "held out": []}
    spent = count = 0.0
    # Those that are held out first: whoever stops early has seen what was not chosen on.
    for family in sorted(FAMILIES, key=lambda one: not one.held_out):
        if family.held_out and only:
            continue
        rows, seconds, frames = measure(family, encoders, rivals="--alone" not in sys.argv)
        halves["held out" if family.held_out else "chosen"] += rows
        spent, count = spent + seconds, count + frames
        (fine, all_pairs), (orca, _) = pairs(rows, "score"), pairs(rows, "orca")
        print(f"{family.name}: {fine:.1f} of {all_pairs} pairs, ORCA {orca:.1f}", file=sys.stderr, flush=True)
        for row in rows:
            if row.done is not row.good:
                print(f"  {row.name}, {row.nuisance}: {row.score:.2f} {row.verdict}", file=sys.stderr, flush=True)
    milliseconds, here = 1e3 * spent / count, machine()
    text = table(halves, milliseconds, here)
    print(text)
    if not only:
        content = {
            "command": "make bench", "machine": here, "milliseconds_a_frame": milliseconds,
            "halves": {name: summary(rows) for name, rows in halves.items()},
            "nuisances": {name: by_nuisance(rows) for name, rows in halves.items()},
            "films": [row._asdict() for rows in halves.values() for row in rows],
        }  # fmt: skip
        store("score_quality", content, text)


if __name__ == "__main__":
    main()
