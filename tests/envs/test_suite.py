"""A new family of tasks is a suite and a line in the registry; nothing else asks which family a task is of."""

import re
import sys
import types
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import orcalign
from orcalign.cli import main
from orcalign.envs import (
    SUITES,
    TASKS,
    Suite,
    TaskSpec,
    episode_return,
    expert_return,
    find_suite,
    find_task,
    make,
    make_demo,
    measure_expert_returns,
    rollout_expert,
)
from orcalign.envs.experts import Episode
from orcalign.training.episode import known_expert_return
from orcalign.training.presets import config
from orcalign.video import Demo

SOURCE = Path(orcalign.__file__).parent


class Lamp(gymnasium.Env):
    """A lamp that an action above 0 makes brighter; bright is success."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    render_mode = "rgb_array"

    def __init__(self, steps):
        self.steps = steps

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.done, self.light = 0, self.np_random.uniform(0.0, 0.2)
        return self._seen(), {"success": False}

    def step(self, action):
        self.done, self.light = self.done + 1, float(np.clip(self.light + 0.25 * action[0], 0, 1))
        success = self.light > 0.9
        return self._seen(), float(success), False, self.done == self.steps, {"success": success}

    def render(self):
        return np.full((24, 24, 3), round(255 * self.light), np.uint8)

    def _seen(self):
        return np.array([self.light], np.float32)


class Lamps(Suite):
    """No expert: an episode is posed, picture by picture; and the return is a share."""

    name = "lamps"
    others = "a lamp of N steps as lamp-N"
    demonstrator = "poses"
    defaults = {"laptop": {"encoder.encoder": "pixels"}}  # noqa: RUF012

    @property
    def tasks(self):
        return {"lamp": TaskSpec("lamp", "lamps", "lamp", episode_steps=8, misaligned="1,3,5,7")}

    def find(self, name):
        steps = re.fullmatch(r"lamp-(\d+)", name)
        return TaskSpec(name, "lamps", name, episode_steps=int(steps[1])) if steps else super().find(name)

    def check(self, spec):
        if spec.episode_steps > 99:
            raise ValueError("no lamp burns for that long.")

    def build(self, spec, pictures, size):
        return Lamp(spec.episode_steps), spec

    def record(self, spec, seed, render, size):
        env = Lamp(spec.episode_steps)
        env.reset(seed=seed)
        frames, seen = [], []
        for env.light in np.linspace(0.3, 1.0, spec.agent_steps):
            frames.append(env.render())
            seen.append(env._seen())
        seen = np.stack(seen)
        shown = np.stack(frames) if render is not None else None
        return Episode(spec, seed, shown, seen, np.zeros((spec.episode_steps, 1)), seen[:, 0] > 0.9)

    def episode_return(self, success, spec):
        return float(success.mean())


@pytest.fixture
def lamps(monkeypatch):
    module = types.ModuleType("lamps_of_a_user")
    module.Lamps = Lamps
    monkeypatch.setitem(sys.modules, "lamps_of_a_user", module)
    monkeypatch.setitem(SUITES, "lamps", "lamps_of_a_user:Lamps")


def test_a_third_suite_is_found(lamps):
    assert list(TASKS)[-1] == "lamp"
    assert len(TASKS) == len(list(TASKS)) == 20
    assert find_task("lamp") == TASKS["lamp"]
    assert find_task("lamp-5").episode_steps == 5
    with pytest.raises(ValueError, match=r"did you mean 'lamp'\? Known: button-press.*a lamp of N steps"):
        find_task("lampp")
    with pytest.raises(ValueError, match="no lamp burns for that long"):
        find_task("lamp-100")


def test_a_third_suite_is_played_and_filmed(lamps):
    env = make("lamp", size=16)
    observation, _ = env.reset()
    assert observation.shape == (2,)
    assert env.render().shape == (16, 16, 3)
    steps = [env.step(np.ones(1, np.float32)) for _ in range(8)]
    assert steps[-1][3] is True
    success = np.array([step[4]["success"] for step in steps])
    assert 0 < episode_return("lamp", success) == success.mean() < 1
    demo, notes = make_demo("lamp", misaligned=True)
    assert (len(demo), demo.task, demo.render, notes) == (4, "lamp", "unknown", ())
    assert demo.source.startswith("poses of lamp, episode 0")
    assert demo.extra["return"] == rollout_expert("lamp").total == 0.125
    with pytest.raises(ValueError, match="no scripted expert for 'lamp'; record a video"):
        find_suite("lamps").expert(find_task("lamp"), env)


class FadingLamps(Lamps):
    """Bright enough in some steps only."""

    def record(self, spec, seed, render, size):
        episode = super().record(spec, seed, render, size)
        return replace(episode, success=np.isin(np.arange(len(episode)), self.bright))


@pytest.mark.parametrize(
    ("bright", "settings", "indices"),
    [
        ((4, 5, 6), {}, (0, 1, 2, 3, 4, 5, 6)),
        ((4, 5, 6), {"misaligned": True}, (1, 3, 5)),
        ((2,), {"misaligned": True}, None),
        ((4, 5, 6), {"end": "script"}, (0, 1, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_a_demo_ends_at_its_last_success(lamps, monkeypatch, bright, settings, indices):
    monkeypatch.setattr(FadingLamps, "bright", bright, raising=False)
    monkeypatch.setattr(sys.modules["lamps_of_a_user"], "Fading", FadingLamps, raising=False)
    monkeypatch.setitem(SUITES, "lamps", "lamps_of_a_user:Fading")
    if indices is None:
        # Success comes and goes between the frames that are kept: in every episode.
        with pytest.raises(ValueError, match="in none of the episodes 0 to 9 of 'lamp'"):
            make_demo("lamp", **settings)
        return
    demo, notes = make_demo("lamp", **settings)
    assert demo.indices == indices
    clipped = settings.get("end") != "script"
    assert demo.success[-1] == clipped
    said = f"success is lost after frame 6 of episode 0, so the demo ends with its frame {indices[-1]}"
    assert [note.partition(",")[0] for note in notes] == ([said.partition(",")[0]] if clipped else [])
    assert not clipped or said in notes[0]


@pytest.mark.parametrize("warp", ["fast-low", "slow-high"])
def test_random_warps_end_at_the_last_success(lamps, monkeypatch, warp):
    monkeypatch.setattr(FadingLamps, "bright", (17,), raising=False)
    monkeypatch.setattr(sys.modules["lamps_of_a_user"], "Fading", FadingLamps, raising=False)
    monkeypatch.setitem(SUITES, "lamps", "lamps_of_a_user:Fading")
    demo, notes = make_demo("lamp-20", random_warp=warp)
    assert demo.indices[-1] == 17, "one step of success is less than a tenth, and cuts nothing"
    assert "success is lost after frame 17" in notes[0]


def test_a_third_suite_need_not_be_measured(lamps):
    with pytest.raises(ValueError, match="no expert return of 'lamp' has been measured"):
        expert_return("lamp")
    assert known_expert_return("lamp") is None, "so nothing is normalised"
    assert measure_expert_returns(["lamp"], seeds=2)["tasks"]["lamp"]["returns"] == [0.125, 0.125]
    assert config("lamp").task == "lamp"


def test_a_third_suite_has_the_commands(lamps, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    main(["tasks"])
    (row,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("lamp ")]
    assert row[:5] == ["lamp", "unknown", "-", "8", "-"]
    main(["demo", "make", "lamp", "--out", str(tmp_path / "demo")])
    assert len(Demo.load(tmp_path / "demo")) == 8


def test_an_unknown_suite_is_refused():
    with pytest.raises(ValueError, match="suite is 'metawrold'; did you mean 'metaworld'"):
        find_suite("metawrold")


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_goes_by_its_name(name):
    suite = find_suite(name)
    assert suite.name == name
    assert suite is find_suite(name)
    assert all(spec.suite == name for spec in suite.tasks.values())


def test_a_preset_takes_what_the_suite_says():
    made = config("nav2d")
    for name, value in find_suite("nav2d").defaults["laptop"].items():
        part, setting = name.split(".")
        assert getattr(getattr(made, part), setting) == value, name


def asks(text):
    return re.search(r"\bsuite\s*(==|!=)|\.suite\s+(not\s+)?in\b|match .*\.suite:", text) is not None


def test_nobody_asks_which_suite_a_task_is_of():
    folders = [SOURCE / "envs" / name for name in SUITES]
    assert all(folder.is_dir() for folder in folders)
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if not any(path.is_relative_to(folder) for folder in folders) and asks(path.read_text())
    }
    assert found == set()


def test_the_question_is_recognised():
    for line in (
        'if spec.suite == "nav2d":',
        "spec.suite!='a'",
        'spec.suite in ("a", "b")',
        "match spec.suite:",
    ):
        assert asks(line), line
    assert not asks("find_suite(spec.suite).build(spec)")
