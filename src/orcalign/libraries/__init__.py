"""Other people's libraries: Stable-Baselines3's loop with our rewards.

None of them is imported before something of it is used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
