"""XQC as plainly as it can be written: one critic after the other, one atom after the other."""

from __future__ import annotations

import torch
from agents.plain_updates import drawn

ATOMS = torch.linspace(-5, 5, 101).double()


def norm(plain, x, name, learn):
    """Each column by its own mean and deviation, or by those that are remembered."""
    known = plain.statistics
    mean, variance = known[name + ".mean"], known[name + ".variance"]
    if learn:
        known[name + ".batches"] = known[name + ".batches"] + 1
        share = max(0.01, 1 / known[name + ".batches"].item())
        known[name + ".mean"] = (1 - share) * mean + share * x.detach().mean(0)
        known[name + ".variance"] = (1 - share) * variance + share * x.detach().var(0, unbiased=True)
        mean, variance = x.mean(0), x.var(0, unbiased=False)
    x = (x - mean) / (variance + 1e-3).sqrt()
    return x * plain.w[name + ".gain"] + plain.w[name + ".shift"] if name + ".gain" in plain.w else x


def hidden(plain, net, x, learn):
    for k in range(plain.settings.layers):
        x = torch.clamp(norm(plain, x @ plain.w[f"{net}.dense.{k}.weight"].T, f"{net}.norms.{k}", learn), min=0)
    return x @ plain.w[f"{net}.last.weight"].T + plain.w[f"{net}.last.bias"]


def chances(plain, net, seen, actions, learn):
    """Of each atom, by each critic: two of [B, 101]."""
    x = norm(plain, torch.cat([seen, actions], 1), f"{net}.norm", learn)
    return [torch.softmax(hidden(plain, f"{net}.heads.{k}", x, learn), 1) for k in range(2)]


def policy(plain, seen, learn):
    return hidden(plain, "actor.layers", norm(plain, seen, "actor.norm", learn), learn)


def on_atoms(value, chance):
    """Its share of each atom: those beside it are the only ones less than one step away."""
    return chance * (1 - (value.clamp(-5, 5) - ATOMS).abs() / 0.1).clamp(min=0)


def shortened(plain, part):
    for name, tensor in plain.w.items():
        if name.startswith(part) and name.endswith("weight"):
            tensor.data = tensor.data / tensor.data.pow(2).sum(1, keepdim=True).sqrt()


def plain_xqc(plain, batch):
    observations, actions, returns, discounts, after = (tensor.double() for tensor in batch.to("cpu"))
    fixed, count = plain.settings.entropy_temperature, len(actions)
    alpha = plain.w["temperature.log"].detach().exp() if fixed is None else fixed
    with torch.no_grad():
        next_actions, next_log_prob = drawn(plain, policy(plain, after, False))
        both = chances(plain, "target", after, next_actions, False)
        target = torch.zeros(count, 101).double()
        for b in range(count):
            worse = min((one[b] for one in both), key=lambda one: one @ ATOMS)
            for atom, chance in zip(ATOMS, worse, strict=True):
                value = returns[b] / plain.scale + discounts[b] * (atom - alpha * next_log_prob[b])
                target[b] += on_atoms(value, chance)
    seen, done = torch.cat([observations, after]), torch.cat([actions, next_actions])
    losses = [-(target * one[:count].log()).sum(1).mean() for one in chances(plain, "critic", seen, done, True)]
    critic_loss = sum(losses) / 2
    plain.descend("critic", critic_loss)
    shortened(plain, "critic")
    found = {"critic_loss": critic_loss.detach()}
    plain.updates = getattr(plain, "updates", 0) + 1
    if plain.updates % plain.settings.actor_every == 1 % plain.settings.actor_every:
        new, log_prob = drawn(plain, policy(plain, observations, True))
        worth = torch.minimum(*(one @ ATOMS for one in chances(plain, "critic", observations, new, False)))
        actor_loss = (alpha * log_prob - worth).mean()
        plain.descend("actor", actor_loss)
        shortened(plain, "actor")
        if fixed is None:
            wanted = -actions.shape[1] / 2
            plain.descend("temperature", -(plain.w["temperature.log"] * (log_prob.detach() + wanted)).mean())
        found |= {"actor_loss": actor_loss.detach(), "entropy": -log_prob.mean()}
    plain.follow()
    return found
