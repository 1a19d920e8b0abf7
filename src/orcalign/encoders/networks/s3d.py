"""S3D-G as trained on HowTo100M by MIL-NCE (Xie et al., 2018; Miech et al., 2020), with its public file's names."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (its usual name)

EMBEDDING = 512
BLOCKS = {
    "mixed_3b": (192, 64, 96, 128, 16, 32, 32),
    "mixed_3c": (256, 128, 128, 192, 32, 96, 64),
    "mixed_4b": (480, 192, 96, 208, 16, 48, 64),
    "mixed_4c": (512, 160, 112, 224, 24, 64, 64),
    "mixed_4d": (512, 128, 128, 256, 24, 64, 64),
    "mixed_4e": (512, 112, 144, 288, 32, 64, 64),
    "mixed_4f": (528, 256, 160, 320, 32, 128, 128),
    "mixed_5b": (832, 256, 160, 320, 32, 128, 128),
    "mixed_5c": (832, 384, 192, 384, 48, 128, 128),
}
"""Channels that come in, and those of the layers of the branches."""
HALVED = {"mixed_3b": (1, 3, 3), "mixed_4b": (3, 3, 3), "mixed_5b": (2, 2, 2)}
"""Windows of the pools before some of them."""


class _Layers(nn.Module):
    """One convolution, or one in space and one in time, each with norm and ReLU."""

    def __init__(self, before: int, after: int, kernel: tuple[int, int, int], apart: bool = False) -> None:
        super().__init__()
        time, high, wide = kernel
        first = (1 if apart else time, high, wide)
        around = (first[0] // 2, high // 2, wide // 2)
        # The first layer of all is cut at its front afterwards; the others keep the size of the map.
        self.conv1 = nn.Conv3d(before, after, first, padding=around, bias=False)
        self.bn1 = nn.BatchNorm3d(after)
        self.apart = apart
        if apart:
            self.conv2 = nn.Conv3d(after, after, (time, 1, 1), padding=(time // 2, 0, 0), bias=False)
            self.bn2 = nn.BatchNorm3d(after)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu_(self.bn1(self.conv1(x)))
        return F.relu_(self.bn2(self.conv2(x))) if self.apart else x


class _Gate(nn.Module):
    """Channels weighted by what the whole clip has of them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        weights: Tensor = self.fc(x.mean(dim=(2, 3, 4))).sigmoid()
        return weights[:, :, None, None, None] * x


class _Block(nn.Module):
    def __init__(self, before: int, b0: int, b1a: int, b1b: int, b2a: int, b2b: int, b3: int) -> None:
        super().__init__()
        point, cube = (1, 1, 1), (3, 3, 3)
        self.conv_b0 = _Layers(before, b0, point)
        self.conv_b1_a, self.conv_b1_b = _Layers(before, b1a, point), _Layers(b1a, b1b, cube, apart=True)
        self.conv_b2_a, self.conv_b2_b = _Layers(before, b2a, point), _Layers(b2a, b2b, cube, apart=True)
        self.conv_b3_b = _Layers(before, b3, point)
        for k, channels in enumerate((b0, b1b, b2b, b3)):
            self.add_module(f"gating_b{k}", _Gate(channels))

    def forward(self, x: Tensor) -> Tensor:
        branches = (
            self.conv_b0(x),
            self.conv_b1_b(self.conv_b1_a(x)),
            self.conv_b2_b(self.conv_b2_a(x)),
            self.conv_b3_b(F.max_pool3d(x, 3, stride=1, padding=1)),
        )
        gated = [self.get_submodule(f"gating_b{k}")(one) for k, one in enumerate(branches)]
        return torch.cat(gated, dim=1)


class S3D(nn.Module):
    """[B,3,T,H,W] from 0 to 1, all sides even → embedding [B,512] that is comparable with its sentences'."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = _Layers(24, 64, (2, 4, 4))
        self.conv_2b, self.conv_2c = _Layers(64, 64, (1, 1, 1)), _Layers(64, 192, (3, 3, 3), apart=True)
        self.gating = _Gate(192)
        for name, channels in BLOCKS.items():
            self.add_module(name, _Block(*channels))
        self.fc = nn.Linear(1024, EMBEDDING)

    def forward(self, clips: Tensor) -> Tensor:
        """Embeddings."""
        B, C, T, H, W = clips.shape
        # Every 2x2x2 cube becomes one place of 24 channels, the cube's place before the colour.
        cubes = clips.view(B, C, T // 2, 2, H // 2, 2, W // 2, 2).permute(0, 3, 5, 7, 1, 2, 4, 6)
        x = self.conv1(cubes.reshape(B, 8 * C, T // 2, H // 2, W // 2))[:, :, 1:, 1:, 1:]
        x = self.gating(self.conv_2c(self.conv_2b(_pooled(x, (1, 3, 3)))))
        for name in BLOCKS:
            if name in HALVED:
                x = _pooled(x, HALVED[name])
            x = self.get_submodule(name)(x)
        embeddings: Tensor = self.fc(x.mean(dim=(2, 3, 4)))
        return embeddings


def _pooled(x: Tensor, window: tuple[int, int, int]) -> Tensor:
    """The largest of each window, whose step is 2 where it is wider than 1; a last window may look over the edge."""
    stride = tuple(min(2, size) for size in window)
    pads: list[int] = []
    for size, step in zip(reversed(window), reversed(stride), strict=True):
        pads += [(size - step) // 2, size - step - (size - step) // 2]
    return F.max_pool3d(F.pad(x, pads), window, stride, ceil_mode=True)


def clip_part(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What of a state dict the video tower is made of: its text tower and what training counted are left out."""
    plain = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    return {
        name: tensor
        for name, tensor in plain.items()
        if not name.startswith("text_module.") and not name.endswith("num_batches_tracked")
    }
