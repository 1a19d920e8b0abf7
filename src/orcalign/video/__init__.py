"""Video files ↔ uint8 frames [T,H,W,3]; demos; time warps as index maps.

Nothing heavy is imported here: PyAV comes in when a file is read or written.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
