"""How much each extra brings onto the disk, counted from the files of what is installed here: a table for the README.

python -m benchmarks.sizes
"""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def size(name: str) -> int:
    """Bytes of an installed package."""
    paths = [Path(str(file.locate())) for file in importlib.metadata.files(name) or []]
    return sum(path.stat().st_size for path in paths if path.is_file())


def brought(requirements: Iterable[str], known: set[tuple[str, tuple[str, ...]]]) -> set[tuple[str, tuple[str, ...]]]:
    """Names, with their extras, of all that these requirements need, added to those known."""
    for text in requirements:
        wanted = Requirement(text)
        key = re.sub(r"[-_.]+", "-", wanted.name).lower(), tuple(sorted(wanted.extras))
        if wanted.name == "orcalign":
            for extra in wanted.extras:
                brought(EXTRAS[extra], known)
        elif key not in known:
            known.add(key)
            needs = [Requirement(one) for one in importlib.metadata.requires(wanted.name) or []]
            here = [
                one
                for one in needs
                if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras))
            ]
            brought([f"{one.name}[{','.join(one.extras)}]" if one.extras else one.name for one in here], known)
    return known


def main() -> None:
    """Print the table."""
    core = {name for name, _ in brought(PROJECT["dependencies"], set())}
    print("| extra | MB |\n|---|---|")
    print(f"| (none) | {sum(map(size, core)) / 1e6:.0f} |")
    for extra in EXTRAS:
        names = {name for name, _ in brought([*PROJECT["dependencies"], *EXTRAS[extra]], set())}
        print(f"| `{extra}` | {sum(map(size, names - core)) / 1e6:.0f} more |")


if __name__ == "__main__":
    main()
