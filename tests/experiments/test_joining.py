"""Results of one study from several places."""

import re
from dataclasses import replace

import pytest
from experiments.mixed_states import sweep_mixed

from orcalign.cli.table import table
from orcalign.experiments.results import read_results
from orcalign.experiments.results_file import join_results, load_results, save_results
from orcalign.experiments.table_formats import FORMATS
from orcalign.experiments.tables import make_table


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    out = tmp_path_factory.mktemp("mixed")
    return read_results(sweep_mixed(out), out)


def changed(runs, **what):
    """The same results, with something else in every run that is done."""
    cells = [cell if cell.result is None else replace(cell, result=replace(cell.result, **what)) for cell in runs.cells]
    return replace(runs, cells=tuple(cells))


def test_halves_are_the_whole(swept, tmp_path):
    """Whatever is done where, in whichever order, the table and its cells are those of one sweep."""
    orca = swept.narrowed({"recipe": ("orca_progress", "orca_np")})
    others = swept.narrowed({"recipe": ("temporal_ot", "ot", "dtw")})
    joined = join_results(orca, [others])
    assert joined.cells == swept.cells
    assert FORMATS["md"](make_table(replace(joined, only={}))) == FORMATS["md"](make_table(swept))
    assert {cell.values["recipe"] for cell in join_results(others, [orca]).cells} == set(swept.labels("recipe"))
    assert joined.only == {"recipe": ("orca_progress", "orca_np", "temporal_ot", "ot", "dtw")}
    save_results(others, tmp_path / "others.json")
    from_file = join_results(orca, [load_results(tmp_path / "others.json")])
    assert [cell.state for cell in from_file.cells] == [cell.state for cell in swept.cells]
    assert FORMATS["md"](make_table(from_file)) == FORMATS["md"](make_table(joined))


def test_what_is_done_anywhere_is_done(swept):
    nothing = replace(swept, cells=tuple(replace(cell, state="missing", result=None) for cell in swept.cells))
    for first, second in ((nothing, swept), (swept, nothing)):
        assert [cell.state == "done" for cell in join_results(first, [second]).cells] == [
            cell.state == "done" for cell in swept.cells
        ]
    assert join_results(swept, [swept]).cells == swept.cells, "the same numbers twice are no contradiction"


def test_seeds_come_in_their_order(swept):
    second = replace(
        swept,
        seeds=2,
        cells=tuple(replace(cell, values={**cell.values, "seed": "1"}) for cell in swept.cells),
    )
    for joined in (join_results(swept, [second]), join_results(second, [swept])):
        assert joined.seeds == 2
        assert [cell.values["seed"] for cell in joined.cells] == ["0", "1"] * len(swept.cells)
        assert [cell.values["recipe"] for cell in joined.cells[::2]] == list(swept.labels("recipe"))


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (lambda runs: replace(runs, steps=90), r"the number of steps of .*: 180, of .*: 90; only results of one"),
        (lambda runs: replace(runs, preset="paper"), "the preset of .*: laptop, of .*: paper"),
        (lambda runs: replace(runs, study=replace(runs.study, name="mine")), "the study of .*: tiny, of .*: mine"),
        (
            lambda runs: replace(runs, study=replace(runs.study, settings={"agent.hidden": 8})),
            "the settings of .*'agent.hidden': 8",
        ),
        (lambda runs: changed(runs, curve=[]), "orca_progress nav2d 0 is done in .* with other numbers; write one"),
    ],
)  # fmt: skip
def test_what_does_not_belong_together_is_refused(swept, other, why):
    with pytest.raises(ValueError, match=why):
        join_results(swept, [other(swept)])


def test_versions_are_not_mixed(swept):
    old = changed(swept.narrowed({"recipe": ("temporal_ot",)}), versions={"orcalign": "0.0.1"})
    with pytest.raises(ValueError, match=r"several versions of orcalign: .*0\.0\.1 in "):
        join_results(swept.narrowed({"recipe": ("orca_progress",)}), [old])


def test_the_command_joins_files(swept, tmp_path, capsys):
    names = [tmp_path / "a.json", tmp_path / "b.json"]
    for name, recipe in zip(names, ("orca_progress", "temporal_ot"), strict=True):
        save_results(swept.narrowed({"recipe": (recipe,)}), name)
    table(str(names[0]), join=(names[1],), results=tmp_path / "both.json")
    printed = capsys.readouterr().out
    assert re.search(r"\| *ORCA progress.*TemporalOT", printed)
    assert [cell.values["recipe"] for cell in load_results(tmp_path / "both.json").cells] == [
        "orca_progress",
        "temporal_ot",
    ]
    with pytest.raises(ValueError, match="leave out --format, --join and --results"):
        table("latency", join=(names[1],))
