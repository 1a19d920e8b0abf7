"""Arrays out of a pickle that others wrote, without unpickling anything else.

A pickle is a program that names what it calls. Here three names are known, and each is a class of this file in the
place of NumPy's: what is not a dict of dicts of float32 arrays cannot even be said.
"""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.encoders.weights import WeightsUnavailable

Arrays = dict[str, npt.NDArray[np.float32]]


@final
class _Dtype:
    """In the place of numpy.dtype: float32 and nothing else."""

    def __init__(self, code: str, *_: Any) -> None:
        if code not in ("f4", "<f4"):
            raise pickle.UnpicklingError(f"numbers of type {code!r}")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] not in ("<", "=", "|"):
            raise pickle.UnpicklingError(f"numbers of byte order {state[1]!r}")


@final
class _Array:
    """In the place of what numpy builds an array from."""

    value: npt.NDArray[np.float32]

    def __init__(self, *_: Any) -> None:
        """Empty until its state comes."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, columns, content = state
        if not isinstance(dtype, _Dtype) or type(content) is not bytes:
            raise pickle.UnpicklingError("an array of something else than numbers")
        if len(content) != 4 * math.prod(shape):
            raise pickle.UnpicklingError("an array of another size than it says")
        self.value = np.frombuffer(content, "<f4").reshape(shape, order="F" if columns else "C")


@final
class _ArraysOnly(pickle.Unpickler):
    _KNOWN: dict[tuple[str, str], type] = {  # noqa: RUF012 (read only)
        ("numpy.core.multiarray", "_reconstruct"): _Array,
        ("numpy._core.multiarray", "_reconstruct"): _Array,
        ("numpy", "ndarray"): _Array,
        ("numpy", "dtype"): _Dtype,
    }

    def find_class(self, module: str, name: str) -> Any:
        """One of the three; anything else is refused before it is imported."""
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return self._KNOWN[module, name]


def read_pickled_arrays(path: Path) -> Arrays:
    """The arrays of a pickled dict of dicts, by their names with slashes between; nothing in the file is run."""
    try:
        with path.open("rb") as file:
            return dict(_flat(_ArraysOnly(file).load(), ""))
    except OSError:
        raise
    except Exception as error:  # a damaged pickle may raise anything
        raise WeightsUnavailable(
            f"{path} is refused, because it holds more than arrays or is damaged ({error}): get it again."
        ) from None


def _flat(found: Any, name: str) -> Any:
    if isinstance(found, _Array):
        yield name, found.value
    elif type(found) is dict:
        for key, one in found.items():
            yield from _flat(one, f"{name}/{key}" if name else str(key))
    else:
        raise pickle.UnpicklingError(f"{name or 'the file'} is a {type(found).__name__}")
