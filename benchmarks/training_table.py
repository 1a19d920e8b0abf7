"""What the benchmark of training prints: rates, and for each part its share and what is left to its limit."""

from __future__ import annotations

from typing import Any

TASK = "door-close"
COLLECT = ("simulate", "render", "observe")
LEARN = ("keep", "sample", "update", "wait")
PICTURES, FOLLOW = "orca_progress", "follow_posed"
"""The recipes of ours that see pictures, and states."""
COLLECTORS = 2
"""As `orcalign train` has it."""
Row = dict[str, Any]


def as_markdown(here: Row, runs: dict[str, Row], alone: dict[str, float], promised: list[Row]) -> str:
    played_alone = sum(alone[name] for name in ("simulator", "policy", "renderer", "observe"))
    learned_alone = alone["pay"] + alone["sample"] + alone["update"]
    work = played_alone + learned_alone
    lines = [
        "# Training: how fast",
        "",
        f"`python -m benchmarks.training` on {here['cpu']}, {here['cores']} cores, Python {here['python']}, torch "
        f"{here['torch']}; load before it began: {here['load']:.1f}.",
        f"{TASK}, from the demo to the updated networks, evaluations left out. `paper` has 1,024 hidden units, 480 px",
        "rendering and ResNet50's layout with **random weights** (the work is the same, the features mean nothing),",
        "measured from the second episode on, with updates from the first. *As its authors' code* also draws a frame",
        "after each of the two simulation steps and runs ResNet50 in eager torch; our `paper` draws the one that is",
        "used and runs the network in OpenVINO.",
        "",
        "| bar | measured | needed | goal | met |",
        "|---|---|---|---|---|",
        *(
            f"| {one['bar']} | {one['value']:.3g} | {one['needed']:g} | {one['goal']} "
            f"| {'yes' if one['met'] else '**no**'} |"
            for one in promised
        ),
        "",
        f"Milliseconds per agent step. `laptop` has {COLLECTORS} collectors beside the learner, as `orcalign train`.",
        "Collectors simulate, render and observe (encode and compare) while the learner does the rest; in one process",
        f"*wait* is the playing. `laptop` is the recipe `orca_np`; `{PICTURES}` sees pictures, too; `{FOLLOW}` draws",
        "nothing, once its eye has read the demo.",
        "",
        f"| run | agent steps/s | steps timed | {' | '.join((*COLLECT, *LEARN))} |",
        "|---" * (3 + len(COLLECT) + len(LEARN)) + "|",
    ]
    for name, row in runs.items():
        spent = " | ".join(f"{1e3 * row['seconds per agent step'][part]:.3g}" for part in (*COLLECT, *LEARN))
        lines.append(f"| {name} | {row['steps/s']:.3g} | {row['steps']:,} | {spent} |")
    lines += [
        "",
        "## Each part of `laptop`, and what is left to its limit",
        "",
        "*In the loop* is the part in the run with collectors and a learner, which share cores, caches, memory and",
        "whatever else the machine does; *share* is that of all work there. The *limit* is the part alone, with the",
        "machine to itself, one thread, best of several; for an update, its matrix products. *Left* is what the loop",
        "would save per agent step at the limit. Encode and match are one measurement there, shared out as alone.",
        "",
        "| part | in the loop, ms | share | alone, ms | limit, ms | left, ms |",
        "|---|---|---|---|---|---|",
        *left_of(runs["laptop"]["seconds per agent step"], alone),
        "",
    ]
    rate, cores = runs["laptop"]["steps/s"], here["cores"]
    two = alone["update, second thread"]
    lines += [
        f"Playing alone would reach {1 / played_alone:.0f} agent steps/s and learning alone {1 / learned_alone:.0f}; "
        f"both spread over {cores} cores without loss {cores / work:.0f}, and the run is at "
        f"{rate * work / cores:.0%} of that.",
        f"Matrix products are {alone['update, matrix products'] / alone['update']:.0%} of an update in one thread. "
        f"Where a core is free, half of an update is done there, which takes {1e3 * two:.3g} ms instead of "
        f"{1e3 * alone['update']:.3g}: {alone['update'] / two:.2f} times as fast.",
    ]
    return "\n".join(lines) + "\n"


def left_of(loop: dict[str, float], alone: dict[str, float]) -> list[str]:
    """Rows of the table, one a part."""
    encoding = loop["observe"] * alone["encode"] / (alone["encode"] + alone["match"])
    rows = {
        "simulate, with the policy": (loop["simulate"], alone["simulator"] + alone["policy"]),
        "render": (loop["render"], alone["renderer"]),
        "encode, 128 px": (encoding, alone["encode"]),
        "match": (loop["observe"] - encoding, alone["match"]),
        "pay and keep": (loop["keep"], alone["pay"]),
        "sample": (loop["sample"], alone["sample"]),
        "update": (loop["update"], alone["update"]),
    }
    work = sum(value for value, _ in rows.values())
    lines = []
    for name, (value, by_itself) in rows.items():
        limit = alone["update, matrix products"] if name == "update" else by_itself
        numbers = " | ".join(f"{1e3 * one:.3g}" for one in (by_itself, limit, max(0.0, value - limit)))
        lines.append(f"| {name} | {1e3 * value:.3g} | {value / work:.0%} | {numbers} |")
    return [*lines, f"| wait | {1e3 * loop['wait']:.3g} | no work | | 0 | {1e3 * loop['wait']:.3g} |"]
