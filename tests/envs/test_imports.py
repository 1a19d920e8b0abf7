"""Importing the package must cost nothing heavy."""

import subprocess
import sys

HEAVY = ("torch", "av", "openvino", "mujoco", "metaworld", "gymnasium")


def loaded_after(code):
    line = f"import sys; {code}; print([m for m in {HEAVY} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_heavy_is_imported_with_the_package():
    assert loaded_after("import orcalign.envs; orcalign.envs.find_task('door-close')") == "[]"


def test_toy_environments_need_no_simulator():
    assert loaded_after("import orcalign.envs; orcalign.envs.make('nav2d').reset()") == "['gymnasium']"


def test_every_public_name_resolves():
    import orcalign.envs

    for name in orcalign.envs.__all__:
        assert getattr(orcalign.envs, name) is not None
    # A submodule of that name would take its place once somebody imports it.
    assert callable(orcalign.envs.make)
