"""What an eye cannot have learned to see."""

import numpy as np
import pytest

from orcalign.costs.predicted import Entities
from orcalign.costs.predicted.doubts import still_problem, unseen
from orcalign.costs.predicted.eye import Eye

PUSH = Entities(hand=(0, 1), objects=((2, 3),))


def begun(states):
    frames = np.random.default_rng(0).integers(0, 255, (len(states), 32, 32, 3), np.uint8)
    return Eye.begin(PUSH, frames, states, states[:1]), frames


@pytest.mark.parametrize(("still", "name"), [((0, 1), "hand"), ((2, 3), "object 1")])
def test_what_never_moves_is_said_by_its_name(still, name):
    states = np.random.default_rng(1).uniform(0, 0.3, (40, 4))
    states[:, still] = 0.1
    eye, frames = begun(states)
    early = still_problem(eye)
    said = f"the {name} never moves in the 40 frames"
    assert (said in early) == (name == "hand"), "nobody has touched the object yet"
    eye.fit(eye.look(frames), eye.entities.read(states), updates=1)
    assert said in still_problem(eye)


def test_places_that_no_picture_shows_are_told_no_better_than_by_guessing():
    states = np.random.default_rng(1).uniform(0, 0.3, (40, 4))
    eye, frames = begun(states)
    assert still_problem(eye) == unseen(eye) == ""
    eye.fit(eye.look(frames), eye.entities.read(states), updates=1)
    assert "the eye does not see the hand" in unseen(eye)
    eye.errors = dict.fromkeys(eye.errors, (0.1, 0.2))
    assert unseen(eye) == ""
