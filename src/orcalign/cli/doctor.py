"""orcalign doctor"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

PACKAGES = {
    "numpy": "",
    "numba": "",
    "scipy": "",
    "POT": "",
    "av": "video",
    "torch": "video",
    "openvino": "video",
    "transformers": "hub",
    "huggingface_hub": "hub",
    "matplotlib": "plot",
    "gymnasium": "train",
    "metaworld": "train",
    "mujoco": "train",
}
CODECS = {"h264": "w", "vp9": "r", "gif": "w", "mjpeg": "w", "png": "r"}
GL_PROBE = "import mujoco; c = mujoco.GLContext(64, 64); c.make_current(); c.free(); print('works')"


class Line(NamedTuple):
    """One thing that was looked at."""

    good: bool | None
    """None: it is missing, and nothing here needs it."""
    what: str
    found: str
    fix: str = ""


def doctor() -> None:
    """Check this machine: Python, packages, encoders and weights, codecs, GL, cores, GPU, disk; with the fix.

    Exit code 1 if something that `orcalign score` needs is broken.
    """
    console = Console(soft_wrap=True, highlight=False)
    broken = False
    for check in (_python, _packages, _kernels, _encoders, _codecs, _gl, _hardware, _browser):
        for line in check():
            mark = {True: "[green]ok[/]     ", False: "[red]broken[/] ", None: "[yellow]missing[/]"}[
                line.good
            ]
            fix = f"  → {line.fix}" if line.fix and line.good is not True else ""
            console.print(
                f"{mark} {line.what}: {line.found}{fix}".replace("[c", r"\[c").replace(
                    "'orcalign[", r"'orcalign\["
                )
            )
            broken |= line.good is False
    if broken:
        sys.exit(1)


def _python() -> Iterator[Line]:
    good = sys.version_info >= (3, 11)
    yield Line(good, "Python", platform.python_version(), "install Python 3.11 or newer")


def _packages() -> Iterator[Line]:
    for name, extra in PACKAGES.items():
        try:
            yield Line(True, name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            fix = f"pip install 'orcalign[{extra}]'" if extra else "pip install --force-reinstall orcalign"
            yield Line(False if extra in ("", "video") else None, name, "not installed", fix)


def _kernels() -> Iterator[Line]:
    import numpy as np

    from orcalign.matching import orca

    good = orca(np.zeros((9, 9))).reward.tolist() == [1.0] * 9
    yield Line(
        good,
        "matching kernels",
        "compiled" if good else "wrong results",
        "pip install --force-reinstall numba",
    )


def _encoders() -> Iterator[Line]:
    if importlib.util.find_spec("av") is None:
        return
    from orcalign.encoders import ENCODERS, WeightsUnavailable
    from orcalign.encoders.backbones import Request

    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # look at what is here; a check should not download
    for name, entry in ENCODERS.items():
        default = name == "efficientnet-lite0"
        try:
            entry.factory(Request(name, entry.size, entry.pooled, None))
        except WeightsUnavailable as error:
            if default or not entry.weights.startswith("hub"):
                fix = " ".join(str(error).split())
            else:
                fix = f"fetched at first use ({entry.weights}); offline: --encoder efficientnet-lite0"
            yield Line(False if default else None, f"encoder {name}", "weights not on this machine", fix)
        except ModuleNotFoundError as error:
            yield Line(
                False if default else None,
                f"encoder {name}",
                f"needs {error.name}",
                "pip install 'orcalign[video,hub]'",
            )
        else:
            yield Line(True, f"encoder {name}", f"{entry.summary} ({entry.licence})")


def _codecs() -> Iterator[Line]:
    if importlib.util.find_spec("av") is None:
        return
    import av

    for name, mode in CODECS.items():
        try:
            av.Codec(name, "r")
            if mode == "w":
                av.Codec(name, "w")
            yield Line(True, f"codec {name}", "reads and writes" if mode == "w" else "reads")
        except ValueError:
            yield Line(
                False, f"codec {name}", "not in this build of PyAV", "pip install --force-reinstall av"
            )


def _gl() -> Iterator[Line]:
    """Each backend in a process of its own: a missing driver may end it."""
    if importlib.util.find_spec("mujoco") is None:
        yield Line(
            None,
            "GL",
            "not tried: mujoco is not installed, and only simulators need it",
            "pip install 'orcalign[train]'",
        )
        return
    for backend, fix in (("egl", "libegl1 libgl1-mesa-dri"), ("osmesa", "libosmesa6")):
        environment = {**os.environ, "MUJOCO_GL": backend}
        run = subprocess.run(
            [sys.executable, "-c", GL_PROBE], env=environment, capture_output=True, text=True, timeout=60
        )
        good = "works" in run.stdout
        yield Line(
            good or None, f"GL {backend}", "works" if good else "does not start", f"apt-get install {fix}"
        )


def _hardware() -> Iterator[Line]:
    from orcalign.matching.threads import cores

    yield Line(True, "cores", str(cores()))
    gpu = shutil.which("nvidia-smi") is not None or platform.system() == "Darwin"
    yield Line(True, "GPU", "found" if gpu else "none; the CPU is used, which is enough for score")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    where = cache if cache.exists() else Path.home()
    free = shutil.disk_usage(where).free / 2**30
    yield Line(
        free > 1, "disk", f"{free:.0f} GiB free at {where}", "make room: features and demos need some GiB"
    )


def _browser() -> Iterator[Line]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    yield Line(
        True if found else None,
        "browser for the tests",
        found or "none",
        "apt-get install chromium chromium-driver",
    )
