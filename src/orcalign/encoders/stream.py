"""Encode while decoding: frames are fetched in a thread of their own, so neither waits for the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator

from orcalign.encoders.protocol import Encoder, Features, Frames


def encode_stream(encoder: Encoder, chunks: Iterable[Frames], ahead: int = 2) -> Iterator[Features]:
    """Features [B,D] for each chunk of frames [B,H,W,3]; up to ``ahead`` chunks are fetched in advance.

    Memory stays bounded however long the video is. Chunks of 64 frames or more keep the engine busy. An error
    while fetching is raised here; a caller that stops early stops the fetching.

    >>> import numpy as np
    >>> from orcalign.encoders import make_encoder
    >>> chunks = (np.full((2, 8, 8, 3), value, np.uint8) for value in range(3))
    >>> [features.shape for features in encode_stream(make_encoder("pixels", size=4), chunks)]
    [(2, 48), (2, 48), (2, 48)]
    """
    if ahead < 1:
        raise ValueError(f"ahead is {ahead}, but at least 1 chunk is fetched in advance: use 2.")
    return _encode(encoder, chunks, ahead)


def _encode(encoder: Encoder, chunks: Iterable[Frames], ahead: int) -> Iterator[Features]:
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
            yield encoder(item)
    finally:
        stopped.set()
        thread.join()
