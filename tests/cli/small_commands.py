"""The commands on nav2d with tiny networks: episodes of 30 steps, runs of a second."""

import pytest

from orcalign.cli import main
from orcalign.training import RunFolder

TINY = [
    "--hidden=16", "--batch=16", "--learning-starts=60", "--random-steps=60", "--updates-per-step=0.5",
    "--relabel-every=2", "--eval-every=90", "--eval-episodes=2", "--eval-shown=1", "--device=cpu",
]  # fmt: skip


def train(out, *words, steps=180, workers=0):
    """Episodes of 30 steps; the folder of the run."""
    given = ["--steps", steps, "--workers", workers, "--out", out, *words]
    main(["train", *TINY, *(str(word) for word in given)])
    return RunFolder(out)


def refused(capsys, *words):
    """The one line with which the command ends."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit_info:
        main([str(word) for word in words])
    assert exit_info.value.code == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("orcalign: "), error
    assert len(error.splitlines()) == 1, error
    return error


def last_words(capsys, *words):
    """As `refused`, where a line about the run may come before the error."""
    with pytest.raises(SystemExit) as exit_info:
        main([str(word) for word in words])
    assert exit_info.value.code == 2
    *_, error = capsys.readouterr().err.strip().splitlines()
    assert error.startswith("orcalign: ")
    return error


def two_stages(out):
    """A run with everything that can change in it, played by a collector process.

    With this seed the first policy does not push into a wall, where all episodes would look the same.
    """
    changes = ("--matcher", "orca", "--pretrain", "temporal_ot", "--temperature", "1.0:0.3", "--demos", 2)
    return train(out, "--task", "nav2d", "--seed", 3, *changes, workers=1)
