"""Settings of the agents, checked where they are made."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orcalign.agents.registry import find_agent
from orcalign.agents.replay import check_bootstrap


@dataclass(frozen=True)
class AgentSettings:
    """How an agent learns. The defaults are DrQ-v2's, at the sizes of the paper's table.

    >>> AgentSettings(agent="drq2")
    Traceback (most recent call last):
    ...
    ValueError: There is no agent 'drq2': did you mean 'drqv2'? Known: drqv2, sac.
    >>> AgentSettings(gamma=1.5)
    Traceback (most recent call last):
    ...
    ValueError: gamma is 1.5; it must lie between 0 and 1, such as 0.99.
    """

    agent: str = "drqv2"
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
    critics: int = 2
    """Estimates of what an action is worth. With two, the smaller one counts; of more, the smaller of two drawn at
    random at every update, and the actor climbs the mean of all (REDQ). An update's time grows with their number."""
    target_smoothing: float = 0.005
    """Share of the critics that flows into the target critics per update: small is stable, large is quick."""
    target_noise: float = 0.1
    """Standard deviation of the noise on actions that critics are asked about, so that the actor cannot live on
    a narrow peak of a wrong critic (drqv2; sac has its own spread)."""
    target_noise_clip: float = 0.3
    """Bound of that noise: a rare large draw says nothing about the policy's neighbourhood."""
    actor_every: int = 1
    """Updates of the critics for each of the actor: with 2 the actor follows critics that have settled a little,
    and an update takes less time."""
    policy_average: float = 0.0
    """Share of the actor that flows into an averaged one per update of the actor. The averaged one is what is
    evaluated and kept, while the actor itself goes on exploring: a policy that is judged does not jump from one
    update to the next. 0 is off; 0.001 averages over about a thousand updates."""
    action_penalty: float = 0.0
    """Weight of the mean square of what the actor's tanh is given, in the actor's loss (drqv2). An actor that is
    driven to the end of tanh hardly learns any more, and where its action changes nothing (a hand pressed
    against a wall) no noise leads away from there; this draws it back. 0 is off; 0.01 suits rewards of which
    an episode's sum is some tens, and is nothing beside ones a hundred times as large."""
    batch: int = 512
    """Transitions per update."""
    shift: int = 4
    """Random shift of image observations in pixels: without it critics memorise single images. 0 is off."""
    entropy_temperature: float | None = None
    """Weight of the entropy (sac). None learns it, aiming at an entropy of minus the number of actions."""

    def __post_init__(self) -> None:
        find_agent(self.agent)
        check_bootstrap(self.bootstrap)
        wholes = {
            "hidden": 1,
            "trunk": 0,
            "n_step": 1,
            "critics": 2,
            "actor_every": 1,
            "batch": 1,
            "shift": 0,
        }
        for name, smallest in wholes.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
                raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {smallest}.")
        unit, any_size = "lie between 0 and 1", "be finite and not negative"
        for name, least, most, rule, example in (
            ("learning_rate", math.ulp(0.0), math.inf, "be finite and positive", 1e-4),
            ("gamma", 0.0, 1.0, unit, 0.99),
            ("target_smoothing", 0.0, 1.0, unit, 0.005),
            ("policy_average", 0.0, 1.0, unit, 0.001),
            ("action_penalty", 0.0, math.inf, any_size, 0.01),
            ("target_noise", 0.0, math.inf, any_size, 0.1),
            ("target_noise_clip", 0.0, math.inf, any_size, 0.3),
            ("entropy_temperature", 0.0, math.inf, any_size, 0.1),
        ):
            value = getattr(self, name)
            if name == "entropy_temperature" and value is None:
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and math.isfinite(value) and least <= value <= most):
                raise ValueError(f"{name} is {value!r}; it must {rule}, such as {example}.")
