"""The scripts of examples/ that learn in other people's loops: they run as they are, and they learn."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("algorithm", ["sac", "crossq"])
def test_stable_baselines3_closes_the_door(algorithm, tmp_path):
    """Without pay for success, 20,000 steps are enough for four fifths of what the scripted expert earns."""
    from examples.sb3_door_close import Args, main

    assert main(Args(algorithm=algorithm, out=tmp_path)) >= 0.8
    assert list((tmp_path / "films").glob("*.mp4"))
    assert (tmp_path / "policy.zip").is_file()


@pytest.mark.timeout(900)
def test_a_single_file_learns_to_follow():
    from examples.cleanrl_sac import Args, main

    followed = main(Args())
    assert np.mean(followed[-20:]) > 0.8
    assert np.mean(followed[:20]) < 0.6
