"""What is said of a reward after a few random episodes."""

import numpy as np
from training.small_runs import run_to_end, small_config

from orcalign.rewards import Evidence, Reward
from orcalign.training.signal import signal


class Told(Reward):
    """Pays what the evidence says."""

    remedy = "do something"

    def observe(self, rollout):
        return {}

    def pay(self, episodes):
        return [one["paid"] for one in episodes]

    def follow(self, evidence):
        return {"progress": float(evidence["progress"][0])} if "progress" in evidence.arrays else {}

    def describe(self):
        return {"kind": "told"}


def said(paid, progress=None):
    arrays = [{"paid": np.array([value])} for value in paid]
    if progress is not None:
        arrays = [{**one, "progress": np.array([value])} for one, value in zip(arrays, progress, strict=True)]
    return signal(Told(), [Evidence(1, one) for one in arrays])


def test_no_progress_is_no_signal():
    text = said([1e-9, 3e-9], [1e-7, 5e-7])
    assert text == (
        "the reward tells nothing apart: of 2 random episodes the best comes to a progress of 5e-07, so that nothing "
        "is learned from it; do something"
    )


def test_the_same_for_all_is_no_signal():
    assert said([-5.0, -5.01, -4.99]).startswith("the reward tells nothing apart: 3 random episodes are paid the same")
    assert said([0.0, 0.0]).startswith("the reward tells nothing apart")


def test_what_tells_apart_says_how():
    assert said([-5.0, -4.0]) == "the reward tells 2 random episodes apart: they are paid -5 to -4"
    assert said([0.1, 2.0], [0.02, 0.3]).endswith("they are paid 0.1 to 2, progress up to 0.30")


def test_a_run_says_it_once(tmp_path):
    run = run_to_end(tmp_path / "run", small_config())
    notes = [(one["step"], one["text"]) for one in run.records("note") if "apart" in one["text"]]
    assert [step for step, _ in notes] == [300]
    assert notes[0][1].startswith("the reward tells 10 random episodes apart")
