"""How the kernels are compiled: once, cached on disk, without the GIL, and never in silence.

Compiling takes a second or two per kernel and dtype the first time on a machine, and one line on stderr says so;
`ORCALIGN_QUIET=1` keeps it silent.

And exp(x) for x <= 0 in a form that compilers turn into SIMD code, unlike `math.exp`, which is a library call per
cell. It is a few fused multiply-adds: x = k*ln2 + r with |r| <= ln2/2, e^r = 1 + r + r^2*q(r) with a polynomial q,
and 2^k put straight into the exponent bits. Error below 1.5 units in the last place
(`tests/matching/test_exponential.py` measures it and derives the coefficients again). A value below the smallest
normal number (about 2e-308, or 1e-38 in float32) is returned as 0: products with subnormal numbers are slow on most
CPUs and mean nothing as a probability.
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
    (path.name, path.stat().st_mtime, path.stat().st_size) for path in sorted(Path(__file__).parent.glob("*.py"))
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


LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has enough trailing zeros for k * LN2_HIGH to be exact.
LN2_HIGH = 0.6931471803691238
LN2_LOW = 1.9082149292705877e-10
# Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits of the sum; the 1023 beside it is
# the bias of the exponent, so that those bits are 2^k once they are shifted into place.
ROUND_64 = 6755399441055744.0 + 1023.0
# Here k = -1023 and the exponent bits are 0, which makes the power 0.
SMALLEST_64 = -1023 * 0.6931471805599453
# Just above the logarithm of the smallest normal number.
LOWEST_64 = -708.396418
Q_64 = (
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)

F32 = np.float32
LOG2_E_32 = F32(LOG2_E)
LN2_HIGH_32 = F32(0.693359375)
LN2_LOW_32 = F32(-2.1219444e-4)
ROUND_32 = F32(12582912.0 + 127.0)
SMALLEST_32 = F32(-127 * 0.6931471805599453)
LOWEST_32 = F32(-87.3365)
Q_32 = tuple(F32(c) for c in (0.5, 0.16666575, 0.041666556, 0.008363179, 0.0013926184))
ONE_32 = F32(1.0)


def exp_nonpositive(x: Any) -> Any:
    """exp(x) for x <= 0 inside kernels; this body is what plain Python sees.

    >>> exp_nonpositive(0.0)
    np.float64(1.0)
    """
    return np.exp(x)


def _exp_64(x: Any) -> Any:
    clamped = x if x > LOWEST_64 else SMALLEST_64
    shifted = clamped * LOG2_E + ROUND_64
    k = shifted - ROUND_64
    r = (clamped - k * LN2_HIGH) - k * LN2_LOW
    q = Q_64[9]
    q = q * r + Q_64[8]
    q = q * r + Q_64[7]
    q = q * r + Q_64[6]
    q = q * r + Q_64[5]
    q = q * r + Q_64[4]
    q = q * r + Q_64[3]
    q = q * r + Q_64[2]
    q = q * r + Q_64[1]
    q = q * r + Q_64[0]
    power = np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)
    return ((q * r + 1.0) * r + 1.0) * power


def _exp_32(x: Any) -> Any:
    clamped = x if x > LOWEST_32 else SMALLEST_32
    shifted = clamped * LOG2_E_32 + ROUND_32
    k = shifted - ROUND_32
    r = (clamped - k * LN2_HIGH_32) - k * LN2_LOW_32
    q = Q_32[4]
    q = q * r + Q_32[3]
    q = q * r + Q_32[2]
    q = q * r + Q_32[1]
    q = q * r + Q_32[0]
    power = np.int32(np.float32(shifted).view(np.int32) << np.int32(23)).view(np.float32)
    return ((q * r + ONE_32) * r + ONE_32) * power


@overload(exp_nonpositive, jit_options={"fastmath": {"contract"}})
def _exp_nonpositive_in_kernels(x: Any) -> Any:
    return _exp_32 if x == types.float32 else _exp_64


@kernel
def flush(values: Any) -> None:
    """Put 0 in the place of subnormal values, of 1-D values from 0 on.

    >>> values = np.array([1e-310, 0.5])
    >>> flush(values)
    >>> values.tolist()
    [0.0, 0.5]
    """
    zero, tiny = values.dtype.type(0), np.finfo(values.dtype).tiny
    for i in range(values.size):
        values[i] = values[i] if values[i] >= tiny else zero


@kernel
def exp_all(values: Any, out: Any) -> None:
    """out[i] = exp(values[i]) for 1-D values <= 0; for tests and for measuring the limit."""
    for i in range(values.size):
        out[i] = exp_nonpositive(values[i])


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
