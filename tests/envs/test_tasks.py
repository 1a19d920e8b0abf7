"""Tasks as data, and how names find them."""

import sys
from dataclasses import replace

import pytest

from orcalign.envs import PAPER_TASKS, TASKS, TaskSpec, find_task
from orcalign.envs.metaworld import METAWORLD_NAMES
from orcalign.video import PAPER_KEEP_LISTS

# protocol: task, episode in simulation steps, camera
PROTOCOL = {
    "button-press": (125, "corner"),
    "door-close": (125, "corner"),
    "door-open": (125, "corner3"),
    "window-open": (125, "corner3"),
    "lever-pull": (175, "corner3"),
    "hand-insert": (125, "corner3"),
    "push": (125, "corner3"),
    "basketball": (175, "corner"),
    "stick-push": (125, "corner"),
    "door-lock": (125, "corner"),
}


def test_the_ten_tasks_are_those_of_the_protocol():
    assert {name: (TASKS[name].episode_steps, TASKS[name].camera) for name in PAPER_TASKS} == PROTOCOL
    for name in PAPER_TASKS:
        spec = TASKS[name]
        assert spec.action_repeat == 2
        assert spec.agent_steps == (63 if spec.episode_steps == 125 else 88)
        assert spec.misaligned == PAPER_KEEP_LISTS[name]
    difficulty = [TASKS[name].difficulty for name in PROTOCOL]
    assert difficulty == ["easy"] * 2 + ["medium"] * 5 + ["hard"] * 3


def test_every_task_is_under_its_own_name():
    for name, spec in TASKS.items():
        assert find_task(name) is spec
        assert spec.name == name


def test_the_list_of_metaworld_names_is_metaworlds():
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS

    assert {f"{name}-v3" for name in METAWORLD_NAMES} == set(ALL_V3_ENVIRONMENTS)


def test_other_metaworld_tasks_have_defaults():
    assert find_task("drawer-open") == find_task("drawer-open-v3")
    assert find_task("door-close-v3") is TASKS["door-close"]
    assert find_task("drawer-open").env_id == "drawer-open-v3"


def test_gymnasium_ids_are_tasks():
    spec = find_task("Pendulum-v1")
    assert (spec.suite, spec.episode_steps, spec.action_repeat) == ("gymnasium", 200, 1)
    assert find_task("orcalign/Nav2D-v0").suite == "gymnasium"


def test_module_and_function(tmp_path, monkeypatch):
    (tmp_path / "my_robot.py").write_text(
        "import gymnasium\ndef make_env():\n    return gymnasium.make('CartPole-v1')\nnumber = 3\n"
        "gymnasium.register('MyRobot-v0', 'gymnasium.envs.classic_control:CartPoleEnv', max_episode_steps=7)\n"
    )
    (tmp_path / "needs_more.py").write_text("import no_such_package_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    # Another test may have left a module of that name.
    monkeypatch.delitem(sys.modules, "my_robot", raising=False)
    assert find_task("my_robot:make_env").suite == "gymnasium"
    assert find_task("my_robot:MyRobot-v0").episode_steps == 7
    with pytest.raises(ValueError, match=r"has no function 'make_evn', and registers .*; did you mean 'make_env'"):
        find_task("my_robot:make_evn")
    with pytest.raises(ValueError, match="names a int"):
        find_task("my_robot:number")
    with pytest.raises(ValueError, match="module 'my_robto', which Python does not find"):
        find_task("my_robto:make_env")
    # What is missing is not the module that the user named.
    with pytest.raises(ModuleNotFoundError, match="no_such_package_at_all"):
        find_task("needs_more:make_env")
    for module in ("my_robot", "needs_more"):
        sys.modules.pop(module, None)


@pytest.mark.parametrize("name", [":", "a:", ":b", "..x:y"])
def test_half_a_module_and_function_is_refused(name):
    with pytest.raises(ValueError, match=r"module"):
        find_task(name)


@pytest.mark.parametrize(
    ("name", "near"),
    [("door-clos", "door-close"), ("drawer-opne", "drawer-open"), ("Pendulum-v", "Pendulum-v1")],
)
def test_an_unknown_task_lists_near_names(name, near):
    with pytest.raises(ValueError, match=f"no task is called '{name}'; did you mean .*'{near}'"):
        find_task(name)


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_no_name_is_refused(name):
    with pytest.raises(ValueError, match="give a name"):
        find_task(name)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"suite": "metawrold"}, "suite of task 'door-close' is 'metawrold'; did you mean 'metaworld'"),
        ({"difficulty": "tough"}, "is 'tough'; Known: easy, medium, hard"),
        ({"episode_steps": 501}, "at most 500"),
        ({"episode_steps": 2.5}, "whole number"),
        ({"action_repeat": 0}, "at least 1"),
        ({"camera": None}, "has no camera"),
        ({"misaligned": "0-63"}, "outside an original of 63"),
        ({"name": ""}, "not empty"),
    ],
)
def test_a_wrong_spec_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        replace(TASKS["door-close"], **changes)


def test_a_spec_is_a_task():
    spec = TaskSpec("mine", "nav2d", "orcalign/Nav2D-v0", episode_steps=5)
    assert find_task(spec) is spec
