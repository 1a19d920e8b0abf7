"""Gymnasium's and Stable-Baselines3's own checkers, on every environment that `make` gives."""

import warnings

import pytest
from stable_baselines3.common.env_checker import check_env as check_stable_baselines3

from orcalign.envs import HELD_OUT_TASKS, TASKS, make

OTHERS = ("Reacher-v5", "gymnasium_robotics:FetchReach-v4")
"""Somebody else's: one that is plain, and one whose observations are a Dict."""
QUICK = ("door-close", "nav2d", "nav2d-grid")
UNMEANT = (
    # What Meta-world observes has no bounds; grids have no continuous actions; pictures are for our own networks.
    ".*infinity",
    ".*symmetric and normalized",
    ".*minimal resolution",
    # Gymnasium asks whether it could be made anew without our wrappers, which it could not.
    ".*is different from the unwrapped version",
    ".*Not able to test alternative render modes",
    ".*was not found in the registry",
)


@pytest.mark.parametrize(
    ("task", "pixels"),
    [
        pytest.param(task, pixels, marks=() if task in QUICK else pytest.mark.slow)
        for task in (*TASKS, *HELD_OUT_TASKS, *OTHERS)
        for pixels in (False, True)
    ],
)
def test_the_checkers_pass(task, pixels, check_gymnasium):
    env = make(task, pixels=pixels)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for allowed in UNMEANT:
                warnings.filterwarnings("ignore", message=allowed)
            check_stable_baselines3(env)
        # A registered environment is rebuilt by the checker without our wrappers; one that is not, it takes as it is.
        env.unwrapped.spec = None
        check_gymnasium(env)
    finally:
        env.close()
