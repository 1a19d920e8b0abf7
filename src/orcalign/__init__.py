"""orcalign: turn one video into a reward, and the reward into a policy.

Nothing heavy is imported here: the kernels' compiler, torch, simulators and video readers come in when they are used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orcalign import matching
    from orcalign.training.policy import load_policy

__all__ = ["__version__", "load_policy", "matching"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "matching":
        return importlib.import_module("orcalign.matching")
    if name == "load_policy":
        return importlib.import_module("orcalign.training.policy").load_policy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
