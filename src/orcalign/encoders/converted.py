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

from orcalign.encoders.storage import cache_dir, sha256_of, write_whole

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger(__name__)


def convert(graph: nn.Module, size: int) -> Any:
    """A torch graph from uint8 [B,S,S,3] to [B,D] as an OpenVINO model with any batch size.

    Through the frontend, not through ``openvino.convert_model``: that one reports each call to a web
    statistics service and writes into the home folder, and takes three times as long.
    """
    import torch
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    example = torch.zeros(2, size, size, 3, dtype=torch.uint8)
    with warnings.catch_warnings():
        # The converter needs a trace, which torch has deprecated: not our caller's concern.
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(graph, example, check_trace=False)
        # The frontend keeps no reference to the decoder, so it must outlive the conversion.
        decoder = TorchScriptPythonDecoder(traced, example_input=example)
        frontend = FrontEndManager().load_by_framework("pytorch")
        model = frontend.convert(frontend.load(decoder))
    model.reshape([-1, size, size, 3])
    return model


def load_or_convert(key: str, size: int, graph: Callable[[], nn.Module], folder: Path | None = None) -> Any:
    """The OpenVINO model named ``key`` from the cache; converted, and kept there, if it is not whole.

    ``folder`` is ``models`` in the cache directory by default. Where nothing can be written, nothing is kept.
    """
    import openvino

    folder = cache_dir() / "models" if folder is None else folder
    place = folder / f"{key[:32]}-ov{openvino.__version__.split('-')[0]}"
    if _whole(place):
        try:
            return openvino.Core().read_model(place / "model.xml")
        except RuntimeError as error:
            log.warning("The converted network in %s cannot be read and is made again (%s).", place, error)
    model = convert(graph(), size)
    try:
        _keep(model, place)
    except OSError as error:
        log.info("The converted network is not kept in %s (%s).", place, error)
    return model


def _whole(place: Path) -> bool:
    try:
        hashes = json.loads((place / "sha256.json").read_text())
        return bool(hashes == {name: sha256_of(place / name) for name in ("model.xml", "model.bin")})
    except (OSError, ValueError):
        return False


def _keep(model: Any, place: Path) -> None:
    import openvino

    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=place.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        openvino.save_model(model, made / "model.xml", compress_to_fp16=False)
        for name in ("model.xml", "model.bin"):
            with (made / name).open("rb") as file:
                os.fsync(file.fileno())
        hashes = {name: sha256_of(made / name) for name in ("model.xml", "model.bin")}
        write_whole(made / "sha256.json", json.dumps(hashes).encode())
        if place.exists() and not _whole(place):
            shutil.rmtree(place, ignore_errors=True)
        try:
            made.rename(place)
        except OSError:
            # Another process was faster: its copy is as good as ours.
            if not _whole(place):
                raise
