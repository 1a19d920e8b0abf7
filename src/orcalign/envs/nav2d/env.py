"""The paper's 2D navigation, drawn: subgoals to visit in order, on a grid or in the plane.

The layouts are those of `orcalign.matching.counterexamples`: the demo's cells are the subgoals, its first cell the
start; and one with coloured squares, for goals in words. A picture shows where the agent is and nothing of where it
was, so an agent that goes straight to the last subgoal looks, at the end, like one that visited all: the reward has to
know better.
"""

from __future__ import annotations

import abc
import copy
from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.envs.gymnasium import register
from orcalign.envs.nav2d.layouts import DARK, HALF, along, find_layout, paint_squares
from orcalign.envs.suite import Reset, Step

BACKGROUND = 128
"""Grey: to an encoder that centres pixels the empty picture is (almost) nothing, and the agent everything."""
AGENT_COLOUR = np.array([127.0, 70.0, -90.0])
"""Added to the background at the agent's centre: orange."""
AGENT_WIDTH = 0.45
"""Standard deviation of the agent's blob in cells; so wide that neighbouring cells look alike."""
RING_COLOUR = np.array([-18.0, -10.0, 26.0])
RING_RADIUS, RING_WIDTH = 0.36, 0.05
DEFAULT_SIZE = 64


