"""The first call: said aloud, cached, and fresh again after any change of the sources."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orcalign

CODE = "import numpy as np; from orcalign.matching import threshold; print(threshold(np.zeros((2, 2))).reward.tolist())"


def run(folder, **environment):
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": "", **environment}
    environment.pop("ORCALIGN_QUIET", None) if "ORCALIGN_QUIET" not in environment else None
    return subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)


def test_compiling_is_said_once_and_then_cached(tmp_path):
    source = Path(orcalign.__file__).parent
    copy = tmp_path / "orcalign"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    quiet = run(tmp_path, ORCALIGN_QUIET="1")
    assert quiet.stderr == ""
    shutil.rmtree(copy / "matching" / "__pycache__")
    first, second = run(tmp_path, ORCALIGN_QUIET="0"), run(tmp_path, ORCALIGN_QUIET="0")
    assert first.stdout == second.stdout == "[0.5, 1.0]\n"
    assert first.stderr.count("compiling kernels") == 1
    assert second.stderr == ""
    # `threshold` uses the exponential of another file: a change there must not be answered from the cache.
    exponential = copy / "matching" / "kernel.py"
    exponential.write_text(exponential.read_text().replace("* r + 1.0) * power", "* r + 1.0) * power * 0.5"))
    assert run(tmp_path).stdout == "[0.25, 0.25]\n"


def test_works_where_nothing_can_be_cached(tmp_path):
    """A read-only installation and no home: slower, but no error."""
    code = (
        "import numba\n"
        "real = numba.njit\n"
        "def refuse(*args, **options):\n"
        "    if options.get('cache'): raise RuntimeError('cannot cache function: no locator available')\n"
        "    return real(*args, **options)\n"
        "numba.njit = refuse\n" + CODE
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[0.5, 1.0]\n"
