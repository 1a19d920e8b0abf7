"""The manifest of a demo folder: what makes a folder a demo, and which ones this program can read."""

import json
import os
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
FRAMES = "frames.npz"
FORMAT = "orcalign-demo"
VERSION = 1


def is_demo(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a demo folder.

    >>> is_demo("no-such-folder")
    False
    """
    return (Path(path) / MANIFEST).is_file()


def check_target(target: Path, overwrite: bool) -> None:
    """Refuse to write a demo over something that is there, unless it is a demo and may be replaced."""
    if not (target.exists() or target.is_symlink()):
        return
    if not overwrite:
        raise FileExistsError(
            f"{str(target)!r} exists already; choose another name, or replace it with overwrite (--overwrite)."
        )
    # Overwriting replaces the whole folder, so it must hold nothing but a demo.
    if target.is_symlink() or not target.is_dir() or (not is_demo(target) and any(target.iterdir())):
        raise FileExistsError(
            f"{str(target)!r} is not a demo folder and is not overwritten; choose another name."
        )


def frames_file(folder: Path) -> Path:
    """The stored frames of a demo folder."""
    file = folder / FRAMES
    if not file.is_file():
        raise FileNotFoundError(
            f"Demo {str(folder)!r} lacks its {FRAMES}; restore it or save the demo again."
        )
    return file


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a demo folder, of the right format and version."""
    name = str(folder)
    if not folder.exists():
        raise FileNotFoundError(f"Demo {name!r} does not exist; check the path.")
    if not is_demo(folder):
        raise ValueError(
            f"{name!r} is not a demo folder (no {MANIFEST} in it); read videos with Demo.from_video."
        )
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Demo {name!r}: {MANIFEST} is not JSON ({error}); save the demo again.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(
            f"Demo {name!r}: {MANIFEST} is not of format {FORMAT!r}; give a folder saved by orcalign."
        )
    if manifest.get("version") != VERSION:
        raise ValueError(
            f"Demo {name!r} has version {manifest.get('version')!r}, this program reads {VERSION}; "
            "use the orcalign that saved it, or make the demo again."
        )
    return manifest
