"""Training, evaluation and demos never show the same episode."""

import pytest

from orcalign.envs import demo_seed, eval_seed, train_seed
from orcalign.envs.seeds import DEMO_RANGE, EVAL_RANGE, TRAIN_RANGE


def test_the_ranges_are_disjoint_and_fit_every_generator():
    ends = [
        TRAIN_RANGE.start,
        TRAIN_RANGE.stop,
        EVAL_RANGE.start,
        EVAL_RANGE.stop,
        DEMO_RANGE.start,
        DEMO_RANGE.stop,
    ]
    assert ends == sorted(ends)
    assert DEMO_RANGE.stop <= 2**31


def test_seeds_stay_in_their_range_and_differ():
    train = {train_seed(k, run) for k in range(300) for run in range(3)}
    assert len(train) == 900
    assert all(seed in TRAIN_RANGE for seed in train)
    assert {eval_seed(k) for k in range(10)} <= set(EVAL_RANGE[:10])
    assert demo_seed(5) in DEMO_RANGE


@pytest.mark.parametrize("index", [-1, 1.5, "a", None, 2**70])
@pytest.mark.parametrize("function", [train_seed, eval_seed, demo_seed])
def test_what_is_no_index_is_refused(function, index):
    with pytest.raises(ValueError, match="must be a whole number from 0"):
        function(index)
