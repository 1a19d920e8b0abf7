"""Whatever a user calls a demo, as a tuple of `Demo`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.video import Clip, Demo, DemoSet, is_demo, load_demo
from orcalign.video.demo import Render

DemoLike: TypeAlias = Demo | DemoSet | Clip | str | os.PathLike[str] | npt.NDArray[np.uint8]


def as_demos(given: DemoLike | Sequence[DemoLike]) -> tuple[Demo, ...]:
    """Demos from a `Demo`, `DemoSet`, `Clip`, path, frames [J,H,W,3], or a list of these.

    >>> [len(demo) for demo in as_demos([np.zeros((4, 8, 8, 3), np.uint8), np.zeros((6, 8, 8, 3), np.uint8)])]
    [4, 6]
    """
    if isinstance(given, (list, tuple)):
        if not given:
            raise ValueError("The list of demos is empty; give at least one demo.")
        # The set checks that its demos belong together.
        return DemoSet(tuple(demo for entry in given for demo in _one(entry))).demos
    return _one(given)


def _one(given: Any) -> tuple[Demo, ...]:
    if isinstance(given, Demo):
        return (given,)
    if isinstance(given, DemoSet):
        return given.demos
    if isinstance(given, Clip):
        return (Demo(given.frames, min(1000.0, max(0.01, given.fps)), given.source),)
    if isinstance(given, np.ndarray):
        return (Demo(given),)
    if isinstance(given, (str, os.PathLike)):
        folder = Path(given)
        if folder.is_dir() and not is_demo(folder) and any(is_demo(entry) for entry in folder.iterdir()):
            return DemoSet.load(folder).demos
        return (load_demo(given),)
    raise ValueError(
        f"The demo is a {type(given).__name__}; give a Demo, a path, frames uint8 [J,H,W,3], or a list of these."
    )


def check_render(demos: Sequence[Demo], learner: str) -> None:
    """Refuse a learner drawn in another way than the demo; what is "unknown" goes with everything.

    >>> check_render([Demo(np.zeros((4, 8, 8, 3), np.uint8), render="paper")], "fast")
    Traceback (most recent call last):
    ...
    ValueError: Demo 0 (memory) is rendered 'paper' and the learner 'fast': the same pose looks different, ...
    """
    require("learner_render", learner, get_args(Render))
    for k, demo in enumerate(demos):
        if "unknown" not in (demo.render, learner) and demo.render != learner:
            raise ValueError(
                f"Demo {k} ({demo.source}) is rendered {demo.render!r} and the learner {learner!r}: the same "
                "pose looks different, so its distance would never be small. Render both one way, or record "
                f"the demo again with render {learner!r}."
            )


def check_shape(demo: Demo, height: int, width: int) -> None:
    """Refuse learner frames of another shape: the encoder stretches all to a square, one more than the other.

    >>> check_shape(Demo(np.zeros((4, 90, 120, 3), np.uint8)), 240, 320)
    >>> check_shape(Demo(np.zeros((4, 90, 120, 3), np.uint8)), 240, 240)
    Traceback (most recent call last):
    ...
    ValueError: The learner's frames are 240x240 pixels and the demo's 120x90: pictures of different shape ...
    """
    if demo.sentences is not None and all(demo.sentences):
        return  # nobody sees these pictures
    demo_height, demo_width = demo.frames.shape[1:3]
    if abs(demo_width * height - width * demo_height) > 0.02 * width * demo_height:
        raise ValueError(
            f"The learner's frames are {width}x{height} pixels and the demo's {demo_width}x{demo_height}: "
            "pictures of different shape cannot be compared, so crop both to one shape."
        )


def check_costs(raw_costs: Sequence[npt.NDArray[Any]], demos: Sequence[Demo], batched: bool = False) -> None:
    """Refuse costs that are not [T, J] of one episode, or [B, T, J] of several, for each of the demos.

    >>> check_costs([np.zeros((7, 4))], [Demo(np.zeros((4, 8, 8, 3), np.uint8))])
    """
    shape = "[B, T, J]" if batched else "[T, J]"
    if len(raw_costs) != len(demos):
        raise ValueError(
            f"there are {len(raw_costs)} cost arrays for {len(demos)} demos; give one {shape} for each demo."
        )
    for k, (cost, demo) in enumerate(zip(raw_costs, demos, strict=True)):
        if cost.ndim != 2 + batched or cost.shape[-1] != len(demo):
            raise ValueError(
                f"the costs against demo {k} have shape {cost.shape}; they must be {shape} "
                f"with J = {len(demo)}, that demo's frames."
            )
    if len({cost.shape[:-1] for cost in raw_costs}) > 1:
        shapes = ", ".join(str(cost.shape) for cost in raw_costs)
        raise ValueError(f"the costs have shapes {shapes}; all demos must be compared with the same episodes.")
