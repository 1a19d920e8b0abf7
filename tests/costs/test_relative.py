"""Costs relative to the objects, against a plain loop and by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orcalign.costs.predicted import DescribedDemo, Entities
from orcalign.costs.predicted.relative import ARRIVED, GRIPPER, MOVES, SURE, Relative

PUSH = Entities(hand=(0, 1, 2), gripper=3, objects=((4, 5, 6),), goal=(7, 8, 9), unit=1.0, opening=1.0)
TWO = Entities(hand=(0, 1), objects=((2, 3), (4, 5)), goal=(6, 7), unit=1.0)
REACH = Entities(hand=(0, 1), goal=(2, 3), unit=1.0)


def pushing(shift=(0.0, 0.0, 0.0), frames=9):
    """Values [J, 10] and those before: the hand comes to the object, then both go to the goal."""
    way = np.linspace(0, 1, frames)
    hand, thing, goal = np.array([0.0, -20, 0]), np.array([0.0, 0, 0]), np.array([0.0, 30, 0])
    thing, goal = thing + shift, goal + shift
    come = np.clip(2 * way, 0, 1)[:, None]
    go = np.clip(2 * way - 1, 0, 1)[:, None]
    things = thing + go * (goal - thing)
    hands = hand + come * (thing - hand) + go * (goal - thing)
    values = np.concatenate([hands, np.zeros((frames, 1)), things, np.repeat(goal[None], frames, 0)], axis=1)
    return values, np.concatenate([hand, [0.0], thing, goal])


def described(entities, values, start, **changes):
    J = len(values)
    demo = DescribedDemo(entities, values, np.full((J, len(entities.parts)), 0.1), start, np.ones(J, bool), 0.0)
    return dataclasses.replace(demo, **changes)


def by_loop(relative, first, values):
    """Costs as the module's docstring says them, one at a time."""
    demo, entities = relative.demo, relative.entities
    names = [part.name for part in entities.parts]
    hand, things = entities.at("hand"), [entities.at(n) for n in names if n.startswith("object")]
    goal = entities.at("goal") if "goal" in names else None
    anchor = things[0] if things else goal

    def least(e, v, low, high):
        u = np.clip((e @ v) / max(v @ v, 1e-9), low, high)
        return e - u * v

    out = np.zeros((len(values), len(demo)))
    for t, now in enumerate(values):
        for j, then in enumerate(demo.values):
            weight = np.minimum(1, (SURE / demo.scales[j]) ** 2)
            way = (
                (first[goal] - first[things[0]]) - (demo.values[0, goal] - demo.start[things[0]])
                if things and goal
                else None
            )
            if demo.believed[j] or not things:
                far = least(now[hand] - then[hand], now[anchor] - then[anchor], relative.near[j], 1.0)
            else:
                moved = first[things[0]] - demo.start[things[0]]
                if relative.moved[0, j] > MOVES:
                    far = least(now[hand] - then[hand] - moved, way, float(relative.moved[0, j] > ARRIVED), 1.0)
                else:
                    far = least(now[hand] - then[hand], moved, relative.near[j], 1.0)
            total = weight[names.index("hand")] * far @ far
            for i, place in enumerate(things if demo.believed[j] else []):
                way = (first[goal] - first[place]) - (demo.values[0, goal] - demo.start[place])
                share = relative.moved[i, j]
                e = (now[place] - first[place]) - (then[place] - demo.start[place])
                far = least(e, way, float(share > ARRIVED), float(share > MOVES))
                total += weight[names.index(f"object {i + 1}")] * far @ far
            if "gripper" in names:
                grip = entities.at("gripper")
                total += GRIPPER * weight[names.index("gripper")] * float((now[grip] - then[grip])[0]) ** 2
            out[t, j] = np.sqrt(total)
    return out


@pytest.mark.parametrize("entities", [PUSH, TWO, REACH], ids=["push", "two", "reach"])
def test_costs_are_those_of_the_plain_loop(entities):
    rng = np.random.default_rng(0)
    values = rng.normal(0, 20, (7, entities.dim))
    if entities.goal:
        values[:, entities.at("goal")] = values[0, entities.at("goal")]
    demo = described(
        entities, values, values[0] + 1, scales=rng.uniform(0.1, 4, (7, len(entities.parts))),
        believed=np.array([True, True, False, True, False, False, True]),
    )  # fmt: skip
    relative = Relative(demo)
    own = rng.normal(0, 20, (6, entities.dim))
    assert np.allclose(relative.costs(own[0], own[1:]), by_loop(relative, own[0], own[1:]), rtol=1e-12)


