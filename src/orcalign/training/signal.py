"""Whether a reward can tell anything apart: said once, after a few random episodes, before hours are spent."""

from __future__ import annotations

from collections.abc import Sequence

from orcalign.rewards import Evidence, Reward

AFTER = 10
"""Episodes after which it is judged, unless the reward is not ready to pay yet."""
MOST = 50
"""Of those that are kept, so many of the newest are looked at."""
LITTLE = 0.01
"""Progress, of 1, that is as good as none; and difference of what episodes are paid, as a share of the most."""


def signal(reward: Reward, kept: Sequence[Evidence]) -> str:
    """In a sentence, from the evidence of random episodes.

    >>> from orcalign.rewards import Rollout
    >>> from orcalign.costs.predicted import DescribedDemo, Entities
    >>> from orcalign.rewards.follow import FollowReward
    >>> import numpy as np
    >>> entities = Entities(hand=(0, 1), unit=1.0)
    >>> demo = DescribedDemo.known(entities, [[90, 0], [99, 0]], [0, 0])
    >>> reward = FollowReward(entities, np.zeros(2), described=demo)
    >>> still = [Evidence(1, reward.observe(Rollout(1, states=np.zeros((2, 2), np.float32))))] * 2
    >>> signal(reward, still).partition(',')[0]
    'the reward tells nothing apart: of 2 random episodes the best comes to a progress of 9e-28'
    """
    told = [reward.summary(one) for one in kept[-MOST:]]
    paid = [one["reward"] for one in told]
    least, most = min(paid), max(paid)
    furthest = max(one.get("progress", 1.0) for one in told)
    if furthest < LITTLE:
        said = f"of {len(told)} random episodes the best comes to a progress of {furthest:.1g}"
    elif most - least < LITTLE * max(abs(least), abs(most), 1e-300):
        said = f"{len(told)} random episodes are paid the same, {most:.3g}"
    else:
        progress = f", progress up to {furthest:.2f}" if "progress" in told[0] else ""
        return f"the reward tells {len(told)} random episodes apart: they are paid {least:.3g} to {most:.3g}{progress}"
    return f"the reward tells nothing apart: {said}, so that nothing is learned from it; {reward.remedy}"
