"""Both render modes to the eye of the encoder, as the benchmark compares them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_both_modes_look_alike_to_the_encoder():
    code = (
        "from benchmarks.render_comparison import compare\n"
        "result = compare('door-close', 'corner', moments=3, steps=60)\n"
        "print(result.frames['fast'].shape, result.same > 0.8, result.agreement > 0.8)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "(3, 128, 128, 3) True True", done.stderr
