"""The reward of now: which method, how strict, how large. Any of these may change during a run.

An episode is kept with its costs, and its reward is a pure function of them. So when the reward changes, every
episode that is kept gets the new one, in milliseconds; nothing in the replay is ever stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orcalign.checks import share_or_count
from orcalign.matching import orca
from orcalign.matching.costs import context
from orcalign.matching.match import FloatArray
from orcalign.rewards import VideoReward
from orcalign.rewards.settings import ORCA_SETTINGS, known_settings
from orcalign.training.reward_config import RewardConfig

TARGET = 10.0
"""What a scaled episode sums to."""

Costs = tuple[FloatArray, ...]
"""Raw costs [T, J] of an episode, one matrix per demo."""


@dataclass(frozen=True)
class Stage:
    """Steps `first` to `last` of a run, rewarded by one method."""

    matcher: str
    first: int
    last: int
    critic_only: int
    """Steps at its beginning for which the actor does not learn."""


def plan_stages(config: RewardConfig, steps: int) -> tuple[Stage, ...]:
    """The stages of a run of that many steps.

    >>> [(s.matcher, s.first, s.last) for s in plan_stages(RewardConfig(pretrain="temporal_ot"), 1000)]
    [('temporal_ot', 0, 500), ('orca', 500, 1000)]
    """
    switch = round(steps * config.pretrain_fraction)
    ends = (0, steps) if config.pretrain is None else (0, switch, steps)
    stages = []
    for k, matcher in enumerate(config.matchers):
        first, last = ends[k], ends[k + 1]
        # The second begins with an actor that its critic does not know the new reward for.
        only = share_or_count("critic_only", config.critic_only, last - first) if k > 0 else 0
        stages.append(Stage(matcher, first, last, only))
    return tuple(stages)


class Labels:
    """Rewards of episodes, as the run wants them at its present step."""

    def __init__(self, config: RewardConfig, reward: VideoReward, steps: int) -> None:
        self.config, self._base = config, reward
        self.stages = plan_stages(config, steps)
        self.number = 0
        """Of the stage."""
        self.scale: float | None = config.scale.factor
        """None until an episode has given one."""
        self.temperature = config.temperature.start
        """Of the methods that have one; with calibration a factor on what calibration found."""
        self._calibrations = reward.calibrations() if config.calibrated else None
        self.reward = self._with(self.stage.matcher)

    @property
    def stage(self) -> Stage:
        """The stage of now."""
        return self.stages[self.number]

    def advance(self, step: int) -> str | None:
        """Go to the stage of that step; what changed in words, or None."""
        number = max(k for k, stage in enumerate(self.stages) if stage.first <= step)
        if number == self.number:
            return None
        self.number, self.scale = number, self.config.scale.factor
        self.reward = self._with(self.stage.matcher)
        return f"the reward is now {self.stage.matcher}, and every episode kept was given it"

    def follow(self, step: int) -> bool:
        """Let the temperature follow its rule; True if it changed."""
        stage, before = self.stage, self.temperature
        self.temperature = self.config.temperature((step - stage.first) / max(1, stage.last - stage.first))
        if self.temperature == before:
            return False
        self.reward = self._with(stage.matcher)
        return True

    def calibrate(self, kept: Sequence[Costs]) -> str | None:
        """Take floor and temperature anew, now that some episodes are known; what changed in words, or None."""
        wanted = self.config.calibration_episodes
        if self._calibrations is None or wanted == 0 or len(kept) != wanted:
            return None
        calibrations = self._base.calibrations(kept)
        if calibrations == self._calibrations:
            return None
        self._calibrations = calibrations
        self.reward = self._with(self.stage.matcher)
        found = self._settings("orca", self.temperature)[0]
        return f"calibrated on {wanted} episodes: floor {found['floor']:.4f}, temperature {found['temperature']:.4f}"

    def first_scale(self, costs: Costs) -> bool:
        """Take the scale from this episode if none has given it yet; True if it did."""
        if self.scale is not None:
            return False
        total = abs(float(self._raw([costs])[0].sum()))
        if total > 0:
            self.scale = TARGET / total
        return self.scale is not None

    def rewards(self, episodes: Sequence[Costs]) -> list[FloatArray]:
        """Scaled rewards [T] of each episode."""
        scale = 1.0 if self.scale is None else self.scale
        return [scale * one for one in self._raw(episodes)]

    def _raw(self, episodes: Sequence[Costs]) -> list[FloatArray]:
        """Unscaled rewards; the same for an episode alone and among others."""
        if not episodes:
            return []
        lengths = np.array([len(costs[0]) for costs in episodes])
        batches = []
        for k in range(len(episodes[0])):
            batch = np.zeros((len(episodes), lengths.max(), episodes[0][k].shape[1]))
            for b, costs in enumerate(episodes):
                batch[b, : lengths[b]] = costs[k]
            batches.append(batch)
        given: Any = batches if len(batches) > 1 else batches[0]
        rewards = self.reward.relabel(given, lengths)
        return [rewards[b, :length] for b, length in enumerate(lengths)]

    def summary(self, costs: Costs) -> dict[str, float]:
        """What the episode earned, unscaled, and how far it followed the demo by ordered coverage."""
        reward = float(self._raw([costs])[0].sum())
        best = {"progress": 0.0, "coverage": 0.0}
        settings = self._settings("orca", self.temperature)
        for cost, one in zip(costs, settings, strict=True):
            match = orca(context(cost, self.config.context, self.config.direction), **one)
            if match.progress[-1] >= best["progress"]:
                best = {"progress": float(match.progress[-1]), "coverage": float(match.assignment[-1, -1])}
        return {"reward": reward, **best}

    def orca_settings(self) -> list[dict[str, Any]]:
        """Temperature and floor per demo, as ordered coverage is measured with at the end of the run."""
        return self._settings("orca", self.config.temperature.end)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "stage": self.number,
            "scale": self.scale,
            "temperature": self.temperature,
            "calibrations": self._calibrations,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on where `state` was."""
        self.number, self.scale = int(state["stage"]), state["scale"]
        self.temperature = float(state["temperature"])
        kept = state["calibrations"]
        self._calibrations = None if kept is None else tuple(kept)
        self.reward = self._with(self.stage.matcher)

    def _with(self, matcher: str) -> VideoReward:
        return self._base.with_matcher(matcher, self._settings(matcher, self.temperature))

    def _settings(self, matcher: str, temperature: float) -> list[dict[str, Any]]:
        shared, known = self.config.settings_of(matcher, temperature), known_settings(matcher)
        settings = [dict(shared) for _ in self._base.demos]
        if self._calibrations is not None and set(ORCA_SETTINGS) <= set(known):
            for one, found in zip(settings, self._calibrations, strict=True):
                one.update({name: found[name] * temperature for name in ORCA_SETTINGS if name not in shared})
        if self.config.progress_in == "path" and "worth" in known:
            for one, worth in zip(settings, self._base.worths(), strict=True):
                one.update(worth)
        return settings
