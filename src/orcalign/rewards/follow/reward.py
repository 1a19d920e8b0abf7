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
from orcalign.rewards.base import Array, Evidence, Moment, Reward, Rollout, State, at_the_end
from orcalign.rewards.explanation import Explanation, VideoMatch
from orcalign.rewards.follow.experts import read_experts
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.learner import ByPictures, ByStates, Learner
from orcalign.rewards.follow.settings import FollowSettings
from orcalign.rewards.follow.sight import Sight, frontier
from orcalign.rewards.follow.stream import FollowStream
from orcalign.rewards.story import tell

if TYPE_CHECKING:
    from orcalign.costs.predicted.eye import Eye
    from orcalign.rewards.description import Kit
    from orcalign.rewards.follow.own_frames import OwnFrames
    from orcalign.video import Demo

TURNED = "the policy sees and acts in a world that is turned so that the goal lies ahead of the object, as in the demo"
NOT_BOTH = (
    "the learner is to be read from its pictures by an eye that learns from them; give an eye that has learned: "
    "posed, or a file of `orcalign predictor train`."
)


@final
class FollowReward(Reward):
    """Pays ordered progress along a demo described in centimetres, by where the learner's things are.

    The demo is read from its video by an eye. Where the learner's things are is told by its true states, or by the
    same eye from its pictures.

    Args:
        entities: what of a state is where.
        rest: [E] values at which an episode usually begins.
        settings: how distances become rewards, and what the policy sees.
        described: the demo in numbers, or what reads it when it is first needed.
        own: the eye that learns from the learner's own frames, in the place of `described`.
        demos: the video.
        pictures: makes the eye that reads the learner's pictures; left out, its states are read.
        experts: values [T+1, E] of episodes of an expert: nothing is learned from them, they tell what following can
            be paid.
        turning: how each episode is turned, and the demo, before they are compared.

    >>> entities = Entities(hand=(0, 1), unit=1.0)
    >>> demo = DescribedDemo.known(entities, [[20.0, 0.0], [40.0, 0.0]], [0.0, 0.0])
    >>> reward = FollowReward(entities, np.zeros(2), described=demo)
    >>> way = np.array([[0.0, 0.0], [20.0, 0.0], [40.0, 0.0], [40.0, 0.0]], np.float32)
    >>> reward.pay([Evidence(3, reward.observe(Rollout(3, states=way)))])[0].round(1).tolist()
    [0.0, 11.0, 1.0]
    """

    criterion = "progress + coverage"
    remedy = (
        "let the eye learn longer or from more frames (--eye-begin, --eye-frames; --posed-frames of a posed one), draw "
        "larger pictures (--frame-size), or take another camera or another demo"
    )

    def __init__(
        self,
        entities: Entities,
        rest: npt.ArrayLike,
        settings: FollowSettings | None = None,
        described: DescribedDemo | Callable[[], DescribedDemo] | None = None,
        own: OwnFrames | None = None,
        demos: tuple[Demo, ...] = (),
        pictures: Callable[[], Eye] | None = None,
        experts: Sequence[FloatArray] = (),
        turning: Turning | None = None,
    ) -> None:
        if own is not None and pictures is not None:
            raise ValueError(NOT_BOTH)
        if turning is not None and pictures is not None:
            raise ValueError("a world is turned by its state at the beginning, and the learner is read from pictures.")
        self.entities, self.rest = entities, np.asarray(rest, np.float64)
        self.settings = FollowSettings() if settings is None else settings
        self.own, self.demos, self.turning = own, demos, turning
        by_pictures = None if pictures is None else ByPictures(entities, self.rest, pictures)
        self.learner: Learner = by_pictures or ByStates(entities, turning)
        self.need = self.learner.need if own is None else own.need
        rest = self.rest if turning is None else turning.values(self.rest, self.rest)
        self.sight = Sight(entities, rest, self.settings.sees)
        self.guide_dim = self.sight.dim
        self._read = described if callable(described) else None
        self._experts, self._best = tuple(experts), 0.0
        if turning is not None:
            self._experts = tuple(turning.values(one, one[0]) for one in experts)
        self._guiding = None if callable(described) or described is None else self._guided(described)

    def _guided(self, described: DescribedDemo) -> Guiding:
        error = described.error if self.learner.kind == "pictures" else 0.0
        return Guiding(described, self.settings, error, self._experts, self.turning)

    @property
    def guiding(self) -> Guiding | None:
        """The described demo, and what is made of it; None as long as there is none."""
        if self._guiding is None and self._read is not None:
            self._guiding = self._guided(self._read())
        return self._guiding

    @property
    def ready(self) -> bool:
        """Once the demo is described."""
        return self.guiding is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """How the world is turned, and how well the demo is known."""
        turned = () if self.turning is None else (TURNED,)
        return turned if self.guiding is None else (*turned, self.guiding.note)

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """What tells where things are; for an eye that learns, what it sees in some frames as well."""
        # One that is only judged has no pictures: an eye that learns looks at what is learned from.
        learns = self.own is not None and rollout.frames is not None
        return {**self.learner.observe(rollout), **(self.own.observe(rollout) if self.own and learns else {})}

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode; nothing as long as the demo is not described."""
        guiding = self.guiding
        if guiding is None:
            return [np.zeros(one.length) for one in episodes]
        return [guiding.match(self.learner.values(one))[1].reward for one in episodes]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """Progress, how much of the demo is covered at the end, and was at the best moment (reached)."""
        if self.guiding is None:
            return {"progress": 0.0, "coverage": 0.0, "reached": 0.0}
        _, match = self.guiding.match(self.learner.values(evidence))
        return {
            "progress": float(match.progress[-1]),
            "coverage": at_the_end(match.orca_reward),
            "reached": float(match.assignment[-1, -1]),
        }

    def numbers(self) -> dict[str, float]:
        """Floor, the eye's error, how much of the demo is believed, and the progress of the best of the learner's own
        episodes and of an expert."""
        guiding = self.guiding
        if guiding is None:
            return {"floor": 0.0, "eye_error": 0.0, "believed": 0.0, "best_progress": 0.0}
        demo = guiding.demo
        believed, expert = float(demo.believed.mean()), guiding.expert
        told = {"floor": guiding.floor, "eye_error": demo.error, "believed": believed, "best_progress": self._best}
        return told if expert is None else {**told, "expert_progress": expert}

    def guide(self, episodes: Sequence[Evidence]) -> list[npt.NDArray[np.float32]]:
        """[T+1, K] of each episode."""
        return [self._guide(one) for one in episodes]

    def _guide(self, evidence: Evidence) -> npt.NDArray[np.float32]:
        guiding, values = self.guiding, self.learner.values(evidence)
        now, before, T = values[1:], values[:-1], evidence.length
        coverage: FloatArray = np.zeros((T, 1))
        progress: FloatArray = np.zeros(T)
        if guiding is not None:
            _, match = guiding.match(values)
            coverage, progress = match.assignment, match.progress
        relative, begun = None if guiding is None else guiding.relative, self.learner.known(evidence)
        nothing = np.zeros((1, coverage.shape[1]))
        first = self.sight(begun[None], begun[None], begun, nothing, np.zeros(1), relative)
        return np.concatenate([first, self.sight(now, before, values[0], coverage, progress, relative)])

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Let the eye look at what is kept, where it learns; and remember how far the best episode has come."""
        found = None if self.own is None else self.own.learn(kept, moment)
        if found is None:
            self._best = max([self._best, *(self.follow(one)["progress"] for one in kept[-1:])])
            return None
        described, notes = found
        self._guiding = self._guided(described)
        self._best = max((self.follow(one)["progress"] for one in kept), default=0.0)
        return [*notes, self._guiding.note]

    def stream(self) -> FollowStream:
        """A step at a time, by the state alone or the frame alone."""
        # One that reads states remembers how its episode began.
        by_states = self.learner.kind == "states"
        learner: Learner = ByStates(self.entities, self.turning) if by_states else self.learner
        return FollowStream(learner, self.sight, self.guiding)

    def explain(self, evidence: Evidence) -> Explanation | None:
        """The match by costs in centimetres, and its story."""
        if self.guiding is None:
            return None
        whole = self.guiding.match(self.learner.values(evidence))
        cost, match = self.guiding.of_video(*whole)
        own = {name: self.guiding.matching[name] for name in ("temperature", "floor")}
        story = tell(cost, orca(cost, **own), self.guiding.between)
        explained = VideoMatch(match.reward, (match,), (cost,), (cost,), None)
        return Explanation(explained, story, np.searchsorted(self.guiding.real, frontier(whole[1].assignment)))

    def state(self) -> State:
        """The described demo, so that nobody needs an eye to pay or to act; and the eye, if it learns."""
        plain: dict[str, Any] = {"described": None, "own": None, "best": self._best}
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
        self._best = float(plain.get("best", 0.0))
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
            "learner": self.learner.kind,
            "turning": None if self.turning is None else self.turning.plain(),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> FollowReward:
        """As described; the eye is read when something has to be looked at."""
        from orcalign.costs.predicted.eye import Eye
        from orcalign.rewards.follow.own_frames import EYE, OwnFrames, OwnSettings, read_demo

        own, turned = description["own"], description.get("turning")
        by_pictures = description.get("learner") == "pictures"
        return cls(
            Entities.from_plain(description["entities"]),
            description["rest"],
            FollowSettings.from_plain(description["settings"]),
            described=None if own is not None else (lambda: read_demo(kit)),
            own=None if own is None else OwnFrames(kit, OwnSettings.from_plain(own)),
            demos=kit.demos,
            pictures=(lambda: Eye.load(kit.folder / EYE)) if by_pictures else None,
            experts=read_experts(kit.folder),
            turning=None if turned is None else Turning.from_plain(turned),
        )
