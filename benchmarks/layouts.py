"""Whom does the reward prefer where the object stands elsewhere?

    python -m benchmarks.layouts [task ...]
    python -m benchmarks.layouts --run RUN     in which of a run's last episodes did it succeed?
    python -m benchmarks.layouts --squares     draws what is looked at, where an object is found

In ten held-out episodes of each task two learners act: the scripted expert, who does the task, and one that
repeats the movements of the demo's expert without looking. Where the second one fails and is paid more all the
same, the reward prefers a failure to the expert's success: the metric is fooled. (Another way of succeeding, closer to
the demo's path, may still be paid more.)
"""

import json
import os
import sys
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "osmesa")

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np

from orcalign.encoders import make_encoder
from orcalign.envs import PAPER_TASKS, TASKS, eval_seed, make, make_demo, rollout_expert
from orcalign.envs.build import build
from orcalign.envs.experts import make_expert, play
from orcalign.envs.making import with_frames
from orcalign.experiments.axes import AXES
from orcalign.rewards import ObjectView, VideoReward
from orcalign.training import preset
from orcalign.training.setup import find_object
from orcalign.video import Demo

RESULTS = Path(__file__).parent / "results"
PICTURE = RESULTS.parents[1] / "docs" / "images" / "layouts.png"
EPISODES = 10
SIZE = 192
"""Of the pictures."""
METHODS = ("orca_progress", "progress_whole", "orca", "temporal_ot")


class Blind:
    """Repeats actions, then the last of them."""

    def __init__(self, actions):
        self._actions = iter(actions)
        self._last = actions[-1]

    def act(self, observation, success):
        """The next one, whatever there is to see."""
        return next(self._actions, self._last)


def rewards(task, demo, encoder):
    """What each method makes of an episode's frames, and whether an object was found."""
    config = AXES["method"].change(preset("laptop", task), "orca_progress")
    finder = find_object(config, demo)
    whole = VideoReward(demo, encoder, matcher="orca_progress", calibrated=True, progress_in="path")
    alike = {name: whole.with_matcher(name, [{}]) for name in ("orca", "temporal_ot")} | {
        "progress_whole": whole
    }
    moving = whole
    if finder is not None:
        view = ObjectView(encoder, finder)
        moving = VideoReward(demo, view, matcher="orca_progress", calibrated=True, progress_in="path")

    def measure(frames):
        """Summed reward by each method."""
        features = encoder(frames)
        sums = {name: float(reward.score_features(features).total) for name, reward in alike.items()}
        return sums | {
            "orca_progress": sums["progress_whole"] if moving is whole else float(moving(frames).total)
        }

    return measure, finder is not None


def compare(task, encoder):
    """All episodes of a task, and the last frames of one in which the blind learner fails."""
    demo, _ = make_demo(task, misaligned=True, size=SIZE)
    measure, found_object = rewards(task, demo, encoder)
    actions = rollout_expert(task, demo.extra["env_seed"]).actions
    env, spec = build(TASKS[task], pictures=True)
    env = with_frames(env, spec, "fast", SIZE)
    rows, picture = [], None
    for number in range(EPISODES):
        found, frames = {}, []
        for name, learner in (("expert", make_expert(task, env)), ("blind", Blind(actions))):
            episode = play(learner, env, spec, eval_seed(number), pictures=True)
            frames.append(episode.frames[-1])
            found[name] = {
                "success": episode.succeeded,
                "reward": measure(episode.frames),
            }
        rows.append(found)
        if found["expert"]["success"] and not found["blind"]["success"] and picture is None:
            picture = np.hstack([demo.frames[-1], *frames])
    env.close()
    return rows, picture, found_object


def line(task, rows, found_object):
    """One line of the table."""
    told = [row for row in rows if row["expert"]["success"] and not row["blind"]["success"]]
    fooled = {
        method: sum(row["blind"]["reward"][method] > row["expert"]["reward"][method] for row in told)
        for method in METHODS
    }
    done = [sum(row[who]["success"] for row in rows) for who in ("expert", "blind")]
    cells = [f"{fooled[method]} of {len(told)}" for method in METHODS]
    return f"| {task} | {'yes' if found_object else 'no'} | {done[0]} | {done[1]} | {' | '.join(cells)} |"


