"""Four short videos of one task, drawn: to try orcalign without a camera.

A gripper picks up a box, carries it over a wall and puts it into a tray. `demo.mp4` hurries through the second
half; `good.mp4` does the same at an even pace, with the box and the tray a pixel elsewhere; `stalls.mp4` waits over the
wall and comes no further; `skips.mp4` goes to the tray without the box.
"""

from pathlib import Path

import numpy as np

from orcalign.video.write import write_mp4

HEIGHT, WIDTH, FPS = 180, 240, 30
GROUND = 150


def background(rng: np.random.Generator) -> np.ndarray:
    """A wall with some texture, a table, and light that falls off to one side."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    rough = rng.normal(0, 4, (HEIGHT // 4, WIDTH // 4)).repeat(4, 0).repeat(4, 1)
    wall = np.stack([170 + rough, 178 + rough, 186 + rough], -1) * (1 - 0.25 * x / WIDTH)[..., None]
    wood = 12 * np.sin(y / 2.5 + 3 * np.sin(x / 40))
    table = np.stack([140 + wood, 105 + wood, 70 + wood], -1)
    return np.where((y > GROUND)[..., None], table, wall).clip(0, 255)


def box(picture: np.ndarray, x: float, y: float, w: float, h: float, colour: tuple[int, int, int]) -> None:
    """A rectangle around (x, y), with soft edges."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    inside = np.clip(w / 2 + 0.5 - abs(columns - x), 0, 1) * np.clip(h / 2 + 0.5 - abs(rows - y), 0, 1)
    picture += inside[..., None] * (np.array(colour, float) - picture)


def frame(
    scene: np.ndarray, hand: tuple[float, float], thing: tuple[float, float], tray: float, grip: float
) -> np.ndarray:
    """One picture: arm, gripper with fingers `grip` apart, box, wall, tray."""
    picture = scene.copy()
    box(picture, 120, GROUND - 20, 10, 40, (95, 95, 105))
    box(picture, tray, GROUND - 3, 52, 6, (40, 90, 60))
    box(picture, tray - 24, GROUND - 9, 5, 18, (40, 90, 60))
    box(picture, tray + 24, GROUND - 9, 5, 18, (40, 90, 60))
    box(picture, *thing, 20, 20, (200, 60, 50))
    x, y = hand
    box(picture, x, (y - 18) / 2, 9, max(2, y - 18), (70, 80, 95))
    box(picture, x, y - 16, 34, 8, (50, 60, 80))
    for side in (-1, 1):
        box(picture, x + side * grip / 2, y - 2, 5, 24, (50, 60, 80))
    return picture.round().astype(np.uint8)


def episode(start: float, tray: float, phases: list[tuple[float, float, int]], holds: bool = True) -> np.ndarray:
    """Frames of the task; `phases` are (from, to, frames) with places on the way from 0 (start) to 5 (done)."""
    rng = np.random.default_rng(7)
    scene = background(rng)
    low, high = GROUND - 12, 55.0
    hands = [(60, high), (start, low), (start, high), (tray, high), (tray, low - 4), (tray - 40, high)]
    frames = []
    for begin, end, count in phases:
        for s in np.linspace(begin, end, count, endpoint=False):
            k, share = min(int(s), 4), s - min(int(s), 4)
            smooth = share * share * (3 - 2 * share)
            hand = tuple(np.array(hands[k]) * (1 - smooth) + np.array(hands[k + 1]) * smooth)
            carried = holds and 1 <= s < 4
            thing = hand if carried else (tray, low - 4.0) if holds and s >= 4 else (start, float(low))
            frames.append(frame(scene, hand, thing, tray, 22 if carried else 32))
    return np.stack(frames)


def draw_clips(folder: Path) -> list[Path]:
    """Write the four videos into a folder, and say which."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = [(0.0, 5.0, 90)]
    clips = {
        "demo": episode(50, 190, [(0, 2, 36), (2, 5, 18), (4.99, 5.0, 6)]),
        "good": episode(51, 189, whole),
        "stalls": episode(49, 190, [(0, 2.4, 43), (2.4, 2.4001, 35), (2.4, 3, 12)]),
        "skips": episode(50, 191, whole, holds=False),
    }
    for name, frames in clips.items():
        write_mp4(folder / f"{name}.mp4", frames, FPS)
    return [folder / f"{name}.mp4" for name in clips]
