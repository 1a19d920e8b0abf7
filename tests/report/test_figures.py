"""The paper's qualitative figures: what films show, what is drawn of them, what is said where that cannot be."""

import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from cli.small_commands import refused
from PIL import Image
from report.run_folders import OWN, kept, make_run, trained

from orcalign.cli import main
from orcalign.matching import context, dtw, orca, ot, temporal_ot
from orcalign.report.figures import FIGURES, find_figure, make_figure
from orcalign.report.figures.drawing import draw_figure, moving_part, shades, verdict
from orcalign.report.figures.pairs import matched_pairs, order_breaks
from orcalign.report.figures.scene import from_films, from_runs
from orcalign.training.run_folder import run_reward

FILMED = [name for name, spec in FIGURES.items() if not (spec.draws or spec.plays)]
FILMS = Path(__import__("orcalign").__file__).parent / "report" / "figures" / "films"


def stored(name):
    """Costs with context, as a figure's matchers see them, without the code that reads films."""
    with np.load(FILMS / name / "costs.npz", allow_pickle=False) as arrays:
        return [context(arrays[f"cost_{k}"].astype(float), 3) for k in range(len(arrays.files) // 2)]


def paid(matcher, cost, **settings):
    return matcher(cost, **settings).reward.sum()


@pytest.mark.parametrize("name", FILMED)
def test_a_figure_is_a_small_png_and_a_valid_svg(name, tmp_path):
    png, svg = make_figure(name, out=tmp_path / "new")
    assert [png.name, svg.name] == [f"{name}.png", f"{name}.svg"]
    with Image.open(png) as picture:
        assert picture.width == 1200
    assert png.stat().st_size < 200_000
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    text = svg.read_text()
    for word in (*(method.label for method in FIGURES[name].methods), *(one.name for one in from_films(name).agents)):
        assert f"<!-- {word}" in text, word


def test_a_figure_is_the_same_every_time(tmp_path):
    one, other = (make_figure("order", out=tmp_path / folder) for folder in "ab")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


@pytest.mark.parametrize("name", FILMED)
def test_the_films_show_what_the_figure_is_about(name):
    scene = from_films(name)
    assert not scene.failed_claims(FIGURES[name])
    *failing, able = scene.agents
    assert able.success[-1]
    assert not any(agent.success.any() for agent in failing)
    assert all(len(agent.frames) == len(agent.success) for agent in scene.agents)


def test_a_claim_that_does_not_hold_is_told():
    spec = FIGURES["slow-agent"]
    wrong = replace(spec, claims=((0, 1, 0),))
    assert from_films("slow-agent").failed_claims(wrong) == [
        "TemporalOT does not pay 'opens the door' more than 'slow'"
    ]
    assert from_films("slow-agent").failed_claims(spec, margin=0.9)


def test_temporal_ot_pays_the_slow_agent_more_and_orca_the_other():
    slow, opens = stored("slow-agent")
    assert paid(temporal_ot, slow) > paid(temporal_ot, opens)
    assert paid(orca, opens) > 2 * paid(orca, slow)
    # Its plan is the diagonal for both: it says when a subgoal has to be reached, however fast the agent is.
    t, j = matched_pairs(temporal_ot(opens)).T
    assert np.corrcoef(t, j)[0, 1] > 0.95


def test_ot_and_a_wide_window_pay_the_wrong_order_more():
    wrong, right = stored("order")
    assert paid(ot, wrong) > paid(ot, right)
    assert paid(temporal_ot, wrong, window=10) > paid(temporal_ot, right, window=10)
    assert paid(temporal_ot, wrong, window=2) < paid(temporal_ot, right, window=2)
    assert paid(orca, wrong) < paid(orca, right)


def test_how_often_each_breaks_the_order():
    wrong, right = stored("order")
    broken = [
        order_breaks(matched_pairs(match)).sum()
        for match in (ot(wrong), temporal_ot(wrong, window=10), temporal_ot(wrong, window=2), orca(wrong), orca(right))
    ]
    assert broken[0] > broken[1] > broken[2] > broken[3] == broken[4] == 0


def test_dtw_pays_the_agent_that_stays_more_and_leaves_it_at_one_frame():
    stays, pulls = stored("subgoal")
    assert paid(dtw, stays) > paid(dtw, pulls)
    assert paid(orca, pulls) > 1.5 * paid(orca, stays)
    counts = np.bincount(matched_pairs(dtw(stays))[:, 1])
    assert counts.max() > len(stays) / 2
    assert counts.argmax() < stays.shape[1] / 2


def test_without_pretraining_orca_leads_away_from_the_stick():
    rushes, slow, pushes = stored("pretraining")
    assert paid(temporal_ot, slow) > paid(temporal_ot, rushes)
    assert paid(orca, slow) < paid(orca, rushes) < paid(orca, pushes)


def test_what_is_drawn_is_what_the_matchers_give():
    spec, costs = FIGURES["slow-agent"], stored("slow-agent")
    figure = draw_figure(spec, from_films(spec.name))
    bars = [bar.get_width() for axis in figure.axes for bar in axis.patches]
    assert bars == pytest.approx([paid(matcher, cost) for matcher in (temporal_ot, orca) for cost in costs])
    lines = [line.get_ydata() for axis in figure.axes for line in axis.lines if line.get_linewidth() == 2]
    for line, (matcher, cost) in zip(lines, [(m, c) for m in (temporal_ot, orca) for c in costs], strict=True):
        assert np.array_equal(line, matcher(cost).reward)
    pictures = [axis.images[0].get_array() for axis in figure.axes if axis.images and axis.images[0].origin != "upper"]
    assert np.array_equal(pictures[1].filled(np.nan), orca(costs[0]).assignment.T)
    told = [axis.get_xlabel() for axis in figure.axes]
    assert "✘ pays “slow” most" in told
    assert "✔ pays “opens the door” most" in told


def test_films_show_the_frames_with_success_marked():
    scene = from_films("slow-agent")
    figure = draw_figure(FIGURES["slow-agent"], scene)
    part = moving_part([scene.demo, *(agent.frames for agent in scene.agents)])
    films = [axis for axis in figure.axes if axis.images and axis.images[0].origin == "upper"]
    assert len(films) == 3 * 9
    able = scene.agents[1]
    for axis, t in zip(films[18:], np.round(np.linspace(0, 62, 9)).astype(int), strict=True):
        assert abs(int(axis.get_xlabel().split()[0]) - t) <= 1
        shown = int(axis.get_xlabel().split()[0])
        assert np.array_equal(axis.images[0].get_array(), able.frames[shown][part])
        assert ("✔" in axis.get_xlabel()) == able.success[shown]


def test_a_plan_is_shaded_by_learner_frame_and_empty_off_its_band():
    match = temporal_ot(stored("order")[0])
    shaded = shades(match)
    assert np.array_equal(np.isnan(shaded), match.assignment == 0)
    assert np.allclose(np.nanmax(shaded, axis=1), 1)
    assert np.array_equal(np.nanargmax(shaded, axis=1), match.assignment.argmax(axis=1))


def test_verdicts_are_of_who_succeeds():
    agents = from_films("slow-agent").agents
    (method, orca_method), nobody = FIGURES["slow-agent"].methods, replace(agents[1], success=np.zeros(63, bool))
    assert verdict(agents, method) == ("pays “slow” most", False)
    assert verdict(agents, orca_method) == ("pays “opens the door” most", True)
    assert verdict([agents[0], nobody], method) == ("pays “slow” most; nobody succeeds", None)
    three = from_films("pretraining").agents
    assert verdict(three, orca_method, of_failing=True) == ("of the failing, pays “pushes, no stick” most", None)
    assert verdict(three, method, of_failing=True) == ("of the failing, pays “slow, tries each” most", None)


def test_films_are_small():
    assert sum(path.stat().st_size for path in FILMS.rglob("*") if path.is_file()) < 1_000_000
    assert {path.name for path in FILMS.iterdir()} == set(FILMED)


# Runs of nav2d, where training takes a second; figures are of other tasks, and only the command says so.


def test_agents_of_runs_are_paid_by_the_costs_of_their_runs():
    runs = [trained(reward__matcher="temporal_ot"), trained()]
    scene = from_runs(runs, "nav2d")
    assert [agent.name for agent in scene.agents] == ["temporal_ot agent", "orca agent"]
    for run, agent, method in zip(runs, scene.agents, FIGURES["slow-agent"].methods, strict=True):
        step, evidence, success = kept(run)[0]
        reward = run_reward(run)
        assert np.array_equal(agent.success, success)
        assert f"step {step:,}" in agent.what
        assert np.allclose(agent.match(method).reward, reward.explain(evidence).match.matches[0].reward)
    assert draw_figure(FIGURES["order"], scene).axes


def test_runs_of_one_recipe_are_told_apart_by_their_folders(tmp_path):
    runs = [make_run(tmp_path / name) for name in ("seed-0", "seed-1")]
    assert [agent.name for agent in from_runs(runs, "nav2d").agents] == ["orca agent, seed-0", "orca agent, seed-1"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"demo__demo_kind": "aligned"}, "follows another demo than"),
        ({"reward__context": 1}, r"sees frames in another way than .* \(context 1, not 3\)"),
        (OWN, "is not rewarded by a video"),
    ],
)
def test_runs_that_cannot_be_compared(settings, told):
    with pytest.raises(ValueError, match=told):
        from_runs([trained(), trained(**settings)], "nav2d")


