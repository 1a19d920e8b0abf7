"""What progress measures, and what paying for it does to the best policy: the statements of docs/progress.md.

The worlds are the grids of the counterexamples: a learner that stays or moves one cell, every path of it.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices

from orcalign.matching import OrcaProgressTracker, orca, orca_progress
from orcalign.matching.counterexamples import COUNTEREXAMPLES

MOVES = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
WEIGHT = 10.0


@given(cost_matrices(max_side=12), st.floats(0, 5))
def test_where_a_frame_is_reached_or_not_progress_counts_the_frames_reached_in_order(cost, floor):
    strict = orca(np.where(cost <= floor, 0.0, 1.0), temperature=1e-6)
    T, J = cost.shape
    count = 0
    for t in range(T):
        while count < max(J - 1, 1) and cost[t, count] <= floor:
            count += 1
        assert strict.progress[t] == pytest.approx(count / max(J - 1, 1), abs=1e-12)


@given(cost_matrices(max_side=12, min_side=2), st.floats(0.1, 3))
def test_in_general_it_is_an_expected_number_of_frames(cost, temperature):
    """If the demo is followed up to frame j or further with probability C[t, j], for j < J-1."""
    match = orca(cost, temperature)
    J = cost.shape[1]
    further = np.concatenate(
        [np.ones((len(cost), 1)), match.assignment[:, : J - 1], np.zeros((len(cost), 1))], 1
    )
    exactly = further[:, :-1] - further[:, 1:]
    assert (exactly >= 0).all()
    np.testing.assert_allclose(match.progress, exactly @ np.arange(J) / (J - 1), atol=1e-12)


@given(cost_matrices(max_side=12, min_side=2), st.floats(0.1, 3), st.data())
def test_pauses_of_the_learner_change_nothing(cost, temperature, data):
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(cost), max_size=len(cost)))
    slow = np.repeat(cost, times, axis=0)
    quick, paused = orca_progress(cost, temperature), orca_progress(slow, temperature)
    np.testing.assert_array_equal(np.repeat(quick.progress, times), paused.progress)
    repeated = np.concatenate([np.arange(n) > 0 for n in times])
    assert (paused.reward[repeated] == paused.orca_reward[repeated]).all()  # a pause earns no progress


@given(cost_matrices(max_side=12, min_side=2), st.floats(0.1, 3), st.data())
def test_a_missed_frame_is_a_ceiling_for_all_that_follows(cost, temperature, data):
    m = data.draw(st.integers(0, cost.shape[1] - 2))
    match = orca(cost, temperature)
    occupied = np.exp(-cost[:, m].min() / temperature)
    frames = cost.shape[1] - 1
    assert match.progress[-1] <= (m + (frames - m) * occupied) / frames + 1e-12
    assert (match.reward <= occupied + 1e-12).all()


def every_path(name, T):
    """Costs [N, T, J] of all different paths from the demo's first cell, and the paths [N, T, 2]."""
    case = COUNTEREXAMPLES[name]
    corner = np.max(np.concatenate([case.demo, case.good, case.bad]), axis=0)
    paths = np.array([[case.demo[0]]])
    for _ in range(T - 1):
        reached = np.clip(paths[:, None, -1] + MOVES, 0, corner)
        longer = np.concatenate([np.repeat(paths[:, None], len(MOVES), 1), reached[:, :, None]], axis=2)
        paths = np.unique(longer.reshape(-1, longer.shape[2], 2), axis=0)
    return np.abs(paths[:, :, None] - np.array(case.demo)).sum(axis=-1).astype(float), paths


def to_go(reward, gamma):
    """Discounted returns [N, T] from every step on."""
    out = reward.copy()
    for t in range(reward.shape[1] - 2, -1, -1):
        out[:, t] += gamma * out[:, t + 1]
    return out


def best(values):
    return set(np.flatnonzero(values >= values.max() - 1e-9).tolist())


WORLDS = [(name, tau, gamma) for name in COUNTEREXAMPLES for tau in (0.3, 1.0, 3.0) for gamma in (0.9, 1.0)]


@pytest.mark.parametrize(("name", "temperature", "gamma"), WORLDS)
def test_potential_of_terminated_episodes_leaves_every_choice_as_it_was(name, temperature, gamma):
    """From any moment on, what is left to win differs by what the past has fixed: by -weight * phi, for all paths."""
    cost, _ = every_path(name, T=7)
    plain = orca(cost, temperature)
    shaped = orca_progress(cost, temperature, 0.0, WEIGHT, "potential", gamma, "terminated")
    before = np.concatenate([np.zeros((len(cost), 1)), plain.progress[:, :-1]], axis=1)
    ours, theirs = to_go(shaped.reward, gamma), to_go(plain.reward, gamma)
    np.testing.assert_allclose(ours, theirs - WEIGHT * before, atol=1e-10)
    assert best(ours[:, 0]) == best(theirs[:, 0])


