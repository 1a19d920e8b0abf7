from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from orcalign.rewards.frame_costs import PlaceCosts

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
    with pytest.raises(ValueError, match="Known: cosine, euclidean"):
        FrameCosts(np.ones((3, 4)), "manhattan")


def worst_places(demo, learner, places, count):
    """By hand: one pair of frames, one place at a time."""
    out = np.empty((len(learner), len(demo)))
    for t, row in enumerate(learner):
        for j, other in enumerate(demo):
            u, v = row.reshape(-1, places), other.reshape(-1, places)
            apart = sorted(matching.cosine(u[None, :, p], v[None, :, p])[0, 0] for p in range(places))
            out[t, j] = np.mean(apart[places - count :])
    return out


@pytest.mark.parametrize(("share", "count"), [(0.25, 4), (0.5, 8), (1.0, 16), (0.01, 1)])
def test_the_worst_places_are_those_that_differ_most(share, count):
    rng = np.random.default_rng(2)
    demo, learner = rng.normal(size=(5, 6 * 16)), rng.normal(size=(7, 6 * 16))
    learner[3, ::16] = 0  # nothing is to be seen in the first place
    costs = PlaceCosts(demo, 16, share)
    np.testing.assert_allclose(costs(learner), worst_places(demo, learner, 16, count), atol=1e-7)
    assert (costs.between_demo_frames() == costs(demo)).all()
    assert (costs(demo).diagonal() == 0).all()


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, np.nan])
def test_a_share_of_places_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=r"the share of places that count is .*; it must be above 0"):
        PlaceCosts(np.ones((2, 8)), 4, share)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_worst_places_of_a_row_are_the_same_bits_alone_and_in_company(dtype):
    rng = np.random.default_rng(3)
    demo, learner = (rng.normal(size=(count, 112 * 64)).astype(dtype) for count in (20, 300))
    costs = PlaceCosts(demo, 64, 0.25)
    together = costs(learner)
    assert (together == np.concatenate([costs(row[None]) for row in learner])).all()
    assert (together[3:20] == costs(learner[3:20])).all()


@settings(max_examples=50, deadline=None)
@given(
    hnp.arrays(np.float64, (3, 8), elements=st.floats(-1e3, 1e3)),
    hnp.arrays(np.float64, (4, 8), elements=st.floats(-1e3, 1e3)),
)
def test_the_fewer_places_count_the_farther_apart_frames_are(demo, learner):
    all_of_them, half, one = (PlaceCosts(demo, 4, share)(learner) for share in (1.0, 0.5, 0.25))
    for few, more in ((half, all_of_them), (one, half)):
        assert (few >= more - 1e-12).all()
    assert ((all_of_them >= 0) & (one <= 2)).all()
