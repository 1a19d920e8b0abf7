"""What is measured of demos before they pay: the scale of their distances, and what their frames are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy.typing as npt

from orcalign.costs.goals import SETTINGS, GoalScale
from orcalign.matching import Calibration, along_path, calibrate
from orcalign.rewards.base import Moment, State
from orcalign.rewards.lint import lint_demo
from orcalign.rewards.settings import RewardSettings
from orcalign.video import Demo

if TYPE_CHECKING:
    from orcalign.rewards.description import SharedModel

POINTLESS = ("static", "indistinct-frames", "too-short", "black-frames")
"""Findings that explain why no two frames can be told apart, the best explanation first."""


@final
class Measured:
    """What the matchers of a `VideoReward` are called with: its settings, and what its demos say.

    The cost model is asked when something has to be measured, and not before.
    """

    def __init__(self, settings: RewardSettings, model: SharedModel) -> None:
        self.settings, self._model = settings, model
        self.share = 0.0
        """Of the way that the temperature goes."""
        self._calibrations: tuple[dict[str, float], ...] | None = None
        self._scales: tuple[GoalScale, ...] | None = None
        self._worths: tuple[tuple[float, ...], ...] | None = None

    def settings_of(self, matcher: str) -> tuple[dict[str, Any], ...]:
        """Per demo what a matcher is called with."""
        return tuple(
            self.settings.of_matcher(matcher, self.share, found, worth)
            for found, worth in zip(*self.found(), strict=True)
        )

    def found(self) -> tuple[Sequence[dict[str, float] | None], Sequence[tuple[float, ...] | None]]:
        """Calibration and worth per demo, if the settings ask for them; measured when first asked for."""
        calibrations: Sequence[dict[str, float] | None]
        worths: Sequence[tuple[float, ...] | None]
        calibrations = worths = (None,) * len(self._model.kit.demos)
        if self.settings.calibrated:
            calibrations = self._calibrations = self._calibrations or self.calibrations()
        if self._model.of_goals:
            # Of a few goals the last one is as much of the way as any other.
            worths = tuple((1.0,) * len(demo) for demo in self._model.kit.demos)
        elif self.settings.progress_in == "path":
            if self._worths is None:
                between = [self._model.get().between(k) for k in range(len(worths))]
                self._worths = tuple(tuple(along_path(one).tolist()) for one in between)
            worths = self._worths
        return calibrations, worths

    @property
    def scales(self) -> tuple[GoalScale, ...] | None:
        """Of demos that are goals, what distances to each mean."""
        if self._scales is None:
            self._scales = self._model.scales()
        return self._scales

    def scaled(self, demo: int, cost: npt.ArrayLike) -> npt.ArrayLike:
        """Costs [..., J] as a matcher takes them: against a video as they are, of goals by their scale."""
        return cost if self.scales is None else self.scales[demo](cost)

    def calibrations(self, rollouts: Sequence[Sequence[npt.ArrayLike]] = ()) -> tuple[dict[str, float], ...]:
        """As `VideoReward.calibrations`."""
        if self._model.of_goals:
            return tuple(dict(SETTINGS) for _ in self._model.kit.demos)
        model, found = self._model.get(), []
        own = model.own_scale
        for k, (demo, features) in enumerate(zip(self._model.kit.demos, model.demo_features, strict=True)):
            # Costs that have a unit already need no rollouts; what calibration refuses it refuses all the same.
            costs = [rollout[k] for rollout in rollouts] if own is None else []
            measured = calibrate_demo(demo, features, self.settings.distance, costs)._asdict()
            found.append(measured if own is None else dict(own))
        return tuple(found)

    def learn(self, kept: Sequence[Sequence[npt.ArrayLike]], moment: Moment) -> list[str] | None:
        """As `Reward.learn`, from the costs of each episode per demo."""
        wanted, ramp = self.settings.calibration_episodes, self.settings.temperature
        notes: list[str] = []
        changed = False
        if self.settings.calibrated and wanted and moment.episodes == wanted == len(kept):
            before, after = self.found()[0], self.calibrations(kept)
            self._calibrations, changed = after, after != before
        if changed:
            now = self.settings_of("orca")[0]
            notes.append(
                f"calibrated on {wanted} episodes: floor {now['floor']:.4f}, temperature {now['temperature']:.4f}"
            )
        if moment.due and self.scales is not None:
            known = tuple(one.seen([costs[k] for costs in kept]) for k, one in enumerate(self.scales))
            # All that is kept is paid anew: not for a hair's breadth.
            if any(one.farther(other) for one, other in zip(known, self.scales, strict=True)):
                self._scales, changed = known, True
        if moment.due and ramp is not None and ramp(moment.share) != ramp(self.share):
            self.share, changed = moment.share, True
        return notes if changed else None

    def state(self) -> State:
        """All of it, so that nobody has to encode the demos to pay."""
        calibrations, worths = self.found()
        scales = None if self.scales is None else [one.plain() for one in self.scales]
        found = {"share": self.share, "calibrations": list(calibrations), "worths": list(worths)}
        return {**found, **({} if scales is None else {"scales": scales})}, {}

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        plain = state[0]
        self.share = float(plain["share"])
        if self.settings.calibrated:
            self._calibrations = tuple(dict(one) for one in plain["calibrations"])
        if self.settings.progress_in == "path" and not self._model.of_goals:
            self._worths = tuple(tuple(one) for one in plain["worths"])
        if plain.get("scales") is not None:
            self._scales = tuple(GoalScale.from_plain(one) for one in plain["scales"])


def calibrate_demo(
    demo: Demo, features: npt.ArrayLike, distance: str, rollout_costs: Sequence[npt.ArrayLike] = ()
) -> Calibration:
    """`calibrate`, for a demo whose pictures are there to explain a refusal with.

    Repeated frames and pauses are fine. A demo in which nothing moves is refused even if its features differ:
    what differs then is the noise of camera, codec or encoder, and its scale says nothing about any task.
    `features` [J, D] are those of the demo; all else is as in `calibrate`.

    >>> import numpy as np
    >>> grey = Demo(np.full((9, 8, 8, 3), 99, np.uint8))
    >>> calibrate_demo(grey, np.ones((9, 4)), "cosine")
    Traceback (most recent call last):
    ...
    ValueError: calibration needs two frames that can be told apart, and this demo (memory) has none: error static ...
    """
    blind = False
    try:
        calibrate(features, distance)
    except ValueError:
        blind = True
    findings = {one.code: one for one in lint_demo(demo, features if blind else None, distance)}
    if not blind and "static" not in findings:
        return calibrate(features, distance, rollout_costs)
    reason = next((f"{findings[code]} " for code in POINTLESS if code in findings), "")
    raise ValueError(
        f"calibration needs two frames that can be told apart, and this demo ({demo.source}) has none: {reason}"
        f"Or set floor and temperature by hand instead of calibrated."
    )
