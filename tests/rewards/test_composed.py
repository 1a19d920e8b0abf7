"""Sums, products and stages, by hand."""

import json

import numpy as np
import pytest
from rewards.clips import clip
from rewards.toys import Ease, Speed, evidence_of, rollout, streamed

from orcalign.rewards import Evidence, Moment, Need, Product, Rollout, Staged, Sum, VideoReward

ONE = rollout([0, 1, 3, 3], [0.5, -1.0, 0.25])
"""Speeds 1, 2, 0 and ease 0.5, 0, 0.75."""
DEMO = clip(np.linspace(0, 1, 6))


class Counted:
    """An encoder that counts frames."""

    name, size, spatial = "counted", 4, True
    dim, fingerprint = 48, "counted"

    def __init__(self):
        self.frames = 0

    def __call__(self, frames, progress=None):
        self.frames += len(frames)
        return frames[:, ::12, ::16].reshape(len(frames), -1).astype(np.float32)


def paid(reward, one=ONE):
    return reward.pay([evidence_of(reward, one)])[0].tolist()


def through_json(state):
    """As a checkpoint keeps it."""
    return json.loads(json.dumps(state[0])), {name: array.copy() for name, array in state[1].items()}


def test_a_sum_is_weighted():
    assert paid(Speed() + 0.5 * Ease()) == [1.25, 2.0, 0.375]
    assert paid(2 * Speed() + Ease()) == [2.5, 4.0, 0.75]
    assert paid(Sum([Speed(), Ease(), Speed(3.0)], [1, -1, 2])) == [6.5, 14.0, -0.75]
    assert paid(0.5 * (Speed() + Ease())) == [0.75, 1.0, 0.375]
    assert (Speed() + Ease() + Speed()).weights == (1.0, 1.0, 1.0)


def test_a_product_is_multiplied():
    assert paid(Speed() * Ease()) == [0.5, 0.0, 0.0]
    assert paid(Product([Speed(), Speed(3.0), Ease()])) == [1.5, 0.0, 0.0]
    assert paid(Ease() * Speed() + 0.5 * Speed()) == [1.0, 1.0, 0.0]


def test_a_part_is_found_by_its_kind():
    first, last = Speed(), Speed(3.0)
    assert first.find(Speed) is first
    assert first.find(Ease) is None
    one = Staged([first * Ease(), last], steps=10)
    assert one.find(Staged) is one
    assert one.find(Speed) is last, "of stages the last is what an agent is trained with in the end"
    assert isinstance(one.find(Ease), Ease)
    assert one.find(VideoReward) is None


@pytest.mark.parametrize("weights", [[1.0], [1.0, np.nan], [1.0, np.inf], [1.0, 2.0, 3.0]])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(ValueError, match="one finite number for each of 2 rewards"):
        Sum([Speed(), Ease()], weights)
    with pytest.raises(ValueError, match="give at least one"):
        Product([])


def test_what_the_parts_say_together():
    reward = Speed() + Ease()
    seen = evidence_of(reward, ONE)
    assert reward.need == Need(frames=0, states=True, actions=True)
    assert reward.criterion == "way"
    # Of two that say the same word the first is right.
    assert reward.follow(seen) == {"way": 3.0, "ease": pytest.approx(1 - 1.75 / 3)}
    assert reward.summary(seen)["reward"] == sum(paid(reward))
    assert (reward.guide_dim, (Ease() + Ease()).guide_dim, (Speed() + Speed()).guide_dim) == (1, 0, 2)
    assert (Ease() + Ease()).guide([evidence_of(Ease(), ONE)])[0].shape == (4, 0)
    assert (Speed() + VideoReward(DEMO, "pixels")).need == Need(frames=1, states=True)


def test_evidence_of_the_same_name_does_not_collide():
    reward = Speed() + Ease()
    seen = evidence_of(reward, ONE)
    assert sorted(seen.arrays) == ["0.seen", "1.seen"]
    deeper = Ease() + 1.0 * (2 * (Speed() + Ease()))
    assert sorted(evidence_of(deeper, ONE).arrays) == ["0.seen", "1.0.seen", "1.1.seen"]
    assert paid(deeper) == [0.5 + 2 * 1.5, 2 * 2.0, 0.75 + 2 * 0.75]
    same = Speed()
    once = Sum([same, same], [1, 1])
    assert sorted(evidence_of(once, ONE).arrays) == ["seen"]
    assert same.observed == 1


