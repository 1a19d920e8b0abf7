"""Frames of a camera of this machine, or of a file as if it were one."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Iterator
from typing import Any, final

from orcalign.serving.live import Picture
from orcalign.video import VideoOptions, iter_frames
from orcalign.video.picture import Turn, fit, to_rgb

DRIVERS = {"Linux": ("v4l2", "/dev/video{}"), "Darwin": ("avfoundation", "{}"), "Windows": ("dshow", "{}")}


def frames_of(camera: str, options: VideoOptions) -> Iterator[Picture]:
    """Pictures [H,W,3] as they come: the newest of a camera, all of a file, not faster than it plays.

    >>> next(frames_of("999", VideoOptions()))
    Traceback (most recent call last):
    ...
    ValueError: there is no camera 999 (...); give the number of another, or a video.
    """
    if not camera.isdigit():
        yield from _in_real_time(camera, options)
        return
    newest = _Newest(_camera(camera, options))
    try:
        while (picture := newest.take()) is not None:
            yield picture
    finally:
        newest.stop()


def _in_real_time(path: str, options: VideoOptions) -> Iterator[Picture]:
    start = time.monotonic()
    for image, at in iter_frames(path, options):
        time.sleep(max(0.0, at - (time.monotonic() - start)))
        yield image


def _camera(number: str, options: VideoOptions) -> Iterator[Picture]:
    import av

    driver, name = DRIVERS.get(platform.system(), DRIVERS["Linux"])
    try:
        container: Any = av.open(name.format(number), format=driver)
    except (OSError, ValueError) as error:  # PyAV's errors are of both kinds
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise ValueError(f"there is no camera {number} ({reason}); give the number of another, or a video.") from None
    with container:
        for frame in container.decode(video=0):
            yield fit(to_rgb(frame, Turn(), options), options)


@final
class _Newest:
    """Reads in a thread of its own, so that nobody who is slow sees old pictures."""

    def __init__(self, pictures: Iterator[Picture]) -> None:
        self._pictures, self._news = pictures, threading.Condition()
        self._picture: Picture | None = None
        self._error: BaseException | None = None
        self._ended = False
        threading.Thread(target=self._read, name="orcalign-camera", daemon=True).start()

    def take(self) -> Picture | None:
        """The newest that was not taken yet; None after the last."""
        with self._news:
            self._news.wait_for(lambda: self._picture is not None or self._ended)
            picture, self._picture = self._picture, None
        if picture is None and self._error is not None:
            raise self._error
        return picture

    def stop(self) -> None:
        """Read no more."""
        self._ended = True

    def _read(self) -> None:
        try:
            for picture in self._pictures:
                with self._news:
                    if self._ended:
                        return
                    self._picture = picture
                    self._news.notify_all()
        except BaseException as error:
            self._error = error
        finally:
            with self._news:
                self._ended = True
                self._news.notify_all()
