"""A reward as plain values: made again elsewhere it pays the same, and who only pays needs no encoder."""

import json

import numpy as np
import pytest
from rewards.clips import clip
from rewards.toys import ATTEMPT as ONE
from rewards.toys import Ease, Speed, evidence_of

from orcalign.costs import FrameModel
from orcalign.encoders import make_encoder
from orcalign.matching import MATCHERS
from orcalign.rewards import Evidence, Moment, Staged, VideoReward, load_reward
from orcalign.rewards.description import FILE, Kit, save_description
from orcalign.video import Demo, DemoSet

DEMO = clip(np.linspace(0, 1, 6))


@pytest.fixture
def folder(tmp_path):
    Demo(DEMO).save(tmp_path / "demo")
    return tmp_path


def made_again(reward, folder):
    """From the folder of a run."""
    save_description(folder, reward.describe())
    return load_reward(folder)


def same(reward, other):
    seen, its = evidence_of(reward, ONE), evidence_of(other, ONE)
    assert sorted(seen.arrays) == sorted(its.arrays)
    assert other.describe() == reward.describe()
    assert (other.need, other.guide_dim, other.criterion, other.name) == (
        reward.need,
        reward.guide_dim,
        reward.criterion,
        reward.name,
    )
    assert reward.pay([seen])[0].tolist() == other.pay([its])[0].tolist() == other.pay([seen])[0].tolist()


@pytest.mark.parametrize("name", MATCHERS)
def test_a_video_pays_the_same(name, folder):
    reward = VideoReward(DEMO, "pixels", matcher=name)
    same(reward, made_again(reward, folder))


@pytest.mark.parametrize(
    "settings",
    [
        {"calibrated": True},
        {"calibrated": True, "temperature": 2.0},
        {"temperature": 0.1, "floor": 0.01},
        {"matcher": "orca_progress", "progress_in": "path", "weight": 3.0, "calibrated": True},
        {"distance": "euclidean", "context": 2, "direction": "past", "guide": True},
        {"encoder": make_encoder("pixels", size=8)},
        {"encoder": make_encoder("pixels", size=4, pooled=True)},
    ],
)
def test_settings_and_encoder_are_part_of_it(settings, folder):
    reward = VideoReward(**{"demo": DEMO, "encoder": "pixels", **settings})
    same(reward, made_again(reward, folder))


def test_several_demos(folder, tmp_path):
    demos = [Demo(DEMO), Demo(clip(np.linspace(0, 0.5, 4)))]
    DemoSet(tuple(demos)).save(tmp_path / "several" / "demo")
    reward = VideoReward(demos, "pixels", pool="best", calibrated=True)
    same(reward, made_again(reward, tmp_path / "several"))


def test_rewards_of_rewards_and_of_ones_own(folder):
    video = VideoReward(DEMO, "pixels", context=1, temperature=0.1)
    dtw = video.with_matcher("dtw")
    for reward in (
        video + 0.5 * dtw,
        video * Speed(2.0),
        Ease() * (video + 0.25 * Speed()) + 3 * dtw,
        Staged([dtw, video + Speed()], (0, 50), 100, scale=2.0),
        Staged([Speed(-2.0)], (0,), 10, scale=None),
    ):
        again = made_again(reward, folder)
        same(reward, again)
    # Parts with one description share one cost model.
    again = made_again(video + 0.5 * dtw, folder)
    assert again.parts[0].observer is again.parts[1].observer
    assert set(evidence_of(again, ONE).arrays) == {"cost_0"}


def test_a_cost_model_of_ones_own_is_not_described_as_something_else():
    demos = (Demo(DEMO),)
    reward = VideoReward(DEMO, model=FrameModel(make_encoder("pixels"), demos))
    with pytest.raises(ValueError, match="a cost model of its own cannot be described"):
        reward.describe()


