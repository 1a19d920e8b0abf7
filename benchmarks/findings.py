"""Why does it fail? The agents of a study beside the expert, in the same held-out episodes, under the same reward.

    python -m benchmarks.findings [runs/quick ...]      after `orcalign sweep quick`, or other studies in their folders

Of every finished run of `orca_progress` the last policy plays its ten held-out episodes, and so does the scripted
expert. An episode in which the agent never succeeds and the expert does has one of two reasons:

- *fooled*: the agent is paid more than the expert. The reward prefers this failure to the expert's success;
  that another way of succeeding would be paid more still is not ruled out.
- *not found*: the expert is paid more, and the agent has not found (or not kept) the way.

Distances and movements are in metres, as the states tell them: hand to object at its closest, and how far the object
was moved; medians over the episodes, the agent's and the expert's.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "osmesa")

import matplotlib.pyplot as plt
import numpy as np

from orcalign.envs import eval_seed, expert_return, find_task
from orcalign.envs.build import build
from orcalign.envs.experts import make_expert, play
from orcalign.envs.making import with_frames
from orcalign.training.checkpoint import Checkpoints, read_policy
from orcalign.training.collector import Collector, Order
from orcalign.training.labels import Labels
from orcalign.training.run_folder import RunFolder
from orcalign.training.setup import make_reward
from orcalign.video import Demo

RESULTS = Path(__file__).parent / "results"
PICTURE = RESULTS.parents[1] / "docs" / "images" / "findings.png"
EPISODES = 10
TITLES = ("demo, last frame", "agent, halfway", "agent, last frame", "expert, last frame")
HAND, OBJECT = slice(0, 3), slice(4, 7)


def touched(observations):
    """Closest the hand came to the object, and how far the object was moved, from states [T, D]."""
    apart = np.linalg.norm(observations[:, HAND] - observations[:, OBJECT], axis=1).min()
    moved = np.linalg.norm(observations[:, OBJECT] - observations[0, OBJECT], axis=1).max()
    return float(apart), float(moved)


def told(observations, successes, reward, coverage):
    """What is kept of an episode."""
    apart, moved = touched(np.asarray(observations))
    return {
        "return": int(np.sum(successes)),
        "reward": reward,
        "coverage": coverage,
        "apart": apart,
        "moved": moved,
    }


class Judge:
    """The reward of a run, as it was at its end."""

    def __init__(self, run):
        self.reward = make_reward(run.config, run.demo_folder)
        self._labels = Labels(run.config.reward, self.reward, run.config.steps)
        self._labels.load_state(Checkpoints(run.path / "checkpoints").latest().state["learner"]["labels"])

    def __call__(self, costs):
        """Summed reward and coverage of an episode [T, J]."""
        told = self._labels.summary((costs,))
        return told["reward"], told["coverage"]


def compare(run):
    """What agent and expert did in each episode, and last frames of one that the agent fails in."""
    task, judge = run.config.task, Judge(run)
    collector = Collector(run.config, judge.reward)
    weights, _ = read_policy(run.path / "policy-last.safetensors")
    env, spec = build(find_task(task), pictures=True)
    env = with_frames(env, spec, run.config.collect.render, run.config.collect.frame_size)
    rows, shown = [], None
    for number in range(EPISODES):
        seed = eval_seed(number)
        agent = collector.play(Order(number, seed, weights, show=True))
        model = play(make_expert(task, env), env, spec, seed, pictures=True)
        features = judge.reward.encoder(model.frames)
        row = {
            "agent": told(agent.observations[1:], agent.success, *judge(agent.costs[0])),
            "expert": told(model.observations, model.success, *judge(judge.reward.frame_costs[0](features))),
        }
        rows.append(row)
        if shown is None and failing(row):
            shown = [agent.frames[len(agent.frames) // 2], agent.frames[-1], model.frames[-1]]
    collector.close()
    env.close()
    return rows, shown


def failing(row):
    """Did the agent fail where the expert did not?"""
    return row["agent"]["return"] == 0 < row["expert"]["return"]


def medians(rows, name):
    """Agent and expert, beside each other."""
    return " / ".join(f"{np.median([row[who][name] for row in rows]):.2f}" for who in ("agent", "expert"))


def line(task, rows, steps):
    """One line of the table."""
    score = np.mean([row["agent"]["return"] for row in rows]) / expert_return(task)
    failed = [row for row in rows if failing(row)]
    fooled = sum(row["agent"]["reward"] > row["expert"]["reward"] for row in failed)
    numbers = [medians(rows, name) for name in ("reward", "coverage", "apart", "moved")]
    counts = [f"{steps:,}", f"{score:.2f}", str(len(failed)), str(fooled), str(len(failed) - fooled)]
    return f"| {task} | {' | '.join([*counts, *numbers])} |"


def draw(pictures, titles, path):
    """A row of frames for each task, under these titles."""
    size = (1.75 * len(titles), 1.8 * len(pictures) + 0.3)
    figure, axes = plt.subplots(len(pictures), len(titles), figsize=size, squeeze=False, layout="constrained")
    for k, (task, frames) in enumerate(pictures.items()):
        for axis, frame, title in zip(axes[k], frames, titles, strict=True):
            axis.imshow(frame)
            axis.set(xticks=[], yticks=[])
            if k == 0:
                axis.set_title(title, fontsize=9)
        axes[k, 0].set_ylabel(task, fontsize=9)
    figure.savefig(path, dpi=90)


def main(folders):
    """Measure, print and keep."""
    kept, pictures = {}, {}
    lines = [
        "# Why does it fail?",
        "",
        f"`python -m benchmarks.findings {' '.join(folders)}`; runs of `orca_progress`, last policy,",
        f"{EPISODES} held-out episodes. Pairs are agent / expert, medians over the episodes.",
        "",
        "| task | steps | return | failed | fooled | not found "
        "| reward | coverage | hand to object, m | object moved, m |",
        "|" + "---|" * 10,
    ]
    for done in (done for folder in folders for done in sorted(Path(folder).glob("cells/*/done.json"))):
        if json.loads(done.read_text())["values"]["recipe"] != "orca_progress":
            continue
        run = RunFolder(done.parent / "run")
        task = run.config.task
        kept[task], shown = compare(run)
        if shown is not None:
            pictures[task] = [Demo.load(run.demo_folder / "demo-0").frames[-1], *shown]
        lines.append(line(task, kept[task], run.config.steps))
        print(lines[-1], flush=True)
    if not kept:
        sys.exit(
            f"no finished run of orca_progress in {' '.join(folders)}; run `orcalign sweep quick` first."
        )
    (RESULTS / "findings.json").write_text(json.dumps(kept, indent=1) + "\n")
    (RESULTS / "findings.md").write_text("\n".join(lines) + "\n")
    if pictures:
        draw(pictures, TITLES, PICTURE)


if __name__ == "__main__":
    main(sys.argv[1:] or ["runs/quick"])
