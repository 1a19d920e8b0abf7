"""When a first stage has taught what it can: ordered coverage of what the agent plays does not rise any more."""

from __future__ import annotations

from typing import Any

EPISODES = 10
"""Whose mean is looked at: one episode says more about where the object stood than about the agent."""
GAIN = 0.01
"""What counts as a rise. Coverage is between 0 and 1, and the mean of ten episodes of one agent moves by less."""
PATIENCE = 0.1
"""Share of the run's steps that have to pass without a rise."""


class Plateau:
    """Is told the coverage of every episode, and says whether it has stopped rising.

    >>> plateau = Plateau(steps=1000)
    >>> [step for step in range(10, 500, 10) if plateau.add(step, coverage=0.5 * (step >= 100))][0]
    290
    """

    def __init__(self, steps: int) -> None:
        self._patience = PATIENCE * steps
        self._recent: list[float] = []
        self._best: float | None = None
        self._since = 0

    def add(self, step: int, coverage: float) -> bool:
        """An episode that ended at ``step``; True once coverage has not risen for a tenth of the run."""
        self._recent = [*self._recent, coverage][-EPISODES:]
        if len(self._recent) < EPISODES:
            return False
        mean = sum(self._recent) / EPISODES
        if self._best is None or mean > self._best + GAIN:
            self._best, self._since = mean, step
        return step - self._since >= self._patience

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"recent": self._recent, "best": self._best, "since": self._since}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on where `state` was."""
        self._recent, self._best, self._since = list(state["recent"]), state["best"], int(state["since"])
