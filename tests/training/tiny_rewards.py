"""Rewards of four kinds that no video reward is, each as small as it can be; named as module:Class."""

import numpy as np

from orcalign.rewards import Need, Reward


def small(frames):
    """[T,H,W,3] → [T, 48] colours of 4x4 cells, from 0 to 1."""
    T, H, W, _ = frames.shape
    cells = frames[:, : H // 4 * 4, : W // 4 * 4].reshape(T, 4, H // 4, 4, W // 4, 3)
    return cells.mean(axis=(2, 4)).reshape(T, -1).astype(np.float64) / 255


class ClipReward(Reward):
    """One number for a whole clip, at its last step: how much its mean picture is like the demo's."""

    def __init__(self, demos, description):
        self.demos, self._description = demos, description
        self._goal = small(demos[0].frames).mean(axis=0)

    @classmethod
    def from_description(cls, description, kit):
        return cls(kit.demos, description)

    def describe(self):
        return dict(self._description)

    def observe(self, rollout):
        return {"clip": small(rollout.frames).mean(axis=0)}

    def pay(self, episodes):
        rewards = [np.zeros(one.length) for one in episodes]
        for reward, one in zip(rewards, episodes, strict=True):
            reward[-1] = np.exp(-10 * np.abs(one["clip"] - self._goal).sum())
        return rewards


class EnergyReward(Reward):
    """What actions cost; it needs no pictures."""

    need = Need(frames=0, actions=True)

    @classmethod
    def from_description(cls, description, kit):
        return cls()

    def describe(self):
        return {"kind": "training.tiny_rewards:EnergyReward"}

    def observe(self, rollout):
        assert rollout.frames is None or rollout.actions is not None
        return {"energy": np.square(rollout.actions).mean(axis=1).astype(np.float64)}

    def pay(self, episodes):
        return [-one["energy"] for one in episodes]


class ComposedReward(Reward):
    """Stands for `clip + weight * energy`: what is made of it is a `Sum`."""

    @classmethod
    def from_description(cls, description, kit):
        clip = ClipReward(kit.demos, {"kind": "training.tiny_rewards:ClipReward"})
        return clip + description["weight"] * EnergyReward()


class DiscriminatorReward(Reward):
    """A logistic regression that tells demo frames from learner frames, fitted anew every few episodes."""

    criterion = "alike"

    def __init__(self, demos, description):
        self.demos, self._description = demos, description
        self._demo = _with_one(small(demos[0].frames))
        self._weights = np.zeros(self._demo.shape[1])
        self._fits = 0

    @classmethod
    def from_description(cls, description, kit):
        return cls(kit.demos, description)

    def describe(self):
        return dict(self._description)

    def observe(self, rollout):
        return {"frames": small(rollout.frames)}

    def pay(self, episodes):
        return [1 / (1 + np.exp(-(_with_one(one["frames"]) * self._weights).sum(axis=1))) for one in episodes]

    def follow(self, evidence):
        return {"alike": float(self.pay([evidence])[0].mean())}

    def numbers(self):
        return {"fits": float(self._fits)}

    def learn(self, kept, moment):
        if moment.episodes % self._description["every"]:
            return None
        learner = _with_one(np.concatenate([one["frames"] for one in kept]))
        for _ in range(20):
            for rows, wanted in ((self._demo, 1.0), (learner, 0.0)):
                said = 1 / (1 + np.exp(-(rows * self._weights).sum(axis=1)))
                self._weights += 0.5 * ((wanted - said)[:, None] * rows).mean(axis=0)
        self._fits += 1
        return [f"fitted for the {self._fits}. time"]

    def state(self):
        return {"fits": self._fits}, {"weights": self._weights.copy()}

    def load_state(self, state):
        plain, arrays = state
        self._fits, self._weights = plain["fits"], np.array(arrays["weights"])


class GuidingReward(Reward):
    """Pays for nearness to a corner, in a unit that changes as it goes; the policy sees the distance in it."""

    need = Need(frames=0, states=True)
    guide_dim = 1

    def __init__(self, description):
        self._description, self._unit = description, 1.0

    @classmethod
    def from_description(cls, description, kit):
        return cls(description)

    def describe(self):
        return dict(self._description)

    def far(self, states):
        return np.hypot(1 - states[..., 0], 1 - states[..., 1]) / self._unit

    def observe(self, rollout):
        return {"states": rollout.states.astype(np.float64)}

    def pay(self, episodes):
        return [np.exp(-self.far(one["states"][1:])) for one in episodes]

    def guide(self, episodes):
        return [self.far(one["states"])[:, None].astype(np.float32) for one in episodes]

    def learn(self, kept, moment):
        if moment.episodes % self._description["every"]:
            return None
        self._unit *= 0.8
        return [f"the unit is {self._unit:.3f}"]

    def state(self):
        return {}, {"unit": np.array([self._unit])}

    def load_state(self, state):
        self._unit = float(state[1]["unit"][0])

    def stream(self):
        return GuidingStream(self)


class GuidingStream:
    def __init__(self, reward):
        self._reward = reward

    followed = {}  # noqa: RUF012

    def reset(self, state=None):
        self.guide = np.array([self._reward.far(np.asarray(state, np.float64))], np.float32)

    def push(self, frame=None, state=None, action=None):
        self.reset(state)
        return float(np.exp(-self.guide[0]))


def _with_one(rows):
    return np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
