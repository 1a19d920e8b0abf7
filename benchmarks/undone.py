"""Does the reward see what became of the object? The expert's last picture, and the same with the object put back.

    python -m benchmarks.undone [--look square] [task ...]

In held-out episodes of each task the scripted expert acts to the end. Then nothing is changed but the object, which is
put back to where it was in the beginning, and the picture is drawn again. Both are compared with the demo's last frame,
as orca_progress does (temperature by the demo alone). The occupancy of the second is what an agent is paid each step
for going where the expert's arm ends and leaving the object alone.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "osmesa")

import mujoco
import numpy as np

from benchmarks.findings import draw
from orcalign.encoders import make_encoder
from orcalign.envs import PAPER_TASKS, TASKS, eval_seed, make_demo
from orcalign.envs.build import build
from orcalign.envs.experts import make_expert, play
from orcalign.envs.making import with_frames
from orcalign.envs.rendering import make_renderer
from orcalign.rewards import ObjectView, VideoReward
from orcalign.training.presets import config as config_of
from orcalign.training.setup import find_object

RESULTS = Path(__file__).parent / "results"
PICTURE = RESULTS.parents[1] / "docs" / "images" / "undone.png"
EPISODES = 5
TITLES = ("demo, last frame", "expert, last frame", "object put back")
SIZE = 192
ARM = 9
"""Joints of arm and gripper, in all tasks the first ones; the others are the object's."""


def compare(task, look):
    """Costs and occupancies [episode, done/undone], whether an object was found, and one pair of pictures."""
    demo, _ = make_demo(task, misaligned=True, size=SIZE)
    config = config_of(task, settings={"encoder.look": look, "collect.frame_size": SIZE})
    finder = find_object(config, demo)
    encoder = make_encoder(config.encoder.encoder, size=128)
    seen_by = encoder if finder is None else ObjectView(encoder, finder, changes=look != "square")
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
        renderer = make_renderer(physics.model, physics.data, spec.camera, "fast", SIZE, spec.flip)
        undone = renderer.render()
        renderer.close()
        pair = np.stack([frames[0], frames[-1], undone])
        costs.append(reward.frame_costs[0](reward.encoder(pair))[1:, -1])
        shown = shown or [demo.frames[-1], frames[-1], undone]
    env.close()
    costs = np.array(costs)
    occupied = np.exp(-np.maximum(0, costs - floor) / temperature)
    return costs / temperature, occupied, finder is not None, shown


def main(tasks, look):
    """Measure and print; of all tasks with the look of `orca_progress`, keep."""
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
        costs, occupied, found, pictures[task] = compare(task, look)
        kept[task] = {"object found": found, "temperatures": costs.tolist(), "occupancy": occupied.tolist()}
        numbers = [*np.median(costs, axis=0), *np.median(occupied, axis=0)]
        lines.append(
            f"| {task} | {'yes' if found else 'no'} | {' | '.join(f'{number:.2f}' for number in numbers)} |"
        )
        print(lines[-1], flush=True)
    if tasks == PAPER_TASKS and look == "object":
        (RESULTS / "undone.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "undone.md").write_text("\n".join(lines) + "\n")
        draw(pictures, TITLES, PICTURE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--look", default="object")
    given = parser.parse_args()
    main(tuple(given.tasks) or PAPER_TASKS, given.look)
