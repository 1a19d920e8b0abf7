"""Studies: tables and figures of the paper as commands, from one machine to a cluster.

Nothing heavy is imported here: torch, simulators and Ray come in when they are used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
