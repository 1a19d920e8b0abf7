"""Each agent solves a world in which only one thing can go wrong."""

import pytest
from agents.trivial_worlds import Spot, TwoSteps, miss_after_learning

from orcalign.agents import DrQv2Settings, SACSettings, XQCSettings

STATES = {"hidden": 64, "batch": 128, "learning_rate": 1e-3, "n_step": 1, "target_smoothing": 0.05}


@pytest.mark.parametrize(
    ("settings", "std", "updates"),
    [
        (DrQv2Settings(**STATES), 0.3, 3),
        (DrQv2Settings(**STATES, bootstrap="gamma", layer_norm=True), 0.3, 3),
        (SACSettings(**STATES), 1.0, 7),
        (SACSettings(**STATES, entropy_temperature=0.01), 1.0, 3),
        (XQCSettings(**STATES), 1.0, 3),
    ],
    ids=["drqv2", "drqv2 with LayerNorm", "sac", "sac with fixed temperature", "xqc"],
)
def test_states(settings, std, updates):
    before, after = miss_after_learning(
        TwoSteps(), settings, episodes=250, random_episodes=100, updates=updates, std=std
    )
    assert before > 0.25
    assert after < 0.12


@pytest.mark.timeout(120)
def test_images():
    settings = DrQv2Settings(hidden=64, batch=64, learning_rate=1e-3, n_step=1, shift=1)
    before, after = miss_after_learning(Spot(), settings, episodes=300, random_episodes=230, updates=3, std=0.3)
    assert before > 0.3
    assert after < 0.15
