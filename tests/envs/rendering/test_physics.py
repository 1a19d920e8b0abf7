"""Drawing leaves the simulation as it is, to the last bit."""

import mujoco
import numpy as np
import pytest
from envs.rendering.scenes import CAMERAS, metaworld

from orcalign.envs.rendering import make_renderer

STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def episode(task, draw):
    """Observations and full simulator states of a short episode with fixed actions."""
    env = metaworld(task).unwrapped
    observation, _ = env.reset()
    look = draw(env)
    actions = np.random.default_rng(4).uniform(-1, 1, (16, 4)).astype(np.float32)
    seen = [observation.tobytes()]
    for step, action in enumerate(actions):
        observation, reward, *_ = env.step(action)
        look(step)
        state = np.empty(mujoco.mj_stateSize(env.model, STATE))
        mujoco.mj_getState(env.model, env.data, state, STATE)
        seen += [observation.tobytes(), np.float64(reward).tobytes(), state.tobytes()]
    return seen


@pytest.mark.parametrize("task", CAMERAS)
def test_episodes_are_bitwise_the_same_drawn_or_not(task):
    def drawn(env):
        fast = make_renderer(env.model, env.data, CAMERAS[task], "fast", flip=True)
        paper = make_renderer(env.model, env.data, CAMERAS[task], "paper", flip=True)

        def look(step):
            fast.render()
            if step in (0, 9):
                paper.render()

        return look

    assert episode(task, lambda env: lambda step: None) == episode(task, drawn)


def test_the_model_is_not_written_to():
    env = metaworld("window-open").unwrapped

    def content():
        size = mujoco.mj_sizeModel(env.model)
        buffer = np.empty(size, np.uint8)
        mujoco.mj_saveModel(env.model, None, buffer)
        return buffer.tobytes()

    before = content()
    for mode in ("fast", "paper"):
        renderer = make_renderer(env.model, env.data, "corner3", mode)
        renderer.render()
        renderer.close()
    assert content() == before
