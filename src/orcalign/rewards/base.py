"""The reward protocol: everything that pays an agent goes through it, and no caller asks which kind it has.

    need → observe (at the collector: an episode → evidence) → pay (at the learner: evidence → rewards)

Evidence is kept with the episode, so that whatever changes pays everything that is kept anew. Beside these three, a
reward may learn, guide the policy, say how well an episode follows the demo, be streamed, and be part of another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from orcalign.matching.match import FloatArray

if TYPE_CHECKING:
    from orcalign.costs.predicted.turning import Turning
    from orcalign.rewards.composed import Product, Sum
    from orcalign.rewards.explanation import Explanation
    from orcalign.video import Demo

Array = npt.NDArray[Any]
Frames = npt.NDArray[np.uint8]
State = tuple[dict[str, Any], dict[str, Array]]
"""Plain values for JSON, and arrays by name."""
Kind = TypeVar("Kind", bound="Reward")


@dataclass(frozen=True)
class Need:
    """What a reward has to see of an episode. What nobody needs is not drawn and not encoded.

    >>> Need(frames=3).draws(6), Need(frames=3).draws(7), Need(frames=0).draws(0)
    (True, False, False)
    >>> (Need(of=8) | Need(frames=0)).of, (Need(of=8) | Need(of=2)).of, (Need(of=8) | Need()).of
    (8, 8, None)
    """

    frames: int = 1
    """Pictures of every n-th episode; 0 for none."""
    states: bool = False
    actions: bool = False
    of: int | None = None
    """Pictures of so many moments of the episode, drawn by lot; None for all."""

    def draws(self, episode: int) -> bool:
        """Whether the episode of that number has to be drawn."""
        return self.frames > 0 and episode % self.frames == 0

    def __or__(self, other: Need) -> Need:
        """What both need; pictures as often as their numbers have in common."""
        few = [one.of for one in (self, other) if one.frames > 0]
        of = max((one for one in few if one is not None), default=None) if None not in few else None
        frames = int(np.gcd(self.frames, other.frames))
        return Need(frames, self.states or other.states, self.actions or other.actions, of)


@dataclass(frozen=True, eq=False)
class Rollout:
    """One episode of T steps, as far as somebody needs it; entry t belongs to the world after action t."""

    length: int
    """T"""
    frames: Frames | None = None
    """[T, H, W, 3], or [K, H, W, 3] of some moments."""
    states: npt.NDArray[np.float32] | None = None
    """[T+1, D] What the environment observes, the first one before any action."""
    actions: npt.NDArray[np.float32] | None = None
    """[T, A] from -1 to 1."""
    at: npt.NDArray[np.int64] | None = None
    """[K] Those moments, in order; None if the frames are of all."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is kept of an episode to pay it by: a few named arrays, never changed.

    >>> Evidence(3, {"0.cost": np.zeros((3, 2))}).under("0.")["cost"].shape
    (3, 2)
    """

    length: int
    """T"""
    arrays: Mapping[str, Array]

    def __post_init__(self) -> None:
        for array in self.arrays.values():
            array.setflags(write=False)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def under(self, prefix: str) -> Evidence:
        """Those arrays whose names begin with the prefix, named without it."""
        found = {name.removeprefix(prefix): a for name, a in self.arrays.items() if name.startswith(prefix)}
        return Evidence(self.length, found)


@dataclass(frozen=True)
class Moment:
    """When a reward is asked whether it has anything to learn: after each training episode."""

    step: int
    """Agent steps before the newest episode."""
    episodes: int
    """Episodes played so far, the newest included."""
    due: bool = True
    """Whether what moves in small steps should follow now; it is not asked at every episode, as all is paid anew."""
    share: float = 0.0
    """Of the run, or of the reward's stage of it, that has passed."""


class Stream(Protocol):
    """A reward one step at a time."""

    @property
    def guide(self) -> npt.NDArray[np.float32]:
        """[K] What the policy may see now; after `reset`, before the first step."""

    @property
    def followed(self) -> dict[str, float]:
        """How well the demo is followed so far, by name."""

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the step that led to this frame [H,W,3] and state [D]; a push that raises changes nothing."""

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode, in this state [D]."""


