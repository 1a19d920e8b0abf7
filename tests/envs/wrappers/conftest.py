import numpy as np
import pytest
from envs.wrappers.counting import Counting

from orcalign.rewards import VideoReward
from orcalign.video import Demo

STILL = np.zeros(1, np.float32)


@pytest.fixture
def still():
    return STILL


@pytest.fixture
def counted():
    """Frames [T] that `Counting` shows after its steps 1 to T."""

    def frames(count):
        env = Counting()
        env.reset()
        shown = []
        for _ in range(count):
            env.step(STILL)
            shown.append(env.render())
        return np.stack(shown)

    return frames


@pytest.fixture
def reward_of():
    """A reward by pixels, quick and exact."""

    def make(frames, context=1, **settings):
        fields = {key: settings.pop(key) for key in ("task", "render") if key in settings}
        return VideoReward(Demo(frames, **fields), encoder="pixels", context=context, **settings)

    return make
