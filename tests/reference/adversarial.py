"""The adversarial losses written down from the papers, one pair at a time, in plain NumPy."""

import math

import numpy as np


def logit(weights, pair):
    """Two layers of tanh, and one number."""
    hidden = [float(x) for x in pair]
    for layer in (0, 1):
        rows, bias = weights[f"{layer}.weight"].tolist(), weights[f"{layer}.bias"].tolist()
        sums = [sum(w * h for w, h in zip(row, hidden, strict=True)) for row in rows]
        hidden = [math.tanh(one + b) for one, b in zip(sums, bias, strict=True)]
    (row,), (bias,) = weights["2.weight"].tolist(), weights["2.bias"].tolist()
    return sum(w * h for w, h in zip(row, hidden, strict=True)) + bias


def loss(weights, demo, learner):
    """GAN: -mean log D of the demo's and -mean log(1 - D) of the learner's, all pairs together."""

    def right(x):
        return 1 / (1 + math.exp(-x))

    terms = [-math.log(right(logit(weights, one))) for one in demo]
    terms += [-math.log(1 - right(logit(weights, one))) for one in learner]
    return sum(terms) / len(terms)


def penalty(weights, demo, learner, mix, step=1e-5):
    """Gulrajani et al.: the slope by differences."""
    total = 0.0
    for real, own, share in zip(demo.astype(float), learner.astype(float), mix[:, 0].astype(float), strict=True):
        at = share * real + (1 - share) * own
        slope = []
        for k in range(len(at)):
            up, down = at.copy(), at.copy()
            up[k] += step
            down[k] -= step
            slope.append((logit(weights, up) - logit(weights, down)) / (2 * step))
        total += (np.linalg.norm(slope) - 1) ** 2
    return total / len(mix)