def test_parts_with_one_observer_are_observed_once():
    encoder = Counted()
    reward = VideoReward(DEMO, encoder, context=1, temperature=0.1)
    encoder.frames = 0
    film = Rollout(9, clip(np.linspace(0, 1, 9)))
    both = reward.with_matcher("dtw") + 0.5 * reward
    stages = Staged([reward.with_matcher("temporal_ot"), both * reward, reward], (0, 10, 20), 30)
    seen = [evidence_of(one, film) for one in (reward, both, stages)]
    assert encoder.frames == 3 * 9
    assert all(set(one.arrays) == {"cost_0"} for one in seen)
    dtw, orca = reward.with_matcher("dtw").pay(seen[:1])[0], reward.pay(seen[:1])[0]
    assert both.pay(seen[1:2])[0].tolist() == (dtw + 0.5 * orca).tolist()
    # Another one beside them is not mixed up with them.
    mixed = Staged([both, Speed()], (0, 10), 20)
    seen = evidence_of(mixed, Rollout(9, film.frames, np.arange(10.0, dtype=np.float32)[:, None]))
    assert sorted(seen.arrays) == ["0.cost_0", "1.seen"]
    assert mixed.pay([seen])[0].tolist() == (dtw + 0.5 * orca).tolist()
    assert mixed.explain(seen).match.raw_costs[0] is seen["0.cost_0"]


def test_streams_are_the_episode():
    video = VideoReward(DEMO, "pixels", context=2, direction="past", guide=True, temperature=0.1)
    progress = video.with_matcher("orca_progress", temperature=0.2)
    film = clip(np.linspace(0, 1, 9))
    one = Rollout(9, film, np.linspace(0, 3, 10, dtype=np.float32)[:, None] ** 2, np.zeros((9, 1), np.float32))
    staged = Staged([Speed(), video], (0, 10), 20, scale=3.0)
    later = Staged([Speed(), video], (0, 10), 20, scale=3.0)
    later.learn([evidence_of(later, one)], Moment(15, 3))
    for reward, dim in (
        (video + 0.5 * progress, 2),
        (Speed() * video, 2),
        (video * Speed(2.0) + 0.25 * progress, 3),
        (staged, 1),
        (later, 1),
    ):
        seen = evidence_of(reward, one)
        live, guides, followed = streamed(reward, one)
        assert live == reward.pay([seen])[0].tolist()
        np.testing.assert_array_equal(guides, reward.guide([seen])[0])
        assert guides.shape == (10, dim) == (10, reward.guide_dim)
        told = reward.follow(seen)
        # A stream of stages follows the demo as the stage of now does, if the last does not guide.
        assert {name: told[name] for name in followed if name in told} == {
            name: value for name, value in followed.items() if name in told
        }
    with pytest.raises(ValueError, match="'Ease' is known only at the end"):
        (Speed() + Ease()).stream()


