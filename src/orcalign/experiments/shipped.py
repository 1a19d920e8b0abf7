"""The studies that ship: one for each table and figure of the paper that holds results, and our own."""

from __future__ import annotations

from pathlib import Path

from orcalign.checks import require
from orcalign.envs import PAPER_TASKS
from orcalign.experiments.methods import ABLATION, MAIN_METHODS
from orcalign.experiments.study import LAPTOP, PAPER, Budget, Study

THREE = ("door-open", "window-open", "lever-pull")
"""The tasks of the paper's closer looks."""
FIVE = ("button-press", "door-close", *THREE)
QUICK = ("door-close", "button-press", "window-open")
"""Those that a laptop learns soonest."""
ENCODERS_HERE = ("efficientnet-lite0", "resnet18")
"""Those whose weights need no model hub."""

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        Study(
            "misaligned",
            "one misaligned video, ten tasks, every method",
            # Methods first: a sweep that is stopped early has whole columns.
            {"method": MAIN_METHODS, "task": PAPER_TASKS},
            source="Table 1, Figure 13",
        ),
        Study(
            "quick",
            "one misaligned video, three tasks, four methods: a small part of the main study",
            {"method": ("orca_progress", "orca", "orca_np", "temporal_ot"), "task": QUICK},
            source="Table 1, in part",
            budgets={"laptop": Budget(40_000), "paper": PAPER},
            paper="misaligned",
        ),
        Study(
            "aligned",
            "one video at the learner's own speed, ten tasks, every method",
            {"method": MAIN_METHODS, "task": PAPER_TASKS, "demo_kind": ("aligned",)},
            source="Figure 5, Table 5, Figure 16",
        ),
        Study(
            "varying-misalignment",
            "demos sped up or slowed down at random, a little or a lot",
            {
                "method": ("orca_progress", "orca", "temporal_ot"),
                "demo_kind": ("fast-low", "fast-high", "slow-low", "slow-high"),
                "task": THREE,
                "demo_number": ("0", "1", "2"),
            },
            rows="demo_kind",
            source="Figure 4",
        ),
        Study(
            "number-of-demos",
            "1 to 20 demos of the same speed, and 4 of different speeds",
            {
                "method": ("orca_progress", "orca", "temporal_ot"),
                "demos": ("1", "2", "4", "8", "10", "20", "4-mixed"),
                "task": THREE,
            },
            rows="demos",
            source="Figure 6",
        ),
        Study(
            "pretraining",
            "ORCA after TemporalOT, and ORCA alone",
            {
                "demo_kind": ("misaligned", "aligned"),
                "method": ("orca", "orca_np", "temporal_ot"),
                "task": PAPER_TASKS,
            },
            rows="demo_kind",
            source="Section 5.5, Tables 1 and 5",
        ),
        Study(
            "encoders",
            "the same reward through other eyes",
            {"encoder": ENCODERS_HERE, "method": ("orca",), "task": THREE},
            columns="encoder",
            source="Table 7",
            budgets={
                "laptop": LAPTOP,
                "paper": Budget(PAPER.steps, PAPER.seeds, {"encoder": ("resnet50", "liv", "dinov2-large")}),
            },
        ),
        Study(
            "image-policy",
            "policies that see states, and policies that see pictures",
            {"policy_input": ("states", "pixels"), "method": ("orca", "temporal_ot"), "task": FIVE},
            columns="method+policy_input",
            source="Table 8",
        ),
        Study(
            "latency",
            "time to compute the reward of a rollout of 100 and of 300 frames",
            {},
            source="Table 9",
            kind="latency",
        ),
        Study(
            "temperature",
            "how strict ORCA is",
            {"temperature": ("0.1", "0.25", "0.5", "1.0", "2.0"), "method": ("orca_np",), "task": THREE},
            columns="temperature",
        ),
        Study(
            "floor",
            "the distance below which ORCA takes a frame as reached",
            {"floor": ("0.0", "0.02", "0.05", "0.1"), "method": ("orca_np",), "task": THREE},
            columns="floor",
        ),
        Study(
            "context",
            "over how many frames distances are averaged",
            {"context": ("1", "3", "5"), "method": ("orca_progress", "orca_np"), "task": THREE},
            columns="method+context",
        ),
        Study(
            "progress-ablation",
            "orca_progress with one of its parts changed",
            {"method": ABLATION, "task": PAPER_TASKS},
        ),
    )
}


def find_study(name: str) -> Study:
    """The study of that name, or in that YAML file.

    >>> find_study("misalinged")
    Traceback (most recent call last):
    ...
    ValueError: study is 'misalinged'; did you mean 'misaligned'? Known: misaligned, quick, ...
    """
    if name.endswith((".yaml", ".yml")):
        from orcalign.experiments.study import read_study

        return read_study(Path(name))
    require("study", name, tuple(STUDIES))
    return STUDIES[name]
