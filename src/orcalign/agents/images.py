"""Image observations: the encoder, and the random shift that keeps critics from memorising."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

CHANNELS = 32
STRIDES = (2, 1, 1, 1)
SMALLEST = 15
"""Pixels that the four convolutions need."""


class Convolution(nn.Module):
    """3x3 convolution [B, inputs, H, W] → [B, outputs, H', W']; draws nothing from the global generator."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, 3, 3))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs, H, W] → [B, outputs, H', W']."""
        return functional.conv2d(x, self.weight, self.bias, self.stride)


class ImageEncoder(nn.Module):
    """Four convolutions: uint8 [B, C, H, W] → features [B, size].

    >>> ImageEncoder(9, 84, 84).size
    39200
    >>> ImageEncoder(9, 84, 8)
    Traceback (most recent call last):
    ...
    ValueError: The image observation is 84x8 pixels; it must be at least 15x15, and 84x84 is usual.
    """

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        if min(height, width) < SMALLEST:
            raise ValueError(
                f"The image observation is {height}x{width} pixels; it must be at least {SMALLEST}x{SMALLEST}, "
                f"and 84x84 is usual."
            )
        inputs = (channels, CHANNELS, CHANNELS, CHANNELS)
        self.layers = nn.Sequential(
            *(
                layer
                for count, stride in zip(inputs, STRIDES, strict=True)
                for layer in (Convolution(count, CHANNELS, stride), nn.ReLU(inplace=True))
            )
        )
        self.size = CHANNELS * math.prod((side - 3) // 2 + 1 - 6 for side in (height, width))

    def forward(self, observations: Tensor) -> Tensor:
        """Uint8 [B, C, H, W] → float32 [B, size]."""
        pixels = observations.float().div_(255).sub_(0.5)
        # Channels last takes two thirds of the time on a CPU, and flattened in that order nothing is copied.
        maps: Tensor = self.layers(pixels.contiguous(memory_format=torch.channels_last))
        return maps.permute(0, 2, 3, 1).flatten(1)


def random_shift(images: Tensor, pixels: int, generator: torch.Generator) -> Tensor:
    """Images [B, C, H, W], each moved by up to ``pixels`` in both directions; their edges are repeated.

    >>> images = torch.arange(16).view(1, 1, 4, 4)
    >>> random_shift(images, 1, torch.Generator().manual_seed(1))
    tensor([[[[ 1,  2,  3,  3],
              [ 5,  6,  7,  7],
              [ 9, 10, 11, 11],
              [13, 14, 15, 15]]]])
    """
    count, channels, height, width = images.shape
    device = images.device
    shifts = torch.randint(-pixels, pixels + 1, (2, count, 1), generator=generator, device=device)
    rows = (shifts[0] + torch.arange(height, device=device)).clamp_(0, height - 1)
    columns = (shifts[1] + torch.arange(width, device=device)).clamp_(0, width - 1)
    rows = rows + height * torch.arange(count, device=device)[:, None]
    places = width * rows[:, :, None] + columns[:, None, :]
    # One take of whole pixels, which lie together when channels are last: three times as fast as two gathers.
    moved = images.permute(0, 2, 3, 1).reshape(-1, channels).index_select(0, places.flatten())
    return moved.view(count, height, width, channels).permute(0, 3, 1, 2)
