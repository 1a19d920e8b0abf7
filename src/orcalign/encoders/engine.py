"""What runs a network: OpenVINO on a CPU, torch on CUDA or MPS.

OpenVINO gets one single-threaded stream a core and a few batches in flight: on two cores that was the fastest
arrangement measured, the numbers do not depend on the thread count, and resizing overlaps with the network.
Arithmetic is float32 everywhere: left alone, OpenVINO computes in bfloat16 on CPUs with AMX, and CUDA in
TF32, so the same video would be rewarded differently on another machine.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import platform
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from orcalign.checks import require
from orcalign.encoders.converted import converted_files, load_openvino, load_or_convert
from orcalign.encoders.protocol import Features, FeatureSink, Frames, Progress
from orcalign.matching.threads import cores

if TYPE_CHECKING:
    from torch import nn

    from orcalign.encoders.backbone import Backbone

log = logging.getLogger(__name__)

ENGINES = {
    "auto": "torch on CUDA or MPS if there is one, else OpenVINO, else torch on the CPU",
    "openvino": "OpenVINO on the CPU",
    "torch": "torch on the CPU",
    "torch-cuda": "torch on an NVIDIA or AMD GPU",
    "torch-mps": "torch on an Apple GPU",
}


Engine: TypeAlias = "OpenVinoEngine | TorchEngine"
"""Runs one network on one device; can be pickled."""


def start_engine(backbone: Backbone, name: str = "auto", threads: int | None = None) -> Engine:
    """Build or load the backbone's network on the engine of that name.

    ``threads`` are those that OpenVINO may use (None: `cores()`); torch keeps its own setting.
    """
    chosen = resolve_engine(name)
    if chosen == "openvino":
        return OpenVinoEngine(backbone, cores() if threads is None else threads)
    return TorchEngine(backbone, {"torch": "cpu", "torch-cuda": "cuda", "torch-mps": "mps"}[chosen])


def resolve_engine(name: str) -> str:
    """The engine that "auto" means here; others must be available.

    >>> resolve_engine("openvino")
    'openvino'
    """
    require("engine", name, tuple(ENGINES))
    installed = importlib.util.find_spec("openvino") is not None
    if name == "auto":
        return accelerator() or ("openvino" if installed else "torch")
    if name == "openvino" and not installed:
        raise ValueError("The engine 'openvino' needs the package openvino: pip install 'orcalign[video]'.")
    if name in ("torch-cuda", "torch-mps") and accelerator() != name:
        raise ValueError(f"The engine {name!r} finds no such GPU here: use 'auto' or, on the CPU, 'openvino'.")
    return name


def accelerator() -> str | None:
    """The engine for this machine's GPU, if torch can use one.

    Importing torch takes seconds, so it is only asked where something speaks for a GPU.
    """
    apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    nodes = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
    if not (apple or shutil.which("nvidia-smi") or any(Path(node).exists() for node in nodes)):
        return None
    try:
        if importlib.metadata.version("torch").endswith("+cpu"):
            return None
    except importlib.metadata.PackageNotFoundError:
        return None
    import torch

    if torch.cuda.is_available():
        return "torch-cuda"
    return "torch-mps" if torch.backends.mps.is_available() else None


class OpenVinoEngine:
    """Runs the OpenVINO copy of a backbone, with input uint8 [?,S,S,3] and output float32 [?,D].

    It is pickled as what it takes to start it again, which happens when the copy is first used: the backbone and,
    unless its weights come with a package, the files of the converted network.
    """

    kind = "openvino-f32"
    """Part of the fingerprint: engines of one kind give equal features on one kind of machine."""
    dim: int
    """D, the length of a feature."""
    streams: int
    """How many batches are worked on side by side."""
    _backbone: Backbone
    _files: tuple[bytes, ...]
    """Of the converted network, where they came with a pickle."""

    def __init__(self, backbone: Backbone, threads: int) -> None:
        self.__setstate__({"_backbone": backbone, "_files": (), "streams": threads})
        self._start()

    def __getstate__(self) -> dict[str, Any]:
        files, recipe = self._files, self._backbone.recipe
        if not files and not self._backbone.packaged:
            files = converted_files(recipe.digest(), self._backbone.model)
        return {"_backbone": self._backbone, "_files": files, "streams": self.streams, "dim": self.dim}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._queue: Any = None
        self._lock, self._counter, self._done = threading.Lock(), threading.Lock(), 0

    def _start(self) -> None:
        model = load_or_convert(self._backbone.recipe.digest(), self._backbone.model, files=self._files)
        openvino = load_openvino()
        threads = {"INFERENCE_NUM_THREADS": self.streams, "NUM_STREAMS": self.streams}
        compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", **threads})
        # Asked of the shape, never of a trial ``compiled(...)``: that call lends the network our memory and,
        # beside the queue below, corrupted the heap (OpenVINO 2026.4).
        self.dim = int(compiled.output(0).partial_shape[1].get_length())
        # One request more than streams: it is filled while the others run.
        self._queue = openvino.AsyncInferQueue(compiled, self.streams + 1)
        self._queue.set_callback(self._store)

    @property
    def summary(self) -> str:
        """For people to read."""
        version = load_openvino().__version__.split("-")[0]
        return f"OpenVINO {version} on the CPU, {self.streams} thread(s), float32"

    def _store(self, request: Any, place: tuple[FeatureSink, int]) -> None:
        out, start = place
        features = request.get_output_tensor(0).data
        out[start : start + len(features)] = features
        with self._counter:
            self._done += len(features)

    def run(self, batches: Iterable[tuple[int, Frames]], out: FeatureSink, progress: Progress | None) -> None:
        """For each (start, images uint8 [B,S,S,3]) write features into out[start:start+B]."""
        with self._lock:
            if self._queue is None:
                self._start()
            self._done = 0
            try:
                for start, images in batches:
                    self._queue.start_async({0: np.ascontiguousarray(images)}, (out, start))
                    if progress is not None:
                        progress(self._done)
            finally:
                # Even on Ctrl-C: the requests in flight write into ``out``.
                self._queue.wait_all()


class TorchEngine:
    """Runs a backbone with torch, with input uint8 [B,S,S,3] and output float32 [B,D].

    It is pickled as its backbone and, unless the weights come with a package, the network.
    """

    streams = 1

    def __init__(self, backbone: Backbone, device: str) -> None:
        size = backbone.recipe.size
        self._backbone, self._device = backbone, device
        self._graph: nn.Module | None = None
        self.kind = f"torch-{device}-f32"
        self.dim = self._forward(np.zeros((1, size, size, 3), np.uint8)).shape[1]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_graph": None if self._backbone.packaged else self._graph}

    @property
    def summary(self) -> str:
        """For people to read."""
        import torch

        where = {"cuda": "the GPU (CUDA)", "mps": "the GPU (MPS)"}.get(self._device, "the CPU")
        return f"torch {torch.__version__} on {where}, float32"

    def _forward(self, images: Frames) -> Features:
        import torch

        if self._graph is None:
            self._graph = self._backbone.graph().to(device=self._device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        exact = torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False)
        with torch.inference_mode(), exact:
            features: Features = self._graph(torch.tensor(images).to(self._device)).float().cpu().numpy()
        return features

    def run(self, batches: Iterable[tuple[int, Frames]], out: FeatureSink, progress: Progress | None) -> None:
        """For each (start, images uint8 [B,S,S,3]) write features into out[start:start+B]."""
        for start, images in batches:
            features = self._forward(np.ascontiguousarray(images))
            out[start : start + len(features)] = features
            if progress is not None:
                progress(start + len(features))
