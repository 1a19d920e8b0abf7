"""`report`, `table` and `plot` of a study and of a file of results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.small_commands import refused

from orcalign.cli import main

YAML = """
axes: {recipe: [temporal_ot, orca_np], task: [nav2d]}
steps: 90
settings: {agent.hidden: 16, agent.batch: 16, evaluation.eval_every: 90, evaluation.eval_episodes: 2}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(YAML)
    return tmp_path


def test_from_a_sweep_to_a_file_and_back(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["sweep", "mine.yaml", "--workers", "0", "--only", "recipe=temporal_ot"])
    capsys.readouterr()
    main(["report", "mine.yaml"])
    assert capsys.readouterr().out.strip() == "open runs/mine/mine.html"
    page = Path("runs/mine/mine.html").read_text()
    assert "1 of 2 runs are done; 1 missing" in page
    assert "orcalign sweep mine.yaml --preset laptop --steps 90 --seeds 1" in page
    main(["table", "mine.yaml", "--results", "results/mine.json"])
    before = capsys.readouterr()
    assert before.err.strip() == "results: results/mine.json"
    main(["table", "results/mine.json"])
    assert capsys.readouterr().out == before.out
    main(["plot", "results/mine.json", "--kind", "bars", "--ending", "svg"])
    main(["report", "results/mine.json"])
    assert capsys.readouterr().out.split() == ["open", "results/mine-bars.svg", "open", "results/mine.html"]
    assert "made from a file of results" in Path("results/mine.html").read_text()
    main(["report", "results/mine.json", "--only", "recipe=temporal_ot", "--save", "part.html"])
    assert "1 of 1 runs are done" in Path("part.html").read_text()
    assert "leave out --steps" in refused(capsys, "table", "results/mine.json", "--steps", 3)
    assert "leave out --out" in refused(capsys, "report", "results/mine.json", "--out", "runs/mine")
    run = next(Path("runs/mine/cells").glob("*/run"))
    assert "is a run, and --seeds is for studies" in refused(capsys, "report", run, "--seeds", 2)
    main(["report", str(run)])
    main(["report", "mine.yaml"])
    assert f"cells/{run.parent.name}/run/report.html" in Path("runs/mine/mine.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "quik"), "'quik' is neither the folder of a run nor a study; did you mean 'quick'?"),
        (("report", "latency"), "the study 'latency' has a table only: orcalign table latency"),
        (("report", "none.json"), "none.json: No such file or directory"),
        (("report", "none.yaml"), "none.yaml: No such file or directory"),
        (("report", "empty.json"), "'empty.json' is empty; results are written by: orcalign table STUDY"),
        (("table", "empty.json"), "'empty.json' is empty"),
        (("plot", "empty.json"), "'empty.json' is empty"),
        (("report", "other.json"), "'other.json' holds no results of a study"),
        (("report", "quick", "--metric", "retrun"), "metric is 'retrun'; did you mean 'return'?"),
        (("report", "quick", "--only", "task=push"), "task is 'push'; Known: door-close, button-press, window-open"),
        (("table", "quick", "--results", "a.csv"), "--results is 'a.csv'; it is JSON"),
        (("table", "quick", "--results", "a.json"), "none of the 12 runs of study 'quick' is done in 'runs/quick'"),
        (("table", "latency", "--results", "a.json"), "the latency table comes as md only"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    Path("empty.json").write_text("")
    Path("other.json").write_text(json.dumps({"format": 1, "study": "quick"}))
    assert message in refused(capsys, *words)
    assert not Path("a.json").exists()
