"""Costs by the worst places, against plain loops, and with another camera and other light."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.costs import CameraModel, FineModel
from orcalign.costs.worst_places import FLOOR, FORGIVEN, WORST, FineCosts
from orcalign.encoders import make_encoder
from orcalign.matching import bottleneck
from orcalign.video import Demo

PLACES, CHANNELS = 6, 3


def rows(seed, count, seen=None):
    rng = np.random.default_rng(seed)
    maps = rng.normal(size=(count, PLACES * CHANNELS)).astype(np.float32)
    return np.concatenate([maps, np.tile(np.ones(PLACES) if seen is None else seen, (count, 1))], axis=1).astype("f4")


def by_loops(demo, episode):
    """[T, J] as the docstring of FineModel says it, place by place."""

    def parts(row):
        return row[:-PLACES].reshape(PLACES, CHANNELS).astype(float), row[-PLACES:]

    scale = np.concatenate([parts(row)[0] for row in demo]).std(axis=0) + 1e-3

    def squares(a, b):
        return [float((((a[k] - b[k]) / scale) ** 2).sum()) for k in range(PLACES)]

    def worst(values):
        return sum(sorted((v**0.5 for v in values), reverse=True)[:WORST]) / WORST

    between = [[worst(squares(parts(a)[0], parts(b)[0])) for b in demo] for a in demo]
    unit, J = max(map(max, between)), len(demo)
    change = [max(between[j][i] for i in range(max(0, j - 1), min(J, j + 2))) for j in range(J)]
    first = parts(episode[0])[0]
    begins = np.min([squares(first, parts(one)[0]) for one in demo[:3]], axis=0)
    start = np.minimum(begins, (FORGIVEN * unit) ** 2)
    out = np.zeros((len(episode), J))
    for t, row in enumerate(episode):
        maps, seen = parts(row)
        for j in range(J):
            left = np.maximum(np.array(squares(maps, parts(demo[j])[0])) - start, 0) * seen
            out[t, j] = max(0, worst(left) - FLOOR * change[j]) / unit
    return out


@pytest.mark.parametrize("seen", [None, [1, 0, 1, 1, 1, 0]])
def test_costs_are_those_of_plain_loops(seen):
    demo, episode = rows(0, 7), rows(1, 5, seen)
    costs = FineCosts(demo, PLACES)(episode, episode[0])
    np.testing.assert_allclose(costs, by_loops(demo, episode), atol=1e-5)


def test_a_row_has_the_same_bits_alone_and_in_company():
    costs, episode = FineCosts(rows(0, 7), PLACES), rows(1, 9)
    together = costs(episode, episode[0])
    for t in range(9):
        np.testing.assert_array_equal(costs(episode[t : t + 1], episode[0])[0], together[t])


def scene(places, lamp=True, side=96):
    """A disc crosses a textured ground; a lamp of nine pixels goes on half way."""
    rng = np.random.default_rng(0)
    ground = rng.integers(60, 200, (side // 6, side // 6, 3)).repeat(6, 0).repeat(6, 1)
    ground[12:24, 66:78] = 0
    y, x = np.mgrid[0:side, 0:side]
    frames = []
    for place in places:
        frame = np.where(((x - 12 - 72 * place) ** 2 + (y - 60) ** 2 < 90)[..., None], [230, 60, 40], ground)
        if lamp and place > 0.5:
            frame[14:23, 68:77] = 255
        frames.append(frame.astype(np.uint8))
    return np.stack(frames)


EVEN = np.linspace(0, 1, 20)


@pytest.fixture(scope="module")
def model():
    return FineModel(make_encoder("pixels", size=32), [Demo(scene(EVEN))])


def worst(model, frames):
    eye = model.begin(frames)
    return bottleneck(model.compare(eye(frames))[0]).worst[-1, -1], eye.words


def test_a_small_thing_that_stays_behind_counts_as_much_as_the_hand(model):
    good, _ = worst(model, scene(np.linspace(0, 1, 33)))
    dark, _ = worst(model, scene(np.linspace(0, 1, 33), lamp=False))
    short, _ = worst(model, scene(np.linspace(0, 0.4, 33)))
    assert good < model.threshold < min(dark, short)


def test_a_camera_that_moved_and_less_light_are_no_fault_and_are_said(model):
    moved = (0.7 * np.roll(scene(np.linspace(0, 1, 25)), 4, axis=2)).astype(np.uint8)
    found, words = worst(model, moved)
    assert found < model.threshold
    assert "camera moved by 4 px: corrected" in words
    assert any(word.startswith("light 30% darker") for word in words)


def test_a_stream_judges_the_camera_by_the_first_frame(model):
    from orcalign.rewards import VideoReward

    frames = scene(np.linspace(0, 1, 25))
    reward = VideoReward(
        scene(EVEN), make_encoder("pixels", size=32), look="fine", matcher="bottleneck", calibrated=True, context=1
    )
    live = reward.stream()
    paid = [live.push(frame) for frame in frames]
    assert paid[-1] > 0.5 > paid[5]
    assert live.progress > 0.5


def test_what_one_camera_does_not_see_the_other_may(model):
    def both(lamp):
        return np.concatenate([scene(EVEN, lamp=False), scene(EVEN, lamp=lamp)], axis=2)

    encoder = make_encoder("pixels", size=32)
    two = CameraModel([Demo(both(True))], (96, 96), lambda demos: FineModel(encoder, demos))
    assert two.threshold == model.threshold
    good, _ = worst(two, both(True))
    dark, _ = worst(two, both(False))
    assert good == 0
    assert dark > two.threshold


def test_features_of_another_model_are_refused(model):
    with pytest.raises(ValueError, match="must come from the same one"):
        model.compare(np.zeros((2, 5)))
