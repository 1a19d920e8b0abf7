"""Memory of whole episodes, and n-step transitions drawn from it."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from orcalign.agents.batch import Batch
from orcalign.agents.draws import returns_of, running_returns_of, states_of
from orcalign.checks import require, require_count

BOOTSTRAPS = ("gamma^n", "gamma")


class Replay:
    """The latest episodes, at most ``capacity`` transitions of them; the oldest leave whole.

    Transitions lie in rings of ``capacity`` rows, and an episode's final observation, which belongs to no
    transition, in a small ring of its own: a frame is stored once, however often it is stacked.

    Draws are by rank among the kept transitions, oldest first. So the same generator state and the same kept
    episodes give the same batch, wherever in the rings they lie and whatever was evicted before them.

    A *guide* is ``guide_dim`` more numbers for each observation that whoever pays the rewards knows, and that change
    when rewards do (`set_guides`). They are the last columns of the observations in a sample.

    >>> replay = Replay(capacity=4, observation_shape=(1,), observation_dtype="float32", action_dim=1)
    >>> for number in range(3):
    ...     replay.add(np.full((3, 1), number), np.zeros((2, 1)), np.ones(2), terminated=False)
    >>> replay.num_transitions, replay.num_episodes, replay.first_episode, replay.lengths
    (4, 2, 1, array([2, 2]))
    >>> replay.sample(np.random.default_rng(0), batch=3, n_step=3, gamma=0.5, bootstrap="gamma^n").returns
    array([1. , 1.5, 1.5], dtype=float32)
    """

    def __init__(
        self,
        capacity: int,
        observation_shape: tuple[int, ...],
        observation_dtype: npt.DTypeLike,
        action_dim: int,
        stack: int = 1,
        guide_dim: int = 0,
    ) -> None:
        """Room for ``capacity`` transitions.

        ``observation_shape`` is that of one stored observation, (D,) or a single image (C, H, W); samples have
        ``stack`` of them joined along the first axis.
        """
        for name, value in (("capacity", capacity), ("action_dim", action_dim), ("stack", stack)):
            require_count(value, name, at_least=1)
        require_count(guide_dim, "guide_dim", at_least=0)
        flat = len(observation_shape) == 1 and np.dtype(observation_dtype) == np.float32
        if guide_dim and not (flat and stack == 1):
            raise ValueError(
                f"guide_dim is {guide_dim}, and observations are {np.dtype(observation_dtype)} "
                f"{tuple(observation_shape)}, {stack} in a stack; a guide needs float32 states (D,), 1 in a stack."
            )
        self.capacity, self.stack, self.guide_dim = capacity, stack, guide_dim
        self.first_episode = self.num_transitions = self._head = 0
        self._lengths: deque[int] = deque()
        self._shape = tuple(observation_shape)
        # A guide lies beside its observation, so that drawing one is drawing the other.
        stored = (self._shape[0] + guide_dim,) if guide_dim else self._shape
        self._observations = np.empty((capacity, *stored), observation_dtype)
        self._finals = np.empty((16, *stored), observation_dtype)
        self._actions = np.empty((capacity, action_dim), np.float32)
        self._rewards = np.empty(capacity, np.float32)
        self._episode, self._step, self._left = np.empty((3, capacity), np.int64)
        self._terminated = np.empty(capacity, np.bool_)

    @property
    def num_episodes(self) -> int:
        """Episodes kept."""
        return len(self._lengths)

    @property
    def lengths(self) -> np.ndarray:
        """[num_episodes] transitions of each kept episode, oldest first."""
        return np.array(self._lengths, np.int64)

    def add(
        self,
        observations: npt.ArrayLike,
        actions: npt.ArrayLike,
        rewards: npt.ArrayLike,
        terminated: bool,
        guide: npt.ArrayLike | None = None,
    ) -> None:
        """Keep one episode: observations [T+1, ...], actions [T, A], rewards [T], and guide [T+1, K] if there is one.

        ``terminated`` says that nothing can be earned after its end; an episode that only ran out of time is
        not terminated, and its last transitions look on to the value of the final observation.
        """
        observations, actions = np.asarray(observations), np.asarray(actions, np.float32)
        rewards = np.asarray(rewards, np.float32)
        steps = len(rewards)
        self._check_episode(observations, actions, rewards)
        if guide is not None or self.guide_dim:
            beside = self._checked_guides(() if guide is None else guide, steps + 1)
            observations = np.concatenate([observations.astype(np.float32), beside], axis=1)
        while self.num_transitions + steps > self.capacity:
            self._evict()
        rows = (self._head + self.num_transitions + np.arange(steps)) % self.capacity
        self._observations[rows] = observations[:-1]
        self._actions[rows] = actions
        self._rewards[rows] = rewards
        self._episode[rows] = self.first_episode + self.num_episodes
        self._step[rows] = np.arange(steps)
        self._left[rows] = steps - np.arange(steps)
        self._terminated[rows] = terminated
        kept = np.arange(self.first_episode, self.first_episode + self.num_episodes)
        if len(kept) == len(self._finals):
            larger = np.empty((2 * len(kept), *self._finals.shape[1:]), self._finals.dtype)
            larger[kept % len(larger)] = self._finals[kept % len(kept)]
            self._finals = larger
        self._finals[(self.first_episode + self.num_episodes) % len(self._finals)] = observations[-1]
        self._lengths.append(steps)
        self.num_transitions += steps

    def set_rewards(self, rewards: npt.ArrayLike) -> None:
        """Replace every reward kept: [num_transitions], in the order of the kept episodes.

        >>> replay = Replay(9, (1,), "float32", 1)
        >>> replay.add(np.zeros((3, 1)), np.zeros((2, 1)), np.zeros(2), terminated=True)
        >>> replay.set_rewards([5, 5])
        >>> replay.sample(np.random.default_rng(0), 2, n_step=1, gamma=0.9, bootstrap="gamma").returns
        array([5., 5.], dtype=float32)
        """
        new = np.asarray(rewards, np.float32)
        if new.shape != (self.num_transitions,):
            raise ValueError(
                f"The new rewards have the shape {new.shape}, but {self.num_transitions} transitions are kept; "
                f"give one reward for each transition of the {self.num_episodes} kept episodes, oldest first."
            )
        _check_finite(new, "reward of transition")
        self._rewards[self._rows()] = new

    def set_guides(self, guides: npt.ArrayLike) -> None:
        """Replace every guide kept: [sum of T_i + 1, K], in the order of the kept episodes.

        >>> replay = Replay(9, (1,), "float32", 1, guide_dim=1)
        >>> replay.add(np.zeros((2, 1)), np.zeros((1, 1)), np.zeros(1), terminated=True, guide=[[1], [2]])
        >>> replay.set_guides([[3], [4]])
        >>> batch = replay.sample(np.random.default_rng(0), 1, n_step=1, gamma=0.9)
        >>> batch.observations, batch.next_observations
        (array([[0., 3.]], dtype=float32), array([[0., 4.]], dtype=float32))
        """
        new = self._checked_guides(guides, self.num_transitions + self.num_episodes)
        final = np.zeros(len(new), np.bool_)
        final[np.cumsum(self.lengths + 1) - 1] = True
        self._observations[self._rows(), self._shape[0] :] = new[~final]
        kept = self.first_episode + np.arange(self.num_episodes)
        self._finals[kept % len(self._finals), self._shape[0] :] = new[final]

    def forget(self) -> None:
        """Let go of all episodes; the next one is numbered as if they had been kept.

        >>> replay = Replay(9, (1,), "float32", 1)
        >>> replay.add(np.zeros((3, 1)), np.zeros((2, 1)), np.zeros(2), terminated=True)
        >>> replay.forget()
        >>> replay.num_transitions, replay.num_episodes, replay.first_episode
        (0, 0, 1)
        """
        while self._lengths:
            self._evict()

    def sample(
        self, rng: np.random.Generator, batch: int, n_step: int, gamma: float, bootstrap: str = "gamma^n"
    ) -> Batch[np.ndarray]:
        """Draw ``batch`` transitions, each kept one equally likely, over ``n_step`` steps or to the episode's end."""
        require("bootstrap", bootstrap, BOOTSTRAPS)
        if self.num_transitions == 0:
            raise ValueError("The replay is empty, so nothing can be drawn; add an episode first.")
        rows = (self._head + rng.integers(self.num_transitions, size=batch)) % self.capacity
        steps, (returns, discounts) = np.empty(batch, np.int64), np.empty((2, batch), np.float32)
        powers = np.array([float(gamma) ** i for i in range(n_step + 1)])
        one = bootstrap == "gamma"
        returns_of(rows, self._rewards, self._left, self._terminated, powers, one, steps, returns, discounts)
        return Batch(actions=self._actions[rows], returns=returns, discounts=discounts, **self._looks(rows, steps))

    def running_returns(self, gamma: float) -> tuple[float, float]:
        """Of discounted sums of rewards, from an episode's first to each of its transitions: deviation, largest size.

        >>> replay = Replay(9, (1,), "float32", 1)
        >>> replay.add(np.zeros((3, 1)), np.zeros((2, 1)), [-4, 0], terminated=True)
        >>> replay.running_returns(gamma=0.5)
        (1.0, 4.0)
        """
        return running_returns_of(self._head, self.num_transitions, self._rewards, self._step, float(gamma))

    def _looks(self, rows: np.ndarray, steps: np.ndarray) -> dict[str, np.ndarray]:
        """What was seen when each row's transition began, and some steps later."""
        if self.stack > 1 or self._observations.ndim > 2 or self._observations.dtype != np.float32:
            now, then = self._look(rows, np.zeros_like(steps)), self._look(rows, steps)
        else:
            now, then = np.empty((2, len(rows), self._observations.shape[1]), np.float32)
            states_of(rows, steps, self._observations, self._finals, self._episode, self._left, now, then)
        return {"observations": now, "next_observations": then}

    def _look(self, rows: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """What was seen ``ahead`` steps after each row's transition began, stacked: [B, stack*C, ...]."""
        step = self._step[rows]
        length = step + self._left[rows]
        seen = np.empty((len(rows), self.stack, *self._observations.shape[1:]), self._observations.dtype)
        for place in range(self.stack):
            # Before the episode began, its first observation stands in.
            when = np.maximum(step + ahead - (self.stack - 1 - place), 0)
            seen[:, place] = self._observations[(rows + when - step) % self.capacity]
            last = np.flatnonzero(when == length)
            seen[last, place] = self._finals[self._episode[rows[last]] % len(self._finals)]
        return seen.reshape(len(rows), -1, *seen.shape[3:])

    def _rows(self) -> np.ndarray:
        """Where the kept transitions lie, oldest first."""
        return (self._head + np.arange(self.num_transitions)) % self.capacity

    def _evict(self) -> None:
        gone = self._lengths.popleft()
        self._head = (self._head + gone) % self.capacity
        self.num_transitions -= gone
        self.first_episode += 1

    def _check_episode(self, observations: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> None:
        steps = len(rewards)
        for name, array, shape in (
            ("observations", observations, (steps + 1, *self._shape)),
            ("actions", actions, (steps, *self._actions.shape[1:])),
            ("rewards", rewards, (steps,)),
        ):
            if array.shape != shape:
                raise ValueError(
                    f"The episode's {name} have the shape {array.shape}, but {steps} steps need {shape}; "
                    f"give T actions and rewards and T+1 observations, the final one included."
                )
        if not np.can_cast(observations.dtype, self._observations.dtype, "same_kind"):
            raise ValueError(
                f"The observations are {observations.dtype}, but this replay keeps {self._observations.dtype}; "
                f"convert them first."
            )
        if steps == 0:
            raise ValueError("The episode has no steps; leave it out.")
        if steps > self.capacity:
            raise ValueError(
                f"The episode has {steps} steps, but the replay has room for {self.capacity}; "
                f"give it a capacity of at least {steps}."
            )
        _check_finite(rewards, "reward of transition")

    def _checked_guides(self, guides: npt.ArrayLike, count: int) -> np.ndarray:
        new = np.asarray(guides, np.float32)
        if not self.guide_dim or new.shape != (count, self.guide_dim):
            raise ValueError(
                f"The guide has the shape {new.shape}, but {count} observations and a guide_dim of {self.guide_dim} "
                f"need {(count, self.guide_dim) if self.guide_dim else 'none'}; "
                f"give K numbers for each observation of an episode, the final one included."
            )
        _check_finite(new, "guide of observation")
        return new


def _check_finite(numbers: np.ndarray, what: str) -> None:
    if not np.isfinite(numbers).all():
        first = int(np.argwhere(~np.isfinite(numbers))[0, 0])
        raise ValueError(
            f"The {what} {first} is {numbers[first]}; it must be finite: look at the cost matrix that it came from."
        )
