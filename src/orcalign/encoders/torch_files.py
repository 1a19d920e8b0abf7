"""Tensors of a torch file, in either of its formats, as NumPy arrays: without torch, and without running anything.

Such a file is a pickle, which could call any function. Here a pickle is only read: a few of its instructions are known,
they make plain values and descriptions of tensors, and with any other the file is refused.
"""

from __future__ import annotations

import io
import pickletools
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MAGIC = 0x1950A86A20F9469CFC6C
"""With which files begin that are older than torch 1.6."""
TYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1", "I8": "|i1", "U8": "|u1"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "U64": "<u8", "U32": "<u4", "U16": "<u2"},
}
"""Types of numbers, as safetensors calls them."""
STORAGES = {
    **{"DoubleStorage": "F64", "FloatStorage": "F32", "HalfStorage": "F16", "BFloat16Storage": "BF16"},
    **{"LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8"},
    **{"ByteStorage": "U8", "BoolStorage": "BOOL"},
}
"""The same, as torch calls what holds them."""
DAMAGE = (ValueError, TypeError, LookupError, OverflowError, EOFError, struct.error, zipfile.BadZipFile, RuntimeError)
"""What reading a damaged file may end in."""
WRAPPED = ("liv", "state_dict", "model")
"""Trainers wrap the state dict in a dict of their own; these are the usual names for it."""


class Refused(ValueError):  # noqa: N818  (the word that is said)
    """The file holds more than tensors, or is damaged."""


class _Name(NamedTuple):
    """Something that a pickle wants to import: here its name and nothing else."""

    module: str
    name: str


@dataclass(frozen=True)
class _Storage:
    kind: str
    key: str
    count: int


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def array(self, content: Array) -> Array:
        """Its numbers, copied from those of its storage."""
        whole = (self.offset, *self.size, *self.stride)
        if not all(type(number) is int and number >= 0 for number in whole) or prod(self.size) > len(content):
            raise Refused(f"a tensor of {self.size} does not fit its storage of {len(content)} numbers")
        step = content.dtype.itemsize
        try:
            strides = tuple(step * stride for stride in self.stride)
            # NumPy itself refuses what would reach beyond the storage.
            view: Array = np.ndarray(self.size, content.dtype, content, step * self.offset, strides)
        except (ValueError, TypeError, OverflowError) as error:
            raise Refused(f"a tensor does not fit its storage ({error})") from None
        return view.copy()


