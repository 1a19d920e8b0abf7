"""Studies, axes and plans: what is run, and under which name."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.tiny_studies import plan_tiny, tiny_study

from orcalign.envs import HELD_OUT_TASKS, PAPER_TASKS
from orcalign.experiments import planning
from orcalign.experiments.axes import AXES
from orcalign.experiments.methods import ABLATION, METHODS
from orcalign.experiments.paper_values import paper_table
from orcalign.experiments.planning import cell_key, plan_study
from orcalign.experiments.shipped import STUDIES, find_study
from orcalign.experiments.study import Budget, Study, parse_only, read_study
from orcalign.rewards.object_view import SCALE
from orcalign.training.config_mapping import to_mapping
from orcalign.training.presets import preset

TRAINING = [name for name, study in STUDIES.items() if study.kind == "training"]


@pytest.mark.parametrize("preset", ["laptop", "paper"])
@pytest.mark.parametrize("name", TRAINING)
def test_every_study_can_be_planned(name, preset):
    plan = plan_study(STUDIES[name], preset)
    steps = {"laptop": 40_000 if name == "quick" else 50_000, "paper": 1_000_000}[preset]
    assert plan.cells
    for cell in plan.cells:
        assert cell.config.task == cell.values["task"]
        assert cell.config.steps == (steps if cell.start is None else steps // 2)
    # The paper's noise is white: taking pink noise away changes nothing there, and is no run of its own.
    alone = [cell for cell in plan.cells if preset == "laptop" or cell.values["method"] != "progress_white"]
    assert len({cell.key for cell in plan.cells}) == len(alone)


def test_the_main_study_is_the_papers_grid():
    plan = plan_study(STUDIES["misaligned"], "paper")
    assert len(plan.cells) == 10 * 7 * 3
    paper = paper_table("misaligned")
    assert set(paper.values) == {cell.config.task for cell in plan.cells}
    assert set(paper.average) <= {cell.values["method"] for cell in plan.cells}


def test_the_quick_study_begins_with_our_own_method():
    plan = plan_study(STUDIES["quick"])
    assert len(plan.cells) == 12
    assert len(plan.jobs) == 15, "and TemporalOT up to its half, from where the paper's ORCA goes on"
    assert [cell.values["method"] for cell in plan.cells[:4]] == ["orca_progress"] * 3 + ["orca"]
    assert {cell.config.demo.demo_kind for cell in plan.cells} == {"misaligned"}
    # At the same budget its runs are those of the main study.
    main = {cell.key for cell in plan_study(STUDIES["misaligned"], "paper").cells}
    assert {cell.key for cell in plan_study(STUDIES["quick"], "paper").cells} <= main


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_makes_a_config(name):
    """With all that it says: tiny studies have an agent of their own, so a shipped one."""
    method = METHODS[name]
    cell = plan_study(Study("one", "", {"method": (name,), "task": ("button-press",)})).cells[-1]
    for part in ("reward", "agent", "collect", "encoder"):
        made, wanted = getattr(cell.config, part), getattr(method, part)
        assert {field: getattr(made, field) for field in wanted} == dict(wanted)


def test_no_two_parts_of_the_ablation_are_the_same_run():
    plan = plan_study(Study("one", "", {"method": ABLATION, "task": ("button-press",)}), seeds=1)
    assert len({cell.key for cell in plan.cells}) == len(ABLATION) == len(set(ABLATION))


def test_every_axis_changes_the_run():
    values = {
        "task": ("nav2d", "nav2d-order"),
        "method": ("ot", "dtw"),
        "demo_kind": ("misaligned", "aligned"),
        "demos": ("1", "2"),
        "encoder": ("pixels", "resnet18"),
        "policy_input": ("states", "pixels"),
        "temperature": ("1.0", "0.5"),
        "floor": ("0.0", "0.1"),
        "context": ("1", "3"),
        "demo_number": ("0", "1"),
        "seed": ("0", "1"),
    }
    assert set(values) == set(AXES)
    for axis, pair in values.items():
        axes = {"task": ("nav2d",), "method": ("orca_np",), axis: pair}
        plan = plan_study(Study("one", "", axes))
        assert len({cell.key for cell in plan.cells}) == 2, axis


def test_settings_of_a_study_win_over_those_of_a_method():
    study = Study(
        "mine",
        "two methods",
        {"method": ("orca_progress", "temporal_ot"), "task": ("nav2d",)},
        settings={"agent.gamma": 0.5, "reward.scale": "best"},
    )
    for cell in plan_study(study, steps=300, seeds=1).cells:
        assert (cell.config.agent.gamma, cell.config.reward.scale) == (0.5, "best")
        assert cell.config.agent.layer_norm


def test_settings_of_a_study_are_those_of_every_run():
    plan = plan_study(
        tiny_study(("temporal_ot", "orca_progress"), **{"reward.context": 1, "demo.demo_seed": 7})
    )
    for cell in plan.cells:
        assert (cell.config.reward.context, cell.config.demo.demo_seed, cell.config.agent.hidden) == (
            1,
            7,
            16,
        )
    assert plan.cells[1].config.reward.calibrated
    with pytest.raises(
        ValueError, match="no method of this run has a setting 'windw'; did you mean 'window'"
    ):
        plan_study(tiny_study(("temporal_ot",), **{"reward.set": ["windw=3"]}))


def test_aligned_demos_get_the_papers_window():
    axes = {"task": ("nav2d",), "method": ("temporal_ot",), "demo_kind": ("aligned", "misaligned")}
    first, second = plan_study(Study("one", "", axes)).cells
    assert first.config.reward.extra_settings() == {"window": 10}
    assert second.config.reward.extra_settings() == {}


def test_pretraining_is_the_other_methods_own_run():
    plan = plan_tiny()
    orca, _, temporal = plan.cells
    assert orca.start.key == temporal.key
    assert orca.start.step == 90
    ids = list(plan.jobs)
    half = f"{temporal.key}@90"
    assert ids.index(half) < ids.index(orca.key)
    assert plan.jobs[orca.key].needs == half
    assert plan.jobs[temporal.key].needs == half, "the run itself goes on from the same half"
    # Exploration goes on where the first half leaves it.
    ends = temporal.config.collect.noise_start, temporal.config.collect.noise_end
    assert orca.config.collect.noise_start == pytest.approx(sum(ends) / 2)
    assert orca.config.collect.noise_end == ends[1]


def test_a_part_of_the_grid_keeps_what_the_rest_will_need():
    plan = plan_study(tiny_study(), only={"method": ["temporal_ot"]})
    assert list(plan.jobs) == [f"{plan.cells[0].key}@90", plan.cells[0].key]
    plan = plan_study(tiny_study(), only={"method": ["orca"]})
    assert [job.until for job in plan.jobs.values()] == [90, None]


def test_the_key_is_of_the_numbers_alone():
    first, again = plan_tiny().cells[1], plan_tiny().cells[1]
    assert first.key == again.key
    assert cell_key(replace(first.config, seed=1)) != first.key
    assert "workers" not in str(to_mapping(first.config))


def test_the_same_run_has_the_same_key_in_another_study():
    pretraining = {cell.key for cell in plan_study(STUDIES["pretraining"]).cells}
    misaligned = {cell.key for cell in plan_study(STUDIES["misaligned"]).cells}
    assert len(pretraining & misaligned) == 3 * 10


def test_a_users_demo_counts_by_its_content(tmp_path):
    file = tmp_path / "demo.mp4"
    file.write_bytes(b"one")
    other = tmp_path / "moved.mp4"
    other.write_bytes(b"one")
    changed = tmp_path / "changed.mp4"
    changed.write_bytes(b"two")
    keys = [
        plan_study(tiny_study(("ot",), **{"demo.demo": [str(path)]})).cells[0].key
        for path in (file, other, changed)
    ]
    assert keys[0] == keys[1] != keys[2]


def test_ten_thousand_cells_are_planned_in_seconds():
    start = time.process_time()
    plan = plan_study(STUDIES["misaligned"], seeds=143)
    seconds = time.process_time() - start
    assert len(plan.cells) == 10_010
    assert seconds < 5, seconds


def test_a_study_in_a_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "axes: {task: [nav2d], method: [ot], seed: [3, 4]}\nsteps: 300\nsettings: {agent.hidden: 32}\n"
    )
    plan = plan_study(find_study(str(path)))
    assert [cell.config.seed for cell in plan.cells] == [3, 4]
    assert {(cell.config.steps, cell.config.agent.hidden) for cell in plan.cells} == {(300, 32)}
    assert plan.study.name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("axes: {tusk: [nav2d]}", "axis is 'tusk'; did you mean 'task'? Known: task, method"),
        ("axis: {}", "has no axes"),
        ("axes: {task: [nav2d], method: [ot]}\nstep: 3", "did you mean 'steps'?"),
        ("axes: {method: [ot]}", "has no axis 'task'"),
        ("axes: {task: [nav2d]}", "has no axis 'method'"),
        ("axes: {task: [], method: [ot]}", "has no values"),
        ("axes: [", "is not YAML"),
        ("axes: {task: [nav2d], method: [ot]}\nname: ../up", "it becomes the name of a folder"),
        ("axes: {task: [nav2d], method: [ot]}\nsettings: 3", "settings is 3"),
        ("axes: {task: [nav2d], method: [ot]}\nsteps: 0", "steps is 0"),
        ("axes: {task: [nav2d], method: [ot]}\nrows: seed", "axis of the table is 'seed'"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_study(path)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"method": ("orka",)}, "method is 'orka'; did you mean 'orca'?"),
        ({"task": ("nav3d",)}, "no task is called 'nav3d'; did you mean"),
        ({"demos": ("many",)}, "demos is 'many'; give a number"),
        ({"encoder": ("resnet49",)}, "encoder is 'resnet49'; did you mean 'resnet50'"),
        ({"temperature": ("cold",)}, "temperature is 'cold'"),
        ({"floor": ("low",)}, "floor is 'low'"),
        ({"seed": ("one",)}, "seed is 'one'"),
        ({"demo_kind": ("backwards",)}, "demo_kind is 'backwards'"),
    ],
)
def test_an_unknown_value_lists_the_known(axes, message):
    study = Study("bad", "", {"task": ("nav2d",), "method": ("orca_np",), **axes})
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_study(study)


def test_only_refuses_what_is_not_there():
    assert parse_only([]) == {}
    with pytest.raises(ValueError, match=r"give axis=value, such as task=door-close"):
        parse_only(["door-close"])
    with pytest.raises(ValueError, match=r"axis is 'tsk'; did you mean 'task'\? Known: method, task, seed"):
        plan_study(tiny_study(), only={"tsk": ["nav2d"]})
    with pytest.raises(ValueError, match=r"task is 'push'; Known: nav2d"):
        plan_study(tiny_study(), only={"task": ["push"]})


def test_budgets_are_checked():
    with pytest.raises(ValueError, match="seeds is 0"):
        Budget(10, 0)
    with pytest.raises(ValueError, match="preset is 'cluster'"):
        STUDIES["misaligned"].budget("cluster")
    with pytest.raises(ValueError, match="trains nothing"):
        plan_study(STUDIES["latency"])


@pytest.mark.parametrize("name", ["misaligned", "aligned", "encoders"])
def test_the_papers_averages_are_those_of_its_rows(name):
    table = paper_table(name)
    for column, (mean, _) in table.average.items():
        rows = [row[column][0] for row in table.values.values()]
        assert sum(rows) / len(rows) == pytest.approx(mean, abs=0.0051)


def test_equal_settings_have_one_key_whichever_came_first():
    config = plan_study(STUDIES["quick"]).cells[0].config
    keys = set()
    for steps in (500, 500.0):
        planning._plain_fields.cache_clear()  # equal settings are remembered: the second would borrow the first's
        keys.add(cell_key(replace(config, collect=replace(config.collect, random_steps=steps))))
    assert len(keys) == 1


def test_the_ablation_of_nav2d_can_be_planned():
    study = find_study(str(Path(__file__).parents[2] / "examples" / "nav2d-ablation.yaml"))
    # No object to look at in nav2d.
    looking = (
        "progress_not_followed", "progress_squares", "progress_whole", "progress_sharp", "progress_fine"
    )  # fmt: skip
    changed = tuple(method for method in ABLATION if method not in looking)
    assert study.axes["method"] == changed
    assert len(plan_study(study).cells) == 4 * len(changed)


def test_the_stricter_example_asks_for_five_sixteenths_of_the_reach():
    study = find_study(str(Path(__file__).parents[2] / "examples" / "stricter.yaml"))
    cells = plan_study(study).cells
    assert len(cells) == 12
    for cell in cells:
        assert cell.config.reward.calibrated
        assert SCALE * cell.config.reward.ramp().start == pytest.approx(5 / 16, abs=1e-4)


def test_the_held_out_example_is_of_tasks_without_a_misaligned_demo_of_their_own():
    study = find_study(str(Path(__file__).parents[2] / "examples" / "held-out.yaml"))
    assert study.axes["task"] == HELD_OUT_TASKS
    assert not {*HELD_OUT_TASKS} & {*PAPER_TASKS}
    cells = plan_study(study).cells
    assert {(cell.config.task, cell.config.demo.demo_kind) for cell in cells} == {
        (task, "fast-high") for task in HELD_OUT_TASKS
    }
    # All else is as for the paper's own.
    own = {cell.values["method"]: cell.config for cell in plan_study(STUDIES["quick"], steps=20_000).cells}
    for cell in cells:
        one = own[cell.values["method"]]
        assert (cell.config.reward, cell.config.agent, cell.config.collect) == (
            one.reward,
            one.agent,
            one.collect,
        )
    # Which demo has to be said.
    unsaid = replace(study, axes={name: study.axes[name] for name in ("method", "task")})
    with pytest.raises(ValueError, match="'drawer-open' has no misaligned demo of its own"):
        plan_study(unsaid)


def test_methods_that_look_at_the_object_draw_larger_frames_where_a_size_is_named():
    looking = AXES["method"].change(preset("laptop", "window-open"), "orca_progress")
    whole = AXES["method"].change(preset("laptop", "window-open"), "progress_whole")
    assert (looking.encoder.look, looking.collect.frame_size) == ("object", 192)
    assert (whole.encoder.look, whole.collect.frame_size) == ("whole", 128)
    for config in (preset("paper", "window-open"), preset("laptop", "nav2d")):
        assert AXES["method"].change(config, "orca_progress").collect.frame_size is None
