"""Studies: every table and figure of the paper as a command, from one machine to a cluster.

Nothing heavy is imported here: torch, simulators and Ray come in when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orcalign.experiments.planning import Plan, plan_study
    from orcalign.experiments.results import read_results
    from orcalign.experiments.results_file import load_results, save_results
    from orcalign.experiments.study import STUDIES, Budget, Study, find_study
    from orcalign.experiments.sweep import SweepSettings, sweep_study

_LATER = {
    "Plan": "planning",
    "plan_study": "planning",
    "read_results": "results",
    "load_results": "results_file",
    "save_results": "results_file",
    "STUDIES": "study",
    "find_study": "study",
    "Budget": "study",
    "Study": "study",
    "SweepSettings": "sweep",
    "sweep_study": "sweep",
}

__all__ = [
    "STUDIES",
    "Budget",
    "Plan",
    "Study",
    "SweepSettings",
    "find_study",
    "load_results",
    "plan_study",
    "read_results",
    "save_results",
    "sweep_study",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"orcalign.experiments.{_LATER[name]}"), name)
    globals()[name] = found
    return found
