"""The horizontal plane: turns in it, and the two actions that move the hand in it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


@final
class Plane(NamedTuple):
    """Two actions that move the hand in the horizontal plane, in all directions alike."""

    actions: tuple[int, int] = (0, 1)
    leads: tuple[tuple[float, float], tuple[float, float]] = ((1.0, 0.0), (0.0, 1.0))
    """[2, 2] Where each of them leads, in units of the faster one."""

    def turned(self, actions: Floats, angle: float) -> Floats:
        """Actions [..., A] that move the hand as these do, turned by `angle` to the left.

        >>> Plane().turned(np.array([1.0, 0.0, 5.0]), np.pi / 2).round(6).tolist()
        [0.0, 1.0, 5.0]
        """
        leads = np.array(self.leads)
        turn = np.linalg.inv(leads) @ rotation(angle) @ leads
        made = np.array(actions, np.float64)
        made[..., list(self.actions)] = made[..., list(self.actions)] @ turn.T
        return made


def rotation(angle: float) -> Floats:
    """[2, 2] To the left.

    >>> (rotation(np.pi / 2) @ [1.0, 0.0]).round(6).tolist()
    [0.0, 1.0]
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])
