"""A clip encoder around a torch network: draw frames, resize, normalise, run on one thread or as many as are given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.checks import require_count
from orcalign.encoders.clips.protocol import Embedding, check_clip, evenly
from orcalign.encoders.protocol import Frames
from orcalign.encoders.resize import resize

if TYPE_CHECKING:
    from torch import Tensor, nn

RGB = tuple[float, float, float]


@final
class NetworkClips:
    """A `ClipEncoder`. The network is built when it is first asked.

    Args:
        name: in the registry, or the model's own.
        build: makes what maps normalised clips [1,3,T,S,S] to embeddings [1,D].
        dim: D
        digest: of the weights.
        size: S
        frames: seen at most; `exactly` draws so many of every clip, some of them twice if it is shorter.
        multiple: their number is rounded up to a multiple of this, by showing the last one again.
        mean, std: of the values from 0 to 255.
        threads: of torch while the network runs; sums of other numbers of threads round otherwise.
        substitute: what it stands in for.
        words: a sentence → [D]; None where there is no text tower.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[], nn.Module],
        dim: int,
        digest: str,
        size: int,
        frames: int,
        *,
        exactly: bool = False,
        multiple: int = 1,
        mean: RGB = (0.0, 0.0, 0.0),
        std: RGB = (255.0, 255.0, 255.0),
        threads: int = 1,
        substitute: str = "",
        words: Callable[[str], Embedding] | None = None,
    ) -> None:
        self.name, self.dim, self.size, self.substitute = name, dim, size, substitute
        self.frames = require_count(frames, "frames", at_least=2)
        self._build, self._exactly, self._multiple = build, exactly, multiple
        self._mean, self._std = np.array(mean, np.float32), np.array(std, np.float32)
        self._threads, self._words = require_count(threads, "threads", at_least=1), words
        told = json.dumps([name, digest, size, frames, exactly, multiple, list(mean), list(std), threads])
        self.fingerprint = hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def network(self) -> Any:
        """Built once."""
        return self._build().eval().requires_grad_(False)

    def drawn(self, length: int) -> Any:
        """Which frames of so many the network sees."""
        some = evenly(length, self.frames)
        if self._exactly:
            some = np.linspace(0, length - 1, self.frames).round().astype(np.int64)
        missing = -len(some) % self._multiple
        return np.concatenate([some, np.repeat(some[-1:], missing)])

    def __call__(self, frames: Frames) -> Embedding:
        """uint8 [T,H,W,3] → [D]"""
        return self.run(self.prepared(frames))

    def prepared(self, frames: Frames) -> Tensor:
        """What the network is given, [1,3,T,S,S]: the frames that it sees, at its size."""
        import torch

        check_clip(frames)
        pictures = resize(np.ascontiguousarray(frames[self.drawn(len(frames))]), self.size).astype(np.float32)
        return torch.from_numpy((pictures - self._mean) / self._std).permute(3, 0, 1, 2)[None].contiguous()

    def run(self, clip: Tensor) -> Embedding:
        """The network alone."""
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                told: Tensor = self.network(clip)
        finally:
            torch.set_num_threads(before)
        embedding: Embedding = told[0].float().numpy().copy()
        if not np.isfinite(embedding).all():
            raise ValueError(f"{self.name} gives numbers that are not finite; its weights are damaged, get them again.")
        return embedding

    def text(self, sentence: str) -> Embedding:
        """A sentence → [D]"""
        if self._words is None:
            raise ValueError(f"{self.name} has no text tower here; give a video in the place of the sentence.")
        return self._words(sentence)
