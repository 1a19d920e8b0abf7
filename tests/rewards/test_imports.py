"""Importing the package must cost nothing heavy."""

from __future__ import annotations

import subprocess
import sys


def test_nothing_heavy_is_imported():
    code = (
        "import sys, orcalign.rewards; "
        "print([m for m in ('torch', 'av', 'openvino', 'transformers', 'ot', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
