"""Tables and plots: right numbers, holes where nothing ran, and the paper's values beside ours."""

import csv
import html.parser
import io
import shutil
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import plan_study
from orcalign.experiments.results import differences, read_results
from orcalign.experiments.results_file import load_results, save_results
from orcalign.experiments.study import Study, find_study
from orcalign.experiments.table_formats import FORMATS
from orcalign.experiments.tables import AVERAGE, make_table
from orcalign.report.study import study_page
from orcalign.report.study_plots import KINDS, curves, plot_study

PLAN = plan_study(
    find_study("misaligned"),
    seeds=2,
    only={"task": ["door-close", "push", "window-open"], "recipe": ["orca_progress", "orca", "ot"]},
)
EXPERT = 20.0


def returns_of(cell):
    """Ten episodes; what they are worth depends on recipe, task and seed."""
    level = {"orca_progress": 18, "orca": 10, "ot": 1}[cell.values["recipe"]]
    return [level + (k + int(cell.values["seed"])) % 3 for k in range(10)]


def write(out, cell, returns=None):
    folder = CellFolder(out, cell.key)
    folder.path.mkdir(parents=True)
    returns = returns_of(cell) if returns is None else returns
    mean = float(np.mean(returns))
    last = {"returns": returns, "successes": [True] * 10, "coverages": [0.5] * 10, "step": cell.config.steps}
    curve = [[0, 0.0, 0.0, 0.0, 0.1], [cell.config.steps, mean / EXPERT, mean, 1.0, 0.5]]
    folder.write_done(
        {"key": cell.key, "values": cell.values, "last": last, "curve": curve, "expert_return": EXPERT,
         "seconds": 3600.0, "versions": {}}
    )  # fmt: skip


@pytest.fixture
def whole(tmp_path):
    for cell in PLAN.cells:
        write(tmp_path, cell)
    return tmp_path


def test_means_and_errors_by_hand(whole):
    table = make_table(read_results(PLAN, whole))
    cells = [c for c in PLAN.cells if (c.values["task"], c.values["recipe"]) == ("push", "orca")]
    runs = [np.mean(returns_of(cell)) / EXPERT for cell in cells]
    entry = table.entries["push", "orca"]
    assert len(runs) == 2
    assert entry.mean == pytest.approx(np.mean(runs))
    assert entry.error == pytest.approx(abs(runs[0] - runs[1]) / 2), "over seeds, not over episodes"
    assert (entry.runs, entry.missing) == (2, 0)
    assert table.entries[AVERAGE, "orca"].runs == 6
    assert table.best("push") == {"orca_progress"}
    assert table.shared == 3
    assert table.aggregates["ot"].better.value == 1.0
    assert table.aggregates["orca_progress"].better is None


def test_the_paper_stands_beside_ours(whole):
    table = make_table(read_results(PLAN, whole))
    assert table.of_paper("door-close", "orca") == [0.88, 0.01]
    # The paper's average is over ten tasks, and this one over three.
    assert table.of_paper(AVERAGE, "ot") is None
    ten = make_table(read_results(plan_study(find_study("misaligned")), whole))
    assert ten.of_paper(AVERAGE, "ot") == [0.04, 0.01]
    assert table.of_paper("door-close", "orca_progress") is None
    text = FORMATS["md"](table)
    assert "0.55 (0.00)<br>*0.88 (0.01)*" in text, text
    assert "Table 1, 1,000,000 steps, 3 seeds" in text
    assert "preset laptop, 50,000 agent steps, 2 seeds; 18 of 18 runs" in text
    # Another metric is not the paper's.
    assert make_table(read_results(PLAN, whole), "success_rate").paper is None


def test_an_incomplete_study_has_holes(tmp_path):
    text = FORMATS["md"](make_table(read_results(PLAN, tmp_path)))
    assert "0 of 18 runs are done" in text
    assert "| push | - | -<br>*0.00 (0.00)* | -<br>*0.03 (0.01)* |" in text
    some = [cell for cell in PLAN.cells if cell.values["task"] != "push" and cell.values["seed"] == "0"]
    for cell in some:
        write(tmp_path, cell)
    table = make_table(read_results(PLAN, tmp_path))
    assert ("push", "orca") not in table.entries
    assert table.shared == 2
    text = FORMATS["md"](table)
    assert "1/2" in text
    assert "2/6" in text
    assert table.aggregates["ot"].iqm.low is None, "one run of a task tells nothing about another"


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_in_every_state(whole, tmp_path_factory, name):
    for out in (whole, tmp_path_factory.mktemp("empty")):
        assert "door-close" in FORMATS[name](make_table(read_results(PLAN, out)))


def test_csv_can_be_read_again(whole):
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](make_table(read_results(PLAN, whole))))))
    assert len(rows) == 4 * 3
    row = next(row for row in rows if (row["row"], row["column"]) == ("door-close", "orca"))
    assert float(row["paper_mean"]) == 0.88
    assert float(row["mean"]) == pytest.approx(make_table(read_results(PLAN, whole)).entries["door-close", "orca"].mean)


def test_latex_balances(whole):
    text = FORMATS["latex"](make_table(read_results(PLAN, whole)))
    assert text.count("{") == text.count("}")
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in rows} == {3}
    assert "_" not in text.replace(r"\_", "")


def test_html_closes_what_it_opens(whole):
    opened = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("br", "meta"):
                opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Parser().feed(FORMATS["html"](make_table(read_results(PLAN, whole))))
    assert not opened


