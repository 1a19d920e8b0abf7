"""The paper's figures of the humanoid: its demos, rewards through two kinds of pictures, confidence in a fall, and whom
each matcher pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.costs.frames import FrameCosts
from orcalign.costs.predicted.joints import JointModel, JointPredictor
from orcalign.encoders import make_encoder
from orcalign.envs import eval_seed, find_suite, find_task, make_demo
from orcalign.matching import Match
from orcalign.report.figures import Method
from orcalign.report.figures.scene import Agent, Scene
from orcalign.report.plots import moments
from orcalign.report.skeletons import over_frames
from orcalign.rewards import VideoReward
from orcalign.rewards.description import PREDICTOR

TASK = "humanoid-arm-up-left"
ENCODER = "efficientnet-lite0"
EVERY, STEPS, SHOWN = 2, 120, 10
RAISED = 40
"""Steps in which a controller is led to the goal."""
TRUE, READ, TRUSTED, PLAIN = "#000000", "#D55E00", "#0072B2", "#CC79A7"


def demos(runs: Sequence[Path]) -> Any:
    """Figure 10: the four demos, a row each."""
    from matplotlib.figure import Figure

    tasks = list(find_suite("humanoid").tasks)
    figure = Figure(figsize=(10, 4.3), layout="constrained")
    rows = figure.subplots(len(tasks), 10)
    for row, task in zip(rows, tasks, strict=True):
        for k, (axis, frame) in enumerate(zip(row, make_demo(task, size=224)[0].frames, strict=True)):
            _show(axis, frame)
            axis.set_title(str(k) if task == tasks[0] else "", fontsize=8)
        row[0].set_ylabel(task.removeprefix("humanoid-"), fontsize=8)
    return figure


def rewards(runs: Sequence[Path]) -> Any:
    """Figure 11: how near the goal is along one trajectory, by an off-the-shelf encoder and by the predictor."""
    from matplotlib.figure import Figure

    predictor = find(runs)
    frames, places, _ = rollout(predictor, partial(_share, 1.0), 80)
    goal = make_demo(TASK, render=predictor.about["render"], size=predictor.size)[0].frames[-1:]
    encoder = make_encoder(ENCODER)
    plain = -FrameCosts(encoder(goal), "cosine")(encoder(frames))[:, 0]
    seen, wanted = (predictor.places(predictor(one)) for one in (frames, goal))
    read, true = -_far(seen, wanted[0]), -_far(places, goal_places())
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    time = np.arange(len(frames)) * EVERY
    left.plot(time, _unit(plain), color=PLAIN, label=f"{ENCODER}, cosine")
    right.plot(time, _unit(read), color=READ, label=predictor.name)
    for axis in (left, right):
        axis.plot(time, _unit(true), color=TRUE, linestyle=":", label="true joints")
        axis.set_xlabel("step of 0.015 s")
        axis.legend(fontsize=8)
    left.set_ylabel("nearness to the goal, 0 to 1")
    return figure


def confidence(runs: Sequence[Path]) -> Any:
    """Figure 12: a fall, what is read of it, and the reward with and without confidence."""
    from matplotlib.figure import Figure

    predictor = find(runs)
    frames, places, _ = rollout(predictor, None)
    features = predictor(frames)
    drawn, trust = over_frames(predictor, frames)
    goal = goal_places()
    read, true = (np.exp(-_far(one, goal)) for one in (predictor.places(features), places))
    figure = Figure(figsize=(10, 5), layout="constrained")
    grid = figure.add_gridspec(3, SHOWN, height_ratios=(1, 1, 2))
    for k, t in enumerate(moments(len(frames), SHOWN)):
        for row, pictures in enumerate((frames, drawn)):
            axis = figure.add_subplot(grid[row, k])
            _show(axis, pictures[t])
            axis.set_title(str(t * EVERY) if row == 0 else f"{trust[t]:.2f}", fontsize=8)
    axis = figure.add_subplot(grid[2, :])
    time = np.arange(len(frames)) * EVERY
    axis.plot(time, true, color=TRUE, linestyle=":", label="true joints")
    axis.plot(time, read, color=READ, label="as read")
    axis.plot(time, read * trust, color=TRUSTED, label="as read, times confidence")
    axis.set(xlabel="step of 0.015 s", ylabel="exp(-distance to the goal)", ylim=(0, None))
    axis.legend(fontsize=8)
    return figure


def agents() -> Scene:
    """Figure 15 without runs: controllers that raise the arm at once, or wait half way; costs through the predictor."""
    predictor = find(())
    demo = make_demo(TASK, render=predictor.about["render"], size=predictor.size)[0]
    reward = VideoReward(demo, model=JointModel(predictor, (demo,)), context=1)
    played = []
    for name, what, halts in (
        ("waits half way", "a controller that holds the middle of the demo", 0.5),
        ("raises its arm", "a controller that holds the demo's end", 1.0),
    ):
        frames, _, success = rollout(predictor, partial(_share, halts))
        raw = reward(frames).raw_costs
        played.append(Agent(name, what, frames, np.array(success), partial(_by, reward, raw)))
    note = f"{TASK}; no agent has learned. Costs: Euclidean distances of the joints that a predictor reads, no context."
    return Scene(demo.frames, tuple(played), note)


def _share(halts: float, t: int) -> float:
    return min(halts, t / RAISED)


def _by(reward: VideoReward, raw: Sequence[Any], method: Method) -> Match:
    return reward.with_matcher(method.matcher, **method.settings).score_costs(raw).matches[0]


def find(runs: Sequence[Path]) -> JointPredictor:
    """That of the first run, or that of the task in the cache, made if it is not there."""
    if runs:
        return JointPredictor.load(runs[0] / PREDICTOR)
    from orcalign.training.joint_predictors import joint_predictor

    return JointPredictor.load(joint_predictor(TASK))


def rollout(
    predictor: JointPredictor, share: Callable[[int], float] | None, steps: int = STEPS
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any], list[bool]]:
    """Frames [T,S,S,3], true places [T, 18, 3] and success of an episode: led to that share of the way to the goal at
    each step, or left alone, so that it falls."""
    from orcalign.envs.humanoid.control import HoldAngles, goal_angles
    from orcalign.envs.humanoid.env import HumanoidArms

    spec = find_task(TASK)
    env = HumanoidArms(spec)
    renderer = find_suite(spec.suite).renderer(env, spec, predictor.about["render"], predictor.size)
    assert renderer is not None
    env.reset(seed=eval_seed(0))
    hold, goal = HoldAngles(env, np.zeros(17)), goal_angles(TASK)
    frames, places, success = [], [], []
    for t in range(steps):
        if share is not None:
            hold.angles = goal * share(t)
        *_, info = env.step(np.zeros(17, np.float32) if share is None else hold())
        if t % EVERY == 0:
            frames.append(renderer.render())
            places.append(env.joints())
            success.append(info["success"])
    renderer.close()
    return np.stack(frames), np.stack(places), success


def goal_places() -> npt.NDArray[Any]:
    """Places [18, 3] of the goal's pose."""
    from orcalign.envs.humanoid.control import goal_angles
    from orcalign.envs.humanoid.env import HumanoidArms

    env = HumanoidArms(find_task(TASK))
    env.put(goal_angles(TASK))
    return env.joints()


def _far(places: npt.NDArray[Any], goal: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = np.linalg.norm((places - goal).reshape(len(places), -1), axis=1)
    return found


def _unit(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = (values - values.min()) / max(float(np.ptp(values)), 1e-12)
    return found


def _show(axis: Any, frame: npt.NDArray[np.uint8]) -> None:
    axis.imshow(frame)
    axis.set_xticks([])
    axis.set_yticks([])
