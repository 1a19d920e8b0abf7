"""A data set of each version, written once."""

import shutil

import pytest
from datasets.small import TRUTH, write_small
from report.conftest import chromium  # noqa: F401 (a fixture)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A v3.0 data set, four episodes a file; not to be written to."""
    return write_small(tmp_path_factory.mktemp("recorded") / "disc", codec="h264")


@pytest.fixture
def own(recorded, tmp_path):
    """A copy of it."""
    return shutil.copytree(recorded, tmp_path / "disc")


@pytest.fixture(scope="session")
def truth(tmp_path_factory):
    """What is known of its episodes."""
    path = tmp_path_factory.mktemp("truth") / "truth.csv"
    rows = [f"{k},{success},{rank}" for k, (success, rank) in enumerate(TRUTH)]
    path.write_text("\n".join(["episode_index,success,rank", *rows]) + "\n")
    return path
