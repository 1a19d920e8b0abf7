"""Encoders by name."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from orcalign.checks import near_miss, require_count
from orcalign.encoders import backbones, hub, sentences
from orcalign.encoders.backbone import Backbone, BackboneEncoder
from orcalign.encoders.backbones import Request
from orcalign.encoders.engine import log, resolve_engine, start_engine
from orcalign.encoders.hub import HubFile, NotDownloaded
from orcalign.encoders.packages import PACKAGES, Package
from orcalign.encoders.protocol import Encoder, Features
from orcalign.encoders.resize import Pixels
from orcalign.encoders.sentences import TextEncoder
from orcalign.encoders.weights import OFFLINE, WeightsUnavailable


@dataclass(frozen=True)
class EncoderEntry:
    """One line of the registry."""

    factory: Callable[[Request], Backbone | Encoder]
    """Finds the weights; the network itself is built later, and only if needed."""
    summary: str
    weights: Package | HubFile | str
    """Where they come from: a package, a file on a hub, or words."""
    licence: str
    """Of the weights."""
    size: int
    """Default height and width of the input in pixels; 0 where the weights say."""
    pooled: bool = False
    """Default: pool places away?"""
    stride: int | None = None
    """Pixels from one place of its map to the next; None where it has no map, or one that begins otherwise."""
    text: Callable[[Request], TextEncoder] | None = None
    """Makes its text tower, whose embeddings compare with the pooled features; None if it has none."""


def _lite0(summary: str, stride: int, until: str = "end") -> EncoderEntry:
    """EfficientNet-Lite0, or its beginning."""
    factory = partial(backbones.efficientnet_lite0, until=until)
    return EncoderEntry(factory, summary, PACKAGES["efficientnet-lite0"], "Apache-2.0", size=128, stride=stride)


def _tower(
    family: str, file: HubFile, colours: tuple[backbones.RGB, backbones.RGB], summary: str, licence: str = "Apache-2.0"
) -> EncoderEntry:
    """A vision transformer from the hub."""
    factory = partial(backbones.hub_transformer, family=family, file=file, colours=colours)
    text = partial(sentences.transformer, family=family, file=file) if family in sentences.FAMILIES else None
    return EncoderEntry(factory, summary, file, licence, size=224, text=text)


def _pixels(request: Request) -> Encoder:
    return Pixels(request.size, spatial=not request.pooled)


ENCODERS: dict[str, EncoderEntry] = {
    "efficientnet-lite0": _lite0("small convolutional network; the default, works offline", 32),
    "efficientnet-lite0-mid": _lite0(
        "the same up to its middle: four times as many places, of half the side; sees smaller things",
        16,
        "middle",
    ),
    "efficientnet-lite0-fine": _lite0(
        "its first maps, with a place for every 8 pixels: what an eye sees by", 8, "fine"
    ),
    "resnet18": EncoderEntry(
        partial(backbones.resnet, depth=18),
        "classic residual network, works offline",
        PACKAGES["resnet18"],
        "BSD-3-Clause (torchvision), repackaged under MIT",
        size=224,
        stride=32,
    ),
    "resnet50": EncoderEntry(
        partial(backbones.resnet, depth=50),
        "the paper's encoder: IMAGENET1K_V1, 2048x7x7 unpooled; or --weights torchvision's resnet50-0676ba61.pth",
        hub.RESNET50,
        "BSD-3-Clause",
        size=224,
        stride=32,
    ),
    "resnet50-keras": EncoderEntry(
        backbones.resnet50_keras,
        "the paper's architecture with other weights than its own (torchvision's): Keras', fetched once, then offline",
        PACKAGES["resnet50-keras"],
        "MIT (Keras), repackaged under MIT",
        size=224,
        stride=32,
    ),
    "xfeat": EncoderEntry(
        backbones.xfeat,
        "local descriptors, trained to find the same point in two pictures; fetched once, then offline",
        PACKAGES["xfeat"],
        "Apache-2.0",
        size=224,
        stride=8,
    ),
    **{
        f"dinov2-{scale}": _tower("dinov2", file, backbones.IMAGENET, f"self-supervised vision transformer, {scale}")
        for scale, file in hub.DINOV2.items()
    },
    **{
        f"dinov2-{scale}-reg": _tower(
            "dinov2_with_registers", file, backbones.IMAGENET, f"the same with register tokens, {scale}"
        )
        for scale, file in hub.DINOV2_REGISTERS.items()
    },
    "siglip-base": _tower("siglip", hub.SIGLIP, backbones.HALF, "vision transformer trained with captions"),
    "clip-vit-base": _tower(
        "clip",
        hub.CLIP,
        backbones.CLIP,
        "vision transformer trained with captions (OpenCLIP weights, which come as safetensors)",
        "MIT",
    ),
    "liv": EncoderEntry(
        partial(backbones.clip_resnet, file=hub.LIV),
        "CLIP RN50 further trained on videos of people acting; one embedding a frame; reads sentences",
        hub.LIV,
        "MIT",
        size=224,
        pooled=True,
        text=partial(sentences.clip_resnet, file=hub.LIV),
    ),
    "clip-resnet": EncoderEntry(
        backbones.clip_resnet,
        "a model of your own with CLIP's ResNet layout: --weights MODEL.safetensors, tokenizer.json beside it; reads "
        "sentences",
        "a file of yours",
        "yours",
        size=0,
        pooled=True,
        text=sentences.clip_resnet,
    ),
    "pixels": EncoderEntry(_pixels, "the shrunken picture itself, for tests", "none", "none", size=16),
}


def find_entry(name: str) -> EncoderEntry:
    """The registry's entry, or a ValueError that lists what there is.

    >>> find_entry("resnet-50")
    Traceback (most recent call last):
    ...
    ValueError: There is no encoder 'resnet-50'; did you mean 'resnet50'? Known: efficientnet-lite0, ...
    """
    if name not in ENCODERS:
        raise ValueError(f"There is no encoder {name!r};{near_miss(name, ENCODERS)} Known: {', '.join(ENCODERS)}.")
    return ENCODERS[name]


def make_encoder(
    name: str = "efficientnet-lite0",
    *,
    size: int | None = None,
    pooled: bool | None = None,
    weights: str | os.PathLike[str] | None = None,
    engine: str = "auto",
    threads: int | None = None,
    batch: int = 16,
    announce: Callable[[str], None] | None = None,
) -> Encoder:
    """Make the encoder ``name``, ready to run.

    ``size`` (pixels) and ``pooled`` default to the registry's values. ``weights`` is a file
    (``net.safetensors``, ``net.pth#sha256=…``), a folder, or a hub name, depending on the encoder.
    ``engine`` is a name in `ENGINES`, ``threads`` are OpenVINO's (default: all cores). ``announce`` is
    told once which engine was chosen; it is logged in any case.

    >>> make_encoder("pixels", size=8).dim
    192
    """
    entry = find_entry(name)
    for setting, value in (("size", size), ("threads", threads), ("batch", batch)):
        if value is not None:
            require_count(value, setting, at_least=1)
    resolve_engine(engine)
    pooled = entry.pooled if pooled is None else pooled
    made = entry.factory(Request(name, entry.size if size is None else size, pooled, weights))
    if isinstance(made, Backbone):
        runner = start_engine(made, engine, threads)
        log.info("%s runs on %s", name, runner.summary)
        if announce is not None:
            announce(f"{name} runs on {runner.summary}")
        return BackboneEncoder(made.recipe, runner, batch)
    return made


def find_reader(name: str) -> EncoderEntry:
    """The registry's entry of an encoder that reads sentences, too; a ValueError names those that do."""
    entry = find_entry(name)
    if entry.text is None:
        readers = ", ".join(one for one, other in ENCODERS.items() if other.text is not None)
        raise ValueError(f"The encoder {name!r} reads no sentences. Those that do: {readers}.")
    return entry


def make_text_encoder(name: str, *, weights: str | os.PathLike[str] | None = None) -> TextEncoder:
    """The text tower of the encoder ``name``: sentences to embeddings that compare with its pooled features.

    ``weights`` is as in `make_encoder`, with ``tokenizer.json`` in the same folder.

    >>> make_text_encoder("resnet18")
    Traceback (most recent call last):
    ...
    ValueError: The encoder 'resnet18' reads no sentences. Those that do: siglip-base, clip-vit-base, liv, ...
    """
    entry = find_reader(name)
    assert entry.text is not None
    try:
        return entry.text(Request(name, entry.size, True, weights))
    except NotDownloaded as error:
        file = entry.weights
        if weights is not None or not isinstance(file, HubFile):
            raise
        alone = file is hub.LIV
        more = f"and tokenizer.json of {hub.CLIP.repo}" if alone else "with config.json and tokenizer.json"
        place = f"FOLDER/{file.name}" if alone else "FOLDER"
        raise WeightsUnavailable(
            f"{str(error).partition(':')[0]}: fetch {file.name} of {file.repo} (commit {file.revision[:8]}) {more} "
            f"into one folder and give --weights {place}, or use --encoder clip-resnet with a model of your own."
        ) from error
    except WeightsUnavailable as error:
        # That advice is for pictures alone.
        raise WeightsUnavailable(str(error).replace(f", or {OFFLINE}", "")) from error


def num_places(encoder: Encoder) -> int:
    """Places in the map that an encoder's features are, channel by channel; 1 if it has none that is known.

    >>> num_places(make_encoder("pixels")), num_places(make_encoder("efficientnet-lite0", size=64, engine="torch"))
    (1, 4)
    """
    entry = ENCODERS.get(encoder.name)
    if entry is None or entry.stride is None or not encoder.spatial:
        return 1
    return math.ceil(encoder.size / entry.stride) ** 2


def by_place(encoder: Encoder, features: Features) -> Features:
    """Features [T, D] of an encoder as maps [T, places, channels].

    >>> import numpy as np
    >>> by_place(make_encoder("pixels"), np.zeros((2, 768), np.float32)).shape
    (2, 256, 3)
    """
    if isinstance(encoder, Pixels) and encoder.spatial:
        return features.reshape(len(features), -1, 3)
    return features.reshape(len(features), -1, num_places(encoder)).swapaxes(1, 2)
