"""Rewards that can be checked by counting, and videos that are quickly compared."""

from __future__ import annotations

import numpy as np
from rewards.clips import clip

from orcalign.rewards import Evidence, Need, Reward, Rollout


class Speed(Reward):
    """factor * (x[t+1] - x[t]) - level, of the first number of the states; the level is the mean that it has seen."""

    need = Need(frames=0, states=True)
    guide_dim = 1
    criterion = "way"

    def __init__(self, factor=1.0, learns=False):
        self.factor, self.learns = factor, learns
        self.level = np.zeros(1)
        self.observed = 0

    def observe(self, rollout):
        self.observed += 1
        return {"seen": rollout.states[:, 0].astype(np.float64)}

    def pay(self, episodes):
        return [self.factor * np.diff(one["seen"]) - self.level for one in episodes]

    def follow(self, evidence):
        return {"way": float(evidence["seen"][-1] - evidence["seen"][0])}

    def numbers(self):
        return {"level": float(self.level[0])}

    def learn(self, kept, moment):
        if not self.learns:
            return None
        self.level = np.array([np.mean([np.diff(one["seen"]).mean() for one in kept])])
        return [f"the level is {self.level[0]:g}"]

    def guide(self, episodes):
        return [one["seen"][:, None].astype(np.float32) for one in episodes]

    def stream(self):
        return SpeedStream(self)

    def state(self):
        return {"learns": self.learns}, {"level": self.level}

    def load_state(self, state):
        self.learns, self.level = state[0]["learns"], state[1]["level"].copy()

    def describe(self):
        return {"kind": "rewards.toys:Speed", "factor": self.factor, "learns": self.learns}

    @classmethod
    def from_description(cls, description, kit):
        return cls(description["factor"], description["learns"])


class SpeedStream:
    def __init__(self, reward):
        self.reward, self.at, self.first = reward, 0.0, 0.0

    @property
    def guide(self):
        return np.array([self.at], np.float32)

    @property
    def followed(self):
        return {"way": self.at - self.first}

    def push(self, frame=None, state=None, action=None):
        before, self.at = self.at, float(state[0])
        return float(self.reward.factor * (self.at - before) - self.reward.level[0])

    def reset(self, state=None):
        self.at = self.first = float(state[0])


class Ease(Reward):
    """1 - |a[t]|; its evidence has the name that that of `Speed` has. It says at the end of an episode only."""

    need = Need(frames=0, actions=True)
    criterion = "ease"

    def observe(self, rollout):
        return {"seen": np.abs(rollout.actions[:, 0]).astype(np.float64)}

    def pay(self, episodes):
        return [1 - one["seen"] for one in episodes]

    def follow(self, evidence):
        return {"ease": float(1 - evidence["seen"].mean()), "way": -1.0}

    def describe(self):
        return {"kind": "rewards.toys:Ease"}

    @classmethod
    def from_description(cls, description, kit):
        return cls()


def rollout(states, actions=None, frames=None):
    """Of the first numbers of states [T+1] and actions [T], and frames [T,H,W,3]."""
    states = np.asarray(states, np.float32)[:, None]
    actions = None if actions is None else np.asarray(actions, np.float32)[:, None]
    return Rollout(len(states) - 1, frames, states, actions)


def evidence_of(reward, one):
    return Evidence(one.length, reward.observe(one))


def streamed(reward, one):
    """Rewards [T], guides [T+1,K], and how the demo was followed, one step at a time."""
    live = reward.stream()
    live.reset(None if one.states is None else one.states[0])
    paid, guides = [], [live.guide]
    for t in range(one.length):
        frame = None if one.frames is None else one.frames[t]
        state = None if one.states is None else one.states[t + 1]
        paid.append(live.push(frame, state, None if one.actions is None else one.actions[t]))
        guides.append(live.guide)
    return paid, np.stack(guides), live.followed


ATTEMPT = rollout(np.linspace(0, 2, 10), np.full(9, 0.5), clip(np.linspace(0, 1, 9)))
"""Something for every reward."""


def earned(reward):
    """All that a reward says of the attempt; here, or in another process."""
    seen = evidence_of(reward, ATTEMPT)
    told = reward.explain(seen)
    return (
        {name: array.tolist() for name, array in seen.arrays.items()},
        reward.pay([seen])[0].tolist(),
        reward.follow(seen),
        None if told is None else told.story.position.tolist(),
        reward.state()[0],
    )
