"""Settings for all tests."""

from hypothesis import settings

# A first call may compile, and the machine may be busy: no example fails for being slow.
settings.register_profile("orcalign", deadline=None, derandomize=False)
settings.load_profile("orcalign")
