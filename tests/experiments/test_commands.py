"""The commands: what they print, and how they end."""

import io

import pytest
from experiments.tiny_studies import plan_tiny, sweep_here
from rich.console import Console

from orcalign.cli.lists import matchers, recipes, studies
from orcalign.cli.sweep import sweep
from orcalign.cli.table import Swept, plot, table
from orcalign.experiments.cells import CellFolder
from orcalign.experiments.live import SweepView
from orcalign.experiments.study import STUDIES
from orcalign.experiments.sweep import read_progress
from orcalign.matching import MATCHERS
from orcalign.training.presets import RECIPES

YAML = """
axes: {recipe: [temporal_ot, orca], task: [nav2d]}
steps: 180
settings: {agent.hidden: 16, agent.batch: 16, evaluation.eval_every: 90, evaluation.eval_episodes: 2}
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(YAML)
    return str(path), tmp_path / "out"


def test_studies_are_listed(capsys):
    studies()
    printed = capsys.readouterr().out
    for name in STUDIES:
        assert name in printed


def test_recipes_and_matchers_are_listed(capsys):
    for command, known in ((recipes, RECIPES), (matchers, MATCHERS)):
        command()
        printed = capsys.readouterr().out
        assert [name for name in known if name not in printed] == []


def test_from_plan_to_table(study, capsys):
    name, out = study
    sweep(name, out=out, dry_run=True)
    printed = capsys.readouterr().out
    assert "0 of 2 runs done, 2 to do: 360 agent steps" in printed
    assert not out.exists()
    sweep(name, out=out, workers=0, only=("recipe=temporal_ot",))
    capsys.readouterr()
    sweep(name, out=out, dry_run=True)
    assert "1 of 2 runs done, 1 to do: 180 agent steps" in capsys.readouterr().out
    table(name, swept=Swept(out=out), metric="coverage")
    printed = capsys.readouterr().out
    assert "180 agent steps, 1 seed; 1 of 2 runs are done" in printed
    table(name, swept=Swept(out=out), format="html", save=out / "table.html")
    assert "TemporalOT" in (out / "table.html").read_text()
    plot(name, swept=Swept(out=out), kind=("bars",), ending="svg")
    assert (out / "mine-bars.svg").is_file()
    assert "open " in capsys.readouterr().out


def test_a_failure_ends_with_code_1(study, capsys):
    name, out = study
    with open(name, "a") as file:
        file.write("seeds: 1\n")
    bad = name.replace("mine", "bad")
    with open(bad, "w") as file:
        file.write(YAML.replace("[nav2d]", "[nav2d-grid]"))
    with pytest.raises(SystemExit) as ended:
        sweep(bad, out=out, workers=0, retries=0)
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert "the actions are Discrete" in printed.err
    assert "log.txt" in printed.err
    assert "0 of 2 runs done, 0 to do, 2 failed" in printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"study": "misalinged"}, "did you mean 'misaligned'?"),
        ({"study": "misaligned", "only": ("tusk=push",)}, "axis is 'tusk'; did you mean 'task'?"),
        ({"study": "misaligned", "only": ("task=pusch",)}, "task is 'pusch'; did you mean 'push'?"),
        ({"study": "misaligned", "jobs": 0}, "jobs is 0"),
        ({"study": "misaligned", "steps": 0}, "steps is 0"),
    ],
)
def test_bad_input_is_one_sentence(words, message, tmp_path):
    words = dict(words)
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        sweep(words.pop("study"), out=tmp_path, **words)


def test_a_table_of_latency_that_was_not_measured(tmp_path):
    with pytest.raises(FileNotFoundError, match="measure first: orcalign sweep latency"):
        table("latency", swept=Swept(out=tmp_path))
    with pytest.raises(ValueError, match="has a table only"):
        plot("latency")


def test_the_live_table_shows_what_runs(tmp_path):
    plan = plan_tiny(recipes=("orca", "temporal_ot"))
    progress = read_progress(plan, tmp_path)
    first = next(iter(plan.jobs))
    progress.running[first] = 0.0
    progress.failed[plan.cells[1].key] = "broken"
    run = CellFolder(tmp_path, first).run
    run.mkdir(parents=True)
    (run / "metrics.jsonl").write_text('{"step": 30}\n{"step": 60}\n{"st')
    console = Console(force_terminal=True, width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file, SweepView(console) as view:
        view(progress)
        text = console.export_text()
    assert "60/180" in text
    assert "0 of 2 runs done, 1 to do, 1 failed" in text


def test_a_log_says_now_and_then_how_far_it_is(tmp_path):
    """At a pace that leaves out what a run had done before the sweep took it up again."""
    plan = plan_tiny(recipes=("orca", "temporal_ot"))
    progress = read_progress(plan, tmp_path)
    first = next(iter(plan.jobs))
    metrics = CellFolder(tmp_path, first).run / "metrics.jsonl"
    metrics.parent.mkdir(parents=True)
    seconds, log = [0.0], io.StringIO()
    with SweepView(Console(file=log), clock=lambda: seconds[0]) as view:
        view(progress)
        progress.running[first] = 0.0
        for now, steps in ((1.0, 30), (119.0, 55), (121.0, 60), (130.0, 70)):
            seconds[0] = now
            metrics.write_text(f'{{"step": {steps}}}\n')
            view(progress)
    begin, line = log.getvalue().splitlines()
    assert begin == "0 of 2 runs done, 2 to do"
    # 30 steps in 121 seconds, and all but 60 are left.
    left = 2 * 180 - 60
    assert line.endswith(
        f"  60/180; 0 of 2 runs done, 2 to do, 0.25 steps/s, about {left * 121 / 30 / 60:.0f} min left"
    )


def test_a_second_sweep_of_more_seeds_keeps_the_first(tmp_path):
    assert sweep_here(plan_tiny(recipes=("ot",)), tmp_path).complete
    plan = plan_tiny(recipes=("ot",), seeds=2)
    assert len(read_progress(plan, tmp_path).done) == 1
