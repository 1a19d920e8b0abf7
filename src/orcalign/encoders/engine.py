"""What runs a network: OpenVINO on a CPU, torch on CUDA or MPS.

OpenVINO gets one single-threaded stream a core and a few batches in flight: on two cores that was the fastest
arrangement measured, the numbers do not depend on the thread count, and resizing overlaps with the network.
Arithmetic is float32 everywhere: left alone, OpenVINO computes in bfloat16 on CPUs with AMX, and CUDA in
TF32, so the same video would be rewarded differently on another machine.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import logging
import platform
import shutil
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from orcalign.encoders.protocol import Features, FeatureSink, Frames, Progress
from orcalign.encoders.quiet_openvino import load_openvino
from orcalign.matching.threads import cores

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger(__name__)

ENGINES = {
    "auto": "torch on CUDA or MPS if there is one, else OpenVINO, else torch on the CPU",
    "openvino": "OpenVINO on the CPU",
    "torch": "torch on the CPU",
    "torch-cuda": "torch on an NVIDIA or AMD GPU",
    "torch-mps": "torch on an Apple GPU",
}


class Engine(Protocol):
    """Runs one network on one device."""

    kind: str
    """Part of the fingerprint: engines of one kind give equal features on one kind of machine."""
    summary: str
    """For people to read."""
    dim: int
    """D, the length of a feature."""
    streams: int
    """How many batches are worked on side by side."""

    def run(self, batches: Iterable[tuple[int, Frames]], out: FeatureSink, progress: Progress | None) -> None:
        """For each (start, images uint8 [B,S,S,3]) write features into out[start:start+B]."""


@dataclass(frozen=True)
class EngineSettings:
    """Which engine, and how many CPU threads OpenVINO may use (None: `cores()`); torch keeps its own setting.

    >>> EngineSettings("openvno")
    Traceback (most recent call last):
    ...
    ValueError: There is no engine 'openvno': did you mean 'openvino'? Known: auto, openvino, torch, ...
    """

    name: str = "auto"
    threads: int | None = None

    def __post_init__(self) -> None:
        """Refuse unknown engines and thread counts below one."""
        if self.name not in ENGINES:
            near = difflib.get_close_matches(self.name, ENGINES, n=1)
            hint = f": did you mean {near[0]!r}? Known: " if near else ". Known: "
            raise ValueError(f"There is no engine {self.name!r}{hint}{', '.join(ENGINES)}.")
        if self.threads is not None and self.threads < 1:
            raise ValueError(
                f"threads is {self.threads}, but an engine needs at least 1: leave it out for all cores."
            )

    def resolved(self) -> str:
        """The engine that "auto" means here; others must be available.

        >>> EngineSettings("openvino").resolved()
        'openvino'
        """
        installed = importlib.util.find_spec("openvino") is not None
        if self.name == "auto":
            return accelerator() or ("openvino" if installed else "torch")
        if self.name == "openvino" and not installed:
            raise ValueError(
                "The engine 'openvino' needs the package openvino: pip install 'orcalign[video]'."
            )
        if self.name in ("torch-cuda", "torch-mps") and accelerator() != self.name:
            raise ValueError(
                f"The engine {self.name!r} finds no such GPU here: use 'auto', or 'openvino' for the CPU."
            )
        return self.name

    def thread_count(self) -> int:
        """The number of threads to use."""
        return cores() if self.threads is None else self.threads


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
    """Runs an OpenVINO model with input uint8 [?,S,S,3] and output float32 [?,D]."""

    kind = "openvino-f32"

    def __init__(self, model: Any, threads: int) -> None:
        openvino = load_openvino()
        compiled = openvino.Core().compile_model(
            model,
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": "f32",
                "INFERENCE_NUM_THREADS": threads,
                "NUM_STREAMS": threads,
            },
        )
        # Asked of the shape, never of a trial ``compiled(...)``: that call lends the network our memory and,
        # beside the queue below, corrupted the heap (OpenVINO 2026.4).
        self.dim = int(compiled.output(0).partial_shape[1].get_length())
        self.streams = threads
        self.summary = (
            f"OpenVINO {openvino.__version__.split('-')[0]} on the CPU, {threads} thread(s), float32"
        )
        # One request more than streams: it is filled while the others run.
        self._queue = openvino.AsyncInferQueue(compiled, threads + 1)
        self._queue.set_callback(self._store)
        self._lock = threading.Lock()
        self._counter = threading.Lock()
        self._done = 0

    def _store(self, request: Any, place: tuple[FeatureSink, int]) -> None:
        out, start = place
        features = request.get_output_tensor(0).data
        out[start : start + len(features)] = features
        with self._counter:
            self._done += len(features)

    def run(self, batches: Iterable[tuple[int, Frames]], out: FeatureSink, progress: Progress | None) -> None:
        """For each (start, images uint8 [B,S,S,3]) write features into out[start:start+B]."""
        with self._lock:
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
    """Runs a torch module with input uint8 [B,S,S,3] and output float32 [B,D]."""

    streams = 1

    def __init__(self, graph: nn.Module, device: str, size: int) -> None:
        import torch

        self.kind = f"torch-{device}-f32"
        where = {"cuda": "the GPU (CUDA)", "mps": "the GPU (MPS)"}.get(device, "the CPU")
        self.summary = f"torch {torch.__version__} on {where}, float32"
        self._device = device
        self._graph = graph.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.dim = self._forward(np.zeros((1, size, size, 3), np.uint8)).shape[1]

    def _forward(self, images: Frames) -> Features:
        import torch

        with (
            torch.inference_mode(),
            torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False),
        ):
            features: Features = self._graph(torch.tensor(images).to(self._device)).float().cpu().numpy()
        return features

    def run(self, batches: Iterable[tuple[int, Frames]], out: FeatureSink, progress: Progress | None) -> None:
        """For each (start, images uint8 [B,S,S,3]) write features into out[start:start+B]."""
        for start, images in batches:
            features = self._forward(np.ascontiguousarray(images))
            out[start : start + len(features)] = features
            if progress is not None:
                progress(start + len(features))
