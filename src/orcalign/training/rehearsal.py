"""Before a run with a demo that somebody gave: does the environment draw and observe as it should, and does the demo
show what it shows?"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from orcalign.envs import make, train_seed
from orcalign.files import write_file
from orcalign.rewards.base import Frames
from orcalign.rewards.first_look import ELSEWHERE, black, first_look, png
from orcalign.rewards.lint import Finding, lint_demo
from orcalign.training.config import TrainConfig
from orcalign.training.follow_config import FOLLOW
from orcalign.training.reward_config import VIDEO
from orcalign.training.run_folder import COMPARISON
from orcalign.video import Demo

RESETS, DRAWN = 10, (1, 5, 12)
"""Episodes that are begun, and the random steps of each after which a picture is drawn."""
REHEARSING = 2**61 + 2
"""Instead of a run's seed, so that these episodes are none that a run is trained with."""
HOPELESS = ("too-short", "static", "black-frames")
"""Findings of lint, where they are errors, with which nothing can be learned from a demo."""
CUTS = ("jump",)
WAY_OUT = "If it is meant all the same: --no-demo-check."


class Compared(NamedTuple):
    """What a demo has in common with the environment."""

    said: str
    """In a sentence."""
    picture: bytes
    """Both beside one another, as PNG."""


def compare(config: TrainConfig, demos: tuple[Demo, ...], out: Path) -> Compared | None:
    """Look at demos that were given, beside the environment; None for a reward that looks at no pictures of a demo, and
    where nobody asked for it.

    A demo that cannot be followed is a ValueError, and `out` then holds a picture of it and of the environment.
    """
    if not config.demo.demo:
        return None
    starts, play = rehearse(config)
    kind = config.reward.reward
    if not config.demo.demo_check or kind not in (VIDEO, FOLLOW, "roboclip"):
        return None
    said: list[str] = []
    looks = [first_look(demo, starts, play) for demo in demos]
    for demo, found in zip(demos, looks, strict=True):
        name = "the demo" if len(demos) == 1 else f"the demo {demo.source}"
        hopeless = next((one for one in lint_demo(demo) if one.severity == "error" and one.code in HOPELESS), None)
        if hopeless is not None:
            raise ValueError(f"{name} is not fit to learn from: {_told(hopeless)} {WAY_OUT}")
        # What is like a clip as a whole may stand elsewhere.
        if found.refused and kind != "roboclip":
            write_file(_made(out) / COMPARISON, png(found.picture))
            raise ValueError(
                f"{found.refused.replace('the demo', name)}: even what stands still is not as the environment draws it "
                f"({out / COMPARISON} has both). {_advice(found.refused)} {WAY_OUT}"
            )
        said += [one.replace("the demo", name) for one in (*found.words, *([found.refused] if found.refused else []))]
        said += [f"{name} may be cut: {_told(one)}" for one in lint_demo(demo) if one.code in CUTS]
    said = list(dict.fromkeys(said))
    if max(found.elsewhere for found in looks) >= ELSEWHERE:
        said.append(_copes(config))
    text = "; ".join(said) or "the demo's first frames look like the environment's"
    return Compared(text, png(looks[0].picture))


def rehearse(config: TrainConfig) -> tuple[Frames, Frames]:
    """Frames [R,H,W,3] right after resets, and [N,H,W,3] of what random actions make of it.

    An environment that draws nothing, black or in several sizes, or observes what is not a number, is a ValueError.
    """
    collect = config.collect
    env = make(config.task, collect.render, config.seed, size=collect.frame_size, camera=collect.camera)
    env.action_space.seed(0)
    starts, play = [], []
    try:
        for k in range(RESETS):
            env.reset(seed=train_seed(k, REHEARSING))
            starts.append(np.array(env.render()))
            for t in range(1, DRAWN[-1] + 1):
                _, _, terminated, truncated, _ = env.step(env.action_space.sample())
                if t in DRAWN:
                    play.append(np.array(env.render()))
                if terminated or truncated:
                    break
    finally:
        env.close()
    seen = np.stack([*starts, *play])
    if black(seen):
        raise ValueError(
            f"the environment draws black: nothing in {len(seen)} pictures of {RESETS} episodes is brighter than "
            f"{int(seen.max())} of 255; look at what its render() returns."
        )
    return seen[: len(starts)], seen[len(starts) :]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _told(finding: Finding) -> str:
    return str(finding).partition(": ")[2]


def _advice(refused: str) -> str:
    if "mirrored" in refused:
        return "Mirror it: orcalign demo import VIDEO --mirror --out DIR."
    return "Film the demo as the environment is drawn, or draw that with the demo's camera (--camera NAME, for MuJoCo)."


def _copes(config: TrainConfig) -> str:
    """Whether the reward allows for things that stand elsewhere."""
    if config.reward.reward == FOLLOW:
        return "places are followed relative to where things stand"
    if config.encoder.look == "object":
        return "one object is looked for in each episode; --recipe follow reads the places of all"
    return "whole pictures are compared, for which that is another picture; --recipe follow reads places instead"
