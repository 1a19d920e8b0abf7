"""Weights on a model hub: which commit and which file, and how they get here."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from orcalign.encoders.weights import OFFLINE, WeightsUnavailable


class NotDownloaded(WeightsUnavailable):
    """They would be on a hub, which cannot be reached."""


@dataclass(frozen=True)
class HubFile:
    """A file in a repository of huggingface.co, at one commit: what its branches become later changes nothing here."""

    repo: str
    revision: str
    """The commit, 40 hexadecimal digits."""
    sha256: str = ""
    """Of the file; empty where nobody has told it: then the commit alone says which file it is."""
    name: str = "model.safetensors"

    def __str__(self) -> str:
        return f"hub: {self.repo} at {self.revision[:8]}"

    def folder(self, *more: str) -> Path:
        """A local folder with the file, and with others whose names match, downloaded on first use."""
        return hub_folder(self.repo, [self.name, *more], self.revision)

    def path(self) -> Path:
        """The file, unchecked, downloaded on first use."""
        path = self.folder() / self.name
        if not path.is_file():
            raise WeightsUnavailable(f"{self.repo} on huggingface.co has no {self.name} any more: {OFFLINE}.")
        return path


# Commits and hashes are those by which other public projects pin the same files; none was downloaded where this was
# written. A wrong one is refused by the hub or by the hash, and nothing else is taken in its place.
RESNET50 = HubFile(
    "timm/resnet50.tv_in1k",
    "78f3ecfdb38e06d9b8397f662e7ab8fee96026fa",
    "5d061a3c593d795bfe682d9b152bafbcf550579873492def3515b46db1189888",
)
LIV = HubFile(
    "jasonyma/LIV",
    "5a29adb8f796b0f91fdd9bc284b31a1829c1eb91",
    "0387b1ce397ffc67c03e0945ce3ecce1dc037191ea7e680a721618e6fed1bc1c",
    "model.pt",
)
DINOV2 = {
    "small": HubFile(
        "facebook/dinov2-small",
        "ed25f3a31f01632728cabb09d1542f84ab7b0056",
        "ae1e99fcefd534ed978cdeb8326f08030c96e28b7a81ffcbc98a857c84d14be1",
    ),
    "base": HubFile(
        "facebook/dinov2-base",
        "f9e44c814b77203eaa57a6bdbbd535f21ede1415",
        "d73036b56966966d07975d696bde331762f37297e2f095de8cea0040c3aa0841",
    ),
    "large": HubFile(
        "facebook/dinov2-large",
        "47b73eefe95e8d44ec3623f8890bd894b6ea2d6c",
        "399fba97a95f22c36834418bc69373364a99af3a1153da1c0fb31db567c92e23",
    ),
}
DINOV2_REGISTERS = {
    "small": HubFile("facebook/dinov2-with-registers-small", "0d9846e56b43a21fa46d7f3f5070f0506a5795a9"),
    "base": HubFile(
        "facebook/dinov2-with-registers-base",
        "a1d738ccfa7ae170945f210395d99dde8adb1805",
        "7a6f7b3b9fa4b8732e707476a03cd6cdce210048582f21aafb7991c17d98e362",
    ),
    "large": HubFile(
        "facebook/dinov2-with-registers-large",
        "e4c89a4e05589de9b3e188688a303d0f3c04d0f3",
        "edccedab2c4e164e80833096de89a32a6e8d7365870499a066a61dbc8894b42b",
    ),
}
SIGLIP = HubFile(
    "google/siglip-base-patch16-224",
    "7fd15f0689c79d79e38b1c2e2e2370a7bf2761ed",
    "2c63cb7d1f2e95ba501893cbb8faeb4ea9a3af295498d35097126228659c2af8",
)
CLIP = HubFile("laion/CLIP-ViT-B-32-laion2B-s34B-b79K", "1a25a446712ba5ee05982a381eed697ef9b435cf")
CLIP_WORDS = HubFile(CLIP.repo, CLIP.revision, name="tokenizer.json")
"""How every model of CLIP's cuts texts into tokens, LIV too, whose repository lacks it."""


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn whatever a model hub throws into one sentence."""
    try:
        yield
    except WeightsUnavailable:
        raise
    except ImportError as error:
        raise WeightsUnavailable(
            f"The weights {repo} need the package {error.name}: run `pip install 'orcalign[hub]'`, or {OFFLINE}."
        ) from error
    except Exception as error:  # hub, HTTP and TLS libraries share no base class
        raise NotDownloaded(
            f"The weights {repo} cannot be downloaded from huggingface.co ({type(error).__name__}): "
            f"check the network, give a local copy with --weights, or {OFFLINE}."
        ) from error


def hub_folder(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """A local folder with the files of a model hub repository that match, downloaded on first use."""
    with hub_errors(repo):
        from huggingface_hub import constants, snapshot_download

        # The library tries an unreachable host for half a minute, and tells of every try.
        here = not _reachable(constants.ENDPOINT)
        return Path(snapshot_download(repo, allow_patterns=patterns, revision=revision, local_files_only=here))


def _reachable(endpoint: str) -> bool:
    """Whether the hub's name is known here; behind a proxy nobody has to know it."""
    host = urlsplit(endpoint).hostname
    if host is None or getproxies():
        return True
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        return False
    return True
