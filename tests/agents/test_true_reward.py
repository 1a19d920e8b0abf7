"""XQC beside SAC on a Gymnasium task with its true reward: the same number of steps and of updates, one thread."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
STEPS = 8000


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_xqc_needs_fewer_steps_than_sac():
    words = [sys.executable, "-m", "benchmarks.agents", "Hopper-v5", "--agents", "sac", "xqc", "--steps", str(STEPS)]
    done = subprocess.run([*words, "--every", str(STEPS // 2)], cwd=ROOT, capture_output=True, text=True, check=True)
    print(done.stdout)
    found = re.findall(r"^(\w+) seed (\d): (\d+) steps, return (-?\d+)", done.stdout, re.MULTILINE)
    last = {
        name: [float(x) for who, _, steps, x in found if who == name and int(steps) >= STEPS] for name in ("sac", "xqc")
    }
    assert [len(one) for one in last.values()] == [3, 3]
    # Standing still until the end earns 1,000; random actions earn 20.
    assert np.mean(last["xqc"]) > 1.5 * np.mean(last["sac"])
