"""Goals in words through the reward protocol: ordered, live as afterwards, calibrated by what is seen."""

import numpy as np
import pytest
from costs.test_goals import Colours, read

from orcalign import VideoReward
from orcalign.costs.goals import GoalModel, GoalScale
from orcalign.rewards import Evidence, Moment, Rollout
from orcalign.rewards.text.reward import TextReward
from orcalign.rewards.text.settings import TextSettings
from orcalign.video import Demo, goals


def film(*reds):
    """Frames between green (0) and red (1)."""
    frames = np.zeros((len(reds), 8, 8, 3), np.uint8)
    for frame, red in zip(frames, reds, strict=True):
        frame[..., 0], frame[..., 1] = 200 * red, 200 * (1 - red)
    return frames


def words(*said, scales=None, **settings):
    demo = goals(list(said))
    scales = scales or [GoalScale((1.0,) * len(said), (0.5,) * len(said))]
    model = GoalModel(Colours(), read, [demo], scales)
    return VideoReward(demo, model=model, calibrated=True, context=1, **settings)


RED_FIRST = film(1, 1, 1, 0, 0, 0)


@pytest.mark.parametrize("matcher", ["orca", "orca_progress"])
def test_the_order_of_the_sentences_counts(matcher):
    there, back = (words(*said, matcher=matcher) for said in (("red", "then green"), ("green", "then all is red")))
    assert there(RED_FIRST).total > 2.9 + back(RED_FIRST).total
    for reward, covered in ((there, 1.0), (back, 0.0)):
        match = reward(RED_FIRST)
        assert reward.story(match).final_coverage == pytest.approx(covered, abs=0.01)
    assert back(RED_FIRST[::-1]).total == pytest.approx(there(RED_FIRST).total)


def test_every_goal_is_as_much_of_the_way():
    paid = words("red", "then green", "red again", matcher="orca_progress")(film(1, 0, 1))
    assert paid.reward == pytest.approx([10 / 3, 10 / 3, 10 / 3 + 1], abs=0.2)


def test_live_is_bit_for_bit_what_it_is_afterwards():
    reward = words("red", "then green", "red", matcher="orca_progress", guide=True)
    frames = film(*np.random.default_rng(3).uniform(0, 1, 12))
    live = reward.stream()
    assert [live.push(one) for one in frames] == reward(frames).reward.tolist()
    evidence = Evidence(12, reward.observe(Rollout(12, frames)))
    assert reward.pay([evidence])[0].tolist() == reward(frames).reward.tolist()
    assert reward.guide([evidence])[0][-1, 0] == pytest.approx(live.progress)
    assert reward.explain(evidence).story.final_coverage == reward.follow(evidence)["reached"]


def test_it_learns_how_near_one_can_come():
    reward = words("red", "then green", scales=[GoalScale((1.0, 1.0), (0.9, 0.9))], matcher="orca_progress")
    half, whole = film(*[0.3] * 5, *[0.3] * 5), film(*[1.0] * 5, *[0.0] * 5)
    first, then = (Evidence(10, reward.observe(Rollout(10, one))) for one in (half, whole))
    before = reward.follow(first)["progress"]
    assert before > 0.9, "nothing has ever come nearer to red"
    assert reward.learn([first, then], Moment(20, 2, due=False)) is None
    assert reward.learn([first, then], Moment(20, 2)) == []
    assert reward.follow(then)["progress"] > 0.9
    assert reward.follow(first)["progress"] < 0.2 < before
    assert reward.learn([first, then], Moment(20, 2)) is None
    other = words("red", "then green", matcher="orca_progress")
    other.load_state(reward.state())
    assert (other.pay([first, then])[0] == reward.pay([first, then])[0]).all()


def test_no_encoder_sees_the_cards():
    with pytest.raises(ValueError, match="list of sentences, which no encoder sees"):
        VideoReward(goals(["red", "green"]), encoder="pixels")


def test_pictures_of_any_shape_are_compared_with_sentences_alone():
    square = np.concatenate([RED_FIRST, RED_FIRST], axis=2)
    assert words("red", "then green")(square).total > 0.9
    mixed = words("red", RED_FIRST[-1])
    assert mixed(RED_FIRST).total > 0.9
    with pytest.raises(ValueError, match="pictures of different shape"):
        mixed(square)


@pytest.mark.parametrize("start", ["", "all is green"])
def test_one_sentence_pays_every_step(start):
    reward = TextReward([goals("red")], TextSettings(start), (Colours(), read))
    frames = film(0, 0.5, 1)
    evidence = Evidence(3, reward.observe(Rollout(3, frames)))
    paid = reward.pay([evidence])[0]
    assert paid == pytest.approx([0, 0.5 if start else np.sqrt(0.5), 1], abs=1e-6)
    live = reward.stream()
    assert [live.push(one) for one in frames] == paid.tolist()
    assert live.followed == pytest.approx(reward.follow(evidence)) == {"similarity": pytest.approx(paid.mean())}


def test_what_one_sentence_cannot_be():
    with pytest.raises(ValueError, match="which is the goal itself"):
        TextReward([goals("red")], TextSettings("all red"), (Colours(), read)).model  # noqa: B018
    for demos in ([goals(["red", "green"])], [Demo(RED_FIRST)], []):
        with pytest.raises(ValueError, match="give one goal, or use the recipe words"):
            TextReward(demos)
    with pytest.raises(ValueError, match="came without frames"):
        TextReward([goals("red")], None, (Colours(), read)).observe(Rollout(3))