class TestStages:
    def test_one_after_the_other(self):
        reward = Staged([Speed(), Ease()], (0, 50), 100)
        seen = [evidence_of(reward, ONE)]
        told = {step: reward.learn(seen, Moment(step, 1)) for step in (0, 49)}
        assert told == {0: None, 49: None}
        assert (reward.name, paid(reward)) == ("Speed", [1, 2, 0])
        assert reward.learn(seen, Moment(50, 1)) == ["the reward is now Ease"]
        assert (reward.name, paid(reward)) == ("Ease", [0.5, 0, 0.75])
        # How the run goes is measured by what it is for, from the beginning.
        assert reward.criterion == "ease"
        assert reward.follow(seen[0]) == Ease().follow(seen[0].under("1."))

    def test_the_last_one_guides_all_along(self):
        reward = Staged([Ease(), Speed()], (0, 50), 100)
        seen = [evidence_of(reward, ONE)]
        before = reward.guide(seen)[0].tolist()
        reward.learn(seen, Moment(50, 1))
        assert reward.guide(seen)[0].tolist() == before == [[0], [1], [3], [3]]
        assert Staged([Speed(), Ease()], (0, 50), 100).guide_dim == 0

    def test_the_first_scale_waits_for_a_reward_and_is_taken_anew_at_each_stage(self):
        reward = Staged([Speed(), Ease()], (0, 50), 100, scale=None)
        still, moving, other = (
            evidence_of(reward, rollout(states, [1.0, 1.0, 0.5])) for states in ([2] * 4, [0, 1, 2, 4], [0, 1, 1, 1])
        )
        assert reward.learn([still], Moment(0, 1)) is None
        assert reward.numbers() == {"level": 0.0, "scale": 1.0}
        assert reward.learn([still, moving], Moment(3, 2)) == ["rewards are multiplied by 2.5"]
        assert reward.pay([moving])[0].tolist() == [2.5, 2.5, 5.0]
        assert reward.summary(moving)["reward"] == 4.0, "before it is scaled"
        assert reward.learn([still, moving, other], Moment(6, 3)) is None
        assert reward.numbers()["scale"] == 2.5
        told = reward.learn([still, moving, other], Moment(50, 4))
        assert told == ["the reward is now Ease", "rewards are multiplied by 20"]
        assert reward.pay([moving])[0].tolist() == [0, 0, 10]

    def test_a_scale_that_is_given_stays(self):
        reward = Staged([Speed(), Ease()], (0, 50), 100, scale=3.0)
        seen = [evidence_of(reward, ONE)]
        for step, expected in ((0, [3, 6, 0]), (50, [1.5, 0, 2.25])):
            reward.learn(seen, Moment(step, 1))
            assert reward.pay(seen)[0].tolist() == expected

    def test_a_negative_reward_keeps_its_sign(self):
        reward = Staged([Speed(-1.0)], (0,), 100, scale=None)
        seen = [evidence_of(reward, ONE)]
        reward.learn(seen, Moment(0, 1))
        assert reward.pay(seen)[0].sum() == pytest.approx(-10)

    def test_parts_learn_and_all_is_paid_anew(self):
        reward = Staged([Speed(learns=True) + Speed(2.0)], (0,), 100)
        seen = [evidence_of(reward, ONE)]
        assert reward.learn(seen, Moment(0, 1)) == ["the level is 1"]
        assert reward.pay(seen)[0].tolist() == [2, 5, -1]
        assert reward.numbers() == {"level": 1.0, "scale": 1.0}

    def test_state_through_json_gives_the_same_payments(self):
        def fresh():
            return Staged([Speed(learns=True), Speed(2.0, learns=True) + 0.5 * Ease()], (0, 50), 100, scale=None)

        reward = fresh()
        seen = [evidence_of(reward, ONE), evidence_of(reward, rollout([0, 5, 7, 8], [0.0, 0.5, 0.0]))]
        for step in (0, 60):
            reward.learn(seen, Moment(step, 2))
            other = fresh()
            assert [one.tolist() for one in other.pay(seen)] != [one.tolist() for one in reward.pay(seen)]
            other.load_state(through_json(reward.state()))
            for mine, its in zip(reward.pay(seen), other.pay(seen), strict=True):
                assert mine.tolist() == its.tolist()
            assert (other.stage, other.scale, other.numbers()) == (
                reward.stage,
                reward.scale,
                reward.numbers(),
            )


