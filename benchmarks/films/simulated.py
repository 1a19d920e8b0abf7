"""Six tasks of Meta-world and two of gymnasium-robotics, by their scripts, drawn by our renderer.

A good attempt is the script with noise in its actions, in the demo's layout, and success; a bad one never opens or
closes the gripper, misses by some centimetres, comes too late, or moves at random, and is kept if it does not succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.films.family import Attempt, Family, Frames, altered

SIZE = 160
OVER = np.array([0, 0, 0.08])
LONGEST = 100
"""Steps."""
Change = Callable[[int, Any, np.random.Generator], Any]
"""Step, action of the script, random numbers → the action that is taken."""


def _exact(t: int, action: Any, rng: np.random.Generator) -> Any:
    return action


def _noisy(share: float) -> Change:
    return lambda t, action, rng: action + rng.normal(0, share, len(action)) * ([1] * (len(action) - 1) + [0])


def _late(steps: int) -> Change:
    """Waits, and so begins late."""
    return lambda t, action, rng: action if t >= steps else 0 * action


def _held(grip: float) -> Change:
    """The gripper stays as it is."""
    return lambda t, action, rng: np.append(action[:-1], grip)


def _aside(x: float, y: float, steps: int) -> Change:
    """Pushed aside all the time, so that it misses."""
    return lambda t, action, rng: np.clip(action, -1, 1) * 0.8 + np.array([x, y, 0, 0]) * (t < steps)


def _above(t: int, action: Any, rng: np.random.Generator) -> Any:
    """Never comes down far enough."""
    return np.array([action[0], action[1], max(action[2], 0.0) * 0.3 + 0.05, action[3]])


def _random(t: int, action: Any, rng: np.random.Generator) -> Any:
    return rng.uniform(-1, 1, len(action))


BAD: dict[str, Change] = {
    "gripper stays open": _held(-1.0),
    "gripper stays closed": _held(1.0),
    "misses to the left": _aside(-0.6, 0.0, 60),
    "misses to the right": _aside(0.6, 0.0, 60),
    "stays above": _above,
    "random": _random,
}


@dataclass(frozen=True)
class Simulated(Family):
    """A task in one layout."""

    name: str
    held_out: bool
    make: Callable[[str], Any]
    """Name → a world with `play(change, rng)`: frames [T,H,W,3], and whether it ended in success."""
    seed: int = 0

    def demo(self) -> Frames:
        frames, success = self._world.play(_exact, np.random.default_rng(0))
        assert success, f"the script fails at {self.name}"
        return frames

    @property
    def _world(self) -> Any:
        return self.make(self.name)

    def attempts(self) -> Iterator[Attempt]:
        rng, world = np.random.default_rng(self.seed), self._world
        goods = []
        for k in range(7):
            change = (_noisy(0.15), _noisy(0.25), _late(6), _noisy(0.35))[k % 4]
            frames, success = world.play(change, rng)
            if success and len(goods) < 3:
                goods.append(frames)
                yield Attempt(f"good {len(goods) - 1}", True, frames)
        yield from altered(goods[1])
        for name, change in BAD.items():
            frames, success = world.play(change, rng)
            if not success:
                yield Attempt(name, False, frames)


class MetaworldWorld:
    """A task of Meta-world in the layout of one seed."""

    def __init__(self, name: str) -> None:
        from orcalign.envs.suite import find_suite
        from orcalign.envs.tasks import find_task

        self._spec = find_task(name)
        self._suite = find_suite(self._spec.suite)

    def play(self, change: Change, rng: np.random.Generator) -> tuple[Frames, bool]:
        spec, suite = self._spec, self._suite
        env, spec = suite.build(spec, True, SIZE)
        renderer = suite.renderer(env, spec, "fast", SIZE)
        assert renderer is not None
        script = suite.expert(spec, env)
        seen, _ = env.reset(seed=3)
        frames, success, after = [renderer.render()], False, 0
        for t in range(spec.episode_steps):
            action = np.clip(change(t, script(seen, success), rng), -1, 1).astype(np.float32)
            seen, _, _, _, info = env.step(action)
            success = success or bool(info["success"])
            if t % 4 == 3:
                frames.append(renderer.render())
            after += success
            if after > 12 or t >= LONGEST:
                break
        renderer.close()
        env.close()
        return np.stack(frames), success


class FetchWorld:
    """A task of gymnasium-robotics, by a controller of its own."""

    def __init__(self, name: str) -> None:
        self._id = {"fetch-push": "FetchPush-v4", "fetch-pick": "FetchPickAndPlace-v4"}[name]
        self._lifts = name == "fetch-pick"

    def play(self, change: Change, rng: np.random.Generator) -> tuple[Frames, bool]:
        import gymnasium
        import gymnasium_robotics

        from orcalign.envs.rendering import make_renderer

        gymnasium.register_envs(gymnasium_robotics)
        env = gymnasium.make(self._id, max_episode_steps=200)
        seen, _ = env.reset(seed=12)
        world: Any = env.unwrapped
        renderer = make_renderer(world.model, world.data, "external_camera_0", size=SIZE)
        frames, success, after, phase = [renderer.render()], False, 0, 0
        for t in range(LONGEST):
            action, phase = self._act(seen, phase)
            seen, _, _, _, info = env.step(np.clip(change(t, action, rng), -1, 1).astype(np.float32))
            success = bool(info["is_success"])
            if t % 2:
                frames.append(renderer.render())
            after += success
            if after > 6:
                break
        renderer.close()
        env.close()
        return np.stack(frames), success

    def _act(self, seen: Any, phase: int) -> tuple[Any, int]:
        hand, block, goal = seen["observation"][:3], seen["achieved_goal"], seen["desired_goal"]
        if self._lifts:
            above = block + OVER
            if phase == 0 and np.linalg.norm((hand - above)[:2]) < 0.01:
                phase = 1
            if phase == 1 and np.linalg.norm(hand - block) < 0.012:
                phase = 2
            if 2 <= phase < 8:
                phase += 1  # closing takes some steps
            target = above if phase == 0 else block if phase < 8 else hand + np.clip(goal - block, -0.06, 0.06)
            return np.append(10 * (target - hand), 1.0 if phase < 2 else -1.0), phase
        way = (goal - block) * [1, 1, 0]
        left = float(np.linalg.norm(way))
        ahead = way / max(left, 1e-6)
        behind = block - 0.09 * ahead
        if phase == 0 and np.linalg.norm((hand - behind)[:2]) < 0.02:
            phase = 1
        if phase == 1 and hand[2] - block[2] < 0.015:
            phase = 2
        if phase == 0:
            target = behind + OVER
        elif phase == 1:
            target = behind
        else:
            target = np.append((block + ahead * min(left, 0.04) if left > 0.015 else hand)[:2], block[2])
        return np.append(8 * (target - hand), -1.0), phase


SIMULATED: tuple[Family, ...] = (
    Simulated("drawer-open", False, MetaworldWorld),
    Simulated("push", False, MetaworldWorld),
    Simulated("window-open", False, MetaworldWorld),
    Simulated("fetch-push", False, FetchWorld),
    Simulated("door-close", True, MetaworldWorld),
    Simulated("plate-slide", True, MetaworldWorld),
    Simulated("pick-place", True, MetaworldWorld),
    Simulated("fetch-pick", True, FetchWorld),
)
