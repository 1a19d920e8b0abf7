"""What every reward promises, by rewards that can be counted and by videos."""

import re
from pathlib import Path

import numpy as np
import pytest
from rewards.clips import clip
from rewards.toys import Ease, Speed, evidence_of, rollout, streamed

from orcalign.matching import MATCHERS
from orcalign.rewards import Evidence, Moment, Need, Rollout, VideoReward
from orcalign.rewards.description import REWARDS

SOURCE = Path(__file__).parents[2] / "src" / "orcalign"
DEMO = clip(np.linspace(0, 1, 6))


def video(name="orca", demo=DEMO, **more):
    return VideoReward(demo, "pixels", matcher=name, **more)


def test_no_caller_asks_which_kind_a_reward_has():
    classes = {target.rpartition(":")[2] for target in REWARDS.values()} | {"Composed", "Reward"}
    for file in SOURCE.rglob("*.py"):
        if "rewards" not in file.parts:
            asked = re.findall(r"isinstance\([^\n]*\b(?:" + "|".join(classes) + r")\b", file.read_text())
            assert not asked, f"{file}: ask Reward.find for what only one kind has"


def test_pictures_are_drawn_as_often_as_anybody_needs_them():
    none, every, third = Need(frames=0, states=True), Need(), Need(frames=3, actions=True)
    assert none | third == Need(frames=3, states=True, actions=True)
    assert third | every == every | third == Need(frames=1, actions=True)
    assert (Need(frames=4) | Need(frames=6)).frames == 2
    assert (none | Need(frames=0)).frames == 0
    both = Need(frames=4) | Need(frames=6)
    for episode in range(24):
        assert both.draws(episode) >= Need(frames=4).draws(episode) | Need(frames=6).draws(episode)
        assert not none.draws(episode)


def test_evidence_stays_as_it_is():
    kept = Evidence(3, {"0.cost": np.zeros((3, 2)), "1.cost": np.ones((3, 2)), "10.cost": np.ones(3)})
    for one in (kept["0.cost"], kept.under("1.")["cost"]):
        with pytest.raises(ValueError, match="read-only"):
            one[0] = 5
    with pytest.raises(AttributeError):
        kept.length = 4
    assert set(kept.under("1.").arrays) == {"cost"}
    assert kept.under("1.")["cost"] is kept["1.cost"]
    assert kept.under("1.").length == 3
    assert not kept.under("2.").arrays


def test_a_reward_that_says_nothing_of_its_own():
    """All but what it pays has an answer already."""
    reward = Ease()
    one = evidence_of(reward, rollout([0, 1, 2], [0.25, -0.5]))
    assert reward.pay([one])[0].tolist() == [0.75, 0.5]
    assert reward.summary(one) == {"reward": 1.25, "ease": 0.625, "way": -1.0}
    assert reward.learn([one], Moment(10, 1)) is None
    assert (reward.demos, reward.notes, reward.numbers(), reward.explain(one)) == ((), (), {}, None)
    assert reward.state() == ({}, {})
    assert [guide.shape for guide in reward.guide([one])] == [(3, 0)]
    assert reward.observer is reward
    with pytest.raises(ValueError, match="'Ease' is known only at the end of an episode"):
        reward.stream()


def some_evidence(count, seed=0, frames=6):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 12, count)
    return [Evidence(int(T), {"cost_0": rng.random((int(T), frames))}) for T in lengths]


@pytest.mark.parametrize("name", MATCHERS)
def test_an_episode_alone_and_among_others_gets_the_same_bits(name):
    reward, episodes = video(name), some_evidence(5)
    together = reward.pay(episodes)
    for one, expected in zip(episodes, together, strict=True):
        assert reward.pay([one])[0].tolist() == expected.tolist()
        assert len(expected) == one.length
    assert reward.pay([]) == []


@pytest.mark.parametrize("name", MATCHERS)
def test_what_is_observed_pays_what_the_frames_earn(name):
    reward, film = video(name), clip(np.linspace(0, 1, 9))
    seen = evidence_of(reward, Rollout(9, film))
    match = reward(film)
    assert (seen["cost_0"] == match.raw_costs[0]).all()
    np.testing.assert_allclose(reward.pay([seen])[0], match.reward, rtol=0 if "orca" in name else 1e-12)
    told = reward.explain(seen)
    assert told.match.reward.tolist() == match.reward.tolist()
    assert told.story.final_coverage == reward.follow(seen)["reached"]