def at_the_end(rewards: FloatArray) -> float:
    """Mean of [T] over the last tenth of the steps, the last one at least: who arrives and leaves again has little.

    >>> at_the_end(np.array([0.0, 1.0, 1.0, 0.0])), at_the_end(np.repeat([0.0, 0.5], 10))
    (0.0, 0.5)
    """
    return float(rewards[-max(1, len(rewards) // 10) :].mean())


class Reward(ABC):
    """Pays episodes. Made from its description anywhere; only one that learns has a state."""

    need: Need = Need()
    demos: tuple[Demo, ...] = ()
    """The videos that it is about."""
    guide_dim: int = 0
    """K, how many numbers it lets the policy see at every step."""
    turning: Turning | None = None
    """How the world is turned in which the policy sees and acts, where the reward wants it turned."""
    criterion: str = "reward"
    """By which of the numbers of `summary` the best policy is chosen: the highest; or the sum of some, as in
    "progress + coverage"."""
    remedy: str = "take another --recipe or another demo"
    """What to do if it tells nothing apart."""

    @property
    def ready(self) -> bool:
        """Whether it pays yet."""
        return True

    @property
    def name(self) -> str:
        """For records and titles."""
        return type(self).__name__

    @property
    def observer(self) -> Hashable:
        """What makes its evidence. Rewards that have equal ones share the evidence."""
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know when it begins to pay."""
        return ()

    @abstractmethod
    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """What is kept of the episode. Of one that `need` does not draw, what can be had without pictures."""

    @abstractmethod
    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """Rewards [T] of each episode; the same bits for an episode alone and among others. Cheap."""

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """How well the episode follows the demo, by name; nothing where there is no demo to follow."""
        return {}

    def summary(self, evidence: Evidence) -> dict[str, float]:
        """The sum of its rewards, and what `follow` says."""
        return {"reward": float(self.pay([evidence])[0].sum()), **self.follow(evidence)}

    def numbers(self) -> dict[str, float]:
        """What of the reward itself moves during a run, for the records."""
        return {}

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Update itself from the episodes that are kept, the newest last.

        Returns:
            None if nothing changed, else what did, in words (perhaps none): then everything kept is paid anew. It must
            depend on its state, the episodes and the moment alone, so that a run that goes on ends with the same bits.
        """
        return None

    def guide(self, episodes: Sequence[Evidence]) -> list[npt.NDArray[np.float32]]:
        """[T+1, K] of each episode: row 0 before the first step, row t+1 after step t."""
        return [np.zeros((one.length + 1, 0), np.float32) for one in episodes]

    def stream(self) -> Stream:
        """The same, one step at a time."""
        raise ValueError(
            f"the reward {self.name!r} is known only at the end of an episode; use one that can be given at every step."
        )

    def explain(self, evidence: Evidence) -> Explanation | None:
        """The match with the demo and its story, for a page to show; None where there is no demo."""
        return None

    def state(self) -> State:
        """What it has learned, for a checkpoint and for collectors that guide."""
        return {}, {}

    def load_state(self, state: State) -> None:  # noqa: B027 (most learn nothing)
        """Go on where `state` was taken."""

    def find(self, kind: type[Kind]) -> Kind | None:
        """Itself if it is of that kind, or of what it is made of the last that is: for what only that kind has."""
        return self if isinstance(self, kind) else None

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Plain values from which `orcalign.rewards.description.Kit` makes it again; `kind` says which."""

    def __mul__(self, other: float | Reward) -> Sum | Product:
        from orcalign.rewards.composed import Product, Sum

        return Product((self, other)) if isinstance(other, Reward) else Sum((self,), (float(other),))

    __rmul__ = __mul__

    def __add__(self, other: Reward) -> Sum:
        from orcalign.rewards.composed import Sum

        first, second = (one if isinstance(one, Sum) else Sum((one,), (1.0,)) for one in (self, other))
        return Sum(first.parts + second.parts, first.weights + second.weights)
