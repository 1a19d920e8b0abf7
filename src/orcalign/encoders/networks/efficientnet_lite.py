"""EfficientNet-Lite0: inverted residuals with ReLU6 and without squeeze-and-excitation (Tan & Le, 2019)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from orcalign.encoders.lite import CHANNELS, NORM_EPSILON, STAGES, UNTIL, Stage, padding


class ConvUnit(nn.Module):
    """Convolution, batch norm and (unless linear) ReLU6, padded like TensorFlow's SAME for one size."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        kernel: int = 1,
        stride: int = 1,
        size: int,
        depthwise: bool = False,
        linear: bool = False,
    ) -> None:
        super().__init__()
        self.out_size = math.ceil(size / stride)
        # TensorFlow puts the odd pixel at the bottom right, torch's own padding cannot.
        self.before, self.after = padding(size, kernel, stride)
        self.uneven = self.before != self.after
        even, groups = 0 if self.uneven else self.before, inputs if depthwise else 1
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, even, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=NORM_EPSILON)
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        """Map [B,C,h,w] to [B,C',h/stride,w/stride]."""
        if self.uneven:
            x = functional.pad(x, (self.before, self.after, self.before, self.after))
        x = self.norm(self.conv(x))
        return x if self.linear else functional.relu6(x)


class InvertedResidual(nn.Module):
    """Widen with a 1x1, filter each channel, narrow again without activation; add the input where it fits."""

    def __init__(self, inputs: int, stage: Stage, *, stride: int, size: int) -> None:
        super().__init__()
        wide = inputs * stage.expansion
        self.expand = ConvUnit(inputs, wide, size=size) if stage.expansion > 1 else None
        self.depthwise = ConvUnit(wide, wide, kernel=stage.kernel, stride=stride, size=size, depthwise=True)
        self.out_size = self.depthwise.out_size
        self.project = ConvUnit(wide, stage.width, size=self.out_size, linear=True)
        self.residual = stride == 1 and inputs == stage.width

    def forward(self, x: Tensor) -> Tensor:
        """Map [B,C,h,w] to [B,C',h/stride,w/stride]."""
        wide = x if self.expand is None else self.expand(x)
        y: Tensor = self.project(self.depthwise(wide))
        return x + y if self.residual else y


class EfficientNetLite0(nn.Module):
    """The trunk without pooling and classifier, built for one input size; or its beginning.

    >>> import torch
    >>> net = EfficientNetLite0(size=64).eval()
    >>> tuple(net(torch.zeros(2, 3, 64, 64)).shape)
    (2, 1280, 2, 2)
    >>> tuple(EfficientNetLite0(size=64, until="middle").eval()(torch.zeros(2, 3, 64, 64)).shape)
    (2, 112, 4, 4)
    >>> tuple(EfficientNetLite0(size=64, until="fine").eval()(torch.zeros(2, 3, 64, 64)).shape)
    (2, 136, 8, 8)
    """

    def __init__(self, size: int, until: str = "end") -> None:
        super().__init__()
        self.fine = until == "fine"
        self.stem = ConvUnit(3, 32, kernel=3, stride=2, size=size)
        blocks: list[InvertedResidual] = []
        width, size = 32, self.stem.out_size
        for stage in STAGES[: UNTIL[until]]:
            for repeat in range(stage.repeats):
                stride = stage.stride if repeat == 0 else 1
                blocks.append(InvertedResidual(width, stage, stride=stride, size=size))
                width, size = stage.width, blocks[-1].out_size
        self.blocks = nn.Sequential(*blocks)
        self.head = ConvUnit(width, CHANNELS, size=size) if until == "end" else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Map normalised images [B,3,S,S] to features [B,1280,S/32,S/32], or [B,112,S/16,S/16] up to the middle.

        The fine ones [B,136,S/8,S/8] are the maps of two stages: a place of the later one, and the four of the one
        before that lie in it, as channels.
        """
        if not self.fine:
            features: Tensor = self.head(self.blocks(self.stem(x)))
            return features
        before = STAGES[0].repeats + STAGES[1].repeats
        quarter: Tensor = self.blocks[:before](self.stem(x))
        eighth: Tensor = self.blocks[before:](quarter)
        odd = quarter.shape[-1] % 2
        return torch.cat([functional.pixel_unshuffle(functional.pad(quarter, (0, odd, 0, odd)), 2), eighth], 1)


def rename_published(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Translate the names of the published checkpoint into ours and leave the classifier out.

    >>> sorted(rename_published({"_conv_stem.weight": 0, "_blocks.3._bn2.bias": 1, "_fc.bias": 2}))
    ['blocks.3.project.norm.bias', 'stem.conv.weight']
    """
    outer = {"_conv_stem": "stem.conv", "_bn0": "stem.norm", "_conv_head": "head.conv", "_bn1": "head.norm"}
    inner = {
        "_expand_conv": "expand.conv",
        "_bn0": "expand.norm",
        "_depthwise_conv": "depthwise.conv",
        "_bn1": "depthwise.norm",
        "_project_conv": "project.conv",
        "_bn2": "project.norm",
    }
    renamed = {}
    for key, value in state.items():
        parts = key.split(".")
        if parts[0] == "_blocks":
            renamed[".".join(["blocks", parts[1], inner[parts[2]], *parts[3:]])] = value
        elif parts[0] != "_fc":
            renamed[".".join([outer[parts[0]], *parts[1:]])] = value
    return renamed
