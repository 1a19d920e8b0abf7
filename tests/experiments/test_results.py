"""What is read of a study's cells, and the file that keeps it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.mixed_states import ERROR, mixed_plan, running, sweep_mixed

from orcalign.experiments.results import CURVE, read_results
from orcalign.experiments.results_file import load_results, save_results
from orcalign.experiments.study import find_study
from orcalign.experiments.table_formats import FORMATS
from orcalign.experiments.tables import make_table
from orcalign.report.study_plots import plot_study


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    out = tmp_path_factory.mktemp("mixed")
    return sweep_mixed(out), out


@pytest.fixture
def kept(swept, tmp_path):
    """The results, and the file of them."""
    runs = read_results(*swept)
    save_results(runs, tmp_path / "tiny.json")
    return runs, tmp_path / "tiny.json"


def test_every_state_is_told(swept):
    plan, out = swept
    with running(plan, out):
        cells = read_results(plan, out).cells
    assert [cell.state for cell in cells] == ["done", "running", "done", "failed", "missing"]
    assert [cell.played for cell in cells] == [180, 60, 180, 0, 0]
    assert cells[3].error == ERROR
    assert read_results(plan, out).cells[1].state == "stopped"
    assert cells[0].run.is_dir()
    assert cells[0].demo == "one misaligned video"


def test_the_checkpoint_by_coverage_is_the_one_that_the_run_kept(swept):
    runs = read_results(*swept)
    for result in runs.done:
        coverages = [row[CURVE.index("coverage")] for row in result.curve]
        steps = [row[0] for row in result.curve]
        assert result.best["step"] == steps[coverages.index(max(coverages))]
    table = make_table(runs, "coverage", "coverage")
    for column, result in zip(("orca_progress", "temporal_ot"), runs.done, strict=True):
        episodes = result.best["coverages"]
        assert table.entries["nav2d", column].mean == pytest.approx(sum(episodes) / len(episodes))
    assert "covered the video best" in " ".join(table.caption)
    with pytest.raises(ValueError, match="checkpoint is 'best'; Known: last, coverage"):
        make_table(runs, None, "best")


def test_runs_without_a_chosen_checkpoint_are_holes(swept):
    runs = read_results(*swept)
    cells = [
        replace(cell, result=None if cell.result is None else replace(cell.result, best=None)) for cell in runs.cells
    ]
    old = replace(runs, cells=tuple(cells))
    assert make_table(old, None, "coverage").entries == {}
    assert make_table(old).entries == make_table(runs).entries


@pytest.mark.parametrize("checkpoint", ["last", "coverage"])
@pytest.mark.parametrize("metric", ["normalised", "return", "success_rate", "coverage"])
def test_the_file_gives_the_same_table_as_the_folders(kept, metric, checkpoint):
    runs, path = kept
    loaded = load_results(path)
    for form in FORMATS.values():
        assert form(make_table(loaded, metric, checkpoint)) == form(make_table(runs, metric, checkpoint))


def test_the_file_gives_the_same_picture(kept, tmp_path):
    runs, path = kept
    for name, source in (("a.svg", runs), ("b.svg", load_results(path))):
        plot_study(source, "curves", tmp_path / name)
    # Matplotlib draws ids and a date anew each time.
    texts = [re.sub(r'id="[^"]*"|#\w+|<dc:date>.*', "", (tmp_path / n).read_text()) for n in ("a.svg", "b.svg")]
    assert texts[0] == texts[1]


def test_a_cell_of_the_file_tells_all_of_its_run(kept):
    runs, path = kept
    file = json.loads(path.read_text())
    assert file["command"] == "orcalign sweep tiny --preset laptop --steps 180 --seeds 1"
    cell = file["cells"][0]
    assert cell["values"] == {"recipe": "orca_progress", "task": "nav2d", "seed": "0"}
    assert cell["config"] == runs.cells[0].key
    assert cell["command"].endswith("--only recipe=orca_progress,task=nav2d,seed=0")
    assert (cell["steps"], cell["demo"]) == (180, "one misaligned video")
    assert cell["seconds"] > 0
    assert cell["versions"]["orcalign"]
    assert cell["curve"] == runs.cells[0].result.curve
    assert [one["state"] for one in file["cells"]] == [one.state for one in runs.cells]
    assert path.stat().st_size < 3000 * len(runs.cells)
    assert str(path.parent) not in path.read_text()


def test_a_file_can_be_narrowed_and_written_again(kept, tmp_path):
    _, path = kept
    part = load_results(path).narrowed({"recipe": ("temporal_ot",)})
    assert [cell.values["recipe"] for cell in part.cells] == ["temporal_ot"]
    save_results(part, tmp_path / "part.json")
    again = load_results(tmp_path / "part.json")
    assert again.command() == part.command()
    assert again.command().endswith("--only recipe=temporal_ot")
    with pytest.raises(ValueError, match="recipe is 'temporal_to'; did you mean 'temporal_ot'"):
        part.narrowed({"recipe": ("temporal_to",)})


KEPT = sorted((Path(__file__).parents[2] / "results").glob("*.json"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_results_that_are_kept_are_of_what_there_is_today(path):
    """Names of recipes and variants, and what they mean; the file says by which version they were run."""
    runs = load_results(path)
    named = find_study(str(path.parents[1] / runs.study.file) if runs.study.file else runs.study.name)
    assert runs.study.columns == named.columns
    assert set(runs.labels(named.columns)) <= set(named.axes[named.columns])
    assert all(named.variants[name] == one for name, one in runs.study.variants.items())
    assert path.stem.startswith(named.name)
    version = path.stem.rpartition("-")[2]
    assert {result.versions["orcalign"].rpartition(".")[0] for result in runs.done} == {version}
    # Where nobody is an expert there is no share of its return.
    assert any(len(make_table(runs, metric).entries) > 1 for metric in ("normalised", "success_rate"))


def test_nothing_that_is_done_is_nothing_to_keep(tmp_path):
    with pytest.raises(ValueError, match="none of the 5 runs of study 'tiny' is done"):
        save_results(read_results(mixed_plan(), tmp_path), tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


def test_the_sweeps_own_file_is_not_overwritten(swept):
    plan, out = swept
    before = (out / "tiny.json").read_bytes()
    with pytest.raises(ValueError, match="is where the sweep keeps what it was asked for; give another name"):
        save_results(read_results(plan, out), out / "tiny.json")
    assert (out / "tiny.json").read_bytes() == before


def damaged(change):
    def spoil(values):
        change(values)
        return json.dumps(values)

    return spoil


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda values: "", "is empty; results are written by: orcalign table STUDY --results FILE"),
        (lambda values: "{", "is not JSON"),
        (lambda values: "[]", "holds no results of a study"),
        (lambda values: '{"format": 1, "study": "tiny"}', "holds no results of a study"),
        (lambda values: json.dumps(values).replace("180, ", "NaN, ", 1), "NaN is no number"),
        (damaged(lambda values: values.update(format=1)), "has format 1, and this version of orcalign reads 2"),
        (damaged(lambda values: values.update(cells=[])), "holds no run that is done"),
        (damaged(lambda values: values.pop("seeds")), "the head has no 'seeds'"),
        (damaged(lambda values: values.update(cells=3)), "the study cannot be read"),
        (damaged(lambda values: values["study"].pop("rows")), "the study has no 'rows'"),
        (damaged(lambda values: values["cells"][2].pop("curve")), "cell 2 has no 'curve'"),
        (damaged(lambda values: values["cells"][2]["curve"][0].pop()), "cell 2 cannot be read (a row of the curve"),
        (damaged(lambda values: values["cells"][0]["last"].update(returns="no")), "cell 0 cannot be read"),
        (damaged(lambda values: values["cells"][1]["values"].pop("task")), "cell 1 cannot be read (it has values for"),
        (damaged(lambda values: values["cells"][1].update(state="lost")), "state is 'lost'"),
        (damaged(lambda values: values["study"]["axes"].update(tusk=["a"])), "axis is 'tusk'; did you mean 'task'"),
    ],
)  # fmt: skip
def test_a_file_that_is_none(kept, spoil, message):
    _, path = kept
    path.write_text(spoil(json.loads(path.read_text())))
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        load_results(path)
    assert "\n" not in str(refused.value)
