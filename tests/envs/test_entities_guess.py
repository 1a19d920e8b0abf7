"""What random play says of observations, on environments whose answer is known."""

import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
import yaml

from orcalign.cli import main
from orcalign.costs.predicted.entities import Entities
from orcalign.envs import entities_of, everything, find_suite, find_task, guess_entities
from orcalign.envs.cartesian import find_plane
from orcalign.envs.entities import guessed
from orcalign.envs.random_play import watch

REACH, PUSH = "gymnasium_robotics:FetchReach-v4", "gymnasium_robotics:FetchPush-v4"
PICK = "gymnasium_robotics:FetchPickAndPlace-v4"


@pytest.mark.parametrize("name", ["drawer-open", pytest.param("stick-push", marks=pytest.mark.slow)])
def test_metaworld_is_found_without_being_known(name):
    spec = find_task(name)
    known = find_suite(spec.suite).entities(spec)
    guess = guess_entities(spec)
    found = guess.entities
    assert (found.hand, found.gripper, found.goal) == (known.hand, known.gripper, known.goal)
    assert (found.objects, found.unit) == (known.objects, known.unit)
    assert 5 < found.opening < 20
    assert all(row.sure for row in guess.rows), guess.rows


def test_what_was_not_touched_is_not_sure():
    """Three random episodes and a few pokes may not touch the puck; and what never moves might be a goal."""
    guess = guess_entities("push", episodes=3)
    assert guess.entities.hand == (0, 1, 2)
    assert guess.entities.goal == (36, 37, 38)
    (row,) = [row for row in guess.rows if row.part == "object 1"]
    assert row.sure == ("moved" in row.seen)


@pytest.mark.parametrize(
    ("name", "hand", "gripper", "objects", "goal"),
    [
        (REACH, (0, 1, 2), None, (), (3, 4, 5)),
        (PUSH, (6, 7, 8), None, ((0, 1, 2),), (3, 4, 5)),
        (PICK, (6, 7, 8), 15, ((0, 1, 2),), (3, 4, 5)),
    ],
)
def test_goal_environments_are_found(name, hand, gripper, objects, goal):
    """In FetchPush the same numbers against the actions are the block as seen from the hand."""
    found = guess_entities(name, episodes=15).entities
    assert (found.hand, found.gripper, found.objects, found.goal) == (hand, gripper, objects, goal)
    assert found.unit == 100


def test_a_hand_that_is_pushed_by_forces_is_not_sure():
    (hand, _) = guess_entities("gymnasium_robotics:PointMaze_UMaze-v3", episodes=10).rows
    assert (hand.part, hand.numbers, hand.sure) == ("hand", (0, 1), False)
    assert "not in straight lines" in hand.seen


@pytest.mark.parametrize("name", ["Reacher-v5", "Pusher-v5", "Pendulum-v1"])
def test_where_there_is_no_hand_none_is_found(name):
    guess = guess_entities(name)
    assert guess.entities is None
    assert [(row.part, row.sure) for row in guess.rows] == [("hand", False)]


@pytest.mark.parametrize(
    ("name", "hand", "straight"),
    [
        ("door-close", (0, 1, 2), True),
        (PUSH, (6, 7, 8), True),
        (REACH, (0, 1, 2), True),
        ("nav2d", (0, 1), True),
        ("Reacher-v5", (8, 9), False),
        ("Pusher-v5", (14, 15, 16), False),
    ],
)
def test_actions_that_move_the_hand_in_straight_lines_are_recognised(name, hand, straight):
    plane = find_plane(watch(name, 15), Entities(hand))
    assert (plane is not None) == straight
    if straight:
        assert plane.actions == (0, 1)
        assert np.allclose(plane.leads, np.eye(2), atol=0.1)


class Crooked(gymnasium.Env):
    """A hand in the plane: x goes with the last action and against it, y with the first, nothing with the second."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = gymnasium.spaces.Box(-2.0, 2.0, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=2)
        return np.append(self.place, 7.0), {}

    def step(self, action):
        self.place = self.place + 0.1 * np.array([-action[2], action[0]])
        return np.append(self.place, 7.0), 0.0, False, False, {}


@pytest.fixture
def crooked(monkeypatch):
    monkeypatch.setitem(sys.modules, "crooked", SimpleNamespace(make=Crooked))
    return "crooked:make"


def test_the_plane_may_be_led_by_any_actions(crooked):
    plane = find_plane(watch(crooked, 10), Entities((0, 1)))
    assert plane.actions == (0, 2)
    assert np.allclose(plane.leads, [[0, -1], [1, 0]])
    # To the right is the last action at -1; a quarter to the left of that is up, the first at 1.
    assert np.allclose(plane.turned(np.array([0.0, 5.0, -1.0]), np.pi / 2), [1, 5, 0])
    assert find_plane(watch(crooked, 10), Entities((1, 2))) is None, "what stands still is not moved"


def test_who_is_asked_first(tmp_path, crooked):
    file = tmp_path / "mine.yaml"
    file.write_text("hand: [1, 2]\nunit: 3")
    assert entities_of("nav2d", file) == Entities((1, 2), unit=3)
    assert entities_of("nav2d") == Entities((0, 1), unit=60.0)
    assert entities_of(crooked).hand == (0, 1)
    assert entities_of("FrozenLake-v1") is None
    assert guessed(find_task(crooked)) is guessed(find_task(crooked)), "once is enough"
    file.write_text("hand: [1, 3]")
    with pytest.raises(ValueError, match="name number 3 of the observation, which has 3"):
        entities_of("nav2d", file)


def test_everything_is_measured_by_how_it_varies(crooked):
    made = everything(crooked)
    states = np.concatenate([episode.states for episode in watch(crooked)])
    assert np.allclose(made.read(states).std(0), [10, 10, 0])


def test_the_command_prints_what_can_be_read_again(tmp_path, capsys):
    file = tmp_path / "new" / "entities.yaml"
    main(["entities", REACH, "--out", str(file), "--episodes", "12"])
    text = capsys.readouterr().out
    assert file.read_text() == text
    assert text.startswith(f"# Entities of {REACH}, guessed from random play: check them.\n# hand      0 1 2 ")
    assert Entities.from_file(file) == Entities((0, 1, 2), goal=(3, 4, 5))
    main(["entities", "push"])
    assert Entities.from_plain(yaml.safe_load(capsys.readouterr().out)) == entities_of("push")


def test_the_command_says_when_there_is_no_hand(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["entities", "Pendulum-v1", "--out", str(tmp_path / "a.yaml")])
    said = capsys.readouterr()
    assert "NOT SURE" in said.out
    assert "no hand was found in the observation of 'Pendulum-v1'; if you know" in said.err
    assert not (tmp_path / "a.yaml").exists()
    with pytest.raises(SystemExit):
        main(["entities", "CartPole-v1"])
    assert "the actions are Discrete(2); only a flat Box" in capsys.readouterr().err
