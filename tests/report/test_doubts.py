"""What a page says against its run."""

from pathlib import Path

import pytest

from orcalign.report.training_run.doubts import doubts
from orcalign.report.training_run.reading import RunRecords


def said(first, last):
    return doubts(RunRecords(Path("run"), {}, "", {}, (), (first, last), (), 0))


def evaluation(progress, own, reached=0.5, coverage=0.5, spread=0.0):
    returns = [own - spread, own + spread]
    return {
        "progress": progress, "reached": reached, "coverage": coverage, "env_return": own, "env_returns": returns
    }  # fmt: skip


def test_who_leaves_again():
    assert said(evaluation(0, 0), evaluation(0.8, 0, 0.6, 0.5)) == ""
    text = said(evaluation(0, 0), evaluation(0.81, 0, 0.6, 0.1))
    assert text.startswith(" It arrives and leaves again: the end of the video is covered to 0.60, and in the last")
    assert said(evaluation(0, 0), evaluation(0.1, 0, 0.1, 0.0)) == "", "who has not arrived cannot leave"


@pytest.mark.parametrize(("before", "after", "spread"), [(-10, -9, 0), (-10, -10.5, 0), (-10, -30, 25)])
def test_a_return_that_does_not_fall(before, after, spread):
    assert said(evaluation(0, before, spread=spread), evaluation(0.8, after)) == ""


def test_a_return_that_falls_while_progress_rises():
    text = said(evaluation(0.1, -10, spread=3), evaluation(0.8, -30))
    assert "progress rose from 0.10 to 0.80, and the environment's own return fell from -10 to -30" in text
    assert said(evaluation(0.8, -10), evaluation(0.1, -30)) == ""
