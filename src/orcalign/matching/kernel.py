"""How the kernels are compiled: once, cached on disk, without the GIL, and never in silence.

Compiling takes a second or two per kernel and dtype the first time on a machine; later processes load
the result from numba's cache. While a kernel is compiled one line on stderr says so, because a user who
waits should know why. Set `ORCALIGN_QUIET=1` to keep it silent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.extending import intrinsic, overload

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile with numba: no GIL (so that threads share the work), IEEE arithmetic, cached on disk."""
    return _compiled(function)


def reordering_kernel(function: F) -> F:
    """Compile like `kernel`, but let sums be reordered and multiply-adds fused.

    Only for inner products, where the order of the terms carries no meaning and fixed order forbids SIMD.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: F, **options: Any) -> F:
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep a cache: neither the package nor the home folder is writable
        compiled = numba.njit(**options)(function)
    # numba looks for changes in a kernel's own file only, but kernels call kernels of other files.
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        own = Path(function.__code__.co_filename).stat()
        file._source_stamp = (*_SOURCES, own.st_mtime, own.st_size)
    return cast(F, compiled)


_SOURCES = tuple(
    (path.name, path.stat().st_mtime, path.stat().st_size)
    for path in sorted(Path(__file__).parent.glob("*.py"))
)


def bits(value: Any) -> Any:
    """The bits of a float as an unsigned integer of the same size.

    >>> hex(bits(np.float32(1.0)))
    '0x3f800000'
    """
    return value.view(np.uint32 if value.dtype == np.float32 else np.uint64)


def _bits_32(value: Any) -> Any:
    return np.float32(value).view(np.uint32)


def _bits_64(value: Any) -> Any:
    return np.float64(value).view(np.uint64)


@overload(bits)
def _bits_in_kernels(value: Any) -> Any:
    return _bits_32 if value == types.float32 else _bits_64


@intrinsic
def _wide_vectors(typing_context: Any) -> Any:
    """Called first in a kernel: compile its loops for the widest vectors of the CPU, and do not inline it.

    LLVM prefers 256-bit vectors on CPUs that have 512-bit ones, for fear of a lower clock. For the
    exponential the wider ones are faster. The wish is an attribute of the function that holds the
    loop, hence no inlining. On other CPUs it changes nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        attributes = builder.function.attributes
        attributes.add("noinline")
        set.add(attributes, '"prefer-vector-width"="512"')  # not among the names that llvmlite checks for
        return context.get_dummy_value()

    return types.none(), generate


wide_vectors = cast(Callable[[], None], _wide_vectors)


class _CompileNotice(event.Listener):
    """Says once per process that kernels are being compiled; numba does not call it for cached ones."""

    said = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if _CompileNotice.said or not function.__module__.startswith("orcalign."):
            return
        _CompileNotice.said = True
        if os.environ.get("ORCALIGN_QUIET", "") in ("", "0"):
            message = "orcalign: compiling kernels (once per machine, some seconds) ..."
            print(message, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to do: the next line of output shows that it is over."""


event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
