"""Distances to sentences and pictures, and the scale that makes them comparable."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcalign.costs.goals import LEAST, GoalModel, GoalScale, embed_goals
from orcalign.video import goals

GREEN, RED = (np.full((4, 4, 3), colour, np.uint8) for colour in ((0, 99, 0), (99, 0, 0)))


class Colours:
    """Stands for the image tower: the mean colour."""

    name, dim, spatial = "colours", 3, False

    def __call__(self, frames, progress=None):
        return frames.mean(axis=(1, 2)).astype("f4")


def read(sentences):
    """Stands for the text tower: it knows red and green by name."""
    return np.array([[2, 0, 0] if "red" in one else [0, 2, 0] for one in sentences], np.float32)


def test_sentences_are_read_and_pictures_are_seen():
    demo = goals(["all is red", GREEN, "green now"])
    rows = embed_goals(demo, Colours(), read)
    assert rows.tolist() == [[2, 0, 0], [0, 99, 0], [0, 2, 0]]
    (far,) = GoalModel(Colours(), read, [demo]).compare(Colours()(np.stack([RED, GREEN])))
    assert far.tolist() == [[0, 1, 1], [1, 0, 0]], "1 - the cosine, whatever kind of goal"


def test_towers_of_two_models_are_refused():
    with pytest.raises(ValueError, match="as 3 numbers and reads sentences as 5; the two towers"):
        embed_goals(goals("red"), Colours(), lambda said: np.ones((len(said), 5), np.float32))
    maps = Colours()
    maps.spatial = True
    with pytest.raises(ValueError, match="a map of the picture"):
        embed_goals(goals("red"), maps, read)


def test_a_scale_by_hand():
    # Of 101 frames the quantiles at 2% and 98% are the third from either end.
    steps = np.linspace(0.5, 0.9, 101)[:, None]
    scale = GoalScale.of([steps])
    assert scale.farthest == (pytest.approx(0.892),)
    assert scale.nearest == (pytest.approx(0.508),)
    assert scale([[0.892], [0.7], [0.508], [0.4]]) == pytest.approx(np.array([[1.0], [0.5], [0.0], [0.0]]))


def test_what_random_play_never_comes_near_is_not_near():
    """Its distances are noise; blown up to the whole scale, the noise would count as reached."""
    rng = np.random.default_rng(0)
    seen = [np.stack([rng.uniform(0.2, 0.8, 40), 0.7 + rng.normal(0, 0.001, 40)], axis=1) for _ in range(5)]
    scale = GoalScale.of(seen)
    assert scale.width[1] == pytest.approx(LEAST * scale.width[0])
    assert scale(seen[0])[:, 1].min() > 0.97
    # Once somebody has been there, it is the scale of that.
    there = scale.seen([np.array([[0.8, 0.3]] * 9)])
    assert there([[0.8, 0.3]])[0, 1] == 0
    assert there.farther(scale)
    assert not scale.farther(there)
    assert not scale.farther(scale)


def test_pictures_and_sentences_have_scales_of_their_own():
    """Two pictures of a scene differ by ten times as much as what a sentence makes of them."""
    seen = [np.stack([np.linspace(0, 0.5, 50), np.linspace(0.7, 0.75, 50)], axis=1)]
    alike, apart = GoalScale.of(seen), GoalScale.of(seen, pictures=[0])
    assert alike.width[1] > 4 * apart.width[1]
    assert apart.width[1] == pytest.approx(0.05, rel=0.1)
    assert GoalScale.from_plain(apart.plain()) == apart


def test_where_nothing_differs_nothing_is_reached():
    scale = GoalScale.of([np.full((9, 2), 0.7)])
    assert (scale(np.full((3, 2), 0.7)) == 1).all()
    with pytest.raises(ValueError, match="there are no episodes"):
        GoalScale.of([])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 12))
def test_a_cost_is_made_by_itself_and_never_below_0(seed, J, T):
    rng = np.random.default_rng(seed)
    scale = GoalScale.of([rng.uniform(0, 2, (7, J)) for _ in range(2)])
    far = rng.uniform(0, 2, (2, T, J))
    whole = scale(far)
    assert (whole >= 0).all()
    assert (whole[1, T - 1] == scale(far[1, T - 1])).all()
    nearer = scale(far - 0.01)
    assert (nearer <= whole).all()