def test_who_only_pays_makes_no_encoder(folder, monkeypatch):
    """Neither does who explains, guides, and goes on from a state, whatever has to be measured of the demo."""
    video = VideoReward(
        DEMO,
        "pixels",
        matcher="orca_progress",
        context=1,
        progress_in="path",
        calibrated=True,
        guide=True,
    )
    reward = Staged([video.with_matcher("temporal_ot"), video], (0, 50), 100, scale=None)
    seen = [evidence_of(reward, ONE)]
    reward.learn(seen, Moment(60, 1))
    expected, guides = reward.pay(seen)[0], reward.guide(seen)[0]
    state = json.loads(json.dumps(reward.state()[0])), reward.state()[1]
    save_description(folder, reward.describe())

    def never(*arguments, **named):
        raise AssertionError("an encoder was made")

    monkeypatch.setattr("orcalign.rewards.description.make_encoder", never)
    other = load_reward(folder)
    other.load_state(state)
    assert other.pay(seen)[0].tolist() == expected.tolist()
    assert other.guide(seen)[0].tolist() == guides.tolist()
    assert other.follow(seen[0]) == reward.follow(seen[0])
    told = other.explain(seen[0])
    assert told.match.reward.tolist() == expected.tolist()
    assert told.story.final_progress == reward.explain(seen[0]).story.final_progress
    assert (other.learn(seen, Moment(70, 2)), reward.learn(seen, Moment(70, 2))) == (None, None)
    assert other.state() == reward.state()
    assert other.describe() == reward.describe()
    # Who has to see frames needs one, and the guard works.
    for asks in (lambda: evidence_of(other, ONE), lambda: other.notes):
        with pytest.raises(AssertionError, match="an encoder was made"):
            asks()


def test_without_calibration_not_even_a_state_is_needed(folder, monkeypatch):
    reward = VideoReward(DEMO, "pixels", temperature=0.1)
    seen = [Evidence(5, {"cost_0": np.random.default_rng(0).random((5, 6))})]
    other = made_again(reward, folder)
    monkeypatch.setattr("orcalign.rewards.description.make_encoder", None)
    assert other.pay(seen)[0].tolist() == reward.pay(seen)[0].tolist()
    assert other.state() == reward.state()


def test_an_encoder_is_made_once_for_all_parts(folder, monkeypatch):
    made = []

    def counted(*arguments, **named):
        made.append(arguments)
        return make_encoder(*arguments, **named)

    video = VideoReward(DEMO, "pixels", context=1, calibrated=True)
    save_description(folder, (video + video.with_matcher("dtw") + Speed()).describe())
    monkeypatch.setattr("orcalign.rewards.description.make_encoder", counted)
    reward = load_reward(folder)
    assert not made
    seen = evidence_of(reward, ONE)
    reward.pay([seen])
    assert made == [("pixels",)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "cannot be read .* the run is damaged"),
        ("[]", "the run is damaged"),
        ('{"format": 1}', "the run is damaged"),
        (
            '{"format": 9, "orcalign": "7.0", "reward": {}}',
            "by orcalign 7.0 in format 9, and this version reads 1",
        ),
        ('{"format": 1, "reward": {"kind": "staegd"}}', "did you mean 'staged'"),
        ('{"format": 1, "reward": {"kind": "nowhere.at_all:It"}}', "names the module 'nowhere.at_all'"),
        ('{"format": 1, "reward": {"kind": "rewards.toys:rollout"}}', "must name a class derived from"),
    ],
)
def test_a_damaged_description_is_refused_in_a_sentence(text, sentence, tmp_path):
    with pytest.raises(ValueError, match="the run is damaged"):
        load_reward(tmp_path)
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ValueError, match=sentence):
        load_reward(tmp_path)


def test_nothing_is_read_before_it_is_needed(tmp_path):
    described = VideoReward(DEMO, "pixels").describe()
    reward = Kit(tmp_path / "nowhere").make(json.loads(json.dumps(described)))
    assert reward.name == "orca"
