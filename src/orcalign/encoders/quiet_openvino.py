"""OpenVINO without its telemetry."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def load_openvino() -> Any:
    """The module ``openvino``, imported so that it reports nothing.

    Left alone, each import and each conversion sends an event to a web statistics service and writes an
    identity into the home folder. Without the package openvino_telemetry it does neither, so that package is
    hidden while OpenVINO looks for it. An OpenVINO that was imported before is left as it is.

    >>> load_openvino().__name__
    'openvino'
    """
    name = "openvino_telemetry"
    if "openvino" in sys.modules or name in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[name]
