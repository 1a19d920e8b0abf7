"""A world turned so that the goal lies ahead of the object."""

import numpy as np
import pytest

from orcalign.costs.predicted import DescribedDemo, Entities
from orcalign.costs.predicted.turning import Plane, Turning, rotation
from orcalign.envs import Turned, entities_of, make
from orcalign.envs.cartesian import OFTEN, share_aside, turning_of

PUSH = "gymnasium_robotics:FetchPush-v4"
FETCH = Entities((6, 7, 8), objects=((0, 1, 2),), goal=(3, 4, 5))


@pytest.mark.parametrize(("name", "entities"), [("push", None), (PUSH, FETCH)])
def test_the_turned_world_is_a_world(name, entities):
    """What an action does to the hand, as it is seen, does not depend on how the world is turned."""
    entities = entities_of(name) if entities is None else entities
    turning = turning_of(name, entities)
    env = Turned(make(name, render=None), turning)
    action = np.array([0.6, 0.2, 0.0, 0.0], np.float32)
    went, turns = [], []
    for seed in range(6):
        state, info = env.reset(seed=seed)
        values = entities.read(state)
        x, y, *_ = values[entities.at("goal")] - values[entities.at("object 1")]
        assert x > 0
        assert y == pytest.approx(0, abs=1e-6)
        turns.append(turning.angle(entities.read(info["state"])))
        begin = values[entities.at("hand")]
        for _ in range(5):
            state = env.step(action)[0]
        went.append(entities.read(state)[entities.at("hand")] - begin)
        assert env.observation_space.contains(state)
    assert np.ptp(turns) > 0.3
    assert np.linalg.norm(went[0][:2]) > 3
    assert np.allclose(went, went[0], atol=1.2), went


def test_places_and_time_are_seen_and_what_points_elsewhere_is_not():
    entities = entities_of("push")
    turning = turning_of("push", entities)
    env = Turned(make("push", render=None), turning)
    seen, info = env.reset(seed=2)
    own = info["state"]
    places = [*entities.hand, entities.gripper, *entities.objects[0], *entities.goal]
    assert turning.kept == (len(own) - 1,)
    assert set(np.flatnonzero(seen)) <= {*places, *turning.kept}
    assert np.allclose(seen[[2, 3, 6, 38]], own[[2, 3, 6, 38]])
    assert np.hypot(*(seen[4:6] - seen[:2])) == pytest.approx(np.hypot(*(own[4:6] - own[:2])))
    assert np.array_equal(seen[:2], own[:2]), "it is turned about the hand"


def test_episodes_and_single_states_are_turned_to_the_same_bits():
    rng = np.random.default_rng(0)
    turning, values = Turning(Entities((0, 1, 2), objects=((3, 4, 5),), goal=(6, 7, 8))), rng.normal(size=(9, 9)) * 30
    whole = turning.values(values, values[0])
    assert all(np.array_equal(turning.values(one, values[0]), row) for one, row in zip(values, whole, strict=True))


def test_a_demo_is_turned_by_where_its_object_goes():
    entities = Entities((0, 1), objects=((2, 3),), goal=(4, 5), unit=1.0)
    moving = [[0.0, 0, 10, 0, 12, 30], [10, 10, 10, 20, 12, 30]]
    demo = Turning(entities).demo(DescribedDemo.known(entities, moving, moving[0]))
    assert np.allclose(demo.values[-1], [10, -10, 20, -10, 30, -12])
    still = [[*row[:2], 10.0, 0.0, 10.0, 30.0] for row in moving]
    demo = Turning(entities).demo(DescribedDemo.known(entities, still, still[0]))
    assert np.allclose(demo.values[-1], [10, -10, 0, -10, 30, -10])


def test_limits_that_differ_are_turned_in_their_own_units():
    turning = Turning(Entities((0, 1), goal=(2, 3), unit=1.0))
    first = np.array([0.0, 0.0, 0.0, 5.0])
    assert np.allclose(turning.action([0.5, 0.0], first), [0.0, 0.5])
    assert np.allclose(turning.action([1.0, 0.2], np.array([0.0, 0, 5, 5])), [0.8 * np.sqrt(0.5), 1.2 * np.sqrt(0.5)])
    assert np.abs(turning.action([1.0, 1.0], np.array([0.0, 0, 5, 5]))).max() == 1


def test_a_goal_where_the_object_is_turns_nothing():
    turning = Turning(Entities((0, 1), objects=((2, 3),), goal=(2, 3)))
    assert turning.angle(np.array([0.0, 1.0, 2.0, 3.0, 2.0, 3.0])) == 0


@pytest.mark.parametrize("entities", [Entities((0, 1, 2)), Entities((0,), goal=(1,))])
def test_without_a_goal_it_is_refused(entities):
    with pytest.raises(ValueError, match="these entities have no goal in a plane"):
        Turning(entities)
    assert turning_of("push", entities) is None


@pytest.mark.parametrize(("name", "many"), [("push", False), ("drawer-open", False), (PUSH, True)])
def test_goals_in_all_directions_are_noticed(name, many):
    assert (share_aside(name, FETCH if name == PUSH else entities_of(name)) >= OFTEN) == many


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
