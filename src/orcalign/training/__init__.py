"""The loop: play, reward, store, update, evaluate, checkpoint. A run is a folder.

Nothing heavy is imported here: torch, simulators and encoders come in when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orcalign.training.config import TrainConfig
    from orcalign.training.loop import Training
    from orcalign.training.policy import LoadedPolicy, load_policy
    from orcalign.training.presets import PRESETS
    from orcalign.training.recipes import RECIPES
    from orcalign.training.run_folder import RunFolder
    from orcalign.training.start import start_run, train

_LATER = {
    "TrainConfig": "config",
    "Training": "loop",
    "LoadedPolicy": "policy",
    "load_policy": "policy",
    "PRESETS": "presets",
    "RECIPES": "recipes",
    "RunFolder": "run_folder",
    "start_run": "start",
    "train": "start",
}

__all__ = [
    "PRESETS",
    "RECIPES",
    "LoadedPolicy",
    "RunFolder",
    "TrainConfig",
    "Training",
    "load_policy",
    "start_run",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"orcalign.training.{_LATER[name]}"), name)
    globals()[name] = found
    return found
