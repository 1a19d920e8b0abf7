"""OpenVINO copies of networks on disk, so that only the first start pays for torch and the conversion."""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orcalign.encoders.quiet_openvino import load_openvino
from orcalign.encoders.storage import cache_dir, sha256_of
from orcalign.files import write_file

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger(__name__)

FILES = ("model.xml", "model.bin")


def load_or_convert(key: str, size: int, graph: Callable[[], nn.Module], folder: Path | None = None) -> Any:
    """The OpenVINO model named ``key`` from the cache; converted, and kept there, if it is not whole.

    ``graph`` makes a torch module from uint8 [B,S,S,3] to [B,D]. ``folder`` is ``models`` in the cache
    directory by default. Where nothing can be written, nothing is kept.
    """
    openvino = load_openvino()
    folder = cache_dir() / "models" if folder is None else folder
    place = folder / f"{key[:32]}-ov{openvino.__version__.split('-')[0]}"
    if _whole(place):
        try:
            return _read(place)
        except RuntimeError as error:
            log.warning("The converted network in %s cannot be read and is made again (%s).", place, error)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=folder)
    except OSError as error:
        log.info("The converted network is not kept in %s (%s).", folder, error)
        scratch = tempfile.TemporaryDirectory()
    with scratch as name:
        made = Path(name) / "made"
        _convert(graph(), size, made)
        # The first start runs the copy that later starts will read, so they cannot differ.
        model = _read(made)
        if made.parent.parent == folder:
            _keep(made, place)
        return model


def _convert(graph: nn.Module, size: int, made: Path) -> None:
    """Write the graph, with any batch size, as an OpenVINO model and its hashes into the new folder."""
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
    made.mkdir()
    openvino.save_model(model, made / FILES[0], compress_to_fp16=False)
    for name in FILES:
        with (made / name).open("rb") as file:
            os.fsync(file.fileno())
    hashes = {name: sha256_of(made / name) for name in FILES}
    write_file(made / "sha256.json", json.dumps(hashes).encode())


def _read(place: Path) -> Any:
    core = load_openvino().Core()
    # Read, not mapped: the folder may be deleted while the network runs.
    core.set_property({"ENABLE_MMAP": False})
    return core.read_model(place / FILES[0])


def _whole(place: Path) -> bool:
    try:
        hashes = json.loads((place / "sha256.json").read_text())
        return bool(hashes == {name: sha256_of(place / name) for name in FILES})
    except (OSError, ValueError):
        return False


def _keep(made: Path, place: Path) -> None:
    if place.exists() and not _whole(place):
        shutil.rmtree(place, ignore_errors=True)
    try:
        made.rename(place)
    except OSError as error:
        # Mostly another process was faster, and its copy is as good as ours.
        log.info("The converted network is not kept in %s (%s).", place, error)
