"""What suites know of their observations."""

import numpy as np
import pytest

from orcalign.costs.predicted.entities import Entities
from orcalign.envs import TASKS, find_suite, find_task, make


def entities(name):
    spec = find_task(name)
    return find_suite(spec.suite).entities(spec)


@pytest.mark.parametrize("name", [*TASKS, "drawer-open", "Pendulum-v1"])
def test_entities_fit_the_observation(name):
    known = entities(name)
    if name == "Pendulum-v1":
        assert known is None
        return
    known.check(make(name, render=None).observation_space.shape[0])


@pytest.mark.parametrize(("name", "objects"), [("push", 1), ("stick-push", 2), ("assembly", 1), ("basketball", 1)])
def test_metaworld_has_a_second_object_where_it_is_something(name, objects):
    known = entities(name)
    assert len(known.objects) == objects
    state = make(name, render=None).reset(seed=1)[0]
    second = state[[11, 12, 13]]
    assert second.any() == (objects == 2)
    assert known == entities(f"{name}-v3")


def test_metaworlds_places_are_the_simulators():
    env = make("push", render=None)
    state, _ = env.reset(seed=3)
    for _ in range(5):
        state = env.step(np.array([0.5, 1, -0.5, 1], np.float32))[0]
    known, world = entities("push"), env.unwrapped
    read = known.read(state)
    assert np.allclose(read[known.at("hand")], 100 * world._sim.tcp_center, atol=6), "fingers are below the hand"
    assert np.allclose(read[known.at("object 1")], 100 * world._sim._get_pos_objects()[:3])
    assert np.allclose(read[known.at("goal")], 100 * world._sim._target_pos)


def test_the_map_is_sixty_wide():
    assert entities("nav2d") == Entities(hand=(0, 1), unit=60.0)
    assert entities("nav2d-grid").read([1.0, 0.0, 1.0]).tolist() == [60.0, 0.0]
