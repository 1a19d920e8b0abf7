"""Settings for all tests."""

import pytest
from hypothesis import settings

# A first call may compile, and the machine may be busy: no example fails for being slow.
settings.register_profile("orcalign", deadline=None, derandomize=False)
settings.load_profile("orcalign")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """Converted networks are shared by the tests of one process and kept out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("ORCALIGN_CACHE", str(folder))
        yield folder
