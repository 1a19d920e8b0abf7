"""The scripts of examples/ that learn in other people's loops run as they are."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("algorithm", ["sac", "crossq"])
def test_stable_baselines3_on_a_task_of_meta_world(algorithm, tmp_path):
    from examples.sb3_door_close import Args, main

    assert main(Args(algorithm=algorithm, steps=1000, out=tmp_path)) >= 0
    assert list((tmp_path / "films").glob("*.mp4"))
    assert (tmp_path / "policy.zip").is_file()


@pytest.mark.timeout(900)
def test_a_single_file():
    from examples.cleanrl_sac import Args, main

    followed = main(Args(total_timesteps=1500))
    assert len(followed) == 50
    assert ((np.array(followed) >= 0) & (np.array(followed) <= 1)).all()
