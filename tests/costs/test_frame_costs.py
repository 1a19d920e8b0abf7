from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from orcalign import matching
from orcalign.costs import FrameCosts


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("D", [1, 7, 768, 20480])
def test_every_row_has_the_same_bits_alone_and_in_company(distance, dtype, D):
    rng = np.random.default_rng(D)
    demo = rng.normal(size=(37, D)).astype(dtype)
    learner = rng.normal(size=(70, D)).astype(dtype)  # more than one block
    costs = FrameCosts(demo, distance)
    together = costs(learner)
    assert together.dtype == np.float64
    alone = np.concatenate([costs(row[None]) for row in learner])
    assert (together == alone).all()
    assert (together[3:20] == costs(learner[3:20])).all()
    assert (together == costs(np.asfortranarray(learner))).all()


def test_a_plain_product_would_not_do():
    """The reason for rounding to a grid: BLAS adds in another order for one row than for many."""
    rng = np.random.default_rng(0)
    demo, learner = rng.normal(size=(37, 20480)), rng.normal(size=(70, 20480))
    together = learner @ demo.T
    alone = np.concatenate([row[None] @ demo.T for row in learner])
    if (together == alone).all():
        pytest.skip("this BLAS happens to add one row like many")
    assert np.abs(together - alone).max() < 1e-9


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_agrees_with_the_plain_distances(distance):
    rng = np.random.default_rng(1)
    demo, learner = np.abs(rng.normal(size=(20, 5120))), np.abs(rng.normal(size=(30, 5120)))
    plain = getattr(matching, distance)(learner, demo)
    np.testing.assert_allclose(FrameCosts(demo, distance)(learner), plain, atol=2e-8, rtol=0)


@settings(max_examples=50, deadline=None)
@given(
    hnp.arrays(np.float64, (3, 5), elements=st.floats(-1e3, 1e3)),
    hnp.arrays(np.float64, (4, 5), elements=st.floats(-1e3, 1e3)),
)
def test_cosine_of_anything(demo, learner):
    costs = FrameCosts(demo)(learner)
    np.testing.assert_allclose(costs, matching.cosine(learner, demo), atol=1e-7)
    assert ((costs >= 0) & (costs <= 2)).all()
    assert (FrameCosts(demo)(demo).diagonal() == 0).all()
    assert (FrameCosts(demo).between_demo_frames() == FrameCosts(demo)(demo)).all()


def test_scale_does_not_matter_however_large():
    rows = np.array([[1.0, 2.0, 2.0], [2.0, 1.0, 0.0]])
    assert (FrameCosts(rows * 1e300)(rows * 1e-300) == FrameCosts(rows)(rows)).all()


def test_bad_features_are_refused_in_a_sentence():
    costs = FrameCosts(np.ones((3, 4)))
    with pytest.raises(ValueError, match="size 5 and the demo's 4"):
        costs(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"features\[1, 2\] is nan"):
        costs(np.array([[1.0] * 4, [1.0, 1.0, np.nan, 1.0]]))
    with pytest.raises(ValueError, match=r"features\[None\]"):
        costs(np.ones(4))
    with pytest.raises(ValueError, match=r"demo_features has shape \(0, 4\)"):
        FrameCosts(np.ones((0, 4)))
    with pytest.raises(ValueError, match="distance is 'manhattan'; Known: cosine, euclidean"):
        FrameCosts(np.ones((3, 4)), "manhattan")