def test_the_demo_costs_nothing_on_itself():
    values, start = pushing()
    relative = Relative(described(PUSH, values, start))
    assert np.allclose(np.diag(relative.costs(start, values)), 0, atol=1e-9)
    assert relative.near.tolist() == sorted(relative.near)
    assert relative.near[0] < 0.1
    assert relative.near[4] == 1
    assert relative.moved[0].round(2).tolist() == [0, 0, 0, 0, 0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("shift", [(10.0, 0, 0), (-5.0, 12, 3)])
def test_doing_the_same_elsewhere_costs_nothing_once_the_object_is_reached(shift):
    values, start = pushing()
    own, first = pushing(shift)
    relative = Relative(described(PUSH, values, start))
    there = np.diag(relative.costs(first, own))
    assert np.allclose(there[4:], 0, atol=1e-9)
    # And going through the demo's own places, where nothing is, costs what the object is away.
    blind = np.concatenate([values[:, :4], np.repeat(first[None, 4:], len(values), 0)], axis=1)
    assert (np.diag(relative.costs(first, blind))[5:] > 5).all()


def test_the_object_left_behind_costs_its_way():
    values, start = pushing()
    left = values.copy()
    left[:, 4:7] = start[4:7]
    relative = Relative(described(PUSH, values, start))
    cost = np.diag(relative.costs(start, left))
    # The hand goes where the demo's went, but no object is beside it: both are missed.
    assert cost[-1] == pytest.approx(np.hypot(30, 30))


def test_what_is_not_believed_is_not_asked():
    values, start = pushing()
    doubted = np.arange(9) < 5
    relative = Relative(described(PUSH, values, start, believed=doubted))
    left = values.copy()
    left[:, 4:7] = start[4:7]
    assert np.allclose(np.diag(relative.costs(start, left)), 0, atol=1e-9)
    own, first = pushing((10.0, 0, 0))
    assert np.allclose(np.diag(relative.costs(first, own))[4:], 0, atol=1e-9)


def test_missing_points_the_way():
    values, start = pushing()
    relative = Relative(described(PUSH, values, start))
    missing = relative.missing(start, values[:2], np.array([1, 4]))
    assert missing.shape == (2, 7)
    assert missing[0, :3].tolist() == pytest.approx((values[1] - values[0])[:3].tolist())
    assert np.allclose(missing[1, :3], (values[4] - values[1])[:3])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_a_row_has_the_same_bits_alone_and_in_company(seed):
    rng = np.random.default_rng(seed)
    values, start = pushing()
    relative = Relative(described(PUSH, values, start))
    own = rng.normal(0, 20, (8, PUSH.dim))
    together = relative.costs(own[0], own)
    assert all((relative.costs(own[0], own[t : t + 1])[0] == together[t]).all() for t in range(8))
    assert np.isfinite(together).all()
    assert (together >= 0).all()


def test_a_part_that_may_be_far_off_counts_less():
    values, start = pushing()
    sure = Relative(described(PUSH, values, start))
    scales = np.full((9, 4), 0.1)
    scales[:, 0] = 2 * SURE
    unsure = Relative(described(PUSH, values, start, scales=scales))
    away = values.copy()
    away[0, 1] -= 8
    assert unsure.costs(start, away)[0, 0] == pytest.approx(sure.costs(start, away)[0, 0] / 2)


def test_no_more_of_the_relation_is_asked_than_of_the_way_is_gone():
    # The hand begins over the object, goes round it and pushes from behind; elsewhere it begins where it did.
    hands = np.array([[0.0, 0, 6], [0, -4, 8], [0, -8, 6], [0, -8, 0], [0, 0, 0], [0, 10, 0]])
    things = np.array([[0.0, 0, 0]] * 4 + [[0.0, 8, 0], [0.0, 18, 0]])
    goal = np.array([0.0, 18, 0])
    values = np.concatenate([hands, np.zeros((6, 1)), things, np.repeat(goal[None], 6, 0)], axis=1)
    relative = Relative(described(PUSH, values, values[0]))
    assert relative.near[0] == 0
    assert (relative.near[3:] == 1).all()
    elsewhere = values[0].copy()
    elsewhere[[4, 7]] += 9.0
    assert relative.costs(elsewhere, elsewhere[None])[0, 0] == pytest.approx(0)
