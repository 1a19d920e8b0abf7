"""A world turned so that the way to the goal points as in the demo."""

import numpy as np
import pytest

from orcalign.costs.predicted.entities import Entities
from orcalign.envs import Turned, entities_of, make
from orcalign.envs.cartesian import find_plane
from orcalign.envs.plane import Plane, rotation
from orcalign.envs.random_play import watch
from orcalign.envs.wrappers.turned import turned_states, way

PUSH = "gymnasium_robotics:FetchPush-v4"
FETCH = Entities((6, 7, 8), objects=((0, 1, 2),), goal=(3, 4, 5))


@pytest.mark.parametrize(("name", "entities"), [("push", None), (PUSH, FETCH)])
def test_the_turned_world_is_a_world(name, entities):
    """What an action does to the hand, as it is seen, does not depend on how the world is turned."""
    entities = entities_of(name) if entities is None else entities
    plane = find_plane(watch(name, 10), entities)
    went = []
    action = np.array([0.6, 0.2, 0.0, 0.0], np.float32)
    for angle in (0.0, 1.0, 2.5, -2.0):
        env = Turned(make(name, render=None), entities, angle, plane)
        state, info = env.reset(seed=4)
        assert way(entities, state) == pytest.approx(angle)
        assert env.turned_by == info["turned_by"]
        begin = entities.read(state)[entities.at("hand")]
        for _ in range(5):
            state = env.step(action)[0]
        went.append(entities.read(state)[entities.at("hand")] - begin)
        assert env.observation_space.contains(state)
    assert np.linalg.norm(went[0][:2]) > 3
    assert np.allclose(went, went[0], atol=1.2), went


def test_the_hand_begins_where_it_is_and_nothing_else_is_touched():
    env, plain = Turned(make("push", render=None), entities_of("push"), 1.0), make("push", render=None)
    turned, own = env.reset(seed=2)[0], plain.reset(seed=2)[0]
    changed = np.flatnonzero(np.abs(turned - own) > 1e-9).tolist()
    assert changed == [4, 5, 36, 37]
    assert np.hypot(*(turned[4:6] - turned[:2])) == pytest.approx(np.hypot(*(own[4:6] - own[:2])))
    back = turned_states(turned, env.entities, -env.turned_by, own[:2])
    assert np.allclose(back, own)


def test_without_an_object_the_hand_is_what_goes():
    entities = Entities((0, 1, 2), goal=(3, 4, 5))
    env = Turned(make("gymnasium_robotics:FetchReach-v4", render=None), entities, -0.7)
    assert way(entities, env.reset(seed=1)[0]) == pytest.approx(-0.7)


def test_a_goal_where_the_object_is_turns_nothing():
    env = Turned(make("push", render=None), Entities((0, 1, 2), objects=((4, 5, 6),), goal=(4, 5, 6)), 1.0)
    assert env.reset(seed=0)[1]["turned_by"] == 0


@pytest.mark.parametrize("entities", [Entities((0, 1, 2)), Entities((0,), goal=(1,))])
def test_without_a_goal_it_is_refused(entities):
    with pytest.raises(ValueError, match="these entities have no goal in a plane"):
        Turned(make("push", render=None), entities, 0.0)


@pytest.mark.parametrize("angle", [0.3, -2.0])
@pytest.mark.parametrize("leads", [np.eye(2), [[0, 1], [1, 0]], rotation(0.4)])
def test_turned_actions_move_the_hand_in_the_turned_direction(angle, leads):
    plane = Plane((1, 0), tuple(map(tuple, np.array(leads, float))))
    action = np.random.default_rng(0).normal(size=(5, 3))
    made = plane.turned(action, angle)
    assert np.allclose(
        made[:, [1, 0]] @ np.transpose(leads), action[:, [1, 0]] @ np.transpose(leads) @ rotation(angle).T
    )
    assert np.array_equal(made[:, 2], action[:, 2])
    assert np.allclose(np.linalg.norm(made, axis=1), np.linalg.norm(action, axis=1))
