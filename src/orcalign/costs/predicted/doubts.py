"""What an eye cannot have learned to see, said before anything is learned from it."""

from __future__ import annotations

import numpy as np

from orcalign.costs.predicted.eye import Eye

GUESSED = 0.6
"""Share of a part's spread: who is off by more in the median could as well say the middle of all places."""
WHENCE = "are the entities those of this environment? `orcalign entities` shows what moves in it."


def still_problem(eye: Eye) -> str:
    """One sentence if the hand, or the first object of an eye that has learned, never moved before it.

    An eye that has yet to learn may not have seen the object moved: the learner has not touched it.
    """
    asked = ["hand", *(["object 1"] if eye.entities.objects and eye.head is not None else [])]
    still = [name for name in asked if name in eye.about["still"]]
    if not still:
        return ""
    return (
        f"the {still[0]} never moves in the {eye.about['frames']:,} frames that the eye has seen, so it cannot be "
        f"found in a video; {WHENCE}"
    )


def unseen(eye: Eye) -> str:
    """One sentence if an eye that has learned tells the hand or the first object no better than by guessing."""
    if eye.head is None:
        return ""
    for name in ("hand", "object 1"):
        if name not in eye.errors or name in eye.about["still"]:
            continue
        spread = float(np.linalg.norm(eye.head.spread[eye.entities.at(name)]))
        if eye.errors[name][0] > GUESSED * spread:
            return (
                f"the eye does not see the {name}: it is {eye.errors[name][0]:.1f} cm off where places lie "
                f"{spread:.1f} cm about their middle; let it learn longer from more frames, or, if that does not help, "
                f"{WHENCE}"
            )
    return ""
