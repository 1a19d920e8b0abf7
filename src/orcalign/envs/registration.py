"""Our own environments under their Gymnasium ids."""

from __future__ import annotations

IDS = {"orcalign/Nav2D-v0": ("Nav2D", 30), "orcalign/Nav2DGrid-v0": ("Nav2DGrid", 16)}
"""Id to class in `orcalign.envs.nav2d` and default length of an episode."""


def register() -> None:
    """Make the ids known to `gymnasium.make`; a second call changes nothing.

    >>> register()
    >>> import gymnasium
    >>> gymnasium.make("orcalign/Nav2DGrid-v0").action_space
    Discrete(5)
    """
    import gymnasium

    for name, (entry, steps) in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, f"orcalign.envs.nav2d:{entry}", max_episode_steps=steps)