def test_rewards_that_all_fail_have_no_best(tmp_path):
    for cell in PLAN.cells:
        write(tmp_path, cell, [0] * 10)
    assert make_table(read_results(PLAN, tmp_path)).best("push") == set()


def test_an_unknown_metric(whole):
    with pytest.raises(ValueError, match="metric is 'sucess_rate'; did you mean 'success_rate'"):
        make_table(read_results(PLAN, whole), "sucess_rate")


@pytest.mark.parametrize("kind", list(KINDS))
def test_plots_of_whole_and_empty_studies(whole, tmp_path_factory, kind):
    for out in (whole, tmp_path_factory.mktemp("empty")):
        plot_study(read_results(PLAN, out), kind, out / "a.svg")
        text = (out / "a.svg").read_text()
        assert text.rstrip().endswith("</svg>")
    with pytest.raises(ValueError, match=r"a plot can be \.png"):
        plot_study(read_results(PLAN, whole), kind, whole / "a.gif")


def test_curves_have_steps_below_each_lowest_panel(tmp_path):
    plan = plan_study(find_study("misaligned"), seeds=1, only={"recipe": ["orca_progress"]})
    cells = plan.cells[:7]
    for cell in cells:
        write(tmp_path, cell)
    only = {"recipe": ["orca_progress"], "task": [cell.values["task"] for cell in cells]}
    runs = read_results(plan_study(find_study("misaligned"), seeds=1, only=only), tmp_path)
    figure = Figure()
    curves(figure, runs, make_table(runs), "normalised")
    shown = [axis.xaxis.get_tick_params()["labelbottom"] for axis in figure.axes if axis.get_visible()]
    assert shown == [False, False, True, True, True, True, True]


def test_a_table_says_what_columns_do_not_share(whole, tmp_path):
    runs = read_results(PLAN, whole)
    text = FORMATS["md"](make_table(runs))
    changed = "learning_rate 0.0003, gamma 0.95, action_penalty 0.01"
    assert f"| differs in | {changed} | - | - |" in text
    assert "Evaluation episodes a run: 10." in text
    for form in ("latex", "html"):
        assert "gamma 0.95" in FORMATS[form](make_table(runs))
    save_results(runs, tmp_path / "kept.json")
    assert load_results(tmp_path / "kept.json").differs == runs.differs
    two = read_results(plan_study(find_study("misaligned"), only={"recipe": ("orca_np", "ot")}), whole)
    assert two.differs == {}, "these share all but the reward"
    assert "differs in" not in FORMATS["md"](make_table(two))


def test_a_table_says_who_is_paid_by_more_than_pictures():
    """Whatever the others have: the paper's own values stand in the same table."""
    ours = find_study("misaligned")
    for recipes in (("orca_progress", "follow_posed"), ("follow_posed",)):
        study = replace(ours, axes={**ours.axes, "recipe": recipes, "task": ("push",)})
        said = differences(plan_study(study))
        assert said["follow_posed"].endswith("paid by true states, sees also relations progress missing")
        assert "paid by" not in said.get("orca_progress", "")
    guide = {"reward.guide": True, "reward.context": 1}
    guided = Study("mine", "", {"recipe": ("orca_progress",), "task": ("push",)}, settings=guide)
    assert differences(plan_study(guided)) == {"orca_progress": "sees also progress"}


def test_an_average_with_holes_has_no_error(whole):
    table = make_table(read_results(PLAN, whole))
    assert table.entries[AVERAGE, "orca"].error is not None
    cell = PLAN.cells[0]
    shutil.rmtree(CellFolder(whole, cell.key).path)
    entry = make_table(read_results(PLAN, whole)).entries[AVERAGE, cell.values["recipe"]]
    assert (entry.error, entry.missing) == (None, 1)


class TestSubstitutes:
    """What stands in for the paper's network is marked wherever its numbers are."""

    PLAN = plan_study(find_study("aligned"), seeds=1, only={"task": ["door-close"], "recipe": ["ot", "roboclip"]})
    WORDS = "I3D (Kinetics-400) in the place of S3D (HowTo100M)"

    @pytest.fixture
    def swept(self, tmp_path):
        for cell in self.PLAN.cells:
            write(tmp_path, cell, [3] * 10)
        return read_results(self.PLAN, tmp_path)

    @pytest.mark.parametrize("form", FORMATS)
    def test_in_every_format(self, swept, form):
        text = FORMATS[form](make_table(swept))
        assert self.WORDS in text
        if form == "csv":
            rows = {row["column"]: row for row in csv.DictReader(io.StringIO(text))}
            assert (rows["roboclip"]["substitute"], rows["ot"]["substitute"]) == (self.WORDS, "")
            assert rows["roboclip"]["paper_mean"] == "0.47" if rows["roboclip"]["row"] == "door-close" else True
        else:
            assert (r"RoboCLIP $\dagger$" if form == "latex" else "RoboCLIP †") in text

    def test_in_files_of_results_and_on_pages(self, swept, tmp_path):
        save_results(swept, tmp_path / "kept.json")
        assert load_results(tmp_path / "kept.json").substitutes == {"roboclip": self.WORDS}
        page = study_page(swept, tmp_path / "page.html")
        assert self.WORDS in page
        assert "RoboCLIP †" in page

    def test_tables_without_any_are_as_they_were(self, whole):
        table = make_table(read_results(PLAN, whole))
        assert not table.substitutes
        assert "substitute" not in FORMATS["csv"](table)
        assert "†" not in FORMATS["md"](table)
