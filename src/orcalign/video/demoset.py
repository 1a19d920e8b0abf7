"""Several demonstrations of one task."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orcalign.video.demo import Demo, is_demo
from orcalign.video.stills import natural_key


@dataclass(frozen=True, eq=False)
class DemoSet:
    """Demos of one task, of any lengths, that one encoder can read together.

    All must have the same frame size, and "fast" and "paper" renderings must not be mixed: no learner could
    match both. "unknown" goes with either.

    >>> import numpy as np
    >>> demos = DemoSet((Demo(np.zeros((4, 8, 8, 3), np.uint8)), Demo(np.zeros((6, 8, 8, 3), np.uint8))))
    >>> [len(demo) for demo in demos]
    [4, 6]
    """

    demos: tuple[Demo, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "demos", tuple(self.demos))
        if not self.demos:
            raise ValueError("A demo set needs at least one demo.")
        first = self.demos[0]
        for k, demo in enumerate(self.demos):
            if demo.frames.shape[1:] != first.frames.shape[1:]:
                (height, width), (height0, width0) = demo.frames.shape[1:3], first.frames.shape[1:3]
                raise ValueError(
                    f"Demo {k} ({demo.source}) has frames of {width}x{height} pixels, "
                    f"demo 0 of {width0}x{height0}; read them with one size."
                )
            if demo.task and first.task and demo.task != first.task:
                raise ValueError(
                    f"Demo {k} shows task {demo.task!r}, demo 0 {first.task!r}; make one set for each task."
                )
        renders = {demo.render for demo in self.demos} - {"unknown"}
        if len(renders) > 1:
            raise ValueError("The set mixes demos rendered 'fast' and 'paper'; render them all one way.")

    def __len__(self) -> int:
        return len(self.demos)

    def __iter__(self) -> Iterator[Demo]:
        return iter(self.demos)

    def __getitem__(self, k: int) -> Demo:
        return self.demos[k]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "DemoSet":
        """All demo folders in a folder, in natural order of their names; one demo folder is a set of one."""
        folder = Path(path)
        if not folder.is_dir():
            raise FileNotFoundError(f"{str(folder)!r} is not a folder; give a folder of demo folders.")
        if is_demo(folder):
            return cls((Demo.load(folder),))
        # Hidden folders are half-written demos that a kill left behind.
        inside = [p for p in folder.iterdir() if is_demo(p) and not p.name.startswith(".")]
        if not inside:
            raise ValueError(f"{str(folder)!r} holds no demo folders; save demos into it first.")
        return cls(tuple(Demo.load(p) for p in sorted(inside, key=lambda p: natural_key(p.name))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write each demo to its own folder `demo-0`, `demo-1`, … inside `path`, made if needed."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(f"Cannot make the folder {str(folder)!r}; choose another place.") from error
        for k, demo in enumerate(self.demos):
            demo.save(folder / f"demo-{k}")
