"""DrQ-v2 and SAC for states as plainly as they can be written: one critic after the other, torch's own parts."""

from __future__ import annotations

import torch
from torch.distributions import Normal, TanhTransform, TransformedDistribution
from torch.nn import functional


class Plain:
    """The networks of an agent's state in double precision."""

    def __init__(self, state, settings, noise_from):
        self.settings = settings
        self.generator = torch.Generator()
        self.generator.set_state(noise_from)
        self.w, self.statistics = {}, {}
        for name, tensor in state.items():
            if name.split(".")[0] not in ("actor", "critic", "target", "temperature"):
                continue
            if name.split(".")[-1] in ("mean", "variance", "batches"):
                self.statistics[name] = tensor.double()
            else:
                self.w[name] = tensor.double().requires_grad_(not name.startswith("target"))
        self.adam = {
            part: torch.optim.Adam(self.part(part), settings.learning_rate)
            for part in ("actor", "critic", "temperature")
            if self.part(part)
        }

    def part(self, prefix):
        return [tensor for name, tensor in self.w.items() if name.startswith(prefix + ".")]

    def norm(self, x, name):
        gain, shift = self.w[name + ".gain"], self.w[name + ".shift"]
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / (variance + 1e-5).sqrt() * gain + shift

    def trunk(self, net, x):
        if not self.settings.trunk:
            return x
        x = x @ self.w[f"{net}.trunk.dense.weight"].T + self.w[f"{net}.trunk.dense.bias"]
        return torch.tanh(self.norm(x, f"{net}.trunk.norm"))

    def mlp(self, net, x):
        """Two hidden layers and one that only adds up; layers are numbered as they are called."""
        place = 0
        for last in (False, False, True):
            weight, bias = self.w[f"{net}.{place}.weight"], self.w[f"{net}.{place}.bias"]
            x = x @ weight.T + bias
            if last:
                return x
            if self.settings.layer_norm:
                place += 1
                x = self.norm(x, f"{net}.{place}")
            x = torch.clamp(x, min=0)
            place += 2

    def value(self, net, observations, actions, critic):
        x = torch.cat([self.trunk(net, observations), actions], dim=1)
        return self.mlp(f"{net}.heads.{critic}", x)[:, 0]

    def smaller_of_two(self, net, observations, actions):
        return torch.minimum(*(self.value(net, observations, actions, k) for k in range(2)))

    def policy(self, observations):
        return self.mlp("actor.layers", self.trunk("actor", observations))

    def draw(self, like):
        return torch.empty(like.shape).normal_(generator=self.generator).double()

    def descend(self, part, loss):
        for tensor in self.w.values():
            tensor.grad = None
        loss.backward()
        self.adam[part].step()

    def learn_critics(self, observations, actions, target):
        losses = [functional.mse_loss(self.value("critic", observations, actions, k), target) for k in range(2)]
        loss = sum(losses) / len(losses)
        self.descend("critic", loss)
        return loss.detach()

    def follow(self):
        share = self.settings.target_smoothing
        for numbers in (self.w, self.statistics):
            for name in list(numbers):
                if name.startswith("target."):
                    online = numbers[name.replace("target", "critic", 1)].detach()
                    numbers[name] = (1 - share) * numbers[name] + share * online


def plain_drqv2(plain, batch):
    observations, actions, returns, discounts, after = (tensor.double() for tensor in batch.to("cpu"))
    settings = plain.settings

    def nearby(means):
        noise = (settings.target_noise * plain.draw(means)).clamp(
            -settings.target_noise_clip, settings.target_noise_clip
        )
        return means + ((means + noise).clamp(-1, 1) - means).detach()

    with torch.no_grad():
        next_actions = nearby(torch.tanh(plain.policy(after)))
        worth = plain.smaller_of_two("target", after, next_actions)
    critic_loss = plain.learn_critics(observations, actions, returns + discounts * worth)
    raw = plain.policy(observations)
    new = nearby(torch.tanh(raw))
    actor_loss = -plain.smaller_of_two("critic", observations, new).mean()
    actor_loss = actor_loss + settings.action_penalty * (raw**2).mean()
    plain.descend("actor", actor_loss)
    plain.follow()
    return {"critic_loss": critic_loss, "actor_loss": actor_loss.detach()}


def drawn(plain, raw):
    """Actions [B, A] of a Gaussian policy that says ``raw`` [B, 2A], and their log probability."""
    mean, log_std = raw.chunk(2, dim=1)
    std = log_std.clamp(-20, 2).exp()
    raw = mean + std * plain.draw(mean)
    squashed = TransformedDistribution(Normal(mean, std), [TanhTransform(cache_size=1)])
    new = squashed.transforms[0](raw)
    return new, squashed.log_prob(new).sum(1)


def plain_sac(plain, batch):
    observations, actions, returns, discounts, after = (tensor.double() for tensor in batch.to("cpu"))
    fixed = plain.settings.entropy_temperature
    alpha = plain.w["temperature.log"].detach().exp() if fixed is None else fixed

    with torch.no_grad():
        next_actions, next_log_prob = drawn(plain, plain.policy(after))
        worth = plain.smaller_of_two("target", after, next_actions)
        target = returns + discounts * (worth - alpha * next_log_prob)
    critic_loss = plain.learn_critics(observations, actions, target)
    new, log_prob = drawn(plain, plain.policy(observations))
    worth = plain.smaller_of_two("critic", observations, new)
    actor_loss = (alpha * log_prob - worth).mean()
    plain.descend("actor", actor_loss)
    if fixed is None:
        wanted = -actions.shape[1]
        plain.descend("temperature", -(plain.w["temperature.log"] * (log_prob.detach() + wanted)).mean())
    plain.follow()
    return {"critic_loss": critic_loss, "actor_loss": actor_loss.detach(), "entropy": -log_prob.mean()}
