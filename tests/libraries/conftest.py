"""What is shown by counting, and paid by pixels."""

import numpy as np
import pytest
from envs.wrappers.counting import Counting

from orcalign.rewards import VideoReward


@pytest.fixture
def counted():
    """Frames [T] that `Counting` shows after its steps 1 to T."""

    def frames(count):
        env, still = Counting(), np.zeros(1, np.float32)
        env.reset()
        return np.stack([(env.step(still), env.render())[1] for _ in range(count)])

    return frames


@pytest.fixture
def reward_of():
    """A reward by pixels, quick and exact."""

    def make(frames, **settings):
        return VideoReward(frames, **{"encoder": "pixels", "context": 1, "temperature": 0.3, **settings})

    return make
