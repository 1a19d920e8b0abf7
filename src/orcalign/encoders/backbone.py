"""A network with pinned weights (Backbone), the encoder that runs it on an engine, and encoding while decoding."""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from orcalign.checks import require_count
from orcalign.encoders.converted import convert
from orcalign.encoders.engine import Engine
from orcalign.encoders.protocol import Encoder, Features, Frames, Progress, check_frames
from orcalign.encoders.resize import resize

if TYPE_CHECKING:
    from torch import nn

Item = TypeVar("Item")
REVISION = 1
"""Raise it when resizing or a network changes its numbers: old caches are then no longer used."""


@dataclass(frozen=True)
class Recipe:
    """All that decides the features: which weights, and what is done around them."""

    name: str
    """The name in the registry."""
    weights: str
    """SHA-256 of the weights."""
    size: int
    """Height and width of the input in pixels."""
    spatial: bool
    """Keep places (flattened), or pool them away."""
    mean: tuple[float, float, float]
    """Subtracted from the red, green and blue values (0 to 255) …"""
    std: tuple[float, float, float]
    """… which are then divided by this."""

    def digest(self, *more: str) -> str:
        """Hex digest of the recipe and of whatever else matters to the caller."""
        text = json.dumps([REVISION, asdict(self), *more], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Backbone:
    """A recipe and the functions that build its network, called only if no converted copy is at hand."""

    recipe: Recipe
    build: Callable[[], nn.Module]
    """Returns a network from normalised [B,3,S,S] to [B,C,h,w] or [B,D]; can be pickled."""
    packaged: bool = False
    """Whether the weights come with a package, so that they are found wherever that is installed."""
    draw: Callable[[], Any] | None = None
    """Returns its OpenVINO model without torch, if there is such a way; can be pickled."""

    def model(self) -> Any:
        """The network with preprocessing as an OpenVINO model: drawn if it can be, else converted from torch."""
        return convert(self.graph(), self.recipe.size) if self.draw is None else self.draw()

    def graph(self) -> nn.Module:
        """The network with preprocessing, from uint8 [B,S,S,3] to float32 [B,D], ready to run."""
        try:
            from orcalign.encoders.networks import WholeGraph
        except ModuleNotFoundError as error:
            raise ValueError(
                f"The encoder {self.recipe.name!r} needs the package {error.name}: "
                "run `pip install 'orcalign[torch]'`, or use --encoder efficientnet-lite0 on --engine openvino."
            ) from error

        recipe = self.recipe
        graph = WholeGraph(self.build(), mean=recipe.mean, std=recipe.std, pooled=not recipe.spatial)
        return graph.eval().requires_grad_(False)


class BackboneEncoder:
    """An `Encoder`: resize, then run the network batch by batch.

    >>> from orcalign.encoders import make_encoder
    >>> encoder = make_encoder("efficientnet-lite0", size=64, engine="torch")
    >>> encoder(np.zeros((3, 90, 120, 3), np.uint8)).shape, encoder.spatial
    ((3, 5120), True)
    """

    def __init__(self, recipe: Recipe, engine: Engine, batch: int = 16) -> None:
        self.name, self.size, self.spatial = recipe.name, recipe.size, recipe.spatial
        self.dim = engine.dim
        self.fingerprint = recipe.digest(engine.kind)
        self._engine, self._batch = engine, require_count(batch, "batch", at_least=1)

    @property
    def engine(self) -> str:
        """Which engine runs the network, for people to read."""
        return self._engine.summary

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Encode uint8 frames [T,H,W,3] into float32 features [T,D]."""
        check_frames(frames)
        T = len(frames)
        # A short clip is spread over all streams instead of filling one batch and leaving cores idle.
        step = max(1, min(self._batch, -(-T // self._engine.streams)))
        return self.encode_chunks((frames[start : start + step] for start in range(0, T, step)), progress, T)

    def encode_chunks(self, chunks: Iterable[Frames], progress: Progress | None = None, expected: int = 0) -> Features:
        """Encode chunks [B,H,W,3] as they come into features [T,D]; each is a batch of its own.

        ``expected`` is about how many frames there will be: with room for them, nothing is copied at the end.
        """
        out = _Growing(expected, self.dim)
        count = 0

        def batches() -> Iterator[tuple[int, Frames]]:
            nonlocal count
            for chunk in chunks:
                yield count, resize(chunk, self.size)
                count += len(chunk)

        self._engine.run(batches(), out, progress)
        features = out.first(count)
        if progress is not None:
            progress(len(features))
        return features


class _Growing:
    """Takes features like an array of unknown length, out[start:stop] = features, in any order."""

    def __init__(self, expected: int, dim: int) -> None:
        self._room: Features = np.empty((expected, dim), np.float32)
        self._beyond: dict[int, Features] = {}

    def __setitem__(self, place: slice, features: Features) -> None:
        if place.stop <= len(self._room):
            self._room[place] = features
        else:
            self._beyond[place.start] = np.array(features)  # a copy: engines use their memory again

    def first(self, count: int) -> Features:
        """Rows 0 to count, all of which have been set. Batches that fit come before those that did not."""
        if not self._beyond:
            return self._room[:count]
        starts = sorted(self._beyond)
        return np.concatenate([self._room[: starts[0]], *(self._beyond[start] for start in starts)])


def encode_stream(
    encoder: Encoder,
    chunks: Iterable[Frames],
    ahead: int = 4,
    progress: Progress | None = None,
    expected: int = 0,
) -> Features:
    """Features [T,D] of all frames in the chunks [B,H,W,3]; up to ``ahead`` chunks are fetched in advance.

    Frames are let go as soon as they are encoded. Chunks of some 16 frames keep the engine busy: it takes them
    as they come, without a pause between chunks. ``expected`` is about how many frames there will be, which saves
    a copy. An error while fetching is raised here.

    >>> from orcalign.encoders import make_encoder
    >>> chunks = (np.full((2, 8, 8, 3), value, np.uint8) for value in range(3))
    >>> encode_stream(make_encoder("pixels", size=4), chunks).shape
    (6, 48)
    """
    require_count(ahead, "ahead", at_least=1)
    fetched = fetch_ahead(chunks, ahead)
    try:
        if isinstance(encoder, BackboneEncoder):
            return encoder.encode_chunks(fetched, progress, expected)
        parts, done = [], 0
        for chunk in fetched:
            parts.append(encoder(chunk))
            done += len(chunk)
            if progress is not None:
                progress(done)
        return np.concatenate(parts) if parts else np.empty((0, encoder.dim), np.float32)
    finally:
        fetched.close()


def fetch_ahead(chunks: Iterable[Item], ahead: int) -> Generator[Item, None, None]:
    """The same chunks, fetched by a thread that is up to ``ahead`` of them in advance.

    Closing it stops the thread; its errors are raised here, after what came before them.
    """
    ready: queue.Queue[Item | BaseException | None] = queue.Queue(maxsize=ahead)
    stopped = threading.Event()

    def put(item: Item | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def fetch() -> None:
        try:
            for chunk in chunks:
                if not put(chunk):
                    return
            put(None)
        except BaseException as error:  # handed to the consumer, who raises it
            put(error)

    thread = threading.Thread(target=fetch, name="orcalign-fetch", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()
