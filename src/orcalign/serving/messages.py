"""openpi's messages: msgpack maps with NumPy arrays in them, of plain numbers only and of bounded size.

    array:  {b"__ndarray__": True, b"data": bytes, b"dtype": "|u1", b"shape": [H, W, 3]}
    scalar: {b"__npgeneric__": True, b"data": 3.5, b"dtype": "<f4"}

What comes from outside is never trusted: no dtype but those of `DTYPES` is made, an array's size must be that of its
data, and what is not an array may have so many entries and no more, since a list takes far more memory than its bytes.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgpack
import numpy as np

LARGEST = 32 * 2**20
"""Bytes of a message: two pictures of 1080p, or one of 4K."""
MOST_ENTRIES = 10_000
"""Entries of all lists and maps of a message together."""
MOST_AXES = 8
DTYPES = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248])")
ARRAY, SCALAR = b"__ndarray__", b"__npgeneric__"


class MessageError(ValueError):
    """What was wrong with a message, for who sent it."""


def pack(message: dict[str, Any]) -> bytes:
    """A message as bytes.

    >>> unpack(pack({"image": np.zeros((2, 3), np.uint8), "reward": np.float32(0.5)}))["image"].shape
    (2, 3)
    >>> pack({"bad": np.array([object()])})
    Traceback (most recent call last):
    ...
    ValueError: an array of dtype object cannot be sent; arrays are of numbers or booleans.
    """
    packed: bytes = msgpack.packb(message, default=_plain)
    return packed


def unpack(data: bytes, largest: int = LARGEST) -> dict[str, Any]:
    """The message in `data`; its arrays are views of it that cannot be written to.

    >>> unpack(b"garbage")
    Traceback (most recent call last):
    ...
    orcalign.serving.messages.MessageError: the message is not one msgpack map (ExtraData: ...
    """
    if len(data) > largest:
        raise MessageError(
            f"the message has {len(data):,} bytes; at most {largest:,} are taken, so send smaller pictures."
        )
    counted = _Counted()
    try:
        message = msgpack.unpackb(data, object_hook=counted.mapping, list_hook=counted.sequence, max_ext_len=0)
    except MessageError:
        raise
    except Exception as error:  # the decoder raises almost anything
        words = f"{type(error).__name__}: {error}"[:160]
        raise MessageError(f"the message is not one msgpack map ({words}).") from None
    if not isinstance(message, dict):
        raise MessageError(
            f"the message is of type {type(message).__name__}; it must be a map, as openpi-client sends it."
        )
    return message


class _Counted:
    """Makes arrays of maps that say that they are one, and counts what the others hold."""

    def __init__(self) -> None:
        self._entries = 0

    def sequence(self, entries: list[Any]) -> list[Any]:
        self._count(entries)
        return entries

    def mapping(self, entries: dict[Any, Any]) -> Any:
        self._count(entries)
        if ARRAY in entries:
            return _array(entries)
        return _scalar(entries) if SCALAR in entries else entries

    def _count(self, entries: Any) -> None:
        self._entries += 1 + len(entries)
        if self._entries > MOST_ENTRIES:
            raise MessageError(f"the message has more than {MOST_ENTRIES:,} entries; send numbers as arrays.")


def _array(entries: dict[Any, Any]) -> Any:
    data, shape = entries.get(b"data"), entries.get(b"shape")
    dtype = _dtype(entries)
    sides = shape if isinstance(shape, list) else []
    if not isinstance(data, bytes) or len(sides) > MOST_AXES or any(type(n) is not int or n < 0 for n in sides):
        raise MessageError(
            f"an array has the shape {_short(shape)} and data of type {type(data).__name__}; send NumPy's."
        )
    if math.prod(sides) * dtype.itemsize != len(data):
        raise MessageError(f"an array of shape {sides} and dtype {dtype} cannot have {len(data):,} bytes.")
    return np.frombuffer(data, dtype).reshape(sides)


def _scalar(entries: dict[Any, Any]) -> Any:
    value, dtype = entries.get(b"data"), _dtype(entries)
    try:
        if isinstance(value, (bool, int, float)):
            return dtype.type(value)
    except (OverflowError, ValueError):
        pass
    raise MessageError(f"a scalar of dtype {dtype} cannot be {_short(value)}.")


def _dtype(entries: dict[Any, Any]) -> np.dtype[Any]:
    name = entries.get(b"dtype")
    if not isinstance(name, str) or not DTYPES.fullmatch(name):
        raise MessageError(f"an array has the dtype {_short(name)}; only integers, floats and booleans are taken.")
    return np.dtype(name)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biuf":
            raise ValueError(f"an array of dtype {value.dtype} cannot be sent; arrays are of numbers or booleans.")
        if isinstance(value, np.ndarray):
            return {ARRAY: True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape}
        return {SCALAR: True, b"data": value.item(), b"dtype": value.dtype.str}
    raise TypeError(f"{type(value).__name__} cannot be sent.")
