"""Does the reward see what became of the object? The expert's last picture, and the same with the object put back.

    python -m benchmarks.undone [--method progress_fine] [task ...]

In held-out episodes of each task the scripted expert acts to the end. Then nothing is changed but the object, which is
put back to where it was in the beginning, and the picture is drawn again. Both are compared with the demo's last frame,
as the method does (temperature by the demo alone). The occupancy of the second is what an agent is paid at every step
for going where the expert's arm ends and leaving the object alone.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "osmesa")

import mujoco
import numpy as np
from orcalign.experiments.axes import AXES
from orcalign.rewards.object_view import WORST

from benchmarks.findings import draw
from orcalign.encoders import make_encoder
from orcalign.envs import PAPER_TASKS, TASKS, eval_seed, find_suite, make_demo
from orcalign.envs.experts import make_expert, play
from orcalign.envs.making import build, with_frames
from orcalign.rewards import ObjectView, VideoReward
from orcalign.training import preset
from orcalign.training.setup import find_object

RESULTS = Path(__file__).parent / "results"
PICTURE = RESULTS.parents[1] / "docs" / "images" / "undone.png"
EPISODES = 5
TITLES = ("demo, last frame", "expert, last frame", "object put back")
SIZE = 192
ARM = 9
"""Joints of arm and gripper, in all tasks the first ones; the others are the object's."""


def look(task, method):
    """Costs and occupancies [episode, done/undone], whether an object was found, and one pair of pictures."""
    demo, _ = make_demo(task, misaligned=True, size=SIZE)
    config = AXES["method"].change(preset("laptop", task), method)
    finder = find_object(config, demo)
    encoder = make_encoder(config.encoder.encoder, size=128)
    worst = WORST if config.encoder.places == "worst" else 1.0
    changes = config.encoder.look != "square"
    seen_by = encoder if finder is None else ObjectView(encoder, finder, worst=worst, changes=changes)
    reward = VideoReward(demo, seen_by, matcher="orca_progress", calibrated=True)
    (settings,) = reward.matcher_settings
    floor, temperature = settings["floor"], settings["temperature"]
    last = config.reward.settings_of("orca_progress", 1.0).get("last")
    if last is not None:
        floor, temperature = 0.0, last * temperature
    env, spec = build(TASKS[task], pictures=True)
    env = with_frames(env, spec, "fast", SIZE)
    physics, costs, shown = env.unwrapped, [], None
    for number in range(EPISODES):
        env.reset(seed=eval_seed(number))
        begun = physics.data.qpos[ARM:].copy()
        frames = play(make_expert(task, env), env, spec, eval_seed(number), pictures=True).frames
        physics.data.qpos[ARM:] = begun
        mujoco.mj_forward(physics.model, physics.data)
        # A renderer of its own: the environment's draws once a step.
        renderer = find_suite(spec.suite).renderer(physics, spec, "fast", SIZE)
        undone = renderer.render()
        renderer.close()
        pair = np.stack([frames[0], frames[-1], undone])
        costs.append(reward.frame_costs[0](reward.encoder(pair))[1:, -1])
        shown = shown or [demo.frames[-1], frames[-1], undone]
    env.close()
    costs = np.array(costs)
    occupied = np.exp(-np.maximum(0, costs - floor) / temperature)
    return costs / temperature, occupied, finder is not None, shown


def main(tasks, method):
    """Measure and print; of all tasks with `orca_progress`, keep."""
    lines = [
        "# Does the reward see what became of the object?",
        "",
        f"`python -m benchmarks.undone`; the expert's last picture in {EPISODES} held-out episodes, and the same with",
        "the object put back to where it was; medians. Distances to the demo's last frame in temperatures.",
        "",
        "| task | object found | distance: done | put back | occupancy: done | put back |",
        "|---|---|---|---|---|---|",
    ]
    kept, pictures = {}, {}
    for task in tasks:
        costs, occupied, found, pictures[task] = look(task, method)
        kept[task] = {"object found": found, "temperatures": costs.tolist(), "occupancy": occupied.tolist()}
        numbers = [*np.median(costs, axis=0), *np.median(occupied, axis=0)]
        lines.append(
            f"| {task} | {'yes' if found else 'no'} | {' | '.join(f'{number:.2f}' for number in numbers)} |"
        )
        print(lines[-1], flush=True)
    if tasks == PAPER_TASKS and method == "orca_progress":
        (RESULTS / "undone.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "undone.md").write_text("\n".join(lines) + "\n")
        draw(pictures, TITLES, PICTURE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--method", default="orca_progress")
    given = parser.parse_args()
    main(tuple(given.tasks) or PAPER_TASKS, given.method)
