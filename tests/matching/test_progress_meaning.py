"""What progress measures, and what paying for it does to the best policy: the statements of docs/progress.md.

The worlds are the grids of the counterexamples: a learner that stays or moves one cell, every path of it.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices

from orcalign.matching import orca, orca_progress
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
    further = np.concatenate([np.ones((len(cost), 1)), match.assignment[:, : J - 1], np.zeros((len(cost), 1))], 1)
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


def best(values):
    return set(np.flatnonzero(values >= values.max() - 1e-9).tolist())


@pytest.mark.parametrize("gamma", [0.9, 1.0])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_the_return_is_orcas_plus_what_progress_is_worth(name, temperature, gamma):
    """Discounted: weight times progress at the end, and weight (1 - gamma) times progress at every step before."""
    cost, _ = every_path(name, T=7)
    match = orca_progress(cost, temperature, 0.0, WEIGHT)
    discount = gamma ** np.arange(7)
    kept = WEIGHT * (gamma**7 * match.progress[:, -1] + (1 - gamma) * match.progress @ discount)
    np.testing.assert_allclose(match.reward @ discount, match.orca_reward @ discount + kept, atol=1e-10)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 4.0])
def test_paying_progress_may_move_the_optimum(temperature):
    """Seven steps are too few for this demo: ORCA's best path cuts a corner and comes nearer to the end, with
    every temperature; with progress paid the best path covers what can be covered."""
    cost, paths = every_path("slowness", T=7)
    discount = 0.99 ** np.arange(7)
    cutting = best(orca(cost, temperature).reward @ discount)
    covering = best(orca_progress(cost, temperature).reward @ discount)
    assert not cutting & covering
    corner = COUNTEREXAMPLES["slowness"].demo[3]
    assert all(corner not in map(tuple, paths[n]) for n in cutting)
    assert all(corner in map(tuple, paths[n]) for n in covering)
