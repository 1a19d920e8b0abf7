"""Everything that pays an agent: the protocol (`base`), videos as rewards, rewards made of rewards.

`VideoReward` joins cost model and matcher; `tell` says what the learner did; `lint_demo` looks at the demo and `check`
at the matcher before anyone trains with them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
