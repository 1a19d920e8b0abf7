"""What the settings of every agent have, checked where they are made. Each agent's folder adds its own."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents.registry import find_settings
from orcalign.agents.replay import BOOTSTRAPS
from orcalign.checks import require, require_count, require_number


@dataclass(frozen=True)
class AgentSettings:
    """How an agent learns, at the sizes of the paper's table. To be made as an agent's own class, which has more.

    >>> find_settings("sac")(gamma=1.5)
    Traceback (most recent call last):
    ...
    ValueError: gamma is 1.5; it must lie between 0 and 1, such as 0.99.
    >>> find_settings("sac")(agent="drqv2")
    Traceback (most recent call last):
    ...
    ValueError: agent is 'drqv2', and SACSettings is not what it is set with; make DrQv2Settings instead.
    """

    agent: str
    """Which agent learns: drqv2 (states or images, by the shape of the observation) or sac (states, explores by
    its own entropy instead of added noise)."""
    hidden: int = 256
    """Units of each of the two hidden layers of actor and critics. An update's time grows with its square."""
    trunk: int = 50
    """Units of the layer (with LayerNorm and tanh) in front of the hidden ones: it brings observations of any
    scale into -1 to 1. 0 leaves it out, for states whose scale is known to be sane."""
    layer_norm: bool = False
    """LayerNorm after each hidden layer: keeps values from running away when there are many updates per step."""
    learning_rate: float = 1e-4
    """Step size of Adam, for actor, critics, encoder and temperature alike."""
    gamma: float = 0.99
    """Discount per step: how far ahead the agent looks, about 1/(1-gamma) steps."""
    n_step: int = 3
    """Steps of real reward before a critic's estimate takes over: more carry sparse rewards back faster and are
    less faithful to the current policy."""
    bootstrap: str = "gamma^n"
    """Discount of the estimate after n steps: "gamma^n" is the textbook's, "gamma" what the paper's code does."""
    target_smoothing: float = 0.005
    """Share of the critics that flows into the target critics per update: small is stable, large is quick."""
    batch: int = 512
    """Transitions per update."""

    def __post_init__(self) -> None:
        wanted = find_settings(self.agent)
        if not isinstance(self, wanted):
            raise ValueError(
                f"agent is {self.agent!r}, and {type(self).__name__} is not what it is set with; "
                f"make {wanted.__name__} instead."
            )
        for name, smallest in (("hidden", 1), ("trunk", 0), ("n_step", 1), ("batch", 1)):
            require_count(getattr(self, name), name, at_least=smallest)
        require_number(self.learning_rate, "learning_rate", above=0)
        require("bootstrap", self.bootstrap, BOOTSTRAPS)
        for name, example in (("gamma", 0.99), ("target_smoothing", 0.005)):
            value = getattr(self, name)
            if isinstance(value, bool) or not (isinstance(value, int | float) and 0 <= value <= 1):
                raise ValueError(f"{name} is {value!r}; it must lie between 0 and 1, such as {example}.")
