"""Where a data set is: a folder, or a name on the Hugging Face hub."""

from __future__ import annotations

import re
from pathlib import Path

from orcalign.datasets.lerobot import INFO, DataSet, choose_camera, open_dataset, read_info

_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def find_dataset(given: str, camera: str | None = None) -> tuple[DataSet, Path]:
    """The data set, and the folder that what belongs to it is written to.

    A folder is written to itself; of a name on the hub only what is needed is fetched, and `orcalign-NAME` in the
    working directory is written to.
    """
    root = Path(given)
    if root.exists() or not _NAME.fullmatch(given) or given.startswith("."):
        return open_dataset(root, camera, given), root
    fetched = fetch(given, [INFO])
    # Only now it is known which camera there is.
    chosen = choose_camera(read_info(fetched, given), camera, given)
    fetched = fetch(given, ["meta/*", "data/*", f"videos/{chosen}/*", f"videos/*/{chosen}/*"])
    return open_dataset(fetched, chosen, given), Path(f"orcalign-{given.split('/')[1]}")


def fetch(name: str, patterns: list[str]) -> Path:
    """The folder of the hub's copy on this machine, with at least the files of those patterns."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, repo_type="dataset", allow_patterns=patterns))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{name!r} is no folder here, and the hub does not give a data set of that name ({type(error).__name__}: "
            f"{said}); check the name and the connection."
        ) from None
