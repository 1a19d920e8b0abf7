"""The reward of the recipe `roboclip`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.checks import settings_from
from orcalign.encoders.clips.protocol import ClipEncoder, check_clip, cosine
from orcalign.encoders.clips.registry import make_clip_encoder
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Reward, Rollout, State
from orcalign.rewards.clip.settings import ClipSettings

if TYPE_CHECKING:
    from orcalign.rewards.description import Kit
    from orcalign.video import Demo


@final
class ClipReward(Reward):
    """Pays the last step by the cosine of the embeddings of the learner's clip and the demo's, and no other step.

    Of several demos, the one that is most alike counts. The learner's clip is embedded once, where it was played.

    Args:
        demos: videos.
        settings: which network, and what it sees.
        encoder: in the place of these; or what they say nothing of (size, weights, threads).

    >>> from orcalign.rewards import Rollout
    >>> from orcalign.video import Demo
    >>> class Mean:  # stands for a network
    ...     name, dim, frames, substitute, fingerprint = "mean", 3, 32, "", "0"
    ...     def __call__(self, frames):
    ...         return frames.mean(axis=(0, 1, 2)).astype("f4")
    >>> red = np.zeros((4, 8, 8, 3), np.uint8)
    >>> red[..., 0] = 200
    >>> reward = ClipReward([Demo(red)], encoder=Mean())
    >>> reward.pay([Evidence(4, reward.observe(Rollout(4, red)))])[0].tolist()
    [0.0, 0.0, 0.0, 1.0]
    """

    criterion = "similarity"

    def __init__(
        self,
        demos: Sequence[Demo],
        settings: ClipSettings | None = None,
        encoder: ClipEncoder | dict[str, Any] | None = None,
    ) -> None:
        self.demos, self.settings = tuple(demos), settings or ClipSettings()
        self._given = encoder
        for k, demo in enumerate(self.demos):
            check_clip(demo.frames, f"demo {k} ({demo.source})")

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> ClipReward:
        """As described; nothing is encoded before it is needed."""
        return cls(kit.demos, settings_from(ClipSettings, description["settings"]), description["encoder"])

    def describe(self) -> dict[str, Any]:
        """Settings, and what they say nothing of."""
        if not (self._given is None or isinstance(self._given, dict)):
            raise ValueError("a reward with a clip encoder of its own cannot be described; give its name.")
        return {"kind": "roboclip", "settings": self.settings.plain(), "encoder": self._given}

    @property
    def name(self) -> str:
        """As the recipe."""
        return "roboclip"

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands in for the paper's network."""
        return (f"clips are embedded by {self.encoder.substitute}",) if self.encoder.substitute else ()

    @cached_property
    def encoder(self) -> ClipEncoder:
        """What embeds clips; its weights are looked for, and the network built when a clip comes."""
        if self._given is not None and not isinstance(self._given, dict):
            return self._given
        return make_clip_encoder(self.settings.network, frames=self.settings.frames, **(self._given or {}))

    @cached_property
    def _demo(self) -> list[Any]:
        """[D] of each demo."""
        return [self.encoder(demo.frames) for demo in self.demos]

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """Its embedding [D]."""
        if rollout.frames is None:
            raise ValueError("an episode came without frames; a reward of a whole clip needs them all.")
        check_clip(rollout.frames, "an episode")
        return {"embedding": self.encoder(rollout.frames)}

    def similarity(self, evidence: Evidence) -> float:
        """From -1 to 1, with the demo that is most alike."""
        return max(cosine(evidence["embedding"], one) for one in self._demo)

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode: nothing before the last step."""
        rewards: list[FloatArray] = [np.zeros(one.length) for one in episodes]
        for reward, one in zip(rewards, episodes, strict=True):
            reward[-1] = self.similarity(one)
        return rewards

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """How much it is like the demo."""
        return {"similarity": self.similarity(evidence)}

    def state(self) -> State:
        """The demo's embeddings, so that nobody has to embed it to pay."""
        return {"fingerprint": self.encoder.fingerprint}, {f"demo.{k}": one for k, one in enumerate(self._demo)}

    def load_state(self, state: State) -> None:
        """Pay by these."""
        arrays = state[1]
        self.__dict__["_demo"] = [np.array(arrays[f"demo.{k}"]) for k in range(len(self.demos))]
