"""SAC in one file, after CleanRL: all of it can be read and changed, and `StepReward` is the only line of ours in it.

python examples/cleanrl_sac.py --env-id nav2d --total-timesteps 6000
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import tyro
from torch import nn
from torch.nn.functional import mse_loss

import orcalign
from orcalign.envs import make_demo


@dataclass
class Args:
    """What CleanRL's own file has, where it matters here."""

    env_id: str = "nav2d"
    """A task that has a scripted expert, who makes the video."""
    encoder: str = "pixels"
    """What sees frames; for Meta-world efficientnet-lite0."""
    seed: int = 1
    """Of everything."""
    threads: int = 1
    """Of torch."""
    total_timesteps: int = 6000
    """Steps in the environment; one update each."""
    learning_starts: int = 600
    """Random steps before that."""
    batch_size: int = 128
    """Transitions in an update."""
    hidden: int = 128
    """Units of a layer."""
    gamma: float = 0.95
    """Discount."""
    tau: float = 0.01
    """Share of the critics that flows into the target critics."""
    learning_rate: float = 1e-3
    """Of actor, critics and temperature."""


def network(inputs: int, outputs: int, hidden: int) -> nn.Sequential:
    layers = [nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, inputs: int, outputs: int, hidden: int) -> None:
        super().__init__()
        self.body = network(inputs, 2 * outputs, hidden)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """An action from -1 to 1, and its log probability."""
        mean, spread = self.body(x).chunk(2, -1)
        normal = torch.distributions.Normal(mean, spread.clamp(-5, 2).exp())
        drawn = normal.rsample()
        action = torch.tanh(drawn)
        return action, (normal.log_prob(drawn) - torch.log(1 - action**2 + 1e-6)).sum(-1)


def main(args: Args) -> list[float]:
    """Learn; how far the video was followed in each episode."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    demo, _ = make_demo(args.env_id, misaligned=True)
    reward_fn = orcalign.VideoReward(
        demo, args.encoder, context=1, matcher="orca_progress", calibrated=True, temperature=2.0
    )
    env = orcalign.StepReward(orcalign.make(args.env_id, seed=args.seed), reward_fn)
    seen, acted = env.observation_space.shape[0], env.action_space.shape[0]
    low, high = env.action_space.low, env.action_space.high

    actor = Actor(seen, acted, args.hidden)
    critics = nn.ModuleList(network(seen + acted, 1, args.hidden) for _ in range(2))
    targets = nn.ModuleList(network(seen + acted, 1, args.hidden) for _ in range(2))
    targets.load_state_dict(critics.state_dict())
    log_alpha = torch.tensor(np.log(0.1), dtype=torch.float32, requires_grad=True)
    actor_adam = torch.optim.Adam(actor.parameters(), args.learning_rate)
    critic_adam = torch.optim.Adam(critics.parameters(), args.learning_rate)
    alpha_adam = torch.optim.Adam([log_alpha], args.learning_rate)

    # observation, action, next observation, reward, ended
    replay = torch.zeros(args.total_timesteps, 2 * seen + acted + 2)
    followed: list[float] = []
    observation, _ = env.reset(seed=args.seed)
    for step in range(args.total_timesteps):
        if step < args.learning_starts:
            action = rng.uniform(-1, 1, acted).astype(np.float32)
        else:
            with torch.no_grad():
                action = actor(torch.tensor(observation, dtype=torch.float32))[0].numpy()
        after, reward, terminated, truncated, info = env.step(low + (action + 1) / 2 * (high - low))
        # An episode that is only cut off does not end: what comes after it counts.
        replay[step] = torch.tensor(np.concatenate([observation, action, after, [reward, terminated]]))
        observation = after
        if terminated or truncated:
            followed.append(info["progress"])
            observation, _ = env.reset()
            if len(followed) % 20 == 0:
                print(f"step {step + 1}: progress {np.mean(followed[-20:]):.2f}", flush=True)
        if step < args.learning_starts:
            continue

        drawn = replay[torch.randint(step + 1, (args.batch_size,))]
        now, did, then, paid, ended = drawn.split([seen, acted, seen, 1, 1], 1)
        alpha = log_alpha.exp().detach()
        with torch.no_grad():
            would, likely = actor(then)
            value = torch.min(*(one(torch.cat([then, would], 1)) for one in targets)) - alpha * likely[:, None]
            target = paid + (1 - ended) * args.gamma * value
        loss = sum(mse_loss(one(torch.cat([now, did], 1)), target) for one in critics)
        critic_adam.zero_grad()
        loss.backward()
        critic_adam.step()

        action_now, likely = actor(now)
        best = torch.min(*(one(torch.cat([now, action_now], 1)) for one in critics))
        actor_adam.zero_grad()
        (alpha * likely[:, None] - best).mean().backward()
        actor_adam.step()
        alpha_adam.zero_grad()
        (-log_alpha.exp() * (likely.detach() - acted)).mean().backward()
        alpha_adam.step()
        with torch.no_grad():
            for one, other in zip(targets.parameters(), critics.parameters(), strict=True):
                one.lerp_(other, args.tau)
    env.close()
    return followed


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