class Nav2DBase(gymnasium.Env[npt.NDArray[np.float32], Any], abc.ABC):
    """What both variants share: subgoals, success, picture.

    Observation float32 [3]: x and y as a share of the map, and the share of subgoals visited in order.
    The reward is 1 at every step that ends in success, which is also in `info["success"]`.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's way)
    reach: float
    """Distance in cells at which a subgoal counts as visited."""
    start_noise: float
    """How far from the start an episode may begin, in cells along x and y."""
    actions: gymnasium.spaces.Space[Any]
    """Those that there are."""

    def __init__(self, layout: str = "slowness", size: int = DEFAULT_SIZE, render_mode: str | None = None) -> None:
        told = find_layout(layout)
        if isinstance(size, bool) or not isinstance(size, int) or not 8 <= size <= 4096:
            raise ValueError(f"size is {size!r}; it must be a whole number of pixels from 8 to 4096.")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode is {render_mode!r}; it must be 'rgb_array' or None.")
        self.layout, self.size, self.render_mode = layout, size, render_mode
        self.start = np.array(told.start, np.float64)
        self.subgoals = np.array(told.subgoals, np.float64)
        """[G, 2] Cells (x, y) in the order in which they are to be visited."""
        self.cells, self.regions = told.cells, told.regions
        self.position = self.start.copy()
        self.visited = 0
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = copy.deepcopy(self.actions)  # it has random numbers of its own
        self._ground: npt.NDArray[np.float64] | None = None

    @abc.abstractmethod
    def _moved(self, action: Any) -> npt.NDArray[np.float64]:
        """Where the action leads from `position`, before the map's edge is minded."""

    @abc.abstractmethod
    def action_towards(self, goal: npt.NDArray[np.float64]) -> Any:
        """The action that comes closest to `goal` (x, y)."""

    def expert_action(self, observation: Any = None, success: bool = False) -> Any:
        """To the next subgoal by the straightest way, and then stay at the last; an `Expert`, who needs no telling."""
        return self.action_towards(self.subgoals[min(self.visited, len(self.subgoals) - 1)])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Back to the start."""
        super().reset(seed=seed)
        noise = self.np_random.uniform(-self.start_noise, self.start_noise, 2)
        self.position, self.visited = self._clipped(self.start + noise), 0
        return self.observe(), {"success": False, "visited": 0}

    def step(self, action: Any) -> Step:
        """Move; the episode ends by its length alone, so that staying at the last subgoal can pay."""
        self.position = self._clipped(self._moved(action))
        if self.visited < len(self.subgoals) and self._at(self.visited):
            self.visited += 1
        success = self.visited == len(self.subgoals) and self._at(len(self.subgoals) - 1)
        info = {"success": success, "visited": self.visited}
        return self.observe(), float(success), False, False, info

    def put(self, place: npt.NDArray[np.float64]) -> None:
        """Put the agent at a place (x, y) in cells, without visiting anything."""
        self.position = self._clipped(place)

    def observe(self) -> npt.NDArray[np.float32]:
        """The observation [3] of now."""
        return np.array([*(self.position / (self.cells - 1)), self.visited / len(self.subgoals)], np.float32)

    def render(self) -> npt.NDArray[np.uint8]:
        """The map from above, y upwards, uint8 [size, size, 3]."""
        if self.regions:
            return self._render_squares()
        if self._ground is None:
            self._ground = np.full((self.size, self.size, 3), float(BACKGROUND))
            for goal in self.subgoals:
                ring = np.exp(-0.5 * ((self._distances(goal) - RING_RADIUS) / RING_WIDTH) ** 2)
                self._ground += ring[..., None] * RING_COLOUR
        blob = np.exp(-0.5 * (self._distances(self.position) / AGENT_WIDTH) ** 2)
        picture = np.clip(self._ground + blob[..., None] * AGENT_COLOUR, 0, 255).round()
        return np.asarray(picture, np.uint8)

    def _render_squares(self) -> npt.NDArray[np.uint8]:
        if self._ground is None:
            self._ground = paint_squares(self.size, self.cells, self.regions, BACKGROUND)
        blob = np.exp(-0.5 * (self._distances(self.position) / AGENT_WIDTH) ** 4)[..., None]
        return np.asarray((self._ground * (1 - blob) + DARK * blob).round(), np.uint8)

    def _clipped(self, position: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.clip(position, 0.0, self.cells - 1.0)

    def _at(self, subgoal: int) -> bool:
        off = self.position - self.subgoals[subgoal]
        # A coloured square is visited by whoever is inside.
        return bool(np.abs(off).max() <= HALF) if self.regions else bool(np.linalg.norm(off) <= self.reach)

    def _distances(self, point: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """[size, size] Cells from each pixel to the point."""
        x, y = along(self.size, self.cells)
        distances: npt.NDArray[np.float64] = np.hypot(x - point[0], y - point[1])
        return distances


@final
class Nav2D(Nav2DBase):
    """In the plane: action float32 [2] from -1 to 1, at most half a cell a step; the start is a little random.

    >>> env = Nav2D("order")
    >>> _ = env.reset(seed=0)
    >>> env.render().shape, any(env.step(env.expert_action())[4]["success"] for _ in range(24))
    ((64, 64, 3), True)
    """

    reach, start_noise = 0.3, 0.1
    actions = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    SPEED = 0.5

    def _moved(self, action: Any) -> npt.NDArray[np.float64]:
        wish = np.asarray(action, np.float64)
        if wish.shape != (2,) or not np.isfinite(wish).all():
            raise ValueError(f"the action is {action!r}; it must be two finite numbers from -1 to 1.")
        # A longer diagonal would make some directions faster than others.
        return self.position + self.SPEED * wish / max(1.0, float(np.linalg.norm(wish)))

    def action_towards(self, goal: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        """Straight there, as fast as possible, without running past it."""
        way = (goal - self.position) / self.SPEED
        return (way / max(1.0, float(np.linalg.norm(way)))).astype(np.float32)


@final
class Nav2DGrid(Nav2DBase):
    """On the grid: 0 stays, 1 to 4 go one cell right, up, left, down.

    >>> env = Nav2DGrid("order")
    >>> _ = env.reset(seed=0)
    >>> [int(env.step(env.expert_action())[4]["visited"]) for _ in range(6)]
    [0, 1, 1, 2, 2, 3]
    """

    reach, start_noise = 0.0, 0.0
    actions = gymnasium.spaces.Discrete(5)
    MOVES = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)], np.float64)

    def _moved(self, action: Any) -> npt.NDArray[np.float64]:
        if not self.action_space.contains(action):
            raise ValueError(f"the action is {action!r}; it must be a whole number from 0 to 4.")
        moved: npt.NDArray[np.float64] = self.position + self.MOVES[int(action)]
        return moved

    def put(self, place: npt.NDArray[np.float64]) -> None:
        """On the nearest cell."""
        super().put(np.round(place))

    def action_towards(self, goal: npt.NDArray[np.float64]) -> int:
        """Along x first, then along y."""
        x, y = goal - self.position
        if x:
            return 1 if x > 0 else 3
        return (2 if y > 0 else 4) if y else 0


# So that gymnasium.make("orcalign.envs.nav2d.env:orcalign/Nav2D-v0") works without anything else.
register()
