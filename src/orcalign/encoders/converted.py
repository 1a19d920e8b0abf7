"""OpenVINO copies of networks on disk, so that only the first start pays for making them."""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orcalign.encoders.weights import sha256_of
from orcalign.files import write_file

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger(__name__)

FILES = ("model.xml", "model.bin")


def cache_dir() -> Path:
    """The folder of caches: ``$ORCALIGN_CACHE``, ``$XDG_CACHE_HOME/orcalign`` or ``~/.cache/orcalign``.

    >>> cache_dir().is_absolute()
    True
    """
    if chosen := os.environ.get("ORCALIGN_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification tells us to ignore a relative path.
    return (base if base.is_absolute() else Path.home() / ".cache") / "orcalign"


def load_openvino() -> Any:
    """The module ``openvino``, imported so that it reports nothing.

    Left alone, each import and each conversion sends an event to a web statistics service and writes an
    identity into the home folder. Without the package openvino_telemetry it does neither, so that package is
    hidden while OpenVINO looks for it. An OpenVINO that was imported before is left as it is.

    >>> load_openvino().__name__
    'openvino'
    """
    name = "openvino_telemetry"
    if "openvino" in sys.modules or name in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[name]


def load_or_convert(key: str, model: Callable[[], Any], folder: Path | None = None, files: Sequence[bytes] = ()) -> Any:
    """The OpenVINO model named ``key`` from the cache; made, and kept there, if it is not whole.

    ``model`` makes it; it is not asked where ``files`` has what `converted_files` gave for this key elsewhere.
    ``folder`` is ``models`` in the cache directory by default. Where nothing can be written, nothing is kept.
    """
    with _model(key, model, folder, files) as place:
        core = load_openvino().Core()
        # Read, not mapped: the folder may be deleted while the network runs.
        core.set_property({"ENABLE_MMAP": False})
        return core.read_model(place / FILES[0])


def converted_files(key: str, model: Callable[[], Any], folder: Path | None = None) -> tuple[bytes, ...]:
    """What makes up the OpenVINO model named ``key``, to send it where neither cache nor weights are."""
    with _model(key, model, folder) as place:
        return tuple((place / name).read_bytes() for name in FILES)


@contextlib.contextmanager
def _model(key: str, model: Callable[[], Any], folder: Path | None, files: Sequence[bytes] = ()) -> Iterator[Path]:
    """A folder with the model; a new one is at its place after the block, or gone where that cannot be written."""
    folder = cache_dir() / "models" if folder is None else folder
    place = folder / f"{key[:32]}-ov{load_openvino().__version__.split('-')[0]}"
    if _whole(place):
        yield place
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=folder)
    except OSError as error:
        log.info("The converted network is not kept in %s (%s).", folder, error)
        scratch = tempfile.TemporaryDirectory()
    with scratch as name:
        made = Path(name) / "made"
        made.mkdir()
        if files:
            for file, content in zip(FILES, files, strict=True):
                (made / file).write_bytes(content)
        else:
            load_openvino().save_model(model(), made / FILES[0], compress_to_fp16=False)
        for file in FILES:
            with (made / file).open("rb") as written:
                os.fsync(written.fileno())
        hashes = {file: sha256_of(made / file) for file in FILES}
        write_file(made / "sha256.json", json.dumps(hashes).encode())
        # The first start runs the copy that later starts will read, so they cannot differ.
        yield made
        if made.parent.parent != folder:
            return
        if place.exists() and not _whole(place):
            shutil.rmtree(place, ignore_errors=True)
        try:
            made.rename(place)
        except OSError as error:
            # Mostly another process was faster, and its copy is as good as ours.
            log.info("The converted network is not kept in %s (%s).", place, error)


def convert(graph: nn.Module, size: int) -> Any:
    """A torch module from uint8 [B,S,S,3] to [B,D] as an OpenVINO model, with any batch size."""
    import torch

    openvino = load_openvino()
    example = torch.zeros(2, size, size, 3, dtype=torch.uint8)
    with warnings.catch_warnings():
        # The converter needs a trace, which torch has deprecated: not our caller's concern.
        warnings.simplefilter("ignore")
        # Traced here, because the converter would run the network twice more to check the trace.
        trace: Any = torch.jit.trace
        model = openvino.convert_model(trace(graph, example, check_trace=False), example_input=example)
    model.reshape([-1, size, size, 3])
    return model


def _whole(place: Path) -> bool:
    try:
        hashes = json.loads((place / "sha256.json").read_text())
        return bool(hashes == {name: sha256_of(place / name) for name in FILES})
    except (OSError, ValueError):
        return False
