"""The 2D navigation: subgoals in order, pictures of the agent alone, and learning from one video."""

from collections import defaultdict

import gymnasium
import numpy as np
import pytest

from orcalign.envs import TASKS, StepReward, make, make_demo
from orcalign.envs.nav2d.env import Nav2D, Nav2DGrid
from orcalign.matching.counterexamples import COUNTEREXAMPLES
from orcalign.rewards import VideoReward

BOTH = pytest.mark.parametrize("kind", [Nav2D, Nav2DGrid])


@BOTH
def test_gymnasium_accepts_it(kind, check_gymnasium):
    check_gymnasium(kind(render_mode="rgb_array"))


@pytest.mark.parametrize("name", ["orcalign/Nav2D-v0", "orcalign/Nav2DGrid-v0"])
def test_it_is_registered(name, check_gymnasium):
    env = gymnasium.make(f"orcalign.envs.nav2d.env:{name}", render_mode="rgb_array")
    check_gymnasium(env.unwrapped)
    env.reset(seed=0)
    steps = 1
    while not env.step(env.action_space.sample())[3]:
        steps += 1
    assert steps == env.spec.max_episode_steps


@BOTH
@pytest.mark.parametrize("layout", COUNTEREXAMPLES)
def test_the_expert_visits_all_subgoals(kind, layout):
    env = kind(layout)
    env.reset(seed=0)
    infos = [env.step(env.expert_action())[4] for _ in range(30)]
    assert infos[-1] == {"success": True, "visited": len(env.subgoals)}
    assert [info["visited"] for info in infos] == sorted(info["visited"] for info in infos)


def go(env, cell, steps=12):
    """Walk to a cell; the info of every step."""
    return [env.step(env.action_towards(np.array(cell, float)))[4] for _ in range(steps)]


@BOTH
def test_the_last_subgoal_alone_is_no_success(kind):
    env = kind("order")
    env.reset(seed=0)
    # (2, 0) is the last subgoal; straight there the others are not on the way.
    assert not any(info["success"] for info in go(env, (2, 0)))


@BOTH
def test_the_wrong_order_is_no_success(kind):
    env = kind("order")
    env.reset(seed=0)
    for cell in reversed(env.subgoals[:-1]):  # (2, 2), then (0, 2)
        if kind is Nav2DGrid:
            go(env, (cell[0], env.position[1]))
        go(env, cell)
    env.position = env.subgoals[-1].copy()
    assert env.step(env.action_towards(env.position))[4]["success"] is False


@BOTH
def test_success_is_lost_by_leaving(kind):
    env = kind("order")
    env.reset(seed=0)
    for _ in range(20):
        _, reward, _, _, info = env.step(env.expert_action())
    assert (reward, info["success"]) == (1.0, True)
    _, *info = go(env, (0, 0), 3)
    assert info[-1]["success"] is False
    _, *info = go(env, (2, 0), 6)
    assert info[-1]["success"] is True


def test_no_direction_is_faster_than_another():
    env = Nav2D("slowness")
    env.reset(seed=0)
    for action in ([1, 0], [1, 1], [0.6, 0.8], [0.3, 0.0]):
        env.position = np.array([1.0, 1.0])
        env.step(np.array(action, np.float32))
        walked = float(np.linalg.norm(env.position - 1.0))
        assert walked == pytest.approx(0.5 * min(1.0, float(np.linalg.norm(action))), abs=1e-6)


@BOTH
def test_the_map_has_an_edge(kind):
    env = kind("order")
    env.reset(seed=0)
    go(env, (99, 0))
    assert np.allclose(env.position, [env.cells - 1.0, 0.0], atol=0.2)
    assert env.position.max() <= env.cells - 1.0


def test_the_start_depends_on_the_seed_alone():
    one, other = Nav2D(), Nav2D()
    other.reset(seed=1)
    assert np.array_equal(one.reset(seed=5)[0], other.reset(seed=5)[0])
    assert not np.array_equal(one.reset(seed=5)[0], one.reset(seed=6)[0])


@BOTH
def test_a_picture_shows_where_the_agent_is_and_not_where_it_was(kind):
    env = kind("order")
    env.reset(seed=0)
    start = env.render()
    assert (start.shape, start.dtype) == ((64, 64, 3), np.uint8)
    go(env, (0, 2))
    there = env.render()
    assert there[:32, :32, 0].max() > 240 > start[:16, :16, 0].max(), "y points upwards, x to the right"
    direct = kind("order")
    direct.reset(seed=9)
    direct.position = env.position.copy()
    assert np.array_equal(there, direct.render())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"layout": "ordre"}, "did you mean 'order'"),
        ({"size": 4}, "from 8 to 4096"),
        ({"render_mode": "human"}, "must be 'rgb_array'"),
    ],
)
@BOTH
def test_wrong_settings_are_refused(kind, settings, said):
    with pytest.raises(ValueError, match=said):
        kind(**settings)


@pytest.mark.parametrize(("kind", "action"), [(Nav2D, [1, 2, 3]), (Nav2D, [np.nan, 0]), (Nav2DGrid, 5)])
def test_wrong_actions_are_refused(kind, action):
    env = kind()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="the action is"):
        env.step(action)


@pytest.mark.parametrize("name", [name for name, spec in TASKS.items() if spec.suite == "nav2d" and spec.misaligned])
def test_the_reward_prefers_the_expert_to_every_shortcut(name):
    demo, _ = make_demo(name, misaligned=True)
    reward = VideoReward(demo, encoder="pixels", context=1, temperature=0.25)
    env = make(name, seed=1)

    def score(act):
        env.reset(seed=7)
        frames = []
        for _ in range(env.task_spec.agent_steps):
            env.step(act(env.unwrapped))
            frames.append(env.render())
        return reward(np.stack(frames)).total

    expert = score(lambda world: world.expert_action())
    rush = score(lambda world: world.action_towards(world.subgoals[-1]))
    frozen = score(lambda world: world.action_towards(world.start))
    assert expert > 5
    assert max(rush, frozen) < 0.05 * expert


def test_a_table_learns_from_one_misaligned_video():
    """Q-learning, no reward but the video's: 400 episodes of 12 steps, a few seconds."""
    task = "nav2d-grid-order"
    demo, _ = make_demo(task, misaligned=True)
    env = StepReward(make(task, size=32), VideoReward(demo, encoder="pixels", context=1, temperature=0.5))
    rng = np.random.default_rng(0)
    # Higher than anything yet seen: what has not been tried looks good.
    table = defaultdict(lambda: np.full(5, 3.0))
    returns = []
    for _ in range(400):
        observation, _ = env.reset()
        state, steps, done = tuple(observation[:3].round(2)), [], False
        while not done:
            best = np.flatnonzero(table[state] == table[state].max())
            action = int(rng.integers(5)) if rng.random() < 0.05 else int(rng.choice(best))
            observation, reward, _, done, info = env.step(action)
            following = tuple(observation[:3].round(2))
            steps.append((state, action, reward, following, done, info["success"]))
            state = following
        for state, action, reward, following, done, _ in reversed(steps):
            later = 0.0 if done else 0.95 * table[following].max()
            table[state][action] += 0.3 * (reward + later - table[state][action])
        returns.append(sum(step[-1] for step in steps))
    assert np.mean(returns[:20]) < 1
    assert np.mean(returns[-50:]) > 5, "the expert has 7"
