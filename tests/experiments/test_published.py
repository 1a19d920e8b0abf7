"""The tables of the documents are the numbers of the files in results/, made again."""

import re
from pathlib import Path

import pytest

from orcalign.experiments.results_file import load_results
from orcalign.experiments.statistics import mean_and_error

ROOT = Path(__file__).parents[2]
FILES = ("quick-0.1", "misaligned-0.1", "misaligned-seed-1-0.1", "held-out-0.1", "progress-ablation-followed-0.1")


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


@pytest.fixture(scope="module")
def seeds():
    """Task → its returns by seed of `orca_progress` as it is: the last policy's, as a share of the expert's."""
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for name in FILES:
        for cell in load_results(ROOT / "results" / f"{name}.json").cells:
            values, result = cell.values, cell.result
            if (
                result is not None
                and values["recipe"] == "orca_progress"
                and values.get("variant", "") in ("", "as it is")
            ):
                found.setdefault(values["task"], {})[values["seed"]] = (result.score("normalised"), cell.steps)
    return found


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_what_is_reached_is_what_the_files_say(page, seeds):
    rows = rows_of(ROOT / page, "task")
    rows.pop("", None)
    assert len(rows) >= 10
    for task, (steps, count, mean, spread, *_) in rows.items():
        returns, budgets = zip(*seeds[task].values(), strict=True)
        value, error = mean_and_error(returns)
        assert (steps, count) == (f"{budgets[0]:,}", str(len(returns))), task
        assert set(budgets) == {budgets[0]}
        assert mean == (f"{value:.2f}" if error is None else f"{value:.2f} ({error:.2f})"), task
        assert spread == ("" if error is None else f"{min(returns):.2f} to {max(returns):.2f}"), task


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
