"""What a humanoid's reward has beside the match: trust in what was seen, and pay for standing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.checks import require_count, require_number
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Need, Reward, Rollout
from orcalign.rewards.video_reward import VideoReward

if TYPE_CHECKING:
    from orcalign.rewards.description import Kit


@final
class ConfidenceReward(Reward):
    """c(o_t) in (0, 1], as the cost model of a `VideoReward` says it: `confidence * video` is the paper's product.

    Both see an episode once: the model keeps the confidence beside the costs.
    """

    def __init__(self, video: VideoReward) -> None:
        self._video = video
        self.need = video.need

    @property
    def observer(self) -> Hashable:
        """The video's."""
        return self._video.observer

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """The video's."""
        return self._video.observe(rollout)

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """The confidence [T] of each episode."""
        return [np.asarray(one["confidence"], np.float64) for one in episodes]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """The mean of it."""
        return {"confidence": float(np.mean(evidence["confidence"]))}

    def describe(self) -> dict[str, Any]:
        """The video's."""
        return {"kind": "confidence", "of": self._video.describe()}

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> ConfidenceReward:
        """As described."""
        made = kit.make(description["of"])
        assert isinstance(made, VideoReward)
        return cls(made)


@final
class StabilityStream:
    """Stability one step at a time."""

    def __init__(self, reward: StabilityReward) -> None:
        self._reward = reward
        self.guide = np.zeros(0, np.float32)
        self.followed: dict[str, float] = {}

    def push(self, frame: Array | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the step by this action [A] to this state [D]."""
        if state is None or action is None:
            raise ValueError("a step came without its state or its action; stability is paid by both.")
        states, actions = (np.asarray(one, np.float32) for one in (state, action))
        seen = self._reward.observe(Rollout(1, states=np.stack([states, states]), actions=actions[None]))
        return float(self._reward.pay([Evidence(1, seen)])[0][0])

    def reset(self, state: Array | None = None) -> None:
        """Nothing is remembered."""


@final
class StabilityReward(Reward):
    """exp(-(h - upright)^2) - effort * |action|^2 at every step: the paper's R_stability, with h the observed height.

    Args:
        height: where the observation has the height of the torso.
        upright: height in metres at which it stands.
        effort: what the square of an action from -1 to 1 costs.

    >>> reward = StabilityReward(height=0)
    >>> states, actions = np.array([[1.4], [1.3], [0.3]], "f4"), np.zeros((2, 1), "f4")
    >>> seen = Evidence(2, reward.observe(Rollout(2, states=states, actions=actions)))
    >>> reward.pay([seen])[0].round(2).tolist()
    [1.0, 0.37]
    """

    need = Need(frames=0, states=True, actions=True)

    def __init__(self, height: int, upright: float = 1.3, effort: float = 0.016) -> None:
        self.height = require_count(height, "height", at_least=0)
        self.upright = require_number(upright, "upright", at_least=0)
        self.effort = require_number(effort, "effort", at_least=0)

    @property
    def observer(self) -> Hashable:
        """What looks at the same number sees the same."""
        return StabilityReward, self.height

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """Height and squared action [T] of each step."""
        assert rollout.states is not None, "they are needed, and so given"
        assert rollout.actions is not None
        heights = rollout.states[1:, self.height].astype(np.float64)
        return {"height": heights, "squares": (rollout.actions.astype(np.float64) ** 2).sum(1)}

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode."""
        return [np.exp(-((one["height"] - self.upright) ** 2)) - self.effort * one["squares"] for one in episodes]

    def stream(self) -> StabilityStream:
        """A step is paid for itself."""
        return StabilityStream(self)

    def describe(self) -> dict[str, Any]:
        """Its settings."""
        return {"kind": "stability", "height": self.height, "upright": self.upright, "effort": self.effort}

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> StabilityReward:
        """As described."""
        return cls(**{name: value for name, value in description.items() if name != "kind"})
