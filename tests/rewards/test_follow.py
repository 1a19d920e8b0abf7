"""The reward that follows in state space: stream and episode, guide, state, what is said of it."""

import dataclasses

import numpy as np
import pytest
from costs.drawn_table import TABLE, draw, play, push

from orcalign.costs.predicted import DescribedDemo, Entities
from orcalign.costs.predicted.turning import Turning, rotation
from orcalign.rewards import Evidence, Moment, Need, Rollout, Staged
from orcalign.rewards.follow import FollowReward, FollowSettings
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.sight import SEES, Sight, frontier

PUSH = Entities(hand=(0, 1), gripper=2, objects=((3, 4),), goal=(5, 6), unit=1.0, opening=1.0)


def states(steps, shift=0.0):
    """[steps + 1, 7] The hand comes to the object, and takes it to the goal."""
    way = np.linspace(0, 1, steps + 1)
    come, go = np.clip(2 * way, 0, 1), np.clip(2 * way - 1, 0, 1)
    hand = np.stack([20 * come + 30 * go, np.full(len(way), 0.0)], 1)
    hand[:, 0] += shift * come
    thing = np.stack([20 + shift + 30 * go, np.zeros(len(way))], 1)
    goal = np.tile([50.0 + shift, 0.0], (len(way), 1))
    return np.concatenate([hand, (way > 0.5)[:, None], thing, goal], axis=1).astype(np.float32)


def reward(**settings):
    demo = states(8)
    known = DescribedDemo.known(PUSH, demo[1:], demo[0])
    return FollowReward(PUSH, known.start, FollowSettings(**settings), known)


def seen(own, way):
    return Evidence(len(way) - 1, own.observe(Rollout(len(way) - 1, states=way)))


def turned_by(way, angle):
    """The same film in a world turned about the hand's start."""
    seen = way.astype(np.float64)
    for at in ([0, 1], [3, 4], [5, 6]):
        seen[:, at] = (seen[:, at] - way[0, :2]) @ rotation(angle).T + way[0, :2]
    return seen


def test_it_needs_states_and_no_picture():
    assert reward().need == Need(frames=0, states=True)
    with pytest.raises(ValueError, match="came without states"):
        reward().observe(Rollout(3))


@pytest.mark.parametrize("shift", [0.0, 6.0])
def test_whoever_does_it_is_paid_all(shift):
    own = reward()
    done, idle, half = (
        seen(own, way) for way in (states(20, shift), states(20, shift)[:1].repeat(21, 0), states(20)[:11])
    )
    totals = [float(own.pay([one])[0].sum()) for one in (done, idle, half)]
    assert totals[0] > 10 > totals[2] > totals[1] + 1
    assert own.follow(done)["progress"] > 0.99 > 0.2 > own.follow(idle)["progress"]


def test_a_stream_pays_and_guides_as_the_episode_does():
    own, way = reward(), states(13, 4.0)
    live = own.stream()
    live.reset(way[0])
    guides, paid = [live.guide], []
    for state in way[1:]:
        paid.append(live.push(state=state))
        guides.append(live.guide)
    evidence = seen(own, way)
    assert paid == own.pay([evidence])[0].tolist()
    assert np.array_equal(np.stack(guides), own.guide([evidence])[0])
    assert live.followed == {"progress": own.follow(evidence)["progress"]}
    with pytest.raises(ValueError, match=r"begin with reset\(state\)"):
        own.stream().push(state=way[1])


@pytest.mark.parametrize("angle", [0.7, 3.0])
def test_in_a_turned_world_all_directions_are_one(angle):
    demo, way = turned_by(states(8), -1.2), turned_by(states(20), angle)
    known = DescribedDemo.known(PUSH, demo[1:], demo[0])
    own = FollowReward(PUSH, known.start, None, known, turning=Turning(PUSH))
    straight = reward()
    evidence = seen(own, way)
    assert own.pay([evidence])[0].sum() == pytest.approx(straight.pay([seen(straight, states(20))])[0].sum())
    guide = own.guide([evidence])[0]
    assert np.allclose(guide, straight.guide([seen(straight, states(20))])[0], atol=1e-4)
    live = own.stream()
    live.reset(way[0])
    assert [live.push(state=state) for state in way[1:]] == own.pay([evidence])[0].tolist()
    assert np.array_equal(live.guide, guide[-1])
    assert own.guiding.demo is known, "what is shown of the demo is as the video shows it"


