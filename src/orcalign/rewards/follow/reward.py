"""The reward of the recipe `follow`: ordered progress in centimetres, and a policy that sees what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted import DescribedDemo, Entities
from orcalign.costs.predicted.turning import Turning
from orcalign.matching import orca
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Moment, Need, Reward, Rollout, State
from orcalign.rewards.explanation import Explanation, VideoMatch
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.settings import FollowSettings
from orcalign.rewards.follow.sight import Sight, frontier
from orcalign.rewards.follow.stream import FollowStream
from orcalign.rewards.story import tell

TURNED = "the policy sees and acts in a world that is turned so that the goal lies ahead of the object, as in the demo"

if TYPE_CHECKING:
    from orcalign.rewards.description import Kit
    from orcalign.rewards.follow.own_frames import OwnFrames
    from orcalign.video import Demo


@final
class FollowReward(Reward):
    """Pays ordered progress along a demo described in centimetres, by the learner's true states.

    The demo is read from its video by an eye; of the learner's pictures nothing is asked, but by an eye that learns
    from them.

    Args:
        entities: what of a state is where.
        rest: [E] values at which an episode usually begins.
        settings: how distances become rewards, and what the policy sees.
        described: the demo in numbers, or what reads it when it is first needed.
        own: the eye that learns from the learner's own frames, in the place of `described`.
        demos: the video.
        turning: how each episode is turned, and the demo, before they are compared.

    >>> entities = Entities(hand=(0, 1), unit=1.0)
    >>> demo = DescribedDemo.known(entities, [[20.0, 0.0], [40.0, 0.0]], [0.0, 0.0])
    >>> reward = FollowReward(entities, np.zeros(2), described=demo)
    >>> way = np.array([[0.0, 0.0], [20.0, 0.0], [40.0, 0.0], [40.0, 0.0]], np.float32)
    >>> reward.pay([Evidence(3, reward.observe(Rollout(3, states=way)))])[0].round(1).tolist()
    [0.0, 11.0, 1.0]
    """

    criterion = "reward"

    def __init__(
        self,
        entities: Entities,
        rest: npt.ArrayLike,
        settings: FollowSettings | None = None,
        described: DescribedDemo | Callable[[], DescribedDemo] | None = None,
        own: OwnFrames | None = None,
        demos: tuple[Demo, ...] = (),
        turning: Turning | None = None,
    ) -> None:
        self.entities, self.rest = entities, np.asarray(rest, np.float64)
        self.settings = FollowSettings() if settings is None else settings
        self.own, self.demos, self.turning = own, demos, turning
        self.need = Need(frames=0, states=True) if own is None else own.need
        self.sight = Sight(entities, self.rest, self.settings.sees)
        self.guide_dim = self.sight.dim
        self._read = described if callable(described) else None
        self._guiding = None if callable(described) or described is None else self._guided(described)

    @property
    def guiding(self) -> Guiding | None:
        """The described demo, and what is made of it; None as long as there is none."""
        if self._guiding is None and self._read is not None:
            self._guiding = self._guided(self._read())
        return self._guiding

    def _guided(self, described: DescribedDemo) -> Guiding:
        return Guiding(described, self.settings, self.turning)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the world is turned, and how well the demo is known."""
        turned = () if self.turning is None else (TURNED,)
        return turned if self.guiding is None else (*turned, self.guiding.note)

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """States [T+1, D]; for an eye that learns, what it sees in some frames as well."""
        if rollout.states is None:
            raise ValueError("an episode came without states; a reward that follows in state space needs them.")
        seen = {} if self.own is None else self.own.observe(rollout)
        return {"states": rollout.states, **seen}

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode; nothing as long as the demo is not described."""
        guiding = self.guiding
        if guiding is None:
            return [np.zeros(one.length) for one in episodes]
        return [guiding.match(self._values(one))[1].reward for one in episodes]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """Progress, and coverage of the last frame, at the end."""
        if self.guiding is None:
            return {"progress": 0.0, "coverage": 0.0}
        _, match = self.guiding.match(self._values(evidence))
        return {"progress": float(match.progress[-1]), "coverage": float(match.assignment[-1, -1])}

    def numbers(self) -> dict[str, float]:
        """Floor, the eye's error, and how much of the demo is believed."""
        if self.guiding is None:
            return {"floor": 0.0, "eye_error": 0.0, "believed": 0.0}
        demo = self.guiding.demo
        return {"floor": self.guiding.floor, "eye_error": demo.error, "believed": float(demo.believed.mean())}

    def guide(self, episodes: Sequence[Evidence]) -> list[npt.NDArray[np.float32]]:
        """[T+1, K] of each episode."""
        return [self._guide(self._values(one)) for one in episodes]

    def _guide(self, values: FloatArray) -> npt.NDArray[np.float32]:
        guiding = self.guiding
        before = np.concatenate([values[:1], values[:-1]])
        if guiding is None:
            return self.sight(values, before, values[0], np.zeros((len(values), 1)), np.zeros(len(values)), None)
        _, match = guiding.match(values)
        nothing = np.zeros((1, match.assignment.shape[1]))
        coverage = np.concatenate([nothing, match.assignment])
        progress = np.concatenate([[0.0], match.progress])
        return self.sight(values, before, values[0], coverage, progress, guiding.relative)

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Let the eye look at what is kept, where it learns."""
        if self.own is None:
            return None
        found = self.own.learn(kept, moment)
        if found is None:
            return None
        described, notes = found
        self._guiding = self._guided(described)
        return [*notes, self._guiding.note]

    def stream(self) -> FollowStream:
        """A step at a time, by the state alone."""
        return FollowStream(self.entities, self.sight, self.guiding, self.turning)

    def explain(self, evidence: Evidence) -> Explanation | None:
        """The match by costs in centimetres, and its story."""
        if self.guiding is None:
            return None
        cost, match = self.guiding.match(self._values(evidence))
        own = {name: self.guiding.matching[name] for name in ("temperature", "floor")}
        story = tell(cost, orca(cost, **own), self.guiding.between)
        explained = VideoMatch(match.reward, (match,), (cost,), (cost,), None)
        return Explanation(explained, story, frontier(match.assignment))

    def state(self) -> State:
        """The described demo, so that nobody needs an eye to pay or to act; and the eye, if it learns."""
        plain: dict[str, Any] = {"described": None, "own": None}
        arrays: dict[str, Array] = {}
        if self.guiding is not None:
            plain["described"], described = self.guiding.demo.state()
            arrays |= {f"described/{name}": array for name, array in described.items()}
        if self.own is not None:
            plain["own"], learned = self.own.state()
            arrays |= {f"own/{name}": array for name, array in learned.items()}
        return plain, arrays

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        plain, arrays = state
        kept = Evidence(0, arrays)
        if plain["described"] is not None:
            described = DescribedDemo.from_state(plain["described"], kept.under("described/").arrays)
            self._guiding = self._guided(described)
        if self.own is not None:
            self.own.load_state((plain["own"], dict(kept.under("own/").arrays)))

    def describe(self) -> dict[str, Any]:
        """Settings and entities; the eye is a file beside it."""
        return {
            "kind": "follow",
            "settings": self.settings.plain(),
            "entities": self.entities.plain(),
            "rest": self.rest.tolist(),
            "own": None if self.own is None else self.own.settings.plain(),
            "turning": None if self.turning is None else self.turning.plain(),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> FollowReward:
        """As described; the eye is read when the demo has to be looked at."""
        from orcalign.rewards.follow.own_frames import OwnFrames, OwnSettings, read_demo

        own, turned = description["own"], description.get("turning")
        return cls(
            Entities.from_plain(description["entities"]),
            description["rest"],
            FollowSettings.from_plain(description["settings"]),
            described=None if own is not None else (lambda: read_demo(kit)),
            own=None if own is None else OwnFrames(kit, OwnSettings.from_plain(own)),
            demos=kit.demos,
            turning=None if turned is None else Turning.from_plain(turned),
        )

    def _values(self, evidence: Evidence) -> FloatArray:
        values = self.entities.read(evidence["states"])
        return values if self.turning is None else self.turning.values(values, values[0])
