"""Whom does the reward prefer where the object stands elsewhere?

    python -m benchmarks.layouts [task ...]
    python -m benchmarks.layouts --others      six tasks on which nothing was chosen
    python -m benchmarks.layouts --run RUN     in which of a run's last episodes did it succeed?
    python -m benchmarks.layouts --squares     draws what is looked at, where an object is found

In held-out episodes of each task three learners act: the scripted expert, who does the task; a blind one, that repeats
the movements of the demo's expert without looking; and a ghost, whose arm does what the expert's does while the objects
stay where they are. Where one of the latter fails and is paid more all the same, the reward prefers a failure to the
expert's success: the metric is fooled. (Another way of succeeding, closer to the demo's path, may still be paid more.)
"""

import json
import os
import sys
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "osmesa")

import matplotlib.image
import matplotlib.pyplot as plt
import mujoco
import numpy as np

from orcalign.encoders import make_encoder
from orcalign.envs import HELD_OUT_TASKS, PAPER_TASKS, eval_seed, find_task, make, make_demo, rollout_expert
from orcalign.envs.build import build
from orcalign.envs.experts import make_expert, play
from orcalign.envs.making import with_frames
from orcalign.envs.rendering import make_renderer
from orcalign.rewards import ObjectView, VideoReward
from orcalign.training.presets import config as config_of
from orcalign.training.setup import find_object
from orcalign.video import Demo

RESULTS = Path(__file__).parent / "results"
PICTURE = RESULTS.parents[1] / "docs" / "images" / "layouts.png"
EPISODES = 6
SIZE = 192
"""Of the pictures."""
REWARDS = ("orca_progress", "squares", "whole pictures", "orca", "temporal_ot")
LEARNERS = ("expert", "blind", "ghost")
ARM = 9
"""Joints of arm and gripper, in all tasks the first ones; the others are the objects'."""


class Blind:
    """Repeats actions, then the last of them."""

    def __init__(self, actions):
        self._actions = iter(actions)
        self._last = actions[-1]

    def act(self, observation, success):
        """The next one, whatever there is to see."""
        return next(self._actions, self._last)


class Recorded:
    """An expert, and the joints of the world before each of its actions."""

    def __init__(self, expert, physics):
        self._expert, self._physics, self.joints = expert, physics, []

    def act(self, observation, success):
        """The expert's action."""
        self.joints.append(self._physics.data.qpos.copy())
        return self._expert.act(observation, success)


def ghost_frames(recorded, physics, spec, num_frames):
    """The frames of the recorded episode, drawn again with the objects where they were in the beginning."""
    joints = [*recorded.joints[spec.action_repeat :: spec.action_repeat], physics.data.qpos.copy()][
        :num_frames
    ]
    # A renderer of its own: the environment's draws once a step.
    renderer = make_renderer(physics.model, physics.data, spec.camera, "fast", SIZE, spec.flip)
    frames = []
    for now in joints:
        physics.data.qpos[:] = now
        physics.data.qpos[ARM:] = recorded.joints[0][ARM:]
        mujoco.mj_forward(physics.model, physics.data)
        frames.append(renderer.render())
    renderer.close()
    return np.stack(frames)


def looked_for(task, demo):
    """What finds the demo's things in other episodes."""
    return find_object(config_of(task, settings={"demo.demo_kind": "aligned"}), demo)


def rewards(task, demo, encoder):
    """What each reward makes of an episode's frames, and whether an object was found."""
    finder = looked_for(task, demo)
    whole = VideoReward(demo, encoder, matcher="orca_progress", calibrated=True, progress_in="path")
    alike = {name: whole.with_matcher(name, [{}]) for name in ("orca", "temporal_ot")} | {
        "whole pictures": whole
    }
    moving = {}
    if finder is not None:
        for name, changes in (("orca_progress", True), ("squares", False)):
            view = ObjectView(encoder, finder, changes=changes)
            moving[name] = VideoReward(
                demo, view, matcher="orca_progress", calibrated=True, progress_in="path"
            )

    def measure(frames):
        """Each summed reward."""
        features = encoder(frames)
        sums = {name: float(reward.score_features(features).total) for name, reward in alike.items()}
        if not moving:
            return sums | dict.fromkeys(("orca_progress", "squares"), sums["whole pictures"])
        seen = moving["orca_progress"].encoder(frames)
        return sums | {name: float(reward.score_features(seen).total) for name, reward in moving.items()}

    return measure, len(finder.things) if finder else 0


def make_shown(task):
    """The paper's misaligned demo, or, of a task that has none, one that is sped up at random."""
    warp = {"misaligned": True} if find_task(task).misaligned else {"random_warp": "fast-high"}
    return make_demo(task, **warp, size=SIZE)[0]