@pytest.mark.parametrize("sees", [(), SEES[:1], SEES[1:2], SEES[2:], SEES])
def test_the_policy_sees_what_it_is_to_see(sees):
    own = reward(sees=sees)
    guide = own.guide([seen(own, states(8))])[0]
    assert guide.shape == (9, own.guide_dim)
    assert guide.dtype == np.float32
    assert own.guide_dim == sum({"relations": 18, "progress": 2, "missing": 5}[one] for one in sees)
    assert np.isfinite(guide).all()
    assert np.abs(guide).max(initial=0) < 10


def test_what_is_missing_leads_to_the_next_frame():
    own = reward(sees=("missing",))
    guide = own.guide([seen(own, states(8))])[0]
    # At the start the first demo frame is to the right of the hand; in the end nothing is missing.
    assert guide[0, 0] > 0.9
    assert np.allclose(guide[-1], 0, atol=1e-6)


def test_the_frontier_is_behind_what_is_covered():
    covered = np.array([[1.0, 0.9, 0.3, 0.2], [1, 1, 1, 1], [5e-5, 5e-5, 0, 0]])
    assert frontier(covered).tolist() == [2, 3, 0]


def test_without_a_described_demo_nothing_is_paid_and_the_guide_has_its_width():
    blind = FollowReward(PUSH, np.zeros(7))
    way = states(5)
    evidence = seen(blind, way)
    assert blind.pay([evidence])[0].tolist() == [0] * 5
    assert blind.guide([evidence])[0].shape == (6, reward().guide_dim)
    live = blind.stream()
    live.reset(way[0])
    assert np.array_equal(live.guide, blind.guide([evidence])[0][0])
    assert live.push(state=way[1]) == 0
    assert blind.explain(evidence) is None
    assert blind.numbers()["believed"] == 0
    assert blind.learn([evidence], Moment(0, 1)) is None


def test_state_is_enough_to_go_on():
    own, blind = reward(), FollowReward(PUSH, np.zeros(7))
    blind.load_state(own.state())
    evidence = seen(own, states(9))
    assert (blind.pay([evidence])[0] == own.pay([evidence])[0]).all()


def test_a_floor_follows_the_eye():
    demo = states(8)
    known = DescribedDemo.known(PUSH, demo[1:], demo[0])
    scales = np.tile([1.2, *known.scales[0, 1:]], (len(known), 1))
    scales[:, [part.name for part in PUSH.parts].index("object 1")] = 1.6
    rough = FollowReward(PUSH, known.start, described=dataclasses.replace(known, scales=scales))
    assert rough.numbers()["floor"] == pytest.approx(4.5)  # 2 for the hand relative to the object
    assert FollowReward(PUSH, known.start, described=known).numbers()["floor"] == pytest.approx(2 + 1.25 * 0.02**0.5)
    assert "expects to be 2.0 cm off" in rough.notes[0]


def test_the_demo_is_read_once_and_only_if_needed():
    calls = []
    demo = states(8)

    def read():
        calls.append(1)
        return DescribedDemo.known(PUSH, demo[1:], demo[0])

    own = FollowReward(PUSH, np.zeros(7), described=read)
    assert not calls
    own.pay([seen(own, demo)])
    own.stream()
    assert calls == [1]


def test_it_is_explained_in_centimetres():
    own = reward()
    told = own.explain(seen(own, states(8)))
    assert told is not None
    assert told.match.reward.shape == (8,)
    assert told.match.cost.max() > 20
    assert told.story.final_progress > 0.99


def test_it_is_a_stage_like_any_other():
    staged = Staged([reward()], steps=10)
    assert staged.guide_dim == reward().guide_dim
    evidence = Evidence(8, staged.observe(Rollout(8, states=states(8))))
    assert staged.summary(evidence)["reward"] > 9


def test_sight_of_a_state_of_which_nothing_is_known():
    every = Entities.everything([1.0, 2.0])
    assert Sight(every, np.zeros(2), ("relations",)).dim == 4
    with pytest.raises(ValueError, match="did you mean 'missing'"):
        Sight(every, np.zeros(2), ("mising",))


@pytest.fixture(scope="module")
def table_eye():
    """An eye of the drawn table; a hand at rest is at its lower edge."""
    pytest.importorskip("torch")
    from orcalign.costs.predicted.eye import Eye

    shown, frames = play(300)
    eye = Eye.begin(TABLE, frames, shown, np.tile([0.2, 0.2, 0.4, 0.6, 0.5, 0.2], (3, 1)), threads=1)
    eye.fit(eye.look(frames), TABLE.read(shown), updates=250)
    return eye


