"""make bench: frames and agent steps per second in both render modes, over the paper's ten tasks.

python -m benchmarks.rendering [--quick] [--sheet FILE.png]
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.render_comparison import Comparison, comparison_sheet, expert_action, expert_and_env
from benchmarks.timing import machine, store
from orcalign.envs import PAPER_TASKS, TASKS
from orcalign.envs.rendering import RENDER_MODES, make_renderer
from orcalign.envs.rendering.backend import backend_in_use

CAMERAS = {name: str(TASKS[name].camera) for name in PAPER_TASKS}
REPEAT = 2
# The paper's code draws after every simulation step; we draw the frame that is used.
DRAWN = {"fast": 1, "paper": REPEAT}
NEEDED = {"frames": 15.0, "agent steps": 25.0}


def measure(task: str, camera: str, steps: int, papers: int) -> dict[str, float]:
    """Median seconds of one frame in each mode and of one agent step's simulation, taken in turns."""
    env, policy, observation = expert_and_env(task)
    env = env.unwrapped
    renderers = {mode: make_renderer(env.model, env.data, camera, mode, flip=True) for mode in RENDER_MODES}
    for renderer in renderers.values():
        renderer.render()
    times: dict[str, list[float]] = {"simulator": [], "fast": [], "paper": []}
    every = max(1, steps // papers)
    for step in range(steps):
        action = expert_action(policy, observation)
        start = time.perf_counter()
        for _ in range(REPEAT):
            observation = env.step(action)[0]
        times["simulator"].append(time.perf_counter() - start)
        for mode, renderer in renderers.items():
            if mode == "fast" or step % every == 0:
                start = time.perf_counter()
                renderer.render()
                times[mode].append(time.perf_counter() - start)
    for renderer in renderers.values():
        renderer.close()
    env.close()
    return {name: float(np.median(spent)) for name, spent in times.items()}


def rates(seconds: dict[str, float]) -> dict[str, float]:
    """Per second: frames and agent steps with their frames in each mode, and agent steps of the simulator alone."""
    found = {"simulator alone": 1 / seconds["simulator"]}
    for mode in RENDER_MODES:
        found[f"frames {mode}"] = 1 / seconds[mode]
        found[f"agent steps {mode}"] = 1 / (seconds["simulator"] + DRAWN[mode] * seconds[mode])
    return found


def bars(rows: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """What was promised: ratios of the means over the tasks."""
    mean = {name: float(np.mean([row[name] for row in rows.values()])) for name in next(iter(rows.values()))}
    promised = []
    for what, needed in NEEDED.items():
        ratio = mean[f"{what} fast"] / mean[f"{what} paper"]
        numbers = {"fast": mean[f"{what} fast"], "paper": mean[f"{what} paper"], "ratio": ratio}
        promised.append({"bar": what, **numbers, "needed": needed, "met": ratio >= needed})
    return promised


def as_markdown(
    here: dict[str, Any],
    promised: list[dict[str, Any]],
    rows: dict[str, dict[str, float]],
    compared: list[Comparison],
) -> str:
    lines = [
        "# Rendering: how fast",
        "",
        f"`python -m benchmarks.rendering` on {here['cpu']}, {here['cores']} cores, Python {here['python']}, "
        f"MuJoCo {here['mujoco']}, OpenGL through {here['opengl']}.",
        f"One expert episode a task, medians; {REPEAT} simulation steps make an agent step. `paper` draws a frame",
        "after each of them, as the authors' code does, `fast` the one that is used. Read them as ratios.",
        "",
        "| per second, mean of the tasks | fast | paper | fast / paper | needed | met |",
        "|---|---|---|---|---|---|",
    ]
    for bar in promised:
        numbers = f"{bar['fast']:.0f} | {bar['paper']:.2g} | {bar['ratio']:.1f} | {bar['needed']:.0f}"
        lines.append(f"| {bar['bar']} | {numbers} | {'yes' if bar['met'] else '**no**'} |")
    names = list(next(iter(rows.values())))
    mean = {name: np.mean([row[name] for row in rows.values()]) for name in names}
    share = mean["agent steps fast"] / mean["simulator alone"]
    lines += [
        "",
        f"With fast frames an agent runs at {share:.0%} of the speed of the simulator alone, the limit.",
        "",
    ]
    lines += ["| task | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for task, row in {**rows, "mean": mean}.items():
        lines.append(f"| {task} | " + " | ".join(f"{row[name]:.3g}" for name in names) + " |")
    if compared:
        lines += [
            "",
            "## How alike the pictures are",
            "",
            "Cosine similarity of EfficientNet-Lite0 features; agreement is the correlation of the similarities",
            "between moments in one mode with those in the other.",
            "",
            "| task | paper and fast, same moment | paper, other moments | agreement | mean pixel difference of 255 |",
            "|---|---|---|---|---|",
        ]
        for one in compared:
            numbers = f"{one.same:.3f} | {one.other:.3f} | {one.agreement:.3f} | {one.pixels:.1f}"
            lines.append(f"| {one.task} | {numbers} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    quick = "--quick" in sys.argv
    measured = {task: measure(task, camera, 60, 3 if quick else 12) for task, camera in CAMERAS.items()}
    rows = {task: rates(seconds) for task, seconds in measured.items()}
    here = {**machine(), "mujoco": version("mujoco"), "opengl": backend_in_use()}
    sheet = Path(sys.argv[sys.argv.index("--sheet") + 1]) if "--sheet" in sys.argv else None
    compared = comparison_sheet(CAMERAS, sheet) if sheet else []
    promised = bars(rows)
    table = as_markdown(here, promised, rows, compared)
    print(table)
    if not quick:
        likeness = {
            one.task: {name: getattr(one, name) for name in ("same", "other", "agreement", "pixels")}
            for one in compared
        }
        content = {"machine": here, "bars": promised, "per second": rows, "likeness": likeness}
        store("rendering", {"command": "python -m benchmarks.rendering", **content}, table)
        print("stored in benchmarks/results")


if __name__ == "__main__":
    main()
