"""`collect.updates: step`, as the paper trains: the policy learns while it plays."""

import numpy as np
import pytest
from training.small_runs import SMALL, assert_same, resume_to_end, run_to_end

from orcalign import config
from orcalign.agents import Replay, episode_noise, make_agent, make_policy
from orcalign.envs import make, train_seed
from orcalign.rewards import Evidence, Rollout, load_reward
from orcalign.training import Training, start_run
from orcalign.training.collector import rescale

STEPWISE = {
    **SMALL,
    "collect.updates": "step",
    "collect.in_flight": 0,
    "collect.updates_per_step": 0.5,
    "collect.random_steps": 75,  # in the middle of the third episode
    "collect.noise": "white",
    "collect.noise_start": 0.4,
    "collect.noise_end": 0.0,
    "reward.calibrated": False,
}


def stepwise(steps=180, **settings):
    return config("nav2d", recipe="orca_np", settings={"steps": steps, **STEPWISE, "reward.scale": "none", **settings})


def as_the_paper_trains(setting, run):
    """The loop of the paper written out: act, every second step an update, rewards when the episode is over."""
    collect, agent_settings, seed = setting.collect, setting.agent, setting.seed
    reward, env = load_reward(run.path), make("nav2d", "fast", seed, size=collect.frame_size)
    shape, actions = env.observation_space.shape, env.action_space.shape[0]
    agent = make_agent(agent_settings, shape, actions, seed)
    policy = make_policy(agent_settings, shape, actions)
    replay, rng = Replay(collect.replay, shape, np.float32, actions), np.random.default_rng([seed, 1])
    steps = updates = episode = 0
    while steps < setting.steps:
        episode_seed = train_seed(episode, seed)
        dice = np.random.default_rng([seed, episode_seed])
        observation, _ = env.reset(seed=episode_seed)
        seen, acted, frames = [observation], [], []
        noise = episode_noise("white", 30, actions, dice)
        for t in range(30):
            while updates < int((steps - collect.learning_starts) * 0.5) and replay.num_episodes:
                agent.update(replay.sample(rng, agent_settings.batch, agent_settings.n_step, agent_settings.gamma))
                updates += 1
            if steps < collect.random_steps:
                action = dice.uniform(-1, 1, actions).astype(np.float32)
            else:
                policy.load(agent.policy_weights())
                action = policy.act(observation, (0.4 - 0.4 * (steps / setting.steps)) * noise[t])
            observation, *_ = env.step(rescale(action, env.action_space.low, env.action_space.high))
            seen.append(observation)
            acted.append(action)
            frames.append(env.render())
            steps += 1
        evidence = reward.observe(Rollout(30, np.stack(frames), None, None))
        paid = reward.pay([Evidence(30, evidence)])[0]
        replay.add(np.stack(seen).astype(np.float32), np.stack(acted), paid, False)
        episode += 1
    while updates < int((steps - collect.learning_starts) * 0.5):
        agent.update(replay.sample(rng, agent_settings.batch, agent_settings.n_step, agent_settings.gamma))
        updates += 1
    return agent.policy_weights()


def test_it_is_the_papers_loop_to_the_last_bit(tmp_path):
    run = start_run(stepwise(), tmp_path / "run")
    training = Training(run, 2, "cpu")
    assert training.go()
    weights = training.learner.agent.policy_weights()
    training.close()
    wanted = as_the_paper_trains(run.config, run)
    assert weights.keys() == wanted.keys()
    assert all((weights[name] == wanted[name]).all() for name in wanted)
    records = list(run.records("episode"))
    assert [record["updates"] for record in records] == [0, 0, 15, 30, 45, 60]
    assert all(record["timing"]["wait"] >= 0 and record["timing"]["update"] >= 0 for record in records)


def test_it_goes_on_where_it_was_stopped(tmp_path):
    whole = run_to_end(tmp_path / "whole", stepwise())
    training = Training(start_run(stepwise(), tmp_path / "halted"), 0, "cpu")
    assert not training.go(lambda: training.learner.steps >= 90)
    training.close()
    assert_same(whole, resume_to_end(tmp_path / "halted"))


def test_it_cannot_have_episodes_in_flight():
    with pytest.raises(ValueError, match=r"in_flight is 1 and updates is 'step'.*set in_flight to 0"):
        stepwise(**{"collect.in_flight": 1})
