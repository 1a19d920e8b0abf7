"""ResNet-18 and ResNet-50 (He et al., 2015; v1.5: the 3x3 convolution strides), batch norm folded away."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

NORM_EPSILON = 1e-5
DEPTHS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}


class Residual(nn.Module):
    """Two 3x3 convolutions, or a 1x1, 3x3, 1x1 bottleneck; names of the layers as in torchvision."""

    def __init__(self, inputs: int, width: int, *, stride: int, bottleneck: bool) -> None:
        super().__init__()
        outputs = width * 4 if bottleneck else width
        if bottleneck:
            self.conv1 = nn.Conv2d(inputs, width, 1)
            self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1)
            self.conv3 = nn.Conv2d(width, outputs, 1)
        else:
            self.conv1 = nn.Conv2d(inputs, width, 3, stride, padding=1)
            self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.bottleneck = bottleneck
        fits = stride == 1 and inputs == outputs
        self.downsample = None if fits else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride))

    def forward(self, x: Tensor) -> Tensor:
        """Map [B,C,h,w] to [B,C',h/stride,w/stride]."""
        y = self.conv2(functional.relu(self.conv1(x)))
        if self.bottleneck:
            y = self.conv3(functional.relu(y))
        return functional.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """The trunk without pooling and classifier.

    >>> net = ResNet(18).eval()
    >>> tuple(net(torch.zeros(2, 3, 64, 64)).shape)
    (2, 512, 2, 2)
    """

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3)
        bottleneck = depth >= 50
        inputs = 64
        for number, repeats in enumerate(DEPTHS[depth]):
            width = 64 * 2**number
            blocks = []
            for repeat in range(repeats):
                stride = 2 if repeat == 0 and number > 0 else 1
                blocks.append(Residual(inputs, width, stride=stride, bottleneck=bottleneck))
                inputs = width * 4 if bottleneck else width
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))

    def forward(self, x: Tensor) -> Tensor:
        """Map normalised images [B,3,S,S] to features [B,C,S/32,S/32]."""
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 3, stride=2, padding=1)
        for number in range(1, 5):
            x = self.get_submodule(f"layer{number}")(x)
        return x


def fold_norms(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Merge each batch norm of a torchvision state dict into its convolution; drop the classifier.

    >>> ones = {f"bn1.{part}": torch.ones(1) for part in ("weight", "bias", "running_mean", "running_var")}
    >>> folded = fold_norms({"conv1.weight": torch.full((1, 1, 1, 1), 2.0), **ones})
    >>> {name: round(float(value), 3) for name, value in folded.items()}
    {'conv1.weight': 2.0, 'conv1.bias': 0.0}
    """
    folded = {}
    for key, kernel in state.items():
        place, _, layer = key.removesuffix(".weight").rpartition(".")
        dot = "." if place else ""
        if not key.endswith(".weight") or kernel.ndim != 4:
            continue
        # A convolution convN is followed by bnN, and downsample.0 by downsample.1.
        norm = f"{place}{dot}" + (layer.replace("conv", "bn") if "conv" in layer else "1")
        scale = state[f"{norm}.weight"] / torch.sqrt(state[f"{norm}.running_var"] + NORM_EPSILON)
        folded[key] = kernel * scale[:, None, None, None]
        folded[f"{place}{dot}{layer}.bias"] = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * scale
    return folded
