"""From a built file to the first page: an empty environment, without torch, without the repository, offline."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECONDS = 60
"""For the two commands, once installed; of processor time, so that a busy machine changes nothing."""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_from_the_wheel_to_the_first_page(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / "bin"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    clean["ORCALIGN_CACHE"] = str(tmp_path / "cache")
    pip = [binaries / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
    pinned = ["-c", ROOT / "constraints.txt", f"{wheel}[video]"]
    subprocess.run([*pip, *pinned], check=True, env=clean, cwd=tmp_path, capture_output=True)
    packages = {path.name for path in (tmp_path / "env" / "lib").glob("python*/site-packages/*")}
    assert not packages & {"torch", "triton", "nvidia"}

    # What follows needs no network: a proxy that is not there answers whoever tries.
    offline = clean | dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    before, start = os.times(), time.monotonic()
    for command in (
        ["demo-videos", "clips"],
        ["score", "clips/demo.mp4", "clips/good.mp4", "clips/skips.mp4", "--calibrated", "--report", "a/b/page.html"],
    ):
        done = subprocess.run(
            [binaries / "orcalign", *command], env=offline, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert all(len(line) <= 80 or "/" in line for line in done.stdout.splitlines())
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert min(spent, time.monotonic() - start) < SECONDS
    assert (tmp_path / "a" / "b" / "page.html").stat().st_size < 5_000_000

    # And what is not installed is told in one line, with what to type.
    for command, line in (
        (["train", "--task", "nav2d"], "needs gymnasium; install it with: pip install 'orcalign[train]'"),
        (["toy"], "needs matplotlib; install it with: pip install 'orcalign[plot]'"),
        (["score", "clips/demo.mp4", "clips/good.mp4", "--encoder", "clip-vit-base"], "pip install 'orcalign[hub]'"),
        (["score", "clips/demo.mp4", "clips/good.mp4", "--recipe", "roboclip"], "orcalign weights get i3d"),
    ):
        done = subprocess.run(
            [binaries / "python", "-m", "orcalign", *command], env=offline, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 2, done.stderr
        assert line in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
