"""Exploration noise: its variance and its spectrum."""

import numpy as np
import pytest

from orcalign.agents import episode_noise


@pytest.mark.parametrize("kind", ["white", "pink"])
@pytest.mark.parametrize("steps", [1, 2, 3, 62, 63])
def test_every_step_has_unit_variance(kind, steps):
    noise = episode_noise(kind, steps, 20_000, np.random.default_rng(0))
    assert noise.shape == (steps, 20_000)
    assert noise.dtype == np.float32
    # The standard error of a variance from 20,000 draws is 0.01.
    np.testing.assert_allclose(noise.var(axis=1), 1, atol=0.06)
    np.testing.assert_allclose(noise.mean(axis=1), 0, atol=0.04)


@pytest.mark.parametrize(("kind", "slope"), [("white", 0), ("pink", -1)])
def test_power_falls_as_it_should(kind, slope):
    noise = episode_noise(kind, 1000, 500, np.random.default_rng(1))
    power = (np.abs(np.fft.rfft(noise, axis=0)) ** 2).mean(axis=1)[1:-1]
    frequency = np.arange(1, len(power) + 1)
    measured, _ = np.polyfit(np.log(frequency), np.log(power), 1)
    assert measured == pytest.approx(slope, abs=0.03)


def test_action_dimensions_are_independent():
    noise = np.stack([episode_noise("pink", 63, 2, np.random.default_rng(s)) for s in range(3000)])
    assert abs((noise[..., 0] * noise[..., 1]).mean()) < 0.05


def test_pink_noise_goes_farther():
    """Summed over an episode, which is where a velocity takes an arm."""
    reach = {
        kind: episode_noise(kind, 63, 4000, np.random.default_rng(0)).cumsum(0)[-1].std() for kind in ("white", "pink")
    }
    assert reach["white"] == pytest.approx(63**0.5, rel=0.05)
    assert reach["pink"] > 2 * reach["white"]


def test_same_generator_same_noise():
    a, b = (episode_noise("pink", 63, 4, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_unknown_noise_lists_the_known():
    with pytest.raises(ValueError, match=r"noise is 'brown'; Known: white, pink"):
        episode_noise("brown", 5, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="steps is 0"):
        episode_noise("pink", 0, 1, np.random.default_rng(0))
