"""The neural networks, in our own words; each takes normalised [B,3,S,S] floats.

These modules import torch at the top, so they are themselves imported only inside functions, at the moment
a network is built.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WholeGraph(nn.Module):
    """uint8 [B,S,S,3] to float32 [B,D]: normalise, run the network, pool if asked, flatten.

    The engine fuses the normalisation into the first layers, so it costs no pass of its own.

    >>> graph = WholeGraph(nn.Identity(), mean=(1.0, 0.0, 0.0), std=(1.0, 2.0, 1.0), pooled=True)
    >>> graph(torch.full((1, 4, 4, 3), 4, dtype=torch.uint8)).tolist()
    [[3.0, 2.0, 4.0]]
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, network: nn.Module, *, mean: tuple[float, ...], std: tuple[float, ...], pooled: bool) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(mean).view(1, 3, 1, 1))
        self.register_buffer("scale", 1 / torch.tensor(std).view(1, 3, 1, 1))
        self.pooled = pooled

    def forward(self, images: Tensor) -> Tensor:
        """Map uint8 images [B,S,S,3] to features [B,D]."""
        x: Tensor = images.permute(0, 3, 1, 2).float()
        x = self.network((x - self.mean) * self.scale)
        if self.pooled and x.ndim == 4:
            x = x.mean(dim=(2, 3))
        return x.flatten(1)
