"""Whether an eye is to be believed on a demo, in sentences."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from orcalign.report.seen.demo import SeenDemo
from orcalign.rewards.follow.settings import COARSE


class Verdict(NamedTuple):
    """One sentence, and how grave it is."""

    kind: Literal["good", "doubt", "bad"]
    text: str


def verdict(seen: SeenDemo) -> list[Verdict]:
    """What is wrong, the gravest first; else that nothing is known to be.

    >>> from orcalign.costs.predicted import DescribedDemo, Entities
    >>> from orcalign.video import Demo
    >>> told = DescribedDemo.known(Entities((0, 1), unit=1.0), [[10.0, 20.0]], [0.0, 0.0])
    >>> verdict(SeenDemo(Demo(np.zeros((1, 8, 8, 3), np.uint8)), told))[0].text
    'The eye is 0.0 cm off on frames it has not learned from; it expects to be 0.1 cm off in this video.'
    """
    told, found = seen.described, list[Verdict]()
    if seen.problem:
        found.append(Verdict("bad", f"Another camera: {seen.problem}"))
    if seen.doubt:
        found.append(Verdict("bad", seen.doubt[0].upper() + seen.doubt[1:]))
    known = "has not been measured" if not np.isfinite(told.error) else f"is {told.error:.1f} cm off"
    words = (
        f"The eye {known} on frames it has not learned from; it expects to be {told.expected:.1f} cm off in this video."
    )
    if not np.isfinite(told.error) or told.expected > COARSE:
        found.append(Verdict("bad", f"Coarser than the reward can be tolerant: {words[0].lower()}{words[1:]}"))
    else:
        found.append(Verdict("good", words))
    unknown = [name for name in seen.still if name.startswith("object")]
    if unknown:
        said = f"{' and '.join(unknown)} never moved in what the eye learned from: it says of it that it rests."
        found.append(Verdict("bad", said[0].upper() + said[1:]))
    believed = int(told.believed.sum())
    if believed < len(told):
        said = (
            f"Of the objects it is believed in {believed} of {len(told)} frames; in the others the hand alone is asked."
        )
        found.append(Verdict("doubt" if believed else "bad", said))
    return sorted(found, key=lambda one: ("bad", "doubt", "good").index(one.kind))
