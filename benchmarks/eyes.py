"""How well eyes read demos, and what experts are paid by them: `python -m benchmarks.eyes TASK …` for posed ones.

`python -m benchmarks.eyes RUN …`, of folders of runs: on how many frames of their demos their eyes are believed at the
end, and by how many centimetres these are off, beside those that are not believed.

For each task: the median error of hand and objects over the demo's frames, in centimetres, as each frame is read alone
and as one story; and the progress that the reward gives the scripted expert on other episodes, which a learner cannot
be expected to exceed by much. The demo's true states serve to measure alone.

And how robust it is: the same median errors with the demo's light changed by 30% and its camera moved by 5 px of 128,
as it is, and after `orcalign.video.normalise` has brought the demo to the light and camera of the learner's frames.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.costs.predicted.eye import Eye
from orcalign.envs.demo_making import make_demo
from orcalign.envs.experts import rollout_expert
from orcalign.envs.making import make
from orcalign.envs.seeds import train_seed
from orcalign.envs.tasks import find_task
from orcalign.matching.match import FloatArray
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.reward import FollowReward
from orcalign.rewards.follow.settings import FollowSettings
from orcalign.training.posed_eyes import posed_eye
from orcalign.training.presets import EYE_FRAMES
from orcalign.training.run_folder import RunFolder
from orcalign.video.normalise import normalise

Frames = npt.NDArray[np.uint8]
CHOOSING = ("drawer-open", "drawer-close", "window-close", "coffee-push", "plate-slide", "dial-turn")
EXPERTS = 8
LIGHT, MOVED, OF = 0.3, 5, 128
RESETS = 15
"""Of the learner: its light and camera are those of the first frames of so many episodes."""


def changes(frames: Frames) -> dict[str, Frames]:
    """The frames [T,H,W,3] with another light or camera; what a moved camera sees at the border is what was there.

    >>> {name: int(one[0, 0, 0, 0]) for name, one in changes(np.full((1, 128, 128, 3), 100, np.uint8)).items()}
    {'as it is': 100, 'darker': 70, 'brighter': 130, 'moved right': 100, 'moved down': 100}
    """
    by = round(MOVED * frames.shape[1] / OF)
    wide = np.pad(frames, ((0, 0), (by, 0), (by, 0), (0, 0)), mode="edge")
    H, W = frames.shape[1:3]
    lit = {name: np.clip(frames * (1 + sign * LIGHT), 0, 255) for name, sign in (("darker", -1), ("brighter", 1))}
    return {
        "as it is": frames,
        **{name: one.round().astype(np.uint8) for name, one in lit.items()},
        "moved right": wide[:, by:, :W],
        "moved down": wide[:, :H, by:],
    }


def robustness(eye: Eye, frames: Frames, truth: FloatArray, learner: Frames) -> dict[str, dict[str, Any]]:
    """For each change of a demo's frames: median error [cm] of each part over the story, and what the eye says of the
    camera; without normalisation, and with that to the learner's frames [N,H,W,3]."""
    found: dict[str, dict[str, Any]] = {}
    for name, changed in changes(frames).items():
        corrected = normalise(changed, learner)
        for how, shown in (("", changed), (", normalised", corrected.frames)):
            told = eye.describe(eye.look(shown))
            off = {part.name: np.linalg.norm((told.values - truth)[:, part.at], axis=1) for part in eye.entities.parts}
            found[name + how] = {part: round(float(np.median(one)), 2) for part, one in off.items()}
            found[name + how]["camera off"] = round(eye.same_view(shown), 2)
    return found


def learner_frames(task: str, size: int) -> Frames:
    """[RESETS,H,W,3] First frames of a learner's episodes."""
    env = make(task, "fast", 0, size=size)
    frames = []
    for k in range(RESETS):
        env.reset(seed=train_seed(k, 54321))
        frames.append(np.array(env.render()))
    env.close()
    return np.stack(frames)


def measure(task: str, frames: int = 8000, updates: int = 4000, size: int = EYE_FRAMES) -> dict[str, Any]:
    """What an eye of a task says of its demo, and experts are paid for following it."""
    spec = find_task(task)
    eye = Eye.load(posed_eye(spec, frames=frames, updates=updates, size=size))
    kind: dict[str, Any] = {"misaligned": True} if spec.misaligned else {"random_warp": "fast-high"}
    demo, _ = make_demo(spec, size=size, **kind)
    played = rollout_expert(spec, demo.extra["env_seed"], end=demo.extra["demo_end"])
    states = played.observations[list(demo.indices)]
    truth = eye.entities.read(states)
    features = eye.look(demo.frames)
    read, told = eye.predict(features), eye.describe(features)
    off = {}
    for name, at in eye.entities.parts:
        each = [np.linalg.norm((one - truth)[:, at], axis=1) for one in (read.values, told.values)]
        off[name] = [round(float(np.median(each[0])), 2), round(float(np.median(each[1])), 2)]
    for name in ("object 1",):
        if eye.entities.objects:
            at = eye.entities.at(name)
            each = [np.linalg.norm((one - truth)[:, at], axis=1) for one in (read.values, told.values)]
            off["end of " + name] = [round(float(one[-1]), 2) for one in each]
    known = DescribedDemo.known(eye.entities, states, played.observations[0])
    paid: dict[str, list[float]] = {"read": [], "known": []}
    for k in range(EXPERTS):
        seen = eye.entities.read(rollout_expert(spec, train_seed(k, 12345), end="hold").observations)
        for name, described in (("read", told), ("known", known)):
            _, match = Guiding(described, FollowSettings()).match(np.concatenate([seen[:1], seen]))
            paid[name].append(round(float(match.progress[-1]), 2))
    return {
        "task": task,
        "held out": {k: [round(x, 2) for x in v] for k, v in eye.errors.items()},
        "demo": off,
        "floor": round(FollowSettings().floor_at(told.error), 2),
        "experts": paid,
        "robustness": robustness(eye, demo.frames, truth, learner_frames(task, size)),
    }


def trust(folder: str) -> dict[str, Any]:
    """Of a run that follows in state space: the share of demo frames whose objects are believed after the last lesson,
    and the median error [cm] of the first object on these and on the others, as the demo is described."""
    run = RunFolder(folder)
    follow = run.reward().find(FollowReward)
    if follow is None or follow.guiding is None or not follow.entities.objects:
        raise SystemExit(f"{folder!r} follows no object in state space.")
    told, demo = follow.guiding.demo, run.demos()[0]
    played = rollout_expert(find_task(run.config.task), demo.extra["env_seed"], end=demo.extra["demo_end"])
    truth = told.entities.read(played.observations[list(demo.indices)])
    at = told.entities.at("object 1")
    off = np.linalg.norm((told.values - truth)[:, at], axis=1)
    middle = {
        name: round(float(np.median(off[which])), 1) if which.any() else None
        for name, which in (("believed", told.believed), ("not believed", ~told.believed))
    }
    return {"run": folder, "frames": len(told), "share believed": round(float(told.believed.mean()), 2), "off": middle}


if __name__ == "__main__":
    for name in sys.argv[1:] or CHOOSING:
        print(json.dumps(trust(name) if Path(name, "run.json").is_file() else measure(name)), flush=True)
