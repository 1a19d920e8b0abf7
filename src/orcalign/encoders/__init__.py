"""Frames [T,H,W,3] to features [T,D]: one backbone a file, engines, and a cache."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