@pytest.mark.parametrize("name", ["orca", "orca_progress"])
def test_who_leaves_again_covers_nothing_at_the_end(name):
    """At the end for a step, and back at the beginning for the rest of the episode."""
    reward = video(name, context=1, temperature=0.05)
    ways = [np.concatenate([np.linspace(0, 1, 6), np.full(24, end)]) for end in (1, 0)]
    stays, leaves = (reward.follow(evidence_of(reward, Rollout(30, clip(way)))) for way in ways)
    assert stays["progress"] == leaves["progress"]
    assert stays["reached"] == leaves["reached"] == stays["coverage"]
    assert leaves["coverage"] < 0.5 * stays["coverage"]


def test_an_episode_without_pictures_is_refused():
    with pytest.raises(ValueError, match="without frames"):
        video().observe(Rollout(4))


@pytest.mark.parametrize("name", ["orca", "orca_progress"])
@pytest.mark.parametrize("demos", [1, 2])
def test_the_guide_is_that_of_the_stream_step_by_step(name, demos):
    if name == "orca_progress" and demos > 1:
        pytest.skip("has no stream")
    films = [DEMO, clip(np.linspace(0, 0.5, 4))][:demos]
    reward = video(name, films, context=2, direction="past", guide=True, temperature=0.1)
    assert reward.guide_dim == 1
    episodes = [Rollout(len(where), clip(where)) for where in (np.linspace(0, 1, 9), np.linspace(1, 0.2, 5))]
    kept = [evidence_of(reward, one) for one in episodes]
    for one, seen, guide in zip(episodes, kept, reward.guide(kept), strict=True):
        paid, guides, followed = streamed(reward, one)
        np.testing.assert_array_equal(guide, guides)
        assert guide.dtype == guides.dtype == np.float32
        assert paid == reward.pay([seen])[0].tolist()
        assert followed["progress"] == reward.follow(seen)["progress"]
    assert guide[0, 0] == 0
    assert video(name).guide(kept)[0].shape == (10, 0)


def test_a_guide_that_would_look_ahead_is_refused():
    with pytest.raises(ValueError, match="looks 2 frames ahead"):
        video(context=3, guide=True)
    with pytest.raises(ValueError, match="only at the end of an episode"):
        video("dtw", context=1, guide=True)
    with pytest.raises(ValueError, match="pool='best'"):
        video("orca_progress", [DEMO, DEMO], context=1, guide=True)


def test_several_demos_pay_the_same_progress_once():
    """One demo shows the even places of a way, the other the odd ones: at each step one of them is followed further."""
    way = np.arange(21.0)
    places = way[::2], np.append(way[1::2], 20.0)
    costs = [np.abs(way[:, None] - place) for place in places]
    demos = [np.repeat(clip(np.linspace(0, 1, len(place))), 1, axis=0) for place in places]
    reward = video("orca_progress", demos, context=1, temperature=0.05)
    one = Evidence(21, {f"cost_{k}": cost for k, cost in enumerate(costs)})
    for paid in (
        reward.score_costs(costs).reward,
        reward.relabel([cost[None] for cost in costs])[0],
        reward.pay([one])[0],
    ):
        assert paid.sum() == pytest.approx(11.0, abs=1e-6)
    # The highest at every step would have paid it twice.
    alone = [reward.score_costs(costs).matches[k].reward for k in range(2)]
    assert np.max(alone, axis=0).sum() == pytest.approx(21.0, abs=1e-6)
    with pytest.raises(ValueError, match="would pay the same progress once per demo; use pool='best'"):
        video("orca_progress", demos, pool="max")
    # What a matcher pools in its own way does not hinder another one.
    other = video("orca", demos, pool="max", context=1).with_matcher("orca_progress", temperature=0.05)
    assert other.score_costs(costs).total == pytest.approx(11.0, abs=1e-6)


def test_another_matcher_shares_what_was_measured_and_observed():
    reward = video("orca_progress", calibrated=True, progress_in="path", context=1)
    other = reward.with_matcher("orca")
    assert other.observer is reward.observer
    (mine,), (its,) = reward.matcher_settings, other.matcher_settings
    assert its == {name: mine[name] for name in ("temperature", "floor")}
    assert "worth" in mine
    assert reward.with_matcher("temporal_ot", window=2).matcher_settings == ({"window": 2},)
    with pytest.raises(ValueError, match="did you mean 'temperature'"):
        reward.with_matcher("orca", temprature=1.0)


def test_a_reward_of_ones_own_is_streamed():
    reward, one = Speed(2.0), rollout([1, 2, 4, 3])
    paid, guides, followed = streamed(reward, one)
    seen = evidence_of(reward, one)
    assert paid == reward.pay([seen])[0].tolist() == [2, 4, -2]
    np.testing.assert_array_equal(guides, reward.guide([seen])[0])
    assert followed == reward.follow(seen) == {"way": 2}
