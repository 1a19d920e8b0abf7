"""orcalign: turn one video into a reward, and the reward into a policy.

Nothing heavy is imported here: torch, simulators and video readers come in when they are used.
"""

from typing import TYPE_CHECKING, Any

from orcalign import matching

if TYPE_CHECKING:
    from orcalign.training.policy import load_policy

__all__ = ["__version__", "load_policy", "matching"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name != "load_policy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from orcalign.training.policy import load_policy

    return load_policy
