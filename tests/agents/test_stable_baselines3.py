"""SAC beside Stable-Baselines3's on Pendulum-v1: same budget, same sizes, same evaluation."""

import gymnasium
import numpy as np
import pytest
from scipy.stats import ttest_ind

from orcalign.agents import Replay, SACSettings, make_agent, make_policy

STEPS, RANDOM_STEPS, EPISODE = 6000, 400, 200
SETTINGS = SACSettings(hidden=64, trunk=0, learning_rate=1e-3, n_step=1, batch=128)


def play(env, seed, act):
    """One episode; actions in -1 to 1 are torques of -2 to 2."""
    observation, _ = env.reset(seed=seed)
    observations, actions, rewards = [observation], [], []
    for step in range(EPISODE):
        actions.append(act(observation, step))
        observation, reward, *_ = env.step(2 * actions[-1])
        observations.append(observation)
        rewards.append(reward)
    return np.array(observations), np.array(actions), np.array(rewards)


def evaluate(act):
    env = gymnasium.make("Pendulum-v1")
    return np.mean([play(env, 1000 + k, lambda look, _: act(look))[2].sum() for k in range(10)])


def ours(seed):
    rng = np.random.default_rng(seed)
    agent, policy = make_agent(SETTINGS, (3,), 1, seed), make_policy(SETTINGS, (3,), 1)
    replay = Replay(STEPS, (3,), "float32", 1)
    env = gymnasium.make("Pendulum-v1")
    for episode in range(STEPS // EPISODE):
        policy.load(agent.policy_weights())
        warm = episode * EPISODE >= RANDOM_STEPS

        def act(look, _, warm=warm):
            return policy.act(look, rng.standard_normal(1)) if warm else rng.uniform(-1, 1, 1)

        replay.add(*play(env, 100 * seed + episode, act), terminated=False)
        if warm:
            for _ in range(EPISODE):
                metrics = agent.update(replay.sample(rng, SETTINGS.batch, 1, SETTINGS.gamma))
    policy.load(agent.policy_weights())
    return evaluate(policy.act), metrics["alpha"].item()


def theirs(seed):
    from stable_baselines3 import SAC

    model = SAC(
        "MlpPolicy",
        "Pendulum-v1",
        learning_rate=SETTINGS.learning_rate,
        buffer_size=STEPS,
        learning_starts=RANDOM_STEPS,
        batch_size=SETTINGS.batch,
        tau=SETTINGS.target_smoothing,
        gamma=SETTINGS.gamma,
        train_freq=(1, "episode"),
        gradient_steps=EPISODE,
        policy_kwargs={"net_arch": [SETTINGS.hidden, SETTINGS.hidden]},
        seed=seed,
        device="cpu",
    )
    model.learn(STEPS)
    alpha = model.log_ent_coef.detach().exp().item()
    return evaluate(lambda look: model.predict(look, deterministic=True)[0] / 2), alpha


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_sac_learns_as_stable_baselines3_does():
    pytest.importorskip("stable_baselines3")
    returns, alphas = np.array([(ours(seed), theirs(seed)) for seed in range(3)]).transpose(2, 1, 0)
    print(f"returns {returns.round()}, temperatures {alphas.round(3)}")
    # Random torques earn about -1,200, a solved pendulum -150.
    assert returns.mean(axis=1).min() > -400
    assert ttest_ind(*returns, equal_var=False).pvalue > 0.01
    # The learned price of entropy is a thermometer of the whole algorithm.
    assert 0.5 < alphas[0].mean() / alphas[1].mean() < 2
