"""ResNet-50 as Keras keeps it in a TensorFlow.js folder: ``model.json`` and shards of float32 numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path, PurePath
from typing import Any

import torch
from torch import Tensor

from orcalign.encoders.networks.resnet import DEPTHS
from orcalign.encoders.weights import WeightsUnavailable

Tensors = dict[str, Tensor]


def read_layers(folder: Path) -> tuple[Tensors, dict[str, float]]:
    """Tensors by their Keras names, and the epsilon of each batch norm.

    A folder that is not whole, or holds other numbers than float32, is refused in one sentence.
    """
    try:
        model = json.loads((folder / "model.json").read_bytes())
        layers = model["modelTopology"]["model_config"]["config"]["layers"]
        epsilons = {
            one["config"]["name"]: float(one["config"]["epsilon"]) for one in layers if "epsilon" in one["config"]
        }
        tensors: Tensors = {}
        for group in model["weightsManifest"]:
            tensors |= _read_group(folder, group)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsUnavailable(
            f"{folder} is not a TensorFlow.js model of Keras ({type(error).__name__}: {error}): "
            "give the folder that has model.json and its shards."
        ) from error
    return tensors, epsilons


def _read_group(folder: Path, group: dict[str, Any]) -> Tensors:
    names = [str(name) for name in group["paths"]]
    if any(PurePath(name).name != name for name in names):
        raise ValueError("a shard lies in another folder")
    content = bytearray().join((folder / name).read_bytes() for name in names)
    tensors, start = {}, 0
    for entry in group["weights"]:
        if entry["dtype"] != "float32" or "quantization" in entry:
            raise ValueError(f"{entry['name']} is not float32")
        count = math.prod(entry["shape"])
        if start + 4 * count > len(content):
            raise ValueError(f"the shards end before {entry['name']}")
        flat = torch.frombuffer(content, dtype=torch.float32, count=count, offset=start)
        tensors[entry["name"]] = flat.view(entry["shape"])
        start += 4 * count
    if start != len(content):
        raise ValueError(f"{len(content) - start} bytes are left over")
    return tensors


def rename_keras(tensors: Tensors, epsilons: dict[str, float]) -> Tensors:
    """The state of ``ResNet(50, early=True)`` for red, green and blue, with norms folded in; drops the classifier.

    Keras' kernels are [h,w,in,out], and these expect blue, green and red as Caffe's did.
    """
    state: Tensors = {}
    _fold(state, "conv1", tensors, "conv1", "bn_conv1", epsilons)
    state["conv1.weight"] = state["conv1.weight"].flip(1)
    branches = {"conv1": "2a", "conv2": "2b", "conv3": "2c", "downsample.0": "1"}
    for number, repeats in enumerate(DEPTHS[50]):
        for repeat in range(repeats):
            for ours, branch in branches.items():
                if ours == "downsample.0" and repeat > 0:
                    continue
                theirs = f"{number + 2}{'abcdef'[repeat]}_branch{branch}"
                _fold(state, f"layer{number + 1}.{repeat}.{ours}", tensors, f"res{theirs}", f"bn{theirs}", epsilons)
    return state


def _fold(state: Tensors, name: str, tensors: Tensors, conv: str, norm: str, epsilons: dict[str, float]) -> None:
    gamma, beta, mean, variance = (
        tensors[f"{norm}/{part}"] for part in ("gamma", "beta", "moving_mean", "moving_variance")
    )
    scale = gamma / torch.sqrt(variance + epsilons[norm])
    state[f"{name}.weight"] = (tensors[f"{conv}/kernel"] * scale).permute(3, 2, 0, 1).contiguous()
    state[f"{name}.bias"] = beta + (tensors[f"{conv}/bias"] - mean) * scale
