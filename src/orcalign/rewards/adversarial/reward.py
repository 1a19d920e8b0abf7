"""The reward of the recipe `gaifo`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.checks import settings_from
from orcalign.encoders import Encoder, make_encoder
from orcalign.matching.match import FloatArray
from orcalign.rewards.adversarial.discriminator import Discriminator
from orcalign.rewards.adversarial.settings import AdversarialSettings
from orcalign.rewards.adversarial.view import Seen, View, nearness, pairs, steps_of
from orcalign.rewards.base import Array, Evidence, Moment, Need, Reward, Rollout, State

if TYPE_CHECKING:
    from orcalign.rewards.description import Kit
    from orcalign.video import Demo


@final
class AdversarialReward(Reward):
    """Pays each step by how much its transition (s, s') is like the demo's, as a discriminator says that learns beside
    the agent.

    Args:
        demos: with states, or any videos if frames are seen.
        settings: what is seen, how it is learned from.
        encoder: of frames: one, or how to make it.

    >>> from orcalign.video import Demo
    >>> way = np.linspace(0, 1, 9)[:, None]
    >>> demo = Demo(np.zeros((9, 8, 8, 3), np.uint8), states=way)
    >>> reward = AdversarialReward([demo], AdversarialSettings(every=1, hidden=16, learning_rate=0.01))
    >>> there, away = (Evidence(8, reward.observe(Rollout(8, states=s.astype("f4")))) for s in (way, -way))
    >>> reward.learn([away], Moment(8, 1))
    ['the discriminator has learned from 8 transitions of the learner, for the 1. time']
    >>> reward.pay([there])[0].mean() > reward.pay([away])[0].mean()
    np.True_
    """

    criterion = "nearness"

    def __init__(
        self,
        demos: Sequence[Demo],
        settings: AdversarialSettings | None = None,
        encoder: Encoder | dict[str, Any] | None = None,
    ) -> None:
        self.demos, self.settings = tuple(demos), settings or AdversarialSettings()
        self._encoder = encoder
        self._states = self.settings.sees == "states"
        self.need = Need(frames=0, states=True) if self._states else Need()
        if self._states:
            check_states(self.demos)
        self._fits, self._accuracy, self._loss = 0, (0.5, 0.5), 0.0

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> AdversarialReward:
        """As described; nothing is encoded before it is needed."""
        return cls(kit.demos, settings_from(AdversarialSettings, description["settings"]), description["encoder"])

    def describe(self) -> dict[str, Any]:
        """Settings, and what sees frames."""
        if not (self._encoder is None or isinstance(self._encoder, dict)):
            raise ValueError("a reward with an encoder of its own cannot be described; give how to make it.")
        return {"kind": "gaifo", "settings": self.settings.plain(), "encoder": self._encoder}

    @property
    def name(self) -> str:
        """As the recipe."""
        return "gaifo"

    @cached_property
    def _sight(self) -> Encoder:
        if isinstance(self._encoder, dict):
            return make_encoder(self._encoder["encoder"], **{k: v for k, v in self._encoder.items() if k != "encoder"})
        return make_encoder() if self._encoder is None else self._encoder

    @cached_property
    def _rows(self) -> list[Any]:
        """[J, D] of each demo: its states, or features."""
        return [demo.states if self._states else self._sight(demo.frames) for demo in self.demos]

    @cached_property
    def view(self) -> View:
        """What is seen of them."""
        return (View.of_states if self._states else View.of_features)(np.concatenate(self._rows))

    @cached_property
    def _demo(self) -> list[Seen]:
        return [self.view(rows) for rows in self._rows]

    @property
    def _step(self) -> FloatArray:
        return steps_of(self._demo)

    @cached_property
    def discriminator(self) -> Discriminator:
        """As it begins, until it has learned."""
        return Discriminator(2 * self._demo[0].shape[1], self.settings)

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """What is seen before the first step and after each, [T+1, k]; before the first frame, the same as in it."""
        if not self._states:
            if rollout.frames is None:
                raise ValueError("an episode came without frames; a discriminator that sees frames needs them all.")
            seen = self.view(self._sight(rollout.frames))
            return {"seen": np.concatenate([seen[:1], seen])}
        if rollout.states is None:
            raise ValueError("an episode came without states; a discriminator that sees states needs them.")
        D = len(self.view.centre)
        if rollout.states.shape[1] < D:
            raise ValueError(
                f"the demo's states have {D} numbers and the learner's {rollout.states.shape[1]}: it is a demo of "
                "another environment; make one of this one with `orcalign demo make --states`."
            )
        # What comes after them is time, which the demo's do not have.
        return {"seen": self.view(rollout.states[:, :D])}

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode, by the discriminator of now."""
        # One by one: sums over more rows may round otherwise.
        step = self._step
        told = [self.discriminator.logits(pairs(one["seen"], step)) for one in episodes]
        return [np.logaddexp(0, logits) if self.settings.pays == "softplus" else logits for logits in told]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """How near the episode comes to the demo."""
        return {"nearness": max(nearness(demo, evidence["seen"][1:]) for demo in self._demo)}

    def numbers(self) -> dict[str, float]:
        """How often the discriminator was right, before it learned, of the demo and of episodes it did not know."""
        demo, learner = self._accuracy
        return {
            "accuracy": (demo + learner) / 2,
            "accuracy_demo": demo,
            "accuracy_learner": learner,
            "discriminator_loss": self._loss,
        }

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Every few episodes, go on learning from all that is kept."""
        if moment.episodes % self.settings.every or not kept:
            return None
        demo = np.concatenate([pairs(one, self._step) for one in self._demo])
        learner = [pairs(one["seen"], self._step) for one in kept]
        network = self.discriminator
        new = np.concatenate(learner[-self.settings.every :])
        self._accuracy = float((network.logits(demo) > 0).mean()), float((network.logits(new) <= 0).mean())
        own = np.concatenate(learner)
        self._loss = network.fit(demo, own, self.settings.updates)
        self._fits += 1
        return [f"the discriminator has learned from {len(own)} transitions of the learner, for the {self._fits}. time"]

    def state(self) -> State:
        """The discriminator, and how right it was."""
        plain, arrays = self.discriminator.state()
        # With the demo as it is seen, so that nobody has to encode it to pay.
        arrays |= {f"demo.{k}": one for k, one in enumerate(self._demo)}
        told = {"fits": self._fits, "accuracy": list(self._accuracy), "loss": self._loss}
        return {**told, "discriminator": plain}, arrays

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        plain, arrays = state
        self._fits, self._loss = plain["fits"], plain["loss"]
        first, second = plain["accuracy"]
        self._accuracy = first, second
        self.__dict__["_demo"] = [np.array(arrays[f"demo.{k}"]) for k in range(len(self.demos))]
        self.discriminator.load_state((plain["discriminator"], arrays))


def check_states(demos: Sequence[Demo], numbers: int | None = None, task: str | None = None) -> None:
    """Refuse demos that cannot be imitated by their states, in an environment that observes so many numbers."""
    for k, demo in enumerate(demos):
        if demo.states is None:
            raise ValueError(
                f"demo {k} ({demo.source}) has no states; make one with `orcalign demo make --states`, or let the "
                "discriminator see its frames: --set sees=frames."
            )
        if len(demo) < 2:
            raise ValueError(f"demo {k} ({demo.source}) has one frame, and transitions need two; give a longer one.")
        size = demo.states.shape[1]
        if size != demos[0].states.shape[1]:  # type: ignore[union-attr]
            raise ValueError(f"demo {k} has states of {size} numbers and demo 0 others; give demos of one environment.")
        if (task is not None and demo.task not in (None, task)) or numbers not in (None, size):
            has = "" if numbers in (None, size) else f" ({size} numbers in a state, not {numbers})"
            raise ValueError(
                f"demo {k} has states of {demo.task or 'another environment'}, and the run is of {task}{has}; make one "
                f"with `orcalign demo make {task} --states`."
            )
