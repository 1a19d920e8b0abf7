"""Live rewards: a server that speaks openpi's WebSocket protocol, a page to watch it, and a local camera.

`LiveReward` makes sessions from demos, `Batches` encodes the frames of all that wait in one go, `RewardServer` is the
network around them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
