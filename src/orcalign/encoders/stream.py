"""Encode while decoding: frames are fetched in a thread of their own, so neither waits for the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable

import numpy as np

from orcalign.checks import require_count
from orcalign.encoders.backbone import BackboneEncoder
from orcalign.encoders.protocol import Encoder, Features, Frames, Progress


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


def fetch_ahead(chunks: Iterable[Frames], ahead: int) -> Generator[Frames, None, None]:
    """The same chunks, fetched by a thread that is up to ``ahead`` of them in advance.

    Closing it stops the thread; its errors are raised here, after what came before them.
    """
    ready: queue.Queue[Frames | BaseException | None] = queue.Queue(maxsize=ahead)
    stopped = threading.Event()

    def put(item: Frames | BaseException | None) -> bool:
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
