"""XFeat (Potje et al., 2024): a descriptor for every 8 pixels, trained to find the same point in two pictures."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

NORM_EPSILON = 1e-5
CHANNELS = 64
# Inputs, outputs, kernel and stride of each convolution, all of which end in a ReLU.
BLOCKS = {
    "block1": ((1, 4, 3, 1), (4, 8, 3, 2), (8, 8, 3, 1), (8, 24, 3, 2)),
    "block2": ((24, 24, 3, 1), (24, 24, 3, 1)),
    "block3": ((24, 64, 3, 2), (64, 64, 3, 1), (64, 64, 1, 1)),
    "block4": ((64, 64, 3, 2), (64, 64, 3, 1), (64, 64, 3, 1)),
    "block5": ((64, 128, 3, 2), (128, 128, 3, 1), (128, 128, 3, 1), (128, 64, 1, 1)),
    "fusion": ((64, 64, 3, 1), (64, 64, 3, 1)),
}


class XFeat(nn.Module):
    """The descriptors; the heads that choose and refine single points are left out.

    >>> tuple(XFeat().eval()(torch.rand(2, 3, 64, 96)).shape)
    (2, 64, 8, 12)
    """

    def __init__(self) -> None:
        super().__init__()
        for name, convs in BLOCKS.items():
            units: list[nn.Module] = []
            for inputs, outputs, kernel, stride in convs:
                units += [nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2), nn.ReLU()]
            self.add_module(name, nn.Sequential(*units))
        self.skip = nn.Conv2d(1, 24, 1)
        self.last = nn.Conv2d(CHANNELS, CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map images [B,3,S,S] with values from 0 to 1 to descriptors [B,64,S/8,S/8] of length 1."""
        x = functional.instance_norm(x.mean(dim=1, keepdim=True), eps=NORM_EPSILON)
        x = self.get_submodule("block1")(x) + self.skip(functional.avg_pool2d(x, 4))
        fine = self.get_submodule("block3")(self.get_submodule("block2")(x))
        middle = self.get_submodule("block4")(fine)
        coarse = self.get_submodule("block5")(middle)
        side = fine.shape[2:]
        for one in (middle, coarse):
            fine = fine + functional.interpolate(one, side, mode="bilinear")
        return functional.normalize(self.last(self.get_submodule("fusion")(fine)), dim=1)


def rename_xfeat(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state of `XFeat` from the authors' names, batch norms folded in; a KeyError names a tensor that lacks."""
    ours = {}
    for name, convs in BLOCKS.items():
        theirs = "block_fusion" if name == "fusion" else name
        for k in range(len(convs)):
            layer = f"{theirs}.{k}.layer"
            scale = 1 / torch.sqrt(state[f"{layer}.1.running_var"] + NORM_EPSILON)
            ours[f"{name}.{2 * k}.weight"] = state[f"{layer}.0.weight"] * scale[:, None, None, None]
            ours[f"{name}.{2 * k}.bias"] = -state[f"{layer}.1.running_mean"] * scale
    for name, theirs in (("skip", "skip1.1"), ("last", "block_fusion.2")):
        for part in ("weight", "bias"):
            ours[f"{name}.{part}"] = state[f"{theirs}.{part}"]
    return ours
