"""Which episode is which: seeds of training, evaluation and demos never meet.

A seed fixes everything random in an episode (objects, goal, start), so a policy is never evaluated on an episode that
it was trained on or that its demo shows.
"""

from __future__ import annotations

import operator

import numpy as np

TRAIN_RANGE = range(0, 2**30)
EVAL_RANGE = range(2**30, 2**30 + 2**29)
DEMO_RANGE = range(2**30 + 2**29, 2**31)


def _count(name: str, value: int, below: int) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = -1
    if not 0 <= whole < below:
        raise ValueError(f"{name} is {value!r}; it must be a whole number from 0 to {below - 1}.")
    return whole


def train_seed(index: int, run: int = 0) -> int:
    """Seed of the training episode `index` of the run with seed `run`; runs see different episodes.

    >>> train_seed(0), train_seed(1), train_seed(0, run=1)
    (821328062, 743699524, 761762303)
    """
    index, run = _count("index", index, 2**62), _count("run", run, 2**62)
    return int(np.random.SeedSequence([run, index]).generate_state(1)[0]) % len(TRAIN_RANGE)


def eval_seed(index: int) -> int:
    """Seed of the evaluation episode `index`; the same for all runs, so that their scores compare.

    >>> eval_seed(3) in EVAL_RANGE
    True
    """
    return EVAL_RANGE[_count("index", index, len(EVAL_RANGE))]


def choosing_seed(index: int) -> int:
    """Seed of the episode `index` by which a checkpoint is chosen; they count down from the end of the range, so that
    what is chosen is not reported on the episodes that it was chosen by.

    >>> eval_seed(10) < choosing_seed(9) < choosing_seed(0), choosing_seed(0) in EVAL_RANGE
    (True, True)
    """
    return EVAL_RANGE[-1 - _count("index", index, len(EVAL_RANGE) // 2)]


def demo_seed(index: int) -> int:
    """Seed of the episode that demo `index` shows.

    >>> demo_seed(0) in DEMO_RANGE
    True
    """
    return DEMO_RANGE[_count("index", index, len(DEMO_RANGE))]
