"""ResNet-18 and ResNet-50 (He et al., 2015), batch norm folded away; and CLIP's image tower of the ResNet kind
(Radford et al., 2021), the backbone of LIV."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

NORM_EPSILON = 1e-5
HEAD_WIDTH = 64
DEPTHS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}


def add_layers(
    network: nn.Module, depths: tuple[int, ...], width: int, expansion: int, block: Callable[..., nn.Module]
) -> int:
    """Add layer1, layer2, … of as many blocks as the depths say, each of half the side and twice the width.

    Returns the number of channels that come out.
    """
    inputs = width
    for number, repeats in enumerate(depths):
        blocks = []
        for repeat in range(repeats):
            blocks.append(block(inputs, width * 2**number, stride=2 if repeat == 0 and number > 0 else 1))
            inputs = width * 2**number * expansion
        network.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
    return inputs


def run_layers(network: nn.Module, x: Tensor) -> Tensor:
    """The map after the four layers."""
    for number in range(1, 5):
        x = network.get_submodule(f"layer{number}")(x)
    return x


class Residual(nn.Module):
    """Two 3x3 convolutions, or a 1x1, 3x3, 1x1 bottleneck; names of the layers as in torchvision."""

    def __init__(self, inputs: int, width: int, *, stride: int, bottleneck: bool, early: bool) -> None:
        super().__init__()
        outputs = width * 4 if bottleneck else width
        if bottleneck:
            self.conv1 = nn.Conv2d(inputs, width, 1, stride if early else 1)
            self.conv2 = nn.Conv2d(width, width, 3, 1 if early else stride, padding=1)
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

    A bottleneck strides in its 3x3 convolution (torchvision's, "v1.5") or ``early``, in its first 1x1 (the paper's of
    2015, Caffe's and Keras').

    >>> net = ResNet(18).eval()
    >>> tuple(net(torch.zeros(2, 3, 64, 64)).shape)
    (2, 512, 2, 2)
    """

    def __init__(self, depth: int, early: bool = False) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3)
        bottleneck = depth >= 50
        block = partial(Residual, bottleneck=bottleneck, early=early)
        add_layers(self, DEPTHS[depth], 64, 4 if bottleneck else 1, block)

    def forward(self, x: Tensor) -> Tensor:
        """Map normalised images [B,3,S,S] to features [B,C,S/32,S/32]."""
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 3, stride=2, padding=1)
        return run_layers(self, x)


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


class Bottleneck(nn.Module):
    """Like a ResNet bottleneck, but average pooling does the striding, so that no pixel is skipped."""

    def __init__(self, inputs: int, width: int, *, stride: int) -> None:
        super().__init__()
        outputs = width * 4
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.stride = stride
        self.downsample: nn.Sequential | None = None
        if stride > 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Map [B,C,h,w] to [B,C',h/stride,w/stride]."""
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        if self.stride > 1:
            x, y = functional.avg_pool2d(x, self.stride), functional.avg_pool2d(y, self.stride)
        if self.downsample is not None:
            x = self.downsample(x)
        return functional.relu(x + self.bn3(self.conv3(y)))


class AttentionPool(nn.Module):
    """The mean of the map asks one attention question to all places; the answer is the embedding."""

    def __init__(self, places: int, width: int, outputs: int) -> None:
        super().__init__()
        self.positional_embedding = nn.Parameter(torch.zeros(places + 1, width))
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.c_proj = nn.Linear(width, outputs)
        self.heads = width // HEAD_WIDTH

    def forward(self, x: Tensor) -> Tensor:
        """Map [B,C,h,w] to [B,D]."""
        tokens = x.flatten(2).transpose(1, 2)
        tokens = torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1) + self.positional_embedding
        asked = (self.q_proj(tokens[:, :1]), self.k_proj(tokens), self.v_proj(tokens))
        query, key, value = (x.unflatten(2, (self.heads, HEAD_WIDTH)).transpose(1, 2) for x in asked)
        share = torch.softmax(query @ key.transpose(2, 3) * HEAD_WIDTH**-0.5, dim=-1)
        out: Tensor = self.c_proj((share @ value).transpose(1, 2).flatten(1))
        return out


class ClipResNet(nn.Module):
    """The tower; ``pooled`` gives the embedding [B,D], otherwise the map [B,32·width,S/32,S/32].

    >>> net = ClipResNet(width=16, depths=(1, 1, 1, 1), places=4, outputs=8, pooled=True).eval()
    >>> tuple(net(torch.zeros(3, 3, 64, 64)).shape)
    (3, 8)
    """

    def __init__(self, *, width: int, depths: tuple[int, ...], places: int, outputs: int, pooled: bool) -> None:
        super().__init__()
        widths = (3, width // 2, width // 2, width)
        for number in (1, 2, 3):
            stride = 2 if number == 1 else 1
            conv = nn.Conv2d(widths[number - 1], widths[number], 3, stride, padding=1, bias=False)
            self.add_module(f"conv{number}", conv)
            self.add_module(f"bn{number}", nn.BatchNorm2d(widths[number]))
        self.attnpool = AttentionPool(places, add_layers(self, depths, width, 4, Bottleneck), outputs)
        self.pooled = pooled

    def forward(self, x: Tensor) -> Tensor:
        """Map normalised images [B,3,S,S] to the embedding or to the map."""
        for number in (1, 2, 3):
            x = self.get_submodule(f"conv{number}")(x)
            x = functional.relu(self.get_submodule(f"bn{number}")(x))
        x = functional.avg_pool2d(x, 2)
        x = run_layers(self, x)
        return self.attnpool(x) if self.pooled else x


def visual_part(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The image tower's tensors in float32, whatever wrappers put before ``visual.`` in their names.

    >>> one = torch.ones(1)
    >>> list(visual_part({"module.model.visual.conv1.weight": one, "module.model.logit_scale": one}))
    ['conv1.weight']
    """
    found = {key.partition("visual.")[2]: value for key, value in state.items() if "visual." in key} or state
    return {key: value.float() if value.is_floating_point() else value for key, value in found.items()}


def network_for(state: Mapping[str, Tensor], pooled: bool) -> ClipResNet:
    """A tower of the size that the tensors ask for."""
    blocks = {match[0] for key in state if (match := re.match(r"layer\d\.\d+\.", key))}
    return ClipResNet(
        width=state["conv3.weight"].shape[0],
        depths=tuple(sum(block.startswith(f"layer{number}.") for block in blocks) for number in range(1, 5)),
        places=state["attnpool.positional_embedding"].shape[0] - 1,
        outputs=state["attnpool.c_proj.weight"].shape[0],
        pooled=pooled,
    )
