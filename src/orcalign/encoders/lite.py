"""EfficientNet-Lite0 for OpenVINO, built layer by layer from its published weights: without torch.

The same network as `networks.efficientnet_lite`, with the batch norms folded into the convolutions as OpenVINO's
converter folds them, so that its features have the same bits as those of that network converted.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from orcalign.encoders.converted import load_openvino
from orcalign.encoders.torch_files import Array

NORM_EPSILON = 1e-3  # TensorFlow's value, with which the weights were trained; torch's own default is 1e-5
CHANNELS = 1280


class Stage(NamedTuple):
    """A run of equal blocks; only the first one strides and changes the width."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    width: int


STAGES = (
    Stage(repeats=1, kernel=3, stride=1, expansion=1, width=16),
    Stage(repeats=2, kernel=3, stride=2, expansion=6, width=24),
    Stage(repeats=2, kernel=5, stride=2, expansion=6, width=40),
    Stage(repeats=3, kernel=3, stride=2, expansion=6, width=80),
    Stage(repeats=3, kernel=5, stride=1, expansion=6, width=112),
    Stage(repeats=4, kernel=5, stride=2, expansion=6, width=192),
    Stage(repeats=1, kernel=3, stride=1, expansion=6, width=320),
)

UNTIL = {"end": 7, "middle": 5, "fine": 3}
"""Stages of the trunk, of its part up to the last with a place for every 16 pixels, and up to that for every 8."""


def padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Pixels before and after, like TensorFlow's SAME: an odd one comes after.

    >>> padding(128, 3, 2), padding(128, 3, 1), padding(9, 5, 2)
    ((0, 1), (1, 1), (2, 2))
    """
    total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


class _Drawing:
    """The graph as it grows: the state that it is drawn from, and layers that take and give its nodes."""

    def __init__(self, state: Mapping[str, Array]) -> None:
        load_openvino()  # the first import of it
        self.state, self.ops = state, importlib.import_module("openvino.opset13")

    def weights(self, name: str, *shape: int) -> Array:
        """Those of that name, which must have this shape."""
        found = self.state[name]
        if found.shape != shape or found.dtype != np.float32:
            raise ValueError(f"{name} is {found.dtype} {list(found.shape)} in the place of float32 {list(shape)}")
        return found

    def unit(
        self,
        x: Any,
        conv: str,
        norm: str,
        outputs: int,
        kernel: int = 1,
        stride: int = 1,
        depthwise: bool = False,
        linear: bool = False,
    ) -> Any:
        """Convolution (depthwise: each channel by itself), batch norm and (unless linear) ReLU6."""
        _, inputs, size, _ = _shape(x)
        weights = self.weights(f"{conv}.weight", outputs, 1 if depthwise else inputs, kernel, kernel)
        scale, mean, shift, variance = (
            self.weights(f"{norm}.{part}", outputs) for part in ("weight", "running_mean", "bias", "running_var")
        )
        scale = scale / np.sqrt(variance + np.float32(NORM_EPSILON))
        weights = weights * scale.reshape(-1, 1, 1, 1)
        before, after = padding(size, kernel, stride)
        places = [stride] * 2, [before] * 2, [after] * 2, [1, 1]
        if depthwise:
            x = self.ops.group_convolution(x, weights[:, None], *places)
        else:
            x = self.ops.convolution(x, weights, *places)
        x = self.ops.add(x, (shift - mean * scale).reshape(1, -1, 1, 1))
        return x if linear else self.ops.clamp(x, 0.0, 6.0)

    def block(self, x: Any, name: str, stage: Stage, stride: int) -> Any:
        """Widen with a 1x1, filter each channel, narrow again without activation; add the input where it fits."""
        inputs = _shape(x)[1]
        y, wide = x, inputs * stage.expansion
        if stage.expansion > 1:
            y = self.unit(y, f"{name}._expand_conv", f"{name}._bn0", wide)
        y = self.unit(y, f"{name}._depthwise_conv", f"{name}._bn1", wide, stage.kernel, stride, depthwise=True)
        y = self.unit(y, f"{name}._project_conv", f"{name}._bn2", stage.width, linear=True)
        return self.ops.add(x, y) if stride == 1 and inputs == stage.width else y

    def trunk(self, x: Any, until: str) -> Any:
        """Normalised images [B,3,S,S] to features [B,C,h,w], as `EfficientNetLite0.forward` has them."""
        x = self.unit(x, "_conv_stem", "_bn0", 32, kernel=3, stride=2)
        number, ends = 0, []
        for stage in STAGES[: UNTIL[until]]:
            for repeat in range(stage.repeats):
                x = self.block(x, f"_blocks.{number}", stage, stage.stride if repeat == 0 else 1)
                number += 1
            ends.append(x)
        if until == "end":
            return self.unit(x, "_conv_head", "_bn1", CHANNELS)
        if until == "fine":
            quarter = ends[1]
            if _shape(quarter)[2] % 2:
                quarter = self.ops.pad(quarter, [0, 0, 0, 0], [0, 0, 1, 1], "constant", np.float32(0))
            return self.ops.concat([self.ops.space_to_depth(quarter, "depth_first", 2), x], 1)
        return x


def _shape(x: Any) -> list[int]:
    """[-1,C,h,w]"""
    return [side.get_length() if side.is_static else -1 for side in x.output(0).partial_shape]


def draw(
    state: Mapping[str, Array],
    size: int,
    until: str,
    mean: tuple[float, float, float],
    std: tuple[float, float, float],
    pooled: bool,
) -> Any:
    """An OpenVINO model from uint8 [?,S,S,3] to float32 [?,D]: what `Backbone.graph` is for torch."""
    drawing = _Drawing(state)
    ops = drawing.ops
    images = ops.parameter([-1, size, size, 3], np.uint8, name="images")
    x = ops.transpose(ops.convert(images, np.float32), np.array([0, 3, 1, 2]))
    scale = (1 / np.array(std, np.float32)).reshape(1, 3, 1, 1)
    x = ops.add(ops.multiply(x, scale), -np.array(mean, np.float32).reshape(1, 3, 1, 1) * scale)
    x = drawing.trunk(x, until)
    if pooled:
        x = ops.reduce_mean(x, np.array([2, 3]), keep_dims=False)
    else:
        x = ops.reshape(x, np.array([0, -1]), special_zero=True)
    return load_openvino().Model([x], [images], "EfficientNet-Lite0")