@pytest.mark.parametrize(("name", "temperature", "gamma"), WORLDS)
def test_the_difference_adds_a_share_of_progress_at_every_step(name, temperature, gamma):
    cost, _ = every_path(name, T=7)
    plain = orca_progress(cost, temperature, 0.0, WEIGHT)
    shaped = orca_progress(cost, temperature, 0.0, WEIGHT, "potential", gamma)
    extra = WEIGHT * (1 - gamma) * plain.progress
    np.testing.assert_allclose(plain.reward, shaped.reward + extra, atol=1e-12)
    # so the return is ORCA's, plus progress at the end, plus the share
    discount = gamma ** np.arange(7)
    expected = plain.orca_reward @ discount + WEIGHT * gamma**7 * plain.progress[:, -1] + extra @ discount
    np.testing.assert_allclose(plain.reward @ discount, expected, atol=1e-10)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 4.0])
def test_the_difference_may_move_the_optimum_and_the_potential_does_not(temperature):
    """Seven steps are too few for this demo: ORCA's best path cuts a corner and comes nearer to the end, with
    every temperature; the difference's best path covers what can be covered."""
    cost, paths = every_path("slowness", T=7)
    discount = 0.99 ** np.arange(7)
    plain = orca(cost, temperature)
    cutting = best(plain.reward @ discount)
    covering = best(orca_progress(cost, temperature).reward @ discount)
    shaped = orca_progress(cost, temperature, shaping="potential", end="terminated").reward @ discount
    assert cutting == best(shaped)
    assert not cutting & covering
    corner = COUNTEREXAMPLES["slowness"].demo[3]
    assert all(corner not in map(tuple, paths[n]) for n in cutting)
    assert all(corner in map(tuple, paths[n]) for n in covering)


class Forever:
    """The grid without an end, as an MDP on (cell, coverage): every state that can be reached, by search.

    A tracker is the state: it is copied, and pushed the costs of the next cell.
    """

    def __init__(self, name, temperature, gamma):
        case = COUNTEREXAMPLES[name]
        corner = np.max(np.concatenate([case.demo, case.good, case.bad]), axis=0)
        start = OrcaProgressTracker(len(case.demo), temperature, 0.0, WEIGHT, "potential", gamma)
        states = {(case.demo[0], start.coverage.tobytes()): 0}
        todo, self.phi, self.next, self.shaped, self.plain = [(case.demo[0], start)], [], [], [], []
        for cell, tracker in todo:
            row = []
            for move in MOVES:
                reached = tuple(np.clip(np.array(cell) + move, 0, corner).tolist())
                then = tracker.copy()
                cost = np.abs(np.array(reached) - np.array(case.demo)).sum(axis=1)
                shaped = then.push(cost)
                key = (reached, then.coverage.tobytes())
                if key not in states:
                    states[key] = len(todo)
                    todo.append((reached, then))
                row.append(
                    (states[key], shaped, shaped - WEIGHT * (gamma * then.progress - tracker.progress))
                )
            self.phi.append(tracker.progress)
            successor, shaped_rewards, plain_rewards = zip(*row, strict=True)
            self.next.append(successor)
            self.shaped.append(shaped_rewards)
            self.plain.append(plain_rewards)
        self.phi, self.next = np.array(self.phi), np.array(self.next)
        self.gamma = gamma

    def values(self, reward):
        """Q* [states, moves], by value iteration."""
        reward = np.array(reward)
        Q = np.zeros_like(reward)
        for _ in range(400):
            Q = reward + self.gamma * Q.max(axis=1)[self.next]
        return Q


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_potential_of_truncated_episodes_fits_a_learner_that_bootstraps(temperature):
    gamma = 0.9
    world = Forever("stalling", temperature, gamma)
    plain, shaped = world.values(world.plain), world.values(world.shaped)
    assert len(plain) > 50
    np.testing.assert_allclose(shaped, plain - WEIGHT * world.phi[:, None], atol=1e-9)
    # An episode cut after 7 steps, with the value of where it stopped: the same as before for every path, ...
    cost, _ = every_path("stalling", T=7)
    kept = orca_progress(cost, temperature, 0.0, WEIGHT, "potential", gamma)
    discount = gamma ** np.arange(7)
    rest = 3.21  # any value of the last state: it is ORCA's own, and the shaped one is lower by weight * phi
    bootstrapped = kept.reward @ discount + gamma**7 * (rest - WEIGHT * kept.progress[:, -1])
    np.testing.assert_allclose(bootstrapped, kept.orca_reward @ discount + gamma**7 * rest, atol=1e-10)
    # ... and with phi set to 0 as well, progress is taken away twice.
    zeroed = orca_progress(cost, temperature, 0.0, WEIGHT, "potential", gamma, "terminated")
    twice = zeroed.reward @ discount + gamma**7 * (rest - WEIGHT * kept.progress[:, -1])
    np.testing.assert_allclose(bootstrapped - twice, gamma**7 * WEIGHT * kept.progress[:, -1], atol=1e-10)


@settings(max_examples=60)
@given(cost_matrices(max_side=12, min_side=2), st.floats(0.2, 2), st.integers(1, 5), st.floats(0.8, 1))
def test_n_step_returns_telescope_too(cost, temperature, n, gamma):
    """n rewards and the value of the state after them, with gamma^n: what an n-step learner uses."""
    match = orca_progress(cost, temperature, 0.0, WEIGHT, "potential", gamma)
    extra = match.reward - match.orca_reward
    n = min(n, len(cost))
    total = extra[:n] @ gamma ** np.arange(n) - gamma**n * WEIGHT * match.progress[n - 1]
    assert total == pytest.approx(0.0, abs=1e-10)
