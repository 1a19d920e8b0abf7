"""What a run begins with whose demo is said in words: what random play looks like to each of the sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orcalign.agents.noise import episode_noise
from orcalign.costs.goals import GoalScale
from orcalign.encoders.registry import find_reader
from orcalign.envs import find_task, make, train_seed
from orcalign.rewards.description import GOALS, make_goal_model
from orcalign.training.reward_config import VIDEO
from orcalign.video import Demo, goals

if TYPE_CHECKING:
    from orcalign.training.config import TrainConfig

ROLLOUTS = 8
"""Episodes of random play by which goals are calibrated."""
PLAYING = 3 * 2**60
"""Instead of a run's seed, so that these episodes are none that a run is trained with."""


def find_goals(config: TrainConfig) -> tuple[Demo, ...]:
    """Those that were given, or the task's own sentence."""
    return (goals(list(config.demo.goal) or [find_task(config.task).sentence]),)


def check_goals(config: TrainConfig) -> None:
    """Refuse what cannot be done with sentences, or not without."""
    reward, goal, spec = config.reward, config.demo.goal, find_task(config.task)
    if not goal and reward.reward != "text":
        return
    if goal and config.demo.demo:
        raise ValueError("a demo and goals were both given; give the video, or say it in words.")
    if reward.reward not in (VIDEO, "text"):
        raise ValueError(
            f"the reward {reward.reward!r} knows nothing of sentences; leave out the goal, or use --recipe words."
        )
    if not goal and not spec.sentence:
        raise ValueError(f"task {config.task!r} has no sentence of its own; say with --goal what is to be seen.")
    if reward.reward == "text":
        if len(goal) > 1:
            raise ValueError(f"{len(goal)} goals were given, and the recipe liv looks at one; use --recipe words.")
    elif reward.context > 1:
        raise ValueError(
            f"context is {reward.context}, and goals are not frames in step with the learner's; use --recipe words, or "
            "--context 1."
        )
    elif reward.progress_in != "frames" or config.encoder.look != "whole" or reward.distance != "cosine":
        raise ValueError(
            "goals are compared with whole pictures by the cosine of embeddings, and each counts the same; leave out "
            "progress_in, look and distance, or use --recipe words."
        )
    find_reader(config.encoder.encoder)


def goal_costs(config: TrainConfig, demos: tuple[Demo, ...]) -> dict[str, Any]:
    """What compares frames with the goals of a run, calibrated by a few episodes of random play."""
    encoder = config.encoder
    costs = {"encoder": encoder.encoder, **encoder.plain(), "look": GOALS, "distance": "cosine"}
    model = make_goal_model(demos, costs)
    seen = [model.compare(model.encoder(frames)) for frames in random_play(config)]
    scales = []
    for k, demo in enumerate(demos):
        pictures = [j for j, text in enumerate(demo.sentences or ()) if not text]
        scales.append(GoalScale.of([one[k] for one in seen], pictures).plain())
    return {**costs, "scales": scales}


def random_play(config: TrainConfig, episodes: int = ROLLOUTS) -> Iterator[npt.NDArray[np.uint8]]:
    """Frames [T,H,W,3] of episodes in which actions are pink noise: they go somewhere."""
    collect = config.collect
    env = make(config.task, collect.render, config.seed, size=collect.frame_size, repeat=collect.repeat)
    try:
        space: Any = env.action_space
        for k in range(episodes):
            rng = np.random.default_rng([config.seed, PLAYING, k])
            env.reset(seed=train_seed(k, PLAYING))
            frames: list[npt.NDArray[np.uint8]] = []
            ended = False
            noise = episode_noise("pink", env.get_wrapper_attr("task_spec").agent_steps, space.shape[0], rng)
            for action in (np.clip(noise, -1, 1) + 1) / 2:
                if ended:
                    break
                _, _, terminated, truncated, _ = env.step((space.low + action * (space.high - space.low)).astype("f4"))
                ended = terminated or truncated
                frames.append(np.array(env.render()))
            yield np.stack(frames)
    finally:
        env.close()
