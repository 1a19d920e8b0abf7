"""The loop: play, reward, store, update, evaluate, checkpoint. A run is a folder.

Nothing heavy is imported here: torch, simulators and encoders come in when they are used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