def test_a_run_without_films_says_how_to_keep_them(tmp_path):
    with pytest.raises(ValueError, match=r"has kept no film of episode 0 of an evaluation; .* larger --eval-shown"):
        from_runs([make_run(tmp_path / "run", videos=False)], "nav2d")


def test_figures_have_names():
    with pytest.raises(ValueError, match="no figure is called 'pretrainign'; did you mean 'pretraining'"):
        find_figure("pretrainign")


# The command.


def test_the_command_lists_the_figures(capsys):
    main(["figure"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(FIGURES)
    assert all(spec.source in line for spec, line in zip(FIGURES.values(), lines[1:], strict=True))


def test_the_command_draws_one(tmp_path, capsys):
    main(["figure", "subgoal", "--out", str(tmp_path)])
    assert capsys.readouterr().out == f"open {tmp_path / 'subgoal.png'} or {tmp_path / 'subgoal.svg'}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["subgoal.png", "subgoal.svg"]


@pytest.fixture(scope="module")
def door_open(tmp_path_factory):
    """Two runs of two episodes, as short as they can be."""
    folder = tmp_path_factory.mktemp("runs")
    for recipe in ("temporal_ot", "orca_np"):
        main([
            "train", "--task=door-open", f"--recipe={recipe}", "--steps=126", "--hidden=16", "--batch=16",
            "--learning-starts=63", "--random-steps=63", "--eval-every=126", "--eval-episodes=1", "--eval-choosing=0",
            "--eval-shown=1", "--encoder=pixels", "--workers=0", "--device=cpu", f"--out={folder / recipe}",
        ])  # fmt: skip
    return folder


def test_the_command_draws_from_runs(door_open, tmp_path, capsys):
    runs = [str(door_open / recipe) for recipe in ("temporal_ot", "orca_np")]
    main(["figure", "slow-agent", "--runs", *runs, "--out", str(tmp_path)])
    text = (tmp_path / "slow-agent.svg").read_text()
    for word in ("TemporalOT agent", "ORCA (NP) agent", "pixels"):
        assert word in text
    assert "scripted" not in text


def test_what_cannot_be_drawn_is_said_in_one_line(door_open, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = door_open / "orca_np"
    assert "did you mean 'slow-agent'? Known: slow-agent, order," in refused(capsys, "figure", "slow-agnt")
    assert "this figure is about stick-push" in refused(capsys, "figure", "order", "--runs", run)
    assert "no figure to draw" in refused(capsys, "figure", "--runs", run)
    assert "'nowhere' is not a run" in refused(capsys, "figure", "slow-agent", "--runs", "nowhere")
    bare = shutil.copytree(run, tmp_path / "bare", ignore=shutil.ignore_patterns("videos"))
    assert "has kept no film of episode 0" in refused(capsys, "figure", "slow-agent", "--runs", bare)
    shutil.rmtree(bare)
    assert not list(tmp_path.iterdir())
