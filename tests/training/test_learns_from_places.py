"""The recipe `follow` as it ships: worlds are learned from one video, and from entities that are found."""

import runpy
from pathlib import Path

import pytest

from orcalign import config
from orcalign.training import Training, start_run
from orcalign.video import write_mp4

STEPS = 10_000
EXAMPLE = Path(__file__).parents[2] / "examples" / "record_fetch.py"


def last_evaluation(folder, task, **settings):
    given = {"steps": STEPS, "evaluation.eval_every": STEPS, "evaluation.eval_shown": 0, **settings}
    training = Training(start_run(config(task, recipe="follow", settings=given), folder), 1, "cpu")
    try:
        assert training.go()
    finally:
        training.close()
    *_, last = training.run.records("evaluation")
    assert last["episodes"] == 50
    return last


@pytest.mark.slow
def test_fetch_reaches_from_one_mp4(tmp_path):
    example = runpy.run_path(str(EXAMPLE))
    frames, success = example["film"]("fetch-reach", 0)
    assert success
    write_mp4(tmp_path / "reach.mp4", frames, fps=25)
    video = {"demo.demo": [str(tmp_path / "reach.mp4")]}
    last = last_evaluation(tmp_path / "run", example["TASKS"]["fetch-reach"], **video)
    assert last["success_rate"] >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("task", ["nav2d", "nav2d-order"])
def test_navigation_is_learned(tmp_path, task):
    assert last_evaluation(tmp_path / "run", task)["success_rate"] >= 0.9