def read_tensors(path: Path) -> dict[str, Array]:
    """The arrays of a file that holds a state dict, by name; what else lies beside them is left out.

    >>> from orcalign.encoders.packages import PACKAGES
    >>> [weights] = PACKAGES["efficientnet-lite0"].files().values()
    >>> read_tensors(weights)["_conv_stem.weight"].shape
    (32, 3, 3, 3)
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _zipped(archive)
        # From memory: a file makes room for as many bytes as a damaged length asks for.
        return _in_sequence(io.BytesIO(path.read_bytes()))
    except Refused:
        raise
    except DAMAGE as error:
        raise Refused(f"{type(error).__name__}: {error}") from None


def _zipped(archive: zipfile.ZipFile) -> dict[str, Array]:
    """torch's format since 1.6: a pickle, and a member for each storage."""
    members = {info.filename: info for info in archive.infolist()}
    [pickled] = [name for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    root = pickled.removesuffix("data.pkl")

    def content(name: str) -> bytes:
        if members[name].compress_type != zipfile.ZIP_STORED:
            raise Refused(f"its member {name} is compressed")
        return archive.read(members[name])

    if f"{root}byteorder" in members and content(f"{root}byteorder") != b"little":
        raise Refused("its bytes are in another order than ours")
    tensors = _state(read_pickle(io.BytesIO(content(pickled))))
    return _filled(tensors, lambda storage: _content(content(f"{root}data/{storage.key}"), storage))


def _in_sequence(file: IO[bytes]) -> dict[str, Array]:
    """torch's older format: pickles, then the storages in the order of a list of their keys."""
    if read_pickle(file) != MAGIC:
        raise Refused("it is no torch file")
    _version, machine = read_pickle(file), read_pickle(file)
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise Refused("its bytes are in another order than ours")
    tensors, keys = _state(read_pickle(file)), read_pickle(file)
    storages = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    contents: dict[str, Array] = {}
    for key in keys:
        if key not in storages:
            raise Refused(f"storage {key!r} belongs to something beside the state dict")  # its size is not known
        storage = storages[key]
        if file.read(8) != struct.pack("<q", storage.count):
            raise Refused(f"storage {key} has another size than its tensors say")
        contents[key] = _content(file.read(storage.count * np.dtype(TYPES[storage.kind]).itemsize), storage)
    return _filled(tensors, lambda storage: contents[storage.key])


def numbers(content: bytes, kind: str) -> Array:
    """Numbers of a type, one after another; NumPy has no bfloat16, so that these become float32, which loses nothing.

    >>> numbers(bytes([128, 63, 0, 192]), "BF16")
    array([ 1., -2.], dtype=float32)
    """
    found: Array = np.frombuffer(content, TYPES[kind])
    return (found.astype(np.uint32) << 16).view(np.float32) if kind == "BF16" else found


def _content(content: bytes, storage: _Storage) -> Array:
    found = numbers(content, storage.kind)
    if len(found) != storage.count:
        raise Refused(f"storage {storage.key} has {len(found)} numbers in the place of {storage.count}")
    return found


def _filled(tensors: Mapping[str, _Tensor], content: Callable[[_Storage], Array]) -> dict[str, Array]:
    return {name: tensor.array(content(tensor.storage)) for name, tensor in tensors.items()}


def _state(loaded: Any) -> dict[str, _Tensor]:
    for key in WRAPPED:
        if isinstance(loaded, dict) and isinstance(loaded.get(key), dict):
            loaded = loaded[key]
    if not isinstance(loaded, dict):
        raise Refused(f"it holds a {type(loaded).__name__}, but a dict of tensors is needed")
    return {name: value for name, value in loaded.items() if isinstance(value, _Tensor) and isinstance(name, str)}


def read_pickle(file: IO[bytes]) -> Any:
    """The value of the pickle at this place of a file: plain values, and what torch says of its tensors.

    >>> import pickle
    >>> read_pickle(io.BytesIO(pickle.dumps({"a": (1, 2.5, None)}, protocol=2)))
    {'a': (1, 2.5, None)}
    >>> read_pickle(io.BytesIO(pickle.dumps(print, protocol=2)))
    _Name(module='__builtin__', name='print')
    """
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(file):
        name = opcode.name
        if name == "STOP":
            [value] = stack
            return value
        if name in VALUES:
            stack.append(argument)
        elif name in FIXED:
            stack.append(FIXED[name]())
        elif name == "GLOBAL":
            stack.append(_Name(*argument.split(" ", 1)))
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "MARK":
            marks.append(len(stack))
        elif name in TAKING:
            count, action = TAKING[name]
            at = marks.pop() if count is None else len(stack) - count
            if not 0 <= at <= len(stack):
                raise Refused("its pickle takes more values than there are")
            values = stack[at:]
            del stack[at:]
            action(stack, values)
        elif name != "PROTO":
            raise Refused(f"its pickle has the instruction {name}")
    raise Refused("its pickle has no end")


def _make(function: Any, arguments: Any) -> Any:
    """What a call would give, of the few that are known."""
    if not isinstance(function, _Name) or type(arguments) is not tuple:
        raise Refused(f"it wants to call a {type(function).__name__}")
    if function == _Name("collections", "OrderedDict") and arguments == ():
        return {}
    if function == _Name("torch._utils", "_rebuild_tensor_v2"):
        storage, offset, size, stride, *_ = arguments
        if isinstance(storage, _Storage) and isinstance(size, tuple) and isinstance(stride, tuple):
            return _Tensor(storage, offset, size, stride)
    if function == _Name("torch._utils", "_rebuild_parameter") and isinstance(arguments[0], _Tensor):
        return arguments[0]
    raise Refused(f"it wants to call {'.'.join(function)}")


def _stored(identity: Any) -> _Storage:
    word, kind, key, _place, count, *view = identity
    known = isinstance(kind, _Name) and kind.module == "torch" and kind.name in STORAGES
    plain = type(word) is str and word == "storage" and type(key) is str and type(count) is int
    if not known or not plain or len(view) > 1 or any(part is not None for part in view):
        raise Refused("it refers to something that is no storage of numbers")
    return _Storage(STORAGES[kind.name], key, count)


def _set(stack: list[Any], values: list[Any]) -> None:
    if not isinstance(stack[-1], dict):
        raise Refused("its pickle sets an item of what is no dict")
    if not all(type(key) in (str, int) for key in values[::2]):
        raise Refused("its pickle has a dict whose keys are no words")  # which may be too deep to look up
    stack[-1].update(zip(values[::2], values[1::2], strict=True))


def _extend(stack: list[Any], values: list[Any]) -> None:
    if not isinstance(stack[-1], list):
        raise Refused("its pickle appends to what is no list")
    stack[-1].extend(values)


def _build(stack: list[Any], values: list[Any]) -> None:
    """A state dict has the versions of its layers as an attribute: left out."""
    if not isinstance(stack[-1], dict):
        raise Refused("its pickle sets the state of what is no dict")


Action = Callable[[list[Any], list[Any]], None]

VALUES = frozenset(("BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"))
"""Instructions that put their argument on the stack."""
FIXED: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
}
"""Instructions that put something on it that is always the same."""
TAKING: dict[str, tuple[int | None, Action]] = {
    **{
        name: (count, lambda stack, values: stack.append(tuple(values)))
        for name, count in (("TUPLE", None), ("TUPLE1", 1), ("TUPLE2", 2), ("TUPLE3", 3))
    },
    "SETITEM": (2, _set),
    "SETITEMS": (None, _set),
    "APPEND": (1, _extend),
    "APPENDS": (None, _extend),
    "BUILD": (1, _build),
    "BINPERSID": (1, lambda stack, values: stack.append(_stored(*values))),
    "REDUCE": (2, lambda stack, values: stack.append(_make(*values))),
}
"""Instructions that take so many values from it, or (None) all since the last mark, and what they do with them."""
