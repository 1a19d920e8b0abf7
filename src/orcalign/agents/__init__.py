"""Agents: replay, DrQ-v2, SAC, XQC. They know no video and no environment; rewards arrive with the data.

Torch is imported when an agent or a policy is made.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
