"""Exploration noise for whole episodes."""

from __future__ import annotations

import numpy as np

from orcalign.checks import require, require_count


def episode_noise(kind: str, steps: int, action_dim: int, rng: np.random.Generator) -> np.ndarray:
    """Noise [steps, A] of unit variance for one episode, each action dimension on its own.

    "white" noise is drawn afresh at every step; summed up over an episode it stays near the start. "pink" noise
    (power falling as 1/frequency) drifts, so an arm reaches farther, and still jitters, so contacts are tried
    in more than one way: Eberhard et al. (2023) found it the better default.

    >>> episode_noise("pink", 63, 4, np.random.default_rng(0)).shape
    (63, 4)
    >>> episode_noise("pinc", 63, 4, np.random.default_rng(0))
    Traceback (most recent call last):
    ...
    ValueError: noise is 'pinc'; did you mean 'pink'? Known: white, pink.
    """
    require("noise", kind, ("white", "pink"))
    require_count(steps, "steps", at_least=1)
    if kind == "white":
        return rng.standard_normal((steps, action_dim)).astype(np.float32)
    frequency = np.arange(steps // 2 + 1)
    power = 2 / np.maximum(frequency, 1)
    power[0] = 1
    if steps % 2 == 0:
        # The highest frequency of an even length has no mirror image, as the constant has none.
        power[-1] /= 2
    power /= power.sum()
    waves = rng.standard_normal((len(power), action_dim)) + 1j * rng.standard_normal((len(power), action_dim))
    single = (frequency == 0) | (2 * frequency == steps)
    amplitude = steps * np.sqrt(power) * np.where(single, 1, 0.5)
    return np.fft.irfft(amplitude[:, None] * waves, n=steps, axis=0).astype(np.float32)
