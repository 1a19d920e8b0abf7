"""Eight drawn scenes: an arm carries, presses, slides, wipes and fills things, in an order that matters.

An attempt takes other ways through the air, at another pace, with noise of its own, and forgets a step, goes through
its motions without effect, or changes the order. Things stand where they stand in the demo, to a pixel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.films.family import Attempt, Family, Frames, altered

HEIGHT, WIDTH = 180, 240
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Thing:
    """What lies about."""

    x: float
    y: float
    w: float
    h: float
    colour: Colour
    disc: bool = False
    gone: float = 0.0
    """Share of it that has been wiped off."""
    level: float = 0.0
    """Share of it that is filled, from below, with `inside`."""
    inside: Colour = (240, 240, 90)


@dataclass(frozen=True)
class Deed:
    """One step of a task: the hand goes to a thing and does something to it."""

    kind: str
    """carry and slide to (x, y); press, which lights it; wipe; fill."""
    thing: int
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class Drawn(Family):
    """A scene as data."""

    name: str
    held_out: bool
    things: tuple[Thing, ...]
    deeds: tuple[Deed, ...]
    wall: Colour
    table: Colour
    arm: str
    """Where it comes from: above, left, or nowhere (a hand without arm)."""
    seed: int
    home: tuple[float, float] = (120, 40)
    returns: bool = False
    """Whether the hand goes home at the end."""
    per_deed: int = 10
    """Frames in the demo."""

    def demo(self) -> Frames:
        return self._play(range(len(self.deeds)), self.seed, pace=1.0)

    def attempts(self) -> Iterator[Attempt]:
        every = list(range(len(self.deeds)))
        goods = [self._play(every, self.seed + 1 + k, pace) for k, pace in enumerate((1.0, 0.8, 1.4))]
        for k, good in enumerate(goods):
            yield Attempt(f"good {k}", True, good)
        yield from altered(goods[1])
        for k in every:
            yield Attempt(f"forgets step {k}", False, self._play([i for i in every if i != k], self.seed + 20 + k, 1.2))
            yield Attempt(f"step {k} without effect", False, self._play(every, self.seed + 30 + k, 1.1, hollow=(k,)))
        if len(every) > 1:
            yield Attempt("wrong order", False, self._play(every[::-1], self.seed + 40, 1.0))

    def _play(self, order: Sequence[int], seed: int, pace: float, hollow: tuple[int, ...] = ()) -> Frames:
        rng = np.random.default_rng(seed)
        scene = self._scene()
        things = [replace(one, x=one.x + rng.uniform(-0.7, 0.7), y=one.y) for one in self.things]
        hand = np.array(self.home) + rng.uniform(-1, 1, 2)
        frames: list[Any] = [self._draw(scene, things, hand)]
        for number in order:
            deed = self.deeds[number]
            acts = number not in hollow
            count = max(5, round(self.per_deed * pace * rng.uniform(0.85, 1.15)))
            before = things[deed.thing]
            start, there = hand, np.array([before.x, before.y - before.h / 2])
            moves = deed.kind in ("carry", "slide")
            down = np.array([0, 4 if deed.kind == "press" else 0])
            to = np.array([deed.x, deed.y - before.h / 2]) if moves else there + down
            high = rng.uniform(-7, 7, 2) + (start + there) / 2 - [0, 15]
            over = rng.uniform(-5, 5, 2) + (there + to) / 2 - [0, 45 if deed.kind == "carry" else 0]
            for s in np.linspace(0, 2, count, endpoint=False) + 2 / count:
                first, u = s <= 1, _smooth(s if s <= 1 else s - 1)
                hand = _arc(start, high, there, u) if first else _arc(there, over if moves else to, to, u)
                if not first and acts:
                    things[deed.thing] = self._done(deed, before, hand, u)
                frames.append(self._draw(scene, things, hand))
        if self.returns:
            start = hand
            for s in np.linspace(0, 1, max(4, round(6 * pace))):
                frames.append(self._draw(scene, things, start + (np.array(self.home) - start) * _smooth(s)))
        frames += [frames[-1]] * 3
        noise = rng.normal(0, 2.0, (len(frames), HEIGHT, WIDTH, 1)).astype(np.float32)
        return np.asarray((np.stack(frames) + noise).clip(0, 255), np.uint8)

    def _done(self, deed: Deed, before: Thing, hand: Any, u: float) -> Thing:
        if deed.kind in ("carry", "slide"):
            return replace(before, x=float(hand[0]), y=float(hand[1] + before.h / 2))
        if deed.kind == "press":
            return replace(before, level=1.0 if u > 0.7 else 0.0)
        return replace(before, level=u) if deed.kind == "fill" else replace(before, gone=u)

    def _scene(self) -> Any:
        rng = np.random.default_rng(self.seed)
        y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
        rough = rng.normal(0, 5, (HEIGHT // 5, WIDTH // 5)).repeat(5, 0).repeat(5, 1)
        wall = np.array(self.wall) + (rough - 20 * x / WIDTH)[..., None]
        grain = 10 * np.sin(y / 3 + 3 * np.sin(x / 37 + self.seed))
        table = np.array(self.table) + grain[..., None]
        scene = np.where((y > 120)[..., None], table, wall).astype(np.float32)
        for _ in range(4):  # shelves, sockets, pictures on the wall
            _box(scene, *rng.uniform([10, 8, 12, 4], [230, 100, 40, 18]), tuple(rng.integers(60, 200, 3)))
        return scene

    def _draw(self, scene: Any, things: Sequence[Thing], hand: Any) -> Any:
        picture = scene.copy()
        for thing in things:
            colour = np.array(thing.colour, float)
            _box(picture, thing.x, thing.y, thing.w, thing.h, tuple(colour), 1 - thing.gone, thing.disc)
            if thing.level:
                full = thing.h * 0.8 * thing.level
                low = thing.y + thing.h * 0.4 - full / 2
                _box(picture, thing.x, low, thing.w * 0.75, full, thing.inside, disc=thing.disc)
        x, y = hand
        if self.arm == "above":
            _box(picture, x, (y - 20) / 2, 9, max(2.0, y - 20), (70, 80, 95))
        elif self.arm == "left":
            _box(picture, (x - 14) / 2, y - 16, max(2.0, x - 14), 9, (60, 60, 70))
        if self.arm == "nowhere":
            _box(picture, x, y - 10, 22, 22, (214, 160, 130), disc=True)
            _box(picture, x, y - 2, 8, 12, (214, 160, 130))
        else:
            _box(picture, x, y - 17, 30, 8, (50, 60, 80))
            for side in (-1, 1):
                _box(picture, x + 12 * side, y - 8, 5, 18, (50, 60, 80))
        return picture


def _smooth(s: float) -> float:
    return s * s * (3 - 2 * s)


def _arc(a: Any, via: Any, b: Any, u: float) -> Any:
    """A curve from a to b that bends towards `via`."""
    return (1 - u) ** 2 * a + 2 * u * (1 - u) * via + u * u * b


def _box(
    picture: Any, x: float, y: float, w: float, h: float, colour: Any, opacity: float = 1.0, disc: bool = False
) -> None:
    """A rectangle or an ellipse around (x, y) with soft edges."""
    top, bottom = max(0, int(y - h / 2 - 1)), min(HEIGHT, int(y + h / 2 + 2))
    left, right = max(0, int(x - w / 2 - 1)), min(WIDTH, int(x + w / 2 + 2))
    if top >= bottom or left >= right:
        return
    rows, columns = np.mgrid[top:bottom, left:right].astype(np.float32)
    if disc:
        away = np.hypot((columns - x) / max(w, 1), (rows - y) / max(h, 1))
        inside = np.clip((0.5 - away) * min(w, h) + 0.5, 0, 1)
    else:
        across, down = w / 2 + 0.5 - abs(columns - x), h / 2 + 0.5 - abs(rows - y)
        inside = np.clip(across, 0, 1) * np.clip(down, 0, 1)
    part = picture[top:bottom, left:right]
    part += opacity * inside[..., None] * (np.array(colour, np.float32) - part)


RED, BLUE, GREEN, GREY, WOOD = (205, 60, 50), (50, 80, 190), (60, 150, 70), (110, 110, 120), (150, 110, 70)
LAMP, DARK, STAIN = (70, 40, 40), (40, 40, 48), (95, 60, 40)
_BLOCKS = (Thing(50, 138, 20, 20, RED), Thing(90, 138, 20, 20, BLUE), Thing(180, 140, 34, 14, GREY))
DRAWN: tuple[Family, ...] = (
    Drawn("tray", False, (Thing(185, 143, 50, 8, GREEN), Thing(50, 137, 20, 20, RED)),
          (Deed("carry", 1, 185, 130),), (176, 180, 188), (140, 105, 70), "above", 100, returns=True, per_deed=24),
    Drawn("tower", False, _BLOCKS, (Deed("carry", 0, 180, 123), Deed("carry", 1, 180, 103)),
          (150, 165, 150), (120, 120, 128), "above", 200),
    Drawn("switches", False, tuple(Thing(x, 140, 22, 14, LAMP) for x in (60, 120, 180)),
          tuple(Deed("press", k) for k in (1, 0, 2)), (190, 185, 170), (90, 95, 110), "left", 300, home=(60, 60)),
    Drawn("drawer", False, (Thing(60, 140, 60, 30, WOOD), Thing(180, 135, 16, 16, BLUE, disc=True)),
          (Deed("slide", 0, 90, 140), Deed("carry", 1, 92, 122), Deed("slide", 0, 60, 140)),
          (205, 200, 196), (100, 80, 66), "nowhere", 400, returns=True),
    Drawn("sorting", True, (Thing(30, 142, 34, 12, (160, 40, 40)), Thing(205, 142, 34, 12, (40, 60, 140)),
                            Thing(100, 136, 16, 16, RED, disc=True), Thing(140, 136, 16, 16, BLUE, disc=True)),
          (Deed("carry", 2, 30, 130), Deed("carry", 3, 205, 130)), (170, 172, 160), (150, 140, 120), "nowhere", 500,
          returns=True),
    Drawn("wiping", True, tuple(Thing(x, y, 22, 9, STAIN, disc=True) for x, y in ((60, 150), (120, 160), (185, 148))),
          tuple(Deed("wipe", k) for k in range(3)), (186, 196, 205), (170, 165, 150), "nowhere", 600, home=(30, 90)),
    Drawn("pouring", True, (Thing(70, 130, 20, 34, (170, 190, 200)), Thing(170, 130, 24, 40, (190, 205, 215)),
                            Thing(120, 148, 30, 6, DARK)),
          (Deed("carry", 2, 215, 148), Deed("fill", 1), Deed("press", 0)), (140, 150, 170), (110, 90, 80), "left", 700,
          home=(40, 60), returns=True),
    Drawn("latch", True, (Thing(190, 95, 60, 90, WOOD), Thing(168, 100, 10, 6, DARK),
                          Thing(60, 142, 14, 8, (200, 180, 60))),
          (Deed("carry", 2, 166, 92), Deed("slide", 1, 168, 116), Deed("slide", 0, 214, 95)),
          (196, 190, 180), (125, 118, 110), "above", 800),
)  # fmt: skip
