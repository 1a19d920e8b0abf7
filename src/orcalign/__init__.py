"""orcalign: turn one video into a reward, and the reward into a policy.

Nothing heavy is imported here: the kernels' compiler, torch, simulators and video readers come in when they are used.
What there is, is listed in `__init__.pyi`.
"""

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