class TestVideoStages:
    """What moves in a reward from a video during a run."""

    def made(self, tmp_path, parts, starts=(0,), **more):
        from orcalign.checks import Ramp
        from orcalign.rewards.description import load_reward, save_description
        from orcalign.rewards.settings import RewardSettings
        from orcalign.video import Demo

        if not (tmp_path / "demo").exists():
            Demo(DEMO).save(tmp_path / "demo")
        costs = {"encoder": "pixels", "size": 16, "look": "whole", "distance": "cosine"}
        described = [
            {"kind": "video", "settings": RewardSettings(**part).plain(), "costs": costs}
            for part in ({"temperature": Ramp(1.0, 0.2), "context": 1, **one} for one in parts)
        ]
        save_description(
            tmp_path,
            {
                "kind": "staged",
                "starts": list(starts),
                "steps": 100,
                "scale": 1.0,
                "parts": described,
                **more,
            },
        )
        return load_reward(tmp_path)

    def test_the_temperature_falls_within_each_stage(self, tmp_path):
        reward = self.made(tmp_path, [{}, {"matcher": "orca_progress"}], starts=(0, 50))
        seen = [Evidence(4, {"cost_0": np.full((4, 6), 0.3)})]
        found = {}
        for step in (0, 25, 50, 75, 100):
            reward.learn(seen, Moment(step, 1))
            found[step] = (reward.numbers()["temperature"], reward.summary(seen[0])["reward"])
        assert [temperature for temperature, _ in found.values()] == pytest.approx([1.0, 0.6, 1.0, 0.6, 0.2])
        assert found[0][1] > found[25][1]
        assert found[50][1] > found[75][1] > found[100][1]

    def test_what_moves_in_small_steps_waits_until_it_is_due(self, tmp_path):
        reward = self.made(tmp_path, [{}])
        seen = [Evidence(4, {"cost_0": np.full((4, 6), 0.3)})]
        before = reward.pay(seen)[0].tolist()
        assert reward.learn(seen, Moment(50, 1, due=False)) is None
        assert reward.pay(seen)[0].tolist() == before
        assert reward.learn(seen, Moment(50, 1)) == []
        assert reward.pay(seen)[0].tolist() != before
        assert reward.learn(seen, Moment(50, 2)) is None

    def test_calibration_gives_the_scale_and_the_temperature_is_a_factor_on_all_of_it(self, tmp_path):
        from orcalign.checks import Ramp

        reward = self.made(tmp_path, [{"calibrated": True, "temperature": Ramp(2.0, 1.0)}])
        (part,) = reward.parts
        (found,) = part.calibrations()
        assert part.matcher_settings[0] == {name: 2 * value for name, value in found.items()}
        reward.learn([], Moment(50, 1))
        assert part.matcher_settings[0] == {name: 1.5 * value for name, value in found.items()}

    def test_calibration_changes_once_when_enough_episodes_are_played(self, tmp_path):
        reward = self.made(tmp_path, [{"calibrated": True, "calibration_episodes": 3, "temperature": None}])
        (part,) = reward.parts
        far = [Evidence(4, {"cost_0": np.full((4, 6), 0.9)}) for _ in range(5)]
        before = part.matcher_settings
        told = {}
        for played in (1, 2, 3, 4, 5):
            told[played] = reward.learn(far[:played], Moment(played, played))
            restarted = self.made(tmp_path, [{"calibrated": True, "calibration_episodes": 3, "temperature": None}])
            restarted.load_state(through_json(reward.state()))
            assert [one.tolist() for one in restarted.pay(far)] == [one.tolist() for one in reward.pay(far)]
            reward, (part,) = restarted, restarted.parts
        assert [played for played, notes in told.items() if notes is not None] == [3]
        assert told[3][0].startswith("calibrated on 3 episodes: floor 0.0")
        assert part.matcher_settings[0] == part.calibrations([[one["cost_0"]] for one in far[:3]])[0]
        assert part.matcher_settings[0]["floor"] > before[0]["floor"]

    def test_episodes_that_change_nothing_are_not_told_of(self, tmp_path):
        """Far nearer to the demo than an eighth of its reach, which is what calibration takes at least."""
        reward = self.made(tmp_path, [{"calibrated": True, "calibration_episodes": 2}])
        near = [Evidence(4, {"cost_0": np.zeros((4, 6))})] * 2
        assert reward.learn(near, Moment(0, 2)) is None

    def test_progress_along_the_path_is_worth_what_the_demo_changes(self, tmp_path):
        stages = [
            {"matcher": "temporal_ot"},
            {"matcher": "orca_progress", "progress_in": "path", "calibrated": True},
        ]
        first, last = self.made(tmp_path, stages, starts=(0, 50)).parts
        steps = np.diag(last.model.between(0), 1)
        np.testing.assert_allclose(last.matcher_settings[0]["worth"], [0, *(steps / steps.sum())], rtol=1e-12)
        assert set(last.matcher_settings[0]) == {"temperature", "floor", "worth"}
        assert first.matcher_settings == ({},)
        assert first.observer is last.observer
        with_worth = last.follow(Evidence(2, {"cost_0": np.zeros((2, 6))}))
        assert with_worth == {"progress": 1.0, "coverage": 1.0, "reached": 1.0}
