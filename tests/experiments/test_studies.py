"""Studies, axes and plans: what is run, and under which name."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.tiny_studies import plan_tiny, tiny_study

from orcalign.encoders.packages import Package
from orcalign.encoders.registry import find_entry
from orcalign.envs import HELD_OUT_TASKS, PAPER_TASKS
from orcalign.experiments import planning
from orcalign.experiments.planning import cell_key, plan_study
from orcalign.experiments.results import read_results
from orcalign.experiments.study import AXES, STUDIES, Budget, Study, find_study, parse_only
from orcalign.experiments.table_formats import FORMATS
from orcalign.experiments.tables import make_table, paper_table, reference_entries
from orcalign.training.config_mapping import to_mapping
from orcalign.training.presets import RECIPES, config
from orcalign.training.start import find_demos

TRAINING = [name for name in STUDIES if find_study(name).kind == "training"]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("preset", ["laptop", "paper"])
@pytest.mark.parametrize("name", TRAINING)
def test_every_study_can_be_planned(name, preset):
    plan = plan_study(find_study(name), preset)
    laptop = {
        "quick": 15_000, "encoder-ranking": 20_000, "follow": 30_000, "follow-parts": 20_000, "follow-pictures": 30_000,
        "humanoid": 100_000, "additional-baselines": 20_000,
    }.get(name, 50_000)  # fmt: skip
    steps = {"laptop": laptop, "paper": 2_000_000 if name == "humanoid" else 1_000_000}[preset]
    assert plan.cells
    for cell in plan.cells:
        assert cell.config.task == cell.values["task"]
        assert (cell.config.steps, cell.config.recipe) == (steps, cell.values["recipe"])
    # The paper's noise is white: taking pink noise away changes nothing there, and is no run of its own.
    alone = [cell for cell in plan.cells if preset == "laptop" or cell.values.get("variant") != "white noise"]
    assert len({cell.key for cell in plan.cells}) == len(plan.jobs) == len(alone)


def test_every_file_of_the_folder_is_a_study():
    folder = ROOT / "src" / "orcalign" / "experiments" / "studies"
    assert {path.stem for path in folder.iterdir()} == set(STUDIES)
    assert all((find_study(name).name, find_study(name).file) == (name, "") for name in STUDIES)


def test_the_page_on_studies_lists_all():
    lines = (ROOT / "docs" / "studies.md").read_text().splitlines()
    listed = [name for line in lines if line.startswith("| ") for name in line[2:].split(" |")[0].split(", ")]
    assert set(STUDIES) <= set(listed)


def test_the_main_study_is_the_papers_grid():
    plan = plan_study(find_study("misaligned"), "paper")
    assert len(plan.cells) == 10 * 9 * 3
    paper = paper_table("misaligned")
    assert set(paper.values) == {cell.config.task for cell in plan.cells}
    assert set(paper.average) <= {cell.values["recipe"] for cell in plan.cells}


@pytest.mark.parametrize("name", ["encoders", "encoder-ranking"])
def test_encoders_are_compared_on_the_same_frames_and_need_no_hub(name):
    cells = plan_study(find_study(name)).cells
    named = {cell.config.encoder.encoder for cell in cells}
    assert {"resnet50-keras", "efficientnet-lite0"} <= named
    assert all(isinstance(find_entry(one).weights, Package) for one in named)
    assert {(cell.config.encoder.encoder_size, cell.config.encoder.weights) for cell in cells} == {(128, None)}
    if name == "encoders":
        assert named >= {"resnet18", "efficientnet-lite0-mid", "xfeat"}
        paper = paper_table("encoders")
        theirs = {cell.config.encoder.encoder for cell in plan_study(find_study(name), "paper").cells}
        assert theirs == set(paper.average) == {"resnet50", "liv", "dinov2-large"}


def test_the_quick_study_begins_with_our_own_recipe():
    plan = plan_study(find_study("quick"))
    assert len(plan.cells) == 12
    assert [cell.values["recipe"] for cell in plan.cells[:4]] == ["follow_posed"] * 3 + ["orca"]
    assert {cell.config.demo.demo_kind for cell in plan.cells} == {"misaligned"}
    # At the same budget its runs are those of the main study.
    main = {cell.key for cell in plan_study(find_study("misaligned"), "paper").cells}
    assert {cell.key for cell in plan_study(find_study("quick"), "paper").cells} <= main


@pytest.mark.parametrize("name", list(RECIPES))
def test_every_recipe_makes_a_config(name):
    """With all that it says: tiny studies have an agent of their own, so a shipped one."""
    cell = plan_study(Study("one", "", {"recipe": (name,), "task": ("button-press",)})).cells[-1]
    made = to_mapping(cell.config)
    for field, value in RECIPES[name].settings.items():
        section, _, key = field.partition(".")
        assert made[section][key] == value, field


def test_a_study_has_the_config_of_a_run_by_itself():
    for cell in plan_study(find_study("quick")).cells:
        one = config(cell.config.task, "laptop", cell.values["recipe"], {"steps": 15_000})
        assert cell.config == one
        assert cell_key(replace(one, recipe="another name")) == cell.key


def test_no_two_variants_of_the_ablation_are_the_same_run():
    study = find_study("progress-ablation")
    plan = plan_study(study, seeds=1, only={"task": ["button-press"]})
    assert len(plan.jobs) == len(plan.cells) == len(study.variants) == 14
    whole, *changed = plan.cells
    assert whole.config == config("button-press", recipe="orca_progress", settings={"steps": 50_000})
    by_name = {cell.values["variant"]: cell.config for cell in changed}
    assert by_name["without progress"].reward.extra_settings() == {"last": 1, "weight": 0}
    assert by_name["a floor in the last frame as well"].reward.extra_settings() == {"last": None}


def test_every_recipe_pools_several_demos_in_its_own_way():
    """The highest reward at every step would pay orca_progress the same progress once for each demo."""
    for cell in plan_study(find_study("number-of-demos")).cells:
        reward = cell.config.reward
        own = "best" if cell.values["recipe"] == "orca_progress" else "max"
        assert (reward.pool, reward.video_settings(reward.matcher).pooling) == ("auto", own)
        assert cell.config.demo.demos == int(cell.values["demos"].removesuffix("-mixed"))


def test_random_misalignment_is_trained_on_all_of_one_demo():
    for preset in ("laptop", "paper"):
        cells = plan_study(find_study("varying-misalignment"), preset).cells
        assert len(cells) == 3 * 4 * 3 * 3
        assert {cell.config.demo.demo_seed for cell in cells} == {0}
        for cell in cells:
            assert cell.config.demo.demo_variant == cell.config.seed == int(cell.values["demo_variant"])
        assert len({cell.key for cell in cells}) == len(cells)


def test_four_demos_of_different_speeds_are_another_draw_for_each_seed():
    study = Study("one", "", {"task": ("nav2d",), "recipe": ("orca_np",), "demos": ("4-mixed",)})
    cells = plan_study(study, seeds=6).cells
    drawn = [find_demos(cell.config)[0] for cell in cells]
    assert len({tuple(demo.indices for demo in four) for four in drawn}) > 3
    assert {demo.extra["env_seed"] for four in drawn for demo in four} == {drawn[0][0].extra["env_seed"]}


def test_every_axis_changes_the_run():
    values = {
        "task": ("nav2d", "nav2d-order"),
        "recipe": ("ot", "dtw"),
        "variant": ("small", "large"),
        "demo_kind": ("misaligned", "aligned"),
        "demos": ("1", "2"),
        "demo_number": ("0", "1"),
        "demo_variant": ("0", "1"),
        "seed": ("0", "1"),
    }
    assert set(values) == set(AXES)
    values |= {
        "encoder.encoder": ("pixels", "resnet18"),
        "collect.policy_input": ("states", "pixels"),
        "reward.temperature": ("1.0", "1.0:0.5"),
        "reward.floor": ("0.0", "0.1"),
        "reward.context": ("1", "3"),
        "reward.calibrated": ("true", "false"),
        "reward.pretrain": ("none", "temporal_ot"),
        "reward.scale": ("first", "2"),
        "agent.learning_rate": ("1e-4", "0.001"),
    }
    variants = {"small": {"agent.hidden": 16}, "large": {"agent.hidden": 32}}
    for axis, pair in values.items():
        axes = {"task": ("nav2d",), "recipe": ("orca_np",), axis: pair}
        plan = plan_study(Study("one", "", axes, variants=variants))
        assert len({cell.key for cell in plan.cells}) == 2, axis


def test_an_axis_may_be_a_field_of_one_agent():
    axes = {"task": ("nav2d",), "recipe": ("orca_progress",), "agent.entropy_temperature": ("none", "0.1")}
    found = plan_study(Study("one", "", axes, settings={"agent.agent": "sac"})).cells
    assert [cell.config.agent.entropy_temperature for cell in found] == [None, 0.1]
    with pytest.raises(ValueError, match=r"no field agent\.'entropy_temperature'"):
        plan_study(Study("one", "", axes))


def test_another_encoder_sees_pictures_at_its_own_size():
    axes = {
        "task": ("door-close",),
        "recipe": ("orca",),
        "encoder.encoder": ("efficientnet-lite0", "resnet18"),
    }
    sizes = [cell.config.encoder.encoder_size for cell in plan_study(Study("one", "", axes)).cells]
    assert sizes == [128, None]


def test_settings_of_a_study_win_over_those_of_a_recipe():
    study = Study(
        "mine",
        "two recipes",
        {"recipe": ("orca_progress", "temporal_ot"), "task": ("nav2d",)},
        settings={"agent.gamma": 0.5, "reward.scale": "2"},
    )
    for cell in plan_study(study, steps=300, seeds=1).cells:
        assert (cell.config.agent.gamma, cell.config.reward.scale.factor) == (0.5, 2.0)
        assert cell.config.agent.layer_norm


def test_settings_of_a_study_are_those_of_every_run():
    plan = plan_study(tiny_study(("temporal_ot", "orca_progress"), **{"reward.context": 1, "demo.demo_seed": 7}))
    for cell in plan.cells:
        assert (cell.config.reward.context, cell.config.demo.demo_seed, cell.config.agent.hidden) == (
            1,
            7,
            16,
        )
    assert plan.cells[1].config.reward.calibrated
    with pytest.raises(ValueError, match="no matcher of this run has a setting 'windw'; did you mean 'window'"):
        plan_study(tiny_study(("temporal_ot",), **{"reward.set": ["windw=3"]}))


def test_aligned_demos_get_the_papers_window():
    """In the first stage of ORCA, too."""
    axes = {"task": ("nav2d",), "recipe": ("temporal_ot", "orca"), "demo_kind": ("aligned", "misaligned")}
    found = [cell.config.reward.extra_settings() for cell in plan_study(Study("one", "", axes)).cells]
    assert found == [{"window": 10}, {}] * 2


def test_the_key_is_of_the_numbers_alone():
    first, again = plan_tiny().cells[1], plan_tiny().cells[1]
    assert first.key == again.key
    assert cell_key(replace(first.config, seed=1)) != first.key
    assert "workers" not in str(to_mapping(first.config))


def test_the_same_run_has_the_same_key_in_another_study():
    pretraining = {cell.key for cell in plan_study(find_study("pretraining")).cells}
    misaligned = {cell.key for cell in plan_study(find_study("misaligned")).cells}
    assert len(pretraining & misaligned) == 3 * 10


def test_a_users_demo_counts_by_its_content(tmp_path):
    file = tmp_path / "demo.mp4"
    file.write_bytes(b"one")
    other = tmp_path / "moved.mp4"
    other.write_bytes(b"one")
    changed = tmp_path / "changed.mp4"
    changed.write_bytes(b"two")
    keys = [
        plan_study(tiny_study(("ot",), **{"demo.demo": [str(path)]})).cells[0].key for path in (file, other, changed)
    ]
    assert keys[0] == keys[1] != keys[2]


def test_ten_thousand_cells_are_planned_in_seconds():
    start = time.process_time()
    plan = plan_study(find_study("misaligned"), seeds=112)
    seconds = time.process_time() - start
    assert len(plan.cells) == 10_080
    assert seconds < 5, seconds


def test_a_study_in_a_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "axes: {task: [nav2d], recipe: ot, seed: [3, 4]}\nsteps: 300\nsettings: {agent.hidden: 32}\n"
        "variants: {one: {}, two: {reward.context: 2}}\n"
    )
    plan = plan_study(find_study(str(path)))
    assert [cell.config.seed for cell in plan.cells] == [3, 4, 3, 4]
    assert [cell.config.reward.context for cell in plan.cells] == [1, 1, 2, 2]
    assert {(cell.config.steps, cell.config.agent.hidden) for cell in plan.cells} == {(300, 32)}
    assert plan.study.name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("axes: {tusk: [nav2d]}", "axis is 'tusk'; did you mean 'task'? Known: task, recipe"),
        ("axis: {}", "has no axes"),
        ("axes: {task: [nav2d], recipe: [ot]}\nstep: 3", "did you mean 'steps'?"),
        ("axes: {recipe: [ot]}", "has no axis 'task'"),
        ("axes: {task: [nav2d]}", "has no axis 'recipe'"),
        ("axes: {task: [], recipe: [ot]}", "has no values"),
        ("axes: [", "is not YAML"),
        ("axes: {task: [nav2d], recipe: [ot]}\nbudgets: {laptop: {step: 3}}", "did you mean 'steps'?"),
        ("axes: {task: [nav2d], recipe: [ot]}\nvariants: 3", "variants is 3"),
        ("axes: {task: [nav2d], recipe: [ot], reward.contxt: [3]}", "did you mean 'reward.context'?"),
        ("axes: {task: [nav2d], recipe: [ot]}\nname: ../up", "it becomes the name of a folder"),
        ("axes: {task: [nav2d], recipe: [ot]}\nsettings: 3", "settings is 3"),
        ("axes: {task: [nav2d], recipe: [ot]}\nsteps: 0", "steps is 0"),
        ("axes: {task: [nav2d], recipe: [ot]}\nrows: seed", "axis of the table is 'seed'"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        find_study(str(path))


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"recipe": ("orka",)}, "recipe is 'orka'; did you mean 'orca'?"),
        ({"task": ("nav3d",)}, "no task is called 'nav3d'; did you mean"),
        ({"demos": ("many",)}, "demos is 'many'; give a number"),
        ({"encoder.encoder": ("resnet49",)}, "did you mean 'resnet50'"),
        ({"reward.temperature": ("cold",)}, "temperature is 'cold'"),
        ({"reward.floor": ("low",)}, "floor is 'low'"),
        ({"variant": ("other",)}, "variant is 'other'"),
        ({"seed": ("one",)}, "seed is 'one'"),
        ({"demo_kind": ("backwards",)}, "demo_kind is 'backwards'"),
    ],
)
def test_an_unknown_value_lists_the_known(axes, message):
    study = Study("bad", "", {"task": ("nav2d",), "recipe": ("orca_np",), **axes})
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_study(study)


def test_only_refuses_what_is_not_there():
    assert parse_only([]) == {}
    with pytest.raises(ValueError, match=r"give axis=value, such as task=door-close"):
        parse_only(["door-close"])
    with pytest.raises(ValueError, match=r"axis is 'tsk'; did you mean 'task'\? Known: recipe, task, seed"):
        plan_study(tiny_study(), only={"tsk": ["nav2d"]})
    with pytest.raises(ValueError, match=r"task is 'push'; Known: nav2d"):
        plan_study(tiny_study(), only={"task": ["push"]})


def test_budgets_are_checked():
    with pytest.raises(ValueError, match="seeds is 0"):
        Budget(10, 0)
    with pytest.raises(ValueError, match="preset is 'cluster'"):
        find_study("misaligned").budget("cluster")
    with pytest.raises(ValueError, match="trains nothing"):
        plan_study(find_study("latency"))


@pytest.mark.parametrize("name", ["misaligned", "aligned", "encoders", "humanoid"])
def test_the_papers_averages_are_those_of_its_rows(name):
    table = paper_table(name)
    for column, (mean, _) in table.average.items():
        rows = [row[column][0] for row in table.values.values()]
        assert sum(rows) / len(rows) == pytest.approx(mean, abs=0.0051)


def test_equal_settings_have_one_key_whichever_came_first():
    config = plan_study(find_study("quick")).cells[0].config
    keys = set()
    for steps in (500, 500.0):
        planning._plain.cache_clear()  # equal settings are remembered: the second would borrow the first's
        keys.add(cell_key(replace(config, collect=replace(config.collect, random_steps=steps))))
    assert len(keys) == 1


def test_the_ablation_of_nav2d_has_the_variants_of_the_shipped_one():
    study, shipped = (
        find_study(str(ROOT / "examples" / "nav2d-ablation.yaml")),
        find_study("progress-ablation"),
    )
    assert study.variants == {name: one for name, one in shipped.variants.items() if name != "half the temperature"}
    assert len(plan_study(study).cells) == 4 * len(study.variants)


def test_the_held_out_example_is_of_tasks_without_a_misaligned_demo_of_their_own():
    study = find_study(str(ROOT / "examples" / "held-out.yaml"))
    assert study.axes["task"] == HELD_OUT_TASKS
    assert not {*HELD_OUT_TASKS} & {*PAPER_TASKS}
    cells = plan_study(study).cells
    assert {(cell.config.task, cell.config.demo.demo_kind) for cell in cells} == {
        (task, "fast-high") for task in HELD_OUT_TASKS
    }
    # All else is as for the paper's own.
    own = {cell.values["recipe"]: cell.config for cell in plan_study(find_study("misaligned"), steps=20_000).cells}
    for cell in cells:
        one = own[cell.values["recipe"]]
        assert (cell.config.reward, cell.config.agent, cell.config.collect) == (
            one.reward,
            one.agent,
            one.collect,
        )
    # Which demo has to be said.
    unsaid = replace(study, axes={name: study.axes[name] for name in ("recipe", "task")})
    with pytest.raises(ValueError, match="'drawer-open' has no misaligned demo of its own"):
        plan_study(unsaid)


def test_recipes_with_an_eye_draw_larger_frames_where_a_size_is_named():
    followed, pictures = (config("window-open", recipe=recipe) for recipe in ("follow_posed", "orca_progress"))
    assert (followed.collect.frame_size, pictures.collect.frame_size) == (224, 128)
    assert config("window-open", "laptop", "follow_posed", {"collect.frame_size": 64}).collect.frame_size == 64
    for one in (config("window-open", "paper", "orca_progress"), config("nav2d", "laptop", "orca_progress")):
        assert one.collect.frame_size is None


def test_the_humanoid_study_is_the_papers_grid_and_shows_what_comes_without_learning():
    plan = plan_study(find_study("humanoid"), "paper")
    assert len(plan.cells) == 4 * 7 * 3
    paper = paper_table("humanoid")
    assert set(paper.values) == {cell.config.task for cell in plan.cells}
    assert {cell.config.agent.agent for cell in plan.cells} == {"sac"}
    table = make_table(read_results(plan, Path("nowhere")))
    assert table.columns[-3:] == table.headings[-3:] == ("no action", "random", "holds the goal's angles")
    assert table.entries["humanoid-arm-up-right", "holds the goal's angles"].mean == pytest.approx(84.3)
    assert table.entries["average", "holds the goal's angles"].mean == pytest.approx(84.6, abs=0.05)
    assert table.best("average") == set(), "nobody has learned"
    assert "| 84.30 |" in FORMATS["md"](table)
    assert reference_entries(["door-close"]) == {}
