"""Measures of an order: by hand, and against SciPy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import roc_auc_score

from orcalign.experiments.ordering import failure_auroc, kendall_tau, value_order_correlation

numbers = st.lists(st.integers(0, 5), min_size=2, max_size=30)


@given(numbers, st.randoms(use_true_random=False))
def test_as_scipy_and_scikit_learn_have_them(values, random):
    truth = [random.randint(0, 3) for _ in values]
    if len(set(values)) > 1 and len(set(truth)) > 1:
        assert kendall_tau(values, truth) == pytest.approx(kendalltau(values, truth).statistic)
        assert value_order_correlation(values, truth) == pytest.approx(spearmanr(values, truth).statistic)
    success = [one > 1 for one in truth]
    if len(set(success)) > 1:
        assert failure_auroc(values, success) == pytest.approx(roc_auc_score(success, values))


@pytest.mark.parametrize(
    ("progress", "found"),
    [
        ([0, 1, 2, 3], 1.0),
        ([3, 2, 1, 0], -1.0),
        ([0, 1, 1, 2], 3 / np.sqrt(10)),  # ranks 1 2.5 2.5 4 with 1 2 3 4: 4.5 / sqrt(4.5 * 5)
        ([0, 0, 0, 0], None),
    ],
)
def test_value_order(progress, found):
    assert value_order_correlation(progress) == (None if found is None else pytest.approx(found))


def test_nothing_to_order_is_not_a_number():
    assert kendall_tau([1, 2], [1, 1]) is None
    assert failure_auroc([1, 2], [True, True]) is None