@pytest.fixture
def by_pictures(table_eye):
    film = table_eye.describe(table_eye.look(draw(push())))
    return FollowReward(TABLE, table_eye.rest, described=film, pictures=lambda: table_eye)


def test_pictures_alone_pay_who_does_it_and_tell_the_same_live(by_pictures):
    done, idle = draw(push(24)), draw(push(24)[:1].repeat(24, 0))
    assert by_pictures.need == Need()
    kept = [Evidence(24, by_pictures.observe(Rollout(24, frames))) for frames in (done, idle)]
    totals = [float(one.sum()) for one in by_pictures.pay(kept)]
    assert totals[0] > 7 > 3 > totals[1]
    live = by_pictures.stream()
    live.reset()
    guides, paid = [live.guide], []
    for frame in done:
        paid.append(live.push(frame))
        guides.append(live.guide)
    assert paid == by_pictures.pay(kept[:1])[0].tolist()
    assert np.array_equal(np.stack(guides), by_pictures.guide(kept[:1])[0])
    live.reset()
    assert np.array_equal(live.guide, guides[0])
    assert live.push(done[0]) == paid[0]


def test_before_the_first_picture_the_hand_rests_and_all_else_is_where_it_is_seen_first(by_pictures, table_eye):
    frames = draw(push(6))
    values = by_pictures.learner.values(Evidence(6, by_pictures.observe(Rollout(6, frames))))
    assert values[0, :2].tolist() == table_eye.rest[:2].tolist() == [20, 20]
    assert values[0, 2:].tolist() == values[1, 2:].tolist()
    assert np.abs(values[1:] - TABLE.read(push(6))).max() < 15


def test_a_picture_is_read_once_by_who_acts_and_who_observes(table_eye, monkeypatch):
    looks = []
    plain = type(table_eye).look
    monkeypatch.setattr(type(table_eye), "look", lambda self, frames: looks.append(len(frames)) or plain(self, frames))
    own, frames = FollowReward(TABLE, table_eye.rest, pictures=lambda: table_eye), draw(push(6))
    live = own.stream()
    live.reset()
    for frame in frames:
        live.push(frame)
    own.observe(Rollout(6, frames))
    assert looks == [1] * 6


def test_who_reads_pictures_says_that_it_needs_them(by_pictures):
    live = by_pictures.stream()
    live.reset()
    with pytest.raises(ValueError, match="give the frame"):
        live.push(state=push(3)[0])
    with pytest.raises(ValueError, match="without its pictures"):
        by_pictures.observe(Rollout(3, states=push(4).astype(np.float32)))
    with pytest.raises(ValueError, match="an eye that has learned"):
        FollowReward(TABLE, np.zeros(6), own=object(), pictures=lambda: None)


def test_the_learners_error_widens_the_floor():
    demo = states(8)
    known = dataclasses.replace(DescribedDemo.known(PUSH, demo[1:], demo[0]), error=1.0)
    floors = [
        FollowReward(PUSH, known.start, described=known, pictures=pictures).numbers()["floor"]
        for pictures in (None, lambda: None)
    ]
    assert floors == pytest.approx([FollowSettings().floor_at(error) for error in (0.02**0.5, 1.02**0.5)])
    assert floors[1] > floors[0] + 1


def test_it_says_what_an_expert_would_be_paid_and_when_that_is_too_little():
    demo = states(8)
    known = DescribedDemo.known(PUSH, demo[1:], demo[0])
    does, idles = states(20), states(20)[:1].repeat(21, 0)
    own = FollowReward(PUSH, known.start, described=known, experts=[does, does, idles])
    assert own.numbers()["expert_progress"] > 0.99
    assert own.notes[0].endswith("an expert would be paid a progress of 1.00")
    coarse = Guiding(known, FollowSettings(), experts=[idles, idles, does])
    assert coarse.expert < 0.3
    assert "too coarse for this demo; let it learn from more frames" in coarse.note
    assert "expert_progress" not in reward().numbers()


def test_the_best_own_episode_is_remembered():
    own = reward()
    half, all_of_it, idle = (seen(own, way) for way in (states(20)[:15], states(20), states(20)[:1].repeat(21, 0)))
    found = []
    for k, one in enumerate((half, all_of_it, idle)):
        assert own.learn([one], Moment(k, k + 1)) is None
        found.append(own.numbers()["best_progress"])
    assert 0 < found[0] < found[1] == found[2] == own.follow(all_of_it)["progress"]
    other = FollowReward(PUSH, np.zeros(7))
    other.load_state(own.state())
    assert other.numbers()["best_progress"] == found[2]
