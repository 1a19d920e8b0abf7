"""Settings for all tests."""

import pytest
from hypothesis import settings

# A first call may compile, and the machine may be busy: no example fails for being slow.
settings.register_profile("orcalign", deadline=None, derandomize=False)
settings.load_profile("orcalign")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """Converted networks are shared by the tests of one process and kept out of the user's cache.

    Weights that the user has fetched are seen, so that tests which need them run.
    """
    from orcalign.encoders.converted import cache_dir

    fetched = cache_dir() / "weights"
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        if fetched.is_dir():
            (folder / "weights").symlink_to(fetched)
        patch.setenv("ORCALIGN_CACHE", str(folder))
        yield folder
