"""What the tests of environments share."""

import warnings

import pytest


@pytest.fixture
def check_gymnasium():
    """Gymnasium's own checker, every complaint an error but two that are about being checked wrapped."""
    from gymnasium.utils.env_checker import check_env

    def check(env):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for allowed in (
                "is different from the unwrapped version",
                "Not able to test alternative render modes",
            ):
                warnings.filterwarnings("ignore", message=f".*{allowed}")
            # Meta-world's objects have no bounds, and Gymnasium would like some.
            warnings.filterwarnings("ignore", message=".*Box observation space .*infinity")
            check_env(env)

    return check
