"""What a draw from the replay is made of, as kernels: n-step returns, and states now and then."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orcalign.matching.kernel import kernel

Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]


@kernel
def returns_of(
    rows: Whole,
    rewards: Floats,
    left: Whole,
    terminated: npt.NDArray[np.bool_],
    powers: npt.NDArray[np.float64],
    as_one_step: bool,
    steps: Whole,
    returns: Floats,
    discounts: Floats,
) -> None:
    """Into ``steps``, ``returns`` and ``discounts`` [B]: what begins at ``rows`` [B] of the rings.

    ``powers`` [n+1] of the discount say how many steps a return has at most; ``left`` says how many the episode has.

    >>> steps, returns, discounts = np.zeros(1, int), np.zeros(1, "f"), np.zeros(1, "f")
    >>> ring, left, powers = np.float32([4, 1, 2]), np.array([1, 3, 2]), 0.5 ** np.arange(4)
    >>> returns_of(np.array([2]), ring, left, ring < 0, powers, False, steps, returns, discounts)
    >>> steps.tolist(), returns.tolist(), discounts.tolist()
    ([2], [4.0], [0.25])
    """
    capacity, most = len(rewards), len(powers) - 1
    for b in range(len(rows)):
        row = rows[b]
        count = min(most, left[row])
        total = 0.0
        for i in range(count):
            total += powers[i] * rewards[(row + i) % capacity]
        steps[b], returns[b] = count, total
        ends = terminated[row] and count == left[row]
        discounts[b] = 0.0 if ends else powers[1 if as_one_step else count]


@kernel
def states_of(
    rows: Whole, steps: Whole, states: Floats, finals: Floats, episode: Whole, left: Whole, now: Floats, then: Floats
) -> None:
    """Into ``now`` and ``then`` [B, D]: the states of ``rows`` [B] of the ring, and those ``steps`` [B] later.

    >>> now, then, ring = np.zeros((2, 1), "f"), np.zeros((2, 1), "f"), np.float32([[5], [6]])
    >>> zero, left = np.zeros(2, int), np.array([2, 1])
    >>> states_of(np.array([0, 1]), np.array([1, 1]), ring, np.float32([[7]]), zero, left, now, then)
    >>> now.tolist(), then.tolist()
    ([[5.0], [6.0]], [[6.0], [7.0]])
    """
    capacity, size = states.shape
    for b in range(len(rows)):
        row = rows[b]
        # An episode's last state belongs to no transition.
        last = steps[b] == left[row]
        place = (row + steps[b]) % capacity
        final = episode[row] % len(finals)
        for k in range(size):
            now[b, k] = states[row, k]
        for k in range(size):
            then[b, k] = finals[final, k] if last else states[place, k]


@kernel
def running_returns_of(head: int, count: int, rewards: Floats, step: Whole, gamma: float) -> tuple[float, float]:
    """Of what an episode has brought in until each of ``count`` transitions, discounted: deviation, and largest size.

    They lie in rings from row ``head`` on; ``step`` is 0 where an episode begins.

    >>> running_returns_of(1, 3, np.float32([8, 4, 0]), np.array([1, 0, 0]), 0.5)
    (3.265986323710904, 8.0)
    """
    total = squares = most = now = 0.0
    for i in range(count):
        row = (head + i) % len(rewards)
        now = rewards[row] + (0.0 if step[row] == 0 else gamma * now)
        total += now
        squares += now * now
        most = max(most, abs(now))
    mean = total / max(1, count)
    return np.sqrt(max(0.0, squares / max(1, count) - mean * mean)), most
