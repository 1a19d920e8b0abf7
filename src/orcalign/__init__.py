"""orcalign: turn one video into a reward, and the reward into a policy.

Nothing heavy is imported here: torch, simulators and video readers come in when they are used.
"""

from orcalign import matching

__all__ = ["__version__", "matching"]
__version__ = "0.1.0"
