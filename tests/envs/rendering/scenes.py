"""Scenes that the rendering tests draw."""

import warnings
from functools import cache

import mujoco
import numpy as np

from orcalign.envs import PAPER_TASKS, TASKS

CAMERAS = {name: str(TASKS[name].camera) for name in PAPER_TASKS}

ROOM = """
<mujoco>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.4 0.6 0.8" rgb2="0 0 0" width="32" height="32"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1="0.1 0.2 0.3" rgb2="0.8 0.8 0.8" width="64" height="64"/>
    <material name="tiles" texture="tiles" texrepeat="4 4"/>
  </asset>
  <worldbody>
    <light name="lamp" pos="0 -1 3" dir="0 0.3 -1"/>
    <camera name="front" pos="0 -3 1.2" xyaxes="1 0 0 0 0.3 1"/>
    <geom type="plane" size="2 2 0.1" material="tiles"/>
    <body name="pillar" pos="-0.5 0 0.4"><geom name="pillar" type="box" size="0.1 0.1 0.4" rgba="0.9 0.8 0.1 1"/></body>
    <body name="ball" pos="0 0 0.6"><freejoint/><geom name="ball" size="0.2" rgba="0.9 0.1 0.1 1"/></body>
    <site name="goal" pos="0.6 0 0.3" size="0.1" rgba="0.1 0.9 0.1 1"/>
  </worldbody>
</mujoco>
"""


def room(xml=ROOM):
    """A floor, a pillar that stands, a ball that falls, and a goal."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@cache
def metaworld(task):
    """A Meta-world environment, made once: `reset()` draws another goal, `unwrapped.reset()` keeps it."""
    import gymnasium as gym

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import metaworld  # noqa: F401

        env = gym.make("Meta-World/MT1", env_name=f"{task}-v3", seed=0, disable_env_checker=True)
        env.reset(seed=0)
    return env


def difference(a, b):
    """Largest difference of a channel, per pixel [S,S]."""
    return np.abs(a.astype(int) - b.astype(int)).max(axis=2)