def outlined(frame, view, first):
    """The frame with the square that is looked at in an episode that begins with `first`."""
    rows, columns = view.square(first)
    seen = frame.copy()
    for edge in (
        np.s_[rows[0], columns],
        np.s_[rows[-1], columns],
        np.s_[rows, columns[0]],
        np.s_[rows, columns[-1]],
    ):
        seen[edge] = (255, 255, 0)
    return seen


def squares(tasks):
    """A row for each task: last frames of demo, expert and blind learner with the square, then the squares alone."""
    titles = (
        "demo",
        "expert",
        "repeats the demo's movements",
        "what is compared:\ndemo",
        "expert",
        "repeats",
    )
    shown = {}
    for task in tasks:
        demo, _ = make_demo(task, misaligned=True, size=SIZE)
        finder = find_object(AXES["method"].change(preset("laptop", task), "orca_progress"), demo)
        if finder is None:
            continue
        view = ObjectView(make_encoder("pixels"), finder)
        actions = rollout_expert(task, demo.extra["env_seed"]).actions
        env, spec = build(TASKS[task], pictures=True)
        env = with_frames(env, spec, "fast", SIZE)
        films = [demo.frames] + [
            play(learner, env, spec, eval_seed(2), pictures=True).frames
            for learner in (make_expert(task, env), Blind(actions))
        ]
        env.close()
        # The expert may let go again in the end; the demo ends when it is done.
        shown[task] = [outlined(film[-1], view, film[0]) for film in films] + [
            view.cut(film)[-1] for film in films
        ]
    size = (11, 1.9 * len(shown) + 0.4)
    figure, axes = plt.subplots(len(shown), 6, figsize=size, squeeze=False, layout="constrained")
    for k, (task, pictures) in enumerate(shown.items()):
        for axis, picture, title in zip(axes[k], pictures, titles, strict=True):
            axis.imshow(picture)
            axis.set(xticks=[], yticks=[])
            if k == 0:
                axis.set_title(title, fontsize=9)
        axes[k, 0].set_ylabel(task, fontsize=9)
    figure.savefig(PICTURE.with_name("squares.png"), dpi=80)


def by_place(run):
    """Share of a run's last 150 episodes that succeed, by where the object stood compared to the demo (its x)."""
    facts = Demo.load(run / "demo" / "demo-0")
    env = make(facts.task, None)
    shown = env.reset(seed=facts.extra["env_seed"])[0][4]
    env.close()
    places, successes = [], []
    for path in sorted((run / "episodes").glob("*.npz"))[-150:]:
        with np.load(path) as episode:
            places.append(episode["observations"][0][4] - shown)
            successes.append(episode["success"].any())
    edges = np.quantile(places, np.linspace(0, 1, 6))
    print("| object to the right of the demo's by, m | episodes that succeed |\n|---|---|")
    for low, high in pairwise(edges):
        inside = [won for place, won in zip(places, successes, strict=True) if low <= place <= high]
        print(f"| {low:.2f} to {high:.2f} | {np.mean(inside):.0%} |")


def main(tasks):
    """Measure, print and keep."""
    encoder = make_encoder("efficientnet-lite0", size=128)
    kept, pictures = {}, []
    lines = [
        "# Whom does the reward prefer where the object stands elsewhere?",
        "",
        f"`python -m benchmarks.layouts`; demo 0 of each task, misaligned; pictures of {SIZE} px, EfficientNet-Lite0",
        f"at 128 px, calibrated on the demo alone; {EPISODES} held-out episodes. *Blind* repeats the actions of the",
        "demo's expert. The last columns: of the episodes in which the expert succeeds and the blind one does not, in",
        "how many is the blind one paid more? `progress_whole` is `orca_progress` that compares whole pictures; where",
        "no object is found the two are the same.",
        "",
        f"| task | object found | expert succeeds | blind succeeds | fooled: {' | fooled: '.join(METHODS)} |",
        "|" + "---|" * (4 + len(METHODS)),
    ]
    for task in tasks:
        kept[task], picture, found_object = compare(task, encoder)
        if picture is not None:
            pictures.append(picture)
        lines.append(line(task, kept[task], found_object))
        print(lines[-1], flush=True)
    if tuple(tasks) == tuple(PAPER_TASKS):
        (RESULTS / "layouts.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "layouts.md").write_text("\n".join(lines) + "\n")
        matplotlib.image.imsave(PICTURE, np.vstack(pictures))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        by_place(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--squares"]:
        squares(sys.argv[2:] or list(PAPER_TASKS))
    else:
        main(sys.argv[1:] or list(PAPER_TASKS))
