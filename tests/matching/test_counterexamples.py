"""The paper's three counterexamples: who is fooled, and that ORCA is not."""

import numpy as np
import pytest

from orcalign.matching import MATCHERS
from orcalign.matching.counterexamples import COUNTEREXAMPLES


def totals(name, method):
    case = COUNTEREXAMPLES[name]
    return tuple(MATCHERS[method](case.cost(learner)).reward.sum() for learner in ("good", "bad"))


def test_ot_ties_on_order():
    good, bad = totals("order", "ot")
    assert good == pytest.approx(bad, rel=1e-9)
    # and so does the exact plan
    case = COUNTEREXAMPLES["order"]
    exact = [MATCHERS["ot"](case.cost(learner), epsilon=0).reward.sum() for learner in ("good", "bad")]
    assert exact[0] == pytest.approx(exact[1], rel=1e-12)


def test_dtw_ties_on_stalling():
    assert totals("stalling", "dtw") == (0.0, 0.0)


def test_temporal_ot_prefers_the_slow_path():
    good, bad = totals("slowness", "temporal_ot")
    assert bad > good + 0.05


def test_dtw_sees_the_order():
    good, bad = totals("order", "dtw")
    assert good > bad


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_orca_ranks_the_good_path_first(name):
    good, bad = totals(name, "orca")
    assert good > 2 * bad


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_learners_move_at_most_one_cell_and_only_the_good_one_follows_the_demo_in_time(name):
    case = COUNTEREXAMPLES[name]
    assert len(case.good) == len(case.bad)
    for path in (case.good, case.bad):
        assert np.abs(np.diff(path, axis=0)).sum(axis=1).max() <= 1
    visits = iter(case.good)
    assert all(cell in visits for cell in case.demo)  # in this order
    # From the middle on the good one is ahead.
    progress = {w: MATCHERS["orca"](case.cost(w)).progress for w in ("good", "bad")}
    assert (progress["good"] >= progress["bad"]).all()
    assert case.good[-1] == case.demo[-1]


def test_unknown_learner():
    with pytest.raises(ValueError, match="learner is 'ugly'"):
        COUNTEREXAMPLES["order"].cost("ugly")