def compare(task, encoder):
    """All episodes of a task, and the last frames of one in which the blind learner fails."""
    demo = make_shown(task)
    measure, found_things = rewards(task, demo, encoder)
    actions = rollout_expert(task, demo.extra["env_seed"]).actions
    env, spec = build(find_task(task), pictures=True)
    env = with_frames(env, spec, "fast", SIZE)
    rows, picture = [], None
    for number in range(EPISODES):
        found, frames = {}, []
        recorded = Recorded(make_expert(task, env), env.unwrapped)
        for name, learner in (("expert", recorded), ("blind", Blind(actions))):
            episode = play(learner, env, spec, eval_seed(number), pictures=True)
            frames.append(episode.frames[-1])
            found[name] = {"success": episode.succeeded, "reward": measure(episode.frames)}
            if name == "expert":
                ghost = ghost_frames(recorded, env.unwrapped, spec, len(episode))
                found["ghost"] = {"success": False, "reward": measure(ghost)}
        rows.append(found)
        if picture is None and found["expert"]["success"] and not found["blind"]["success"]:
            picture = np.hstack([demo.frames[-1], *frames, ghost[-1]])
    env.close()
    return rows, picture, found_things


def line(task, rows, found_things):
    """One line of the table: who succeeds, and who is paid more than an expert that does."""
    done = [sum(row[who]["success"] for row in rows) for who in ("expert", "blind")]
    cells = []
    for who in ("blind", "ghost"):
        told = [row for row in rows if row["expert"]["success"] and not row[who]["success"]]
        for name in REWARDS:
            fooled = sum(row[who]["reward"][name] > row["expert"]["reward"][name] for row in told)
            cells.append(f"{fooled} of {len(told)}")
    medians = (f"{np.median([row[who]['reward']['orca_progress'] for row in rows]):.0f}" for who in LEARNERS)
    return (
        f"| {task} | {found_things} | {done[0]} | {done[1]} | {' | '.join(cells)} | {' / '.join(medians)} |"
    )


def outlined(frame, view, first):
    """The frame with the squares that are looked at in an episode that begins with `first`."""
    seen = frame.copy()
    for number, found in enumerate(view.finder.find(first)):
        rows, columns = view.square(number, found.shift)
        for edge in (
            np.s_[rows[0], columns],
            np.s_[rows[-1], columns],
            np.s_[rows, columns[0]],
            np.s_[rows, columns[-1]],
        ):
            seen[edge] = (255, 255, 0) if number else (0, 255, 255)
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
        demo = make_shown(task)
        finder = looked_for(task, demo)
        if finder is None:
            continue
        view = ObjectView(make_encoder("pixels"), finder)
        actions = rollout_expert(task, demo.extra["env_seed"]).actions
        env, spec = build(find_task(task), pictures=True)
        env = with_frames(env, spec, "fast", SIZE)
        films = [demo.frames] + [
            play(learner, env, spec, eval_seed(2), pictures=True).frames
            for learner in (make_expert(task, env), Blind(actions))
        ]
        env.close()
        # The expert may let go again in the end; the demo ends when it is done.
        shown[task] = [outlined(film[-1], view, film[0]) for film in films] + [
            view.cut(film)[-1][-1] for film in films
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
        f"`python -m benchmarks.layouts`; demo 0, misaligned (`--others`: sped up); {SIZE} px, EfficientNet-Lite0",
        f"at 128 px, calibrated on the demo alone, with a floor in the last frame, too; {EPISODES} held-out episodes.",
        "*Blind* repeats the actions of the demo's expert; the *ghost*'s arm does what the expert's does, and the",
        "objects stay where they are. Of the episodes in which the expert succeeds and they do not, in how many are",
        "they paid more? *Squares* is `orca_progress` without what became of the things, *whole pictures* compares",
        "those. The last column: median reward of expert, blind and ghost by `orca_progress`.",
        "",
        f"| task | things found | expert succeeds | blind succeeds | blind fools {' | blind fools '.join(REWARDS)} "
        f"| ghost fools {' | ghost fools '.join(REWARDS)} | reward |",
        "|" + "---|" * (5 + 2 * len(REWARDS)),
    ]
    for task in tasks:
        kept[task], picture, found_things = compare(task, encoder)
        if picture is not None:
            pictures.append(picture)
        lines.append(line(task, kept[task], found_things))
        print(lines[-1], flush=True)
    names = {tuple(PAPER_TASKS): "layouts", HELD_OUT_TASKS: "layouts-others"}
    if tuple(tasks) in names:
        name = names[tuple(tasks)]
        (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")
        matplotlib.image.imsave(PICTURE.with_name(f"{name}.png"), np.vstack(pictures))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        by_place(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--squares"]:
        squares(sys.argv[2:] or list(PAPER_TASKS))
    elif sys.argv[1:2] == ["--others"]:
        main(HELD_OUT_TASKS)
    else:
        main(sys.argv[1:] or list(PAPER_TASKS))
