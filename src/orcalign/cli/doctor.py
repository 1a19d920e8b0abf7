"""orcalign doctor and warmup: is this machine ready, and make it so."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import track

PACKAGES = {
    "numpy": "",
    "numba": "",
    "scipy": "",
    "POT": "",
    "av": "video",
    "openvino": "video",
    "torch": "torch",
    "transformers": "hub",
    "huggingface_hub": "hub",
    "matplotlib": "plot",
    "gymnasium": "train",
    "metaworld": "train",
    "mujoco": "train",
}
"""Package to the extra that brings it."""
EXTRAS = {
    **PACKAGES,
    **{"safetensors": "train", "yaml": "train", "tensorboard": "train", "packaging": "train", "OpenGL": "train"},
    **{"ray": "ray", "tokenizers": "hub", "stable_baselines3": "sb3", "websockets": "serve", "msgpack": "serve"},
    **{"pyarrow": "data", "rerun": "rerun"},
}
"""The same of all that are imported somewhere."""
CODECS: dict[str, Any] = {"h264": "rw", "vp9": "r", "gif": "rw", "mjpeg": "rw", "png": "r"}
MARKS = {True: "[green]ok[/]     ", False: "[red]broken[/] ", None: "[yellow]missing[/]"}
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
    for check in (_packages, _video, _gl, _hardware):
        for line in check():
            fix = f"  → {line.fix}" if line.fix and line.good is not True else ""
            console.print(MARKS[line.good] + escape(f" {line.what}: {line.found}{fix}"))
            broken |= line.good is False
    if broken:
        sys.exit(1)


def warmup() -> None:
    """Compile the kernels now (matching, distances, pictures, networks), so that the first real call does not have to.

    They are kept in numba's cache; after an update of orcalign, numba or the CPU this is worth repeating.
    """
    import numpy as np

    from orcalign.agents import Replay
    from orcalign.agents.cpu.kernels import adam, layer_of_one, normalise, normalise_back, rectified_back
    from orcalign.agents.cpu.losses import towards, upwards
    from orcalign.agents.drqv2.losses import nearby, through_tanh
    from orcalign.agents.sac.losses import through_draw
    from orcalign.agents.xqc.kernels import columns_back, learned_from, normalise_columns, rectify
    from orcalign.costs import FrameCosts
    from orcalign.encoders.resize import resize
    from orcalign.envs.rendering.layers import compose, shrink
    from orcalign.matching import MATCHERS, OrcaTracker, context

    os.environ["ORCALIGN_QUIET"] = "1"  # the progress bar says it
    console = Console()
    start = time.perf_counter()
    jobs = [(matcher, dtype) for matcher in MATCHERS.values() for dtype in (np.float64, np.float32)]
    for matcher, dtype in track(jobs, description="compiling", console=console):
        cost = np.ones((2, 12, 12), dtype)
        matcher(cost)
        context(cost)
    OrcaTracker(2).push([0.0, 0.0])
    picture = np.zeros((4, 4, 3), np.uint8)
    resize(picture[None], 2)
    small, depth = shrink(picture, 2, flip=False), np.zeros((4, 4), np.float32)
    compose(picture, depth, picture, depth, small, 2, flip=False)
    for dtype in (np.float64, np.float32):
        FrameCosts(np.ones((2, 4), dtype))(np.ones((1, 4), dtype))
    layer, row = np.ones((2, 4), np.float32), np.ones(4, np.float32)
    normalise(layer, row, row, row, True, row[:2], layer)
    normalise_back(layer, layer, layer, row, True, row[:2], True, row, row, row)
    layer_of_one(row, np.ones((4, 4), np.float32), row, row, row, True, row)
    adam(row, row, row, row, row, row[0], row[0], True, row[0])
    for room in (layer, np.ones((2, 5), np.float32)[:, 1:]):
        nearby(layer, layer, 0.3, room)
    towards(layer, row, row, layer, layer)
    upwards(layer, layer)
    through_tanh(layer, layer, layer, 0.01, layer)
    rectified_back(layer, layer, True, row)
    square = np.ones((2, 2), np.float32)
    through_draw(square, square, square, layer, -20.0, 2.0, 1.0, layer)
    normalise_columns(layer, row, row, 0.1, 1e-3, row, row)
    rectify(layer, row, row, layer)
    columns_back(layer, layer, layer, row, row, row, row)
    learned_from(np.ones((2, 2, 4), np.float32), layer, row, row, row, 5.0, layer)
    # The kernels above have written into what they were given.
    replay = Replay(2, (2,), np.float32, 1)
    replay.add(np.zeros((2, 2), np.float32), np.zeros((1, 1)), np.zeros(1), terminated=True)
    replay.sample(np.random.default_rng(0), 1, 1, 0.9)
    console.print(f"ready after {time.perf_counter() - start:.1f} s", highlight=False)


def _packages() -> Iterator[Line]:
    good = sys.version_info >= (3, 11)
    yield Line(good, "Python", platform.python_version(), "install Python 3.11 or newer")
    for name, extra in PACKAGES.items():
        try:
            yield Line(True, name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            fix = f"pip install 'orcalign[{extra}]'" if extra else "pip install --force-reinstall orcalign"
            yield Line(False if extra in ("", "video") else None, name, "not installed", fix)
    import numpy as np

    from orcalign.matching import orca

    good = orca(np.zeros((9, 9))).reward.tolist() == [1.0] * 9
    found = "compiled" if good else "wrong results"
    yield Line(good, "matching kernels", found, "pip install --force-reinstall numba")


def _video() -> Iterator[Line]:
    if importlib.util.find_spec("av") is None:
        return
    import av

    from orcalign.encoders import ENCODERS, WeightsUnavailable
    from orcalign.encoders.backbones import Request
    from orcalign.encoders.packages import Package

    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # look at what is here; a check should not download
    for name, entry in ENCODERS.items():
        default = name == "efficientnet-lite0"
        try:
            entry.factory(Request(name, entry.size, entry.pooled, None))
        except WeightsUnavailable as error:
            if isinstance(entry.weights, Package):
                fix = " ".join(str(error).split())
            else:
                fix = f"fetched at first use ({entry.weights}); offline: --encoder efficientnet-lite0"
            yield Line(False if default else None, f"encoder {name}", "weights not on this machine", fix)
        except ModuleNotFoundError as error:
            fix = "pip install 'orcalign[video,hub]'"
            yield Line(False if default else None, f"encoder {name}", f"needs {error.name}", fix)
        else:
            yield Line(True, f"encoder {name}", f"{entry.summary} ({entry.licence})")
    for name, does in CODECS.items():
        try:
            for mode in does:
                av.Codec(name, "w" if mode == "w" else "r")
            yield Line(True, f"codec {name}", "reads and writes" if "w" in does else "reads")
        except ValueError:
            fix = "pip install --force-reinstall av"
            yield Line(False, f"codec {name}", "not in this build of PyAV", fix)


def _gl() -> Iterator[Line]:
    """Each backend in a process of its own: a missing driver may end it."""
    if importlib.util.find_spec("mujoco") is None:
        why = "not tried: mujoco is not installed, and only simulators need it"
        yield Line(None, "GL", why, "pip install 'orcalign[train]'")
        return
    for backend, fix in (("egl", "libegl1 libgl1-mesa-dri"), ("osmesa", "libosmesa6")):
        environment = {**os.environ, "MUJOCO_GL": backend}
        run = subprocess.run(
            [sys.executable, "-c", GL_PROBE], env=environment, capture_output=True, text=True, timeout=60
        )
        good = "works" in run.stdout
        found = "works" if good else "does not start"
        yield Line(good or None, f"GL {backend}", found, f"apt-get install {fix}")


def _hardware() -> Iterator[Line]:
    from orcalign.matching.threads import cores

    yield Line(True, "cores", str(cores()))
    gpu = shutil.which("nvidia-smi") is not None or platform.system() == "Darwin"
    yield Line(True, "GPU", "found" if gpu else "none; the CPU is used, which is enough for score")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    where = cache if cache.exists() else Path.home()
    free = shutil.disk_usage(where).free / 2**30
    room = "make room: features and demos need some GiB"
    yield Line(free > 1, "disk", f"{free:.0f} GiB free at {where}", room)
    found = shutil.which("chromium") or shutil.which("google-chrome")
    fix = "apt-get install chromium chromium-driver"
    yield Line(True if found else None, "browser for the tests", found or "none", fix)
