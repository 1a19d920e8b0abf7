"""Environments: suites of tasks, rendering, wrappers, scripted experts, demos.

Nothing heavy is imported here: Gymnasium and the simulators come in when they are used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
