"""The tables of the documents are the numbers of the files in results/, made again."""

import re
from pathlib import Path

import pytest

from orcalign.experiments.results import Result
from orcalign.experiments.results_file import load_results
from orcalign.experiments.statistics import mean_and_error
from orcalign.experiments.tables import paper_table

ROOT = Path(__file__).parents[2]


def rows_of(page, first):
    """Cells of the rows of a page's table whose first column has that name, by the first of them without its marks."""
    lines = page.read_text().splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = {}
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[re.sub(r"\*.*?\*", "", name).strip()] = cells
    return rows


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_what_is_reached_is_what_the_file_says(page):
    done: dict[str, list[tuple[int, Result]]] = {}
    for cell in load_results(ROOT / "results" / "follow-0.2.json").cells:
        if cell.result is not None and cell.values["recipe"] == "follow_posed":
            done.setdefault(cell.values["task"], []).append((cell.steps, cell.result))
    rows = rows_of(ROOT / page, "task")
    rows.pop("", None)
    assert set(rows) == set(done)
    paper = paper_table("misaligned").values
    for task, (steps, count, told, success, published) in rows.items():
        budgets, results = zip(*done[task], strict=True)
        assert {steps} == {f"{one:,}" for one in budgets}, task
        assert count == str(len(results)), task
        value, error = mean_and_error([one.score("normalised") for one in results])
        assert told == (f"{value:.2f}" if error is None else f"{value:.2f} ({error:.2f})"), task
        assert success == f"{sum(one.score('success_rate') for one in results) / len(results):.0%}", task
        assert published == f"{max(paper[task][name][0] for name in ('orca', 'orca_np')):.2f}", task


def test_the_small_encoder_and_the_large_one_are_as_their_file_says():
    runs = load_results(ROOT / "results" / "encoder-ranking-0.2.json")
    done = {}
    for values, result in ((cell.values, cell.result) for cell in runs.cells):
        if result is not None:
            eye = f"{values['task']}, {values['encoder.encoder']}"
            done[eye, values["recipe"]] = round(result.score("normalised"), 2)
    page = (ROOT / "docs" / "fidelity.md").read_text().split("### Does the small encoder change the ranking?")[1]
    header = next(line for line in page.splitlines() if line.startswith("| | `"))
    recipes = re.findall(r"`(\w+)`", header)
    shown = {}
    for line in page.split("\n## ")[0].splitlines():
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        name = name.replace("EfficientNet-Lite0", "efficientnet-lite0").replace("ResNet50 (Keras)", "resnet50-keras")
        if line.startswith("|") and ", " in name:
            shown |= {(name, recipe): float(cell) for recipe, cell in zip(recipes, cells, strict=True) if cell != "-"}
    assert shown == done
    assert f"{len(done)} of its {len(runs.cells)} runs" in page
