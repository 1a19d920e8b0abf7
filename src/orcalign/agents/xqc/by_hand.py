"""The update of XQC on a CPU without autograd, both critics at once where a core is free.

As `drqv2/by_hand.py` is to `drqv2/agent.py`, this is to `agent.py`, which is to be read first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from orcalign.agents.batch import Batch
from orcalign.agents.cpu.adam import AdamByHand
from orcalign.agents.cpu.beside import beside
from orcalign.agents.cpu.kernels import rectified_back
from orcalign.agents.cpu.layers import gradients_of
from orcalign.agents.cpu.losses import upwards
from orcalign.agents.parameters import smooth
from orcalign.agents.sac.by_hand import UpdateByHand
from orcalign.agents.sac.gaussian import LOG_STD, draw
from orcalign.agents.sac.losses import through_draw
from orcalign.agents.xqc.kernels import columns_back, learned_from, normalise_columns, rectify
from orcalign.agents.xqc.networks import EPSILON, shorten
from orcalign.agents.xqc.values import ATOMS, BOUND, support

if TYPE_CHECKING:
    from orcalign.agents.xqc.agent import XQC


class XQCByHand(UpdateByHand):
    """Works on the networks, the optimisers and the generator of an agent; has no state of its own."""

    _agent: XQC
    _buffers: Buffers | None  # type: ignore[assignment]

    @torch.no_grad()
    def __call__(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        """Critics, now and then actor and temperature, and the target after the critics."""
        agent = self._agent
        if self._buffers is None or self._buffers.size != len(batch.actions):
            self._buffers = Buffers(agent, *batch.observations.shape)
        alpha = agent.alpha()
        loss, q_mean = self._buffers.learn_critics(batch, alpha)
        found = {"critic_loss": loss, "q_mean": q_mean, "alpha": alpha}
        if update_actor and agent.actor_is_due():
            found["actor_loss"], found["entropy"] = self._buffers.learn_actor(batch.observations, alpha)
            agent.learn_temperature(found["entropy"], batch.actions.shape[1])
        smooth(agent.target, agent.critic, agent.settings.target_smoothing)
        return found


class Normal:
    """`networks.BatchNorm` while it learns, on ``z`` [R, N] in place; gain and shift are for whoever comes next."""

    def __init__(self, norm: Any, z: Tensor) -> None:
        self._norm, self.scale = norm, np.empty(z.shape[1], np.float32)
        self._arrays = z.numpy(), norm.mean.numpy(), norm.variance.numpy()
        self._spread = np.empty_like(self.scale)

    def __call__(self) -> None:
        """Statistics of ``z``, and ``z`` normalised by them."""
        normalise_columns(*self._arrays, self._norm.next_share(), EPSILON, self.scale, self._spread)


class Learning:
    """`networks.Hidden` while it learns: ``x`` [R, inputs] → `y` [count, outputs], of the first rows."""

    def __init__(self, x: Tensor, hidden: Any, count: int) -> None:
        self._last = hidden.last
        self.gradients: dict[Tensor, Tensor] = {}
        self._layers: list[tuple[Any, ...]] = []
        for dense, norm in hidden.pairs():
            z = torch.empty(len(x), len(dense.weight))
            y, d = torch.empty_like(z), torch.zeros_like(z)
            own = gradients_of(dense.weight, norm.gain, norm.shift)
            self.gradients |= own
            self._layers.append((x, dense.weight.detach(), z, Normal(norm, z), norm, y, d, *own.values()))
            x = y
        self._top, self._d_top, self._rest = y[:count], d[:count], d[count:]
        own = gradients_of(self._last.weight, self._last.bias)
        self.gradients |= own
        self._d_weight, self._d_bias = own.values()
        self.y = torch.empty(count, len(self._last.weight))
        self.d = torch.empty_like(self.y)
        """Gradient of `y`, to be filled before `backward`."""

    def forward(self) -> None:
        """`y` of what is in ``x``."""
        for x, weight, z, normal, norm, y, *_ in self._layers:
            torch.mm(x, weight.t(), out=z)
            normal()
            rectify(z.numpy(), norm.gain.detach().numpy(), norm.shift.detach().numpy(), y.numpy())
        torch.addmm(self._last.bias.detach(), self._top, self._last.weight.detach().t(), out=self.y)

    def backward(self) -> None:
        """The gradients of all parameters."""
        torch.mm(self.d.t(), self._top, out=self._d_weight)
        torch.sum(self.d, 0, out=self._d_bias)
        torch.mm(self.d, self._last.weight.detach(), out=self._d_top)
        self._rest.zero_()
        above = None
        for x, weight, z, normal, norm, y, d, d_weight, d_gain, d_shift in reversed(self._layers):
            if above is not None:
                torch.mm(*above, out=d)
            gain = norm.gain.detach().numpy()
            columns_back(d.numpy(), y.numpy(), z.numpy(), gain, normal.scale, d_gain.numpy(), d_shift.numpy())
            torch.mm(d.t(), x, out=d_weight)
            above = d, weight


class Folded:
    """`networks.Hidden` behind a BatchNorm, both with running statistics: ``x`` [B, inputs] → [B, outputs]."""

    def __init__(self, hidden: Any, front: Any) -> None:
        self._hidden, self._front = hidden, front

    def forward(self, x: Tensor) -> Tensor:
        """What it says with the weights of now."""
        *self._layers, (weight, bias) = self._hidden.folded(self._front)
        self._between = []
        for one, more in self._layers:
            x = torch.addmm(more, x, one.t()).relu_()
            self._between.append(x)
        return torch.addmm(bias, x, weight.t())

    def backward(self, d: Tensor, columns: slice) -> Tensor:
        """From the gradient of what it said last to that of these columns of ``x``."""
        weight = self._hidden.last.weight.detach()
        for (below, bias), y in zip(reversed(self._layers), reversed(self._between), strict=True):
            d = d @ weight
            rectified_back(d.numpy(), y.numpy(), False, bias.numpy())
            weight = below
        found: Tensor = d @ weight[:, columns]
        return found


class Buffers:
    """The networks with room for a batch of one size."""

    def __init__(self, agent: XQC, size: int, inputs: int) -> None:
        self.size, self._agent = size, agent
        critic: Any = agent.critic
        target: Any = agent.target
        actor = agent.actor
        action_dim = len(actor.layers.last.bias) // 2
        self._columns = slice(inputs, inputs + action_dim)
        self._both = torch.empty(2 * size, inputs + action_dim)
        """What was done, and below it what the policy would do next."""
        self._now, self._after = self._both[:size], self._both[size:]
        self._normed, self._seen = torch.empty_like(self._both), torch.empty(size, inputs)
        self._norm, self._actor_norm = Normal(critic.norm, self._normed), Normal(actor.norm, self._seen)
        self._heads = [Learning(self._normed, head, size) for head in critic.heads]
        self._asked = [Folded(head, critic.norm) for head in critic.heads]
        self._targets = [Folded(head, target.norm) for head in target.heads]
        self._acting, self._actor = Folded(actor.layers, actor.norm), Learning(self._seen, actor.layers, size)
        self._actions, self._noise = (torch.empty(size, action_dim) for _ in range(2))
        self._logits, self._atoms = torch.empty(2, size, ATOMS), support()
        self._wanted = torch.empty(size, ATOMS)
        self._critic_adam, self._actor_adam = AdamByHand(agent.critic_optimiser), AdamByHand(agent.actor_optimiser)
        self._head_rows = [self._critic_adam.rows(head.gradients) for head in self._heads]
        self._actor_rows = self._actor_adam.rows(self._actor.gradients)
        self._losses: list[Any] = [0.0, 0.0]

    def learn_critics(self, batch: Batch[Tensor], alpha: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and mean value."""
        agent, states = self._agent, self._both[:, : self._columns.start]
        states[: self.size].copy_(batch.observations)
        states[self.size :].copy_(batch.next_observations)
        self._now[:, self._columns].copy_(batch.actions)
        log_prob = self._draw(self._acting.forward(batch.next_observations))[0]
        self._after[:, self._columns].copy_(self._actions)
        chances, worth = self._told(self._targets, self._after)
        learned_from(
            chances.numpy(), worth.numpy(), (batch.returns / agent.reward_scale).numpy(), batch.discounts.numpy(),
            (alpha * log_prob).numpy(), BOUND, self._wanted.numpy(),
        )  # fmt: skip
        self._normed.copy_(self._both)
        self._norm()
        self._critic_adam.begin()
        beside(lambda: self._learn_head(0), lambda: self._learn_head(1))
        shorten(agent.critic)
        values = torch.stack([head.y for head in self._heads]).softmax(-1) @ self._atoms
        return torch.stack(self._losses).mean(), values.mean() * agent.reward_scale

    def learn_actor(self, observations: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and entropy."""
        self._seen.copy_(observations)
        self._actor_norm()
        self._actor.forward()
        log_prob, stray = self._draw(self._actor.y)
        self._now[:, self._columns].copy_(self._actions)
        chances, values = self._told(self._asked, self._now)
        d_values = torch.empty_like(values)
        loss = upwards(values.numpy(), d_values.numpy())
        # The slope of a mean of distributions: chance times how far a value is from it.
        d_logits = chances.mul_(self._atoms - values[..., None]).mul_(d_values[..., None])
        d_actions = sum(one.backward(d, self._columns) for one, d in zip(self._asked, d_logits, strict=True))
        assert isinstance(d_actions, Tensor)
        through_draw(
            d_actions.numpy(), self._actions.numpy(), stray.numpy(), self._actor.y.numpy(), *LOG_STD, alpha.item(),
            self._actor.d.numpy(),
        )  # fmt: skip
        self._actor.backward()
        self._actor_adam.begin()
        self._actor_adam.step(self._actor_rows)
        shorten(self._agent.actor)
        entropy = -log_prob.mean()
        return torch.tensor(loss) - alpha * entropy, entropy

    def _draw(self, raw: Tensor) -> tuple[Tensor, Tensor]:
        return draw(raw, self._noise, self._agent.generator, self._actions)

    def _told(self, heads: list[Folded], x: Tensor) -> tuple[Tensor, Tensor]:
        """By both critics: chances [2, B, ATOMS] and mean values [2, B]."""

        def ask(number: int) -> None:
            self._logits[number] = heads[number].forward(x)

        beside(lambda: ask(0), lambda: ask(1))
        chances = self._logits.softmax(-1)
        return chances, chances @ self._atoms

    def _learn_head(self, number: int) -> None:
        head = self._heads[number]
        head.forward()
        logs = head.y.log_softmax(-1)
        self._losses[number] = -(self._wanted * logs).sum(-1).mean()
        torch.sub(logs.exp_(), self._wanted, out=head.d).mul_(0.5 / self.size)
        head.backward()
        self._critic_adam.step(self._head_rows[number])
