"""Packages that register environments once they are imported."""

from __future__ import annotations

PLUGINS: dict[str, tuple[str, ...]] = {
    "gymnasium_robotics": (
        "Fetch",
        "HandReach",
        "HandManipulate",
        "AdroitHand",
        "FrankaKitchen",
        "PointMaze",
        "AntMaze",
    ),
    "panda_gym": ("Panda",),
    "ale_py": ("ALE/",),
    "minigrid": ("MiniGrid-", "BabyAI-"),
    "shimmy": ("dm_control/",),
}
"""Module to what the ids that it registers begin with."""


def how_to_import(name: str) -> str:
    """What to write for an id that a package would register; nothing if it looks like none of them.

    >>> how_to_import("FetchPush-v4")
    " Importing gymnasium_robotics would register it: write 'gymnasium_robotics:FetchPush-v4' (pip install ..."
    >>> how_to_import("door-clos")
    ''
    """
    for module, beginnings in PLUGINS.items():
        if name.startswith(beginnings):
            package = module.replace("_", "-")
            return (
                f" Importing {module} would register it: write '{module}:{name}' (pip install {package}), "
                f"or add --import {module}."
            )
    return ""
