"""What a demo shows after its first success: a hand that holds what it has done.

Scripts go on as if nothing had happened. Most only finish what they do, and then a demo shows that; but a lever slips
off the hand, a door swings on, and there the hand has to stay.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from orcalign.envs.experts import Episode, Expert

PROPORTIONAL, INTEGRAL = 4.0, 0.7
"""Of the hand's place, per simulation step. Less lets a lever push the hand back; more makes no difference."""
METRES = 100.0
"""Actions are hundredths of a metre by which the hand's target moves."""


class Hold(NamedTuple):
    """A way to hold."""

    after: int
    """Successful simulation steps after which it begins."""
    place: bool
    """Whether the hand is led back to the place where it was then; otherwise its target stays where it is, and so
    does the force by which it pushes."""


ENDINGS = (None, Hold(1, place=False), *(Hold(after, place=True) for after in range(1, 7)))
"""In the order in which they are tried, the script's own first. A hand that stays holds nine of the paper's ten tasks;
lever-pull's is under way when it first succeeds, and has to be led back."""


@final
class HoldingExpert:
    """A script until it has succeeded for some steps; then the hand stays, with the grip that it has."""

    def __init__(self, script: Expert, hold: Hold) -> None:
        self._script, self._hold = script, hold
        self._successes = 0
        self._hand: npt.NDArray[Any] | None = None
        self._place: npt.NDArray[Any] | None = None
        self._grip = np.float32(0)

    def __call__(self, observation: npt.NDArray[Any], success: bool) -> npt.NDArray[np.float32]:
        """The next action; float32 [4] from -1 to 1."""
        hand = observation[:3].copy()
        moved, self._hand = (0 * hand if self._hand is None else hand - self._hand), hand
        self._successes += success
        if self._successes < self._hold.after:
            # That it has succeeded is not for the script to know: it might stop by itself.
            action: npt.NDArray[np.float32] = self._script(observation, False)
            self._grip = action[3]
            return action
        if self._place is None:
            self._place = hand
        led = METRES * (INTEGRAL * (self._place - hand) - PROPORTIONAL * moved) if self._hold.place else 0 * hand
        return np.append(np.clip(led, -1, 1), self._grip).astype(np.float32)


def never_lost(episode: Episode) -> bool:
    """Whether the success of an episode, once reached, stays; or there is none to lose."""
    return bool(episode.success[episode.success.argmax() :].all()) or not episode.succeeded


def how_held(episode: Episode) -> tuple[int, int]:
    """The more the better: how late it last succeeds, and in how many agent steps."""
    return int(np.flatnonzero(episode.success)[-1]), int(episode.success.sum())
