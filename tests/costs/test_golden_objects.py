"""The object-centric costs of a real film, bit for bit as they were when the file was written.

tests/golden/objects.npz holds a demo, ten first frames with the frames after them, and a film of another episode; all
but the demo's first frame as differences to that, modulo 256. `cost_FC` and `between_FC` are the costs with (1) or
without (0) following what is taken away (F) and asking what has changed (C).
"""

from pathlib import Path

import numpy as np
import pytest

from orcalign.costs.objects import ObjectModel
from orcalign.encoders import make_encoder
from orcalign.video import Demo

GOLDEN = Path(__file__).parent.parent / "golden" / "objects.npz"


@pytest.fixture(scope="module")
def golden():
    with np.load(GOLDEN) as file:
        stored = dict(file)
    base = stored["demo"][0].copy()
    stored["demo"][0] = 0
    return {name: base + array if array.dtype == np.uint8 else array for name, array in stored.items()}


@pytest.mark.parametrize(("follow", "changes"), [(True, True), (False, True), (False, False)])
def test_the_costs_are_the_same_bits(golden, follow, changes):
    model = ObjectModel.learn(
        make_encoder("pixels"),
        [Demo(golden["demo"])],
        list(golden["firsts"]),
        list(golden["nexts"]),
        follow=follow,
        changes=changes,
    )
    case, film = f"{follow:d}{changes:d}", golden["film"]
    eye = model.begin(film[0])
    (cost,) = model.compare(eye(film))
    np.testing.assert_array_equal(cost, golden[f"cost_{case}"])
    np.testing.assert_array_equal(model.between(0), golden[f"between_{case}"])
    # One frame at a time, too.
    first = eye(film[:1])[0]
    live = [model.compare(eye(film[t : t + 1]), first)[0][0] for t in range(len(film))]
    np.testing.assert_array_equal(live, cost)
    assert bool(model.encoder.finder.journeys) == follow


def test_what_is_asked_makes_a_difference(golden):
    assert (golden["cost_11"] != golden["cost_01"]).any()
    assert (golden["cost_01"] != golden["cost_00"]).any()
