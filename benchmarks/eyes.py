"""How well posed eyes read demos, and what experts are paid by them: `python -m benchmarks.eyes TASK …`.

For each task: the median error of hand and objects over the demo's frames, in centimetres, as each frame is read alone
and as one story; and the progress that the reward gives the scripted expert on other episodes, which a learner cannot
be expected to exceed by much. The demo's true states serve to measure alone.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.costs.predicted.eye import Eye
from orcalign.envs.demo_making import make_demo
from orcalign.envs.experts import rollout_expert
from orcalign.envs.seeds import train_seed
from orcalign.envs.tasks import find_task
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.settings import FollowSettings
from orcalign.training.posed_eyes import posed_eye

CHOOSING = ("drawer-open", "drawer-close", "window-close", "coffee-push", "plate-slide", "dial-turn")
EXPERTS = 8


def measure(task: str, frames: int = 8000, updates: int = 4000, size: int = 128) -> dict[str, Any]:
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
    }


if __name__ == "__main__":
    for name in sys.argv[1:] or CHOOSING:
        print(json.dumps(measure(name)), flush=True)
