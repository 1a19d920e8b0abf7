"""RoboCLIP: one number at the last step, by a network that is counted."""

import numpy as np
import pytest
from rewards.clips import clip

from orcalign.rewards import Evidence, Rollout
from orcalign.rewards.clip.reward import ClipReward
from orcalign.rewards.clip.settings import ClipSettings
from orcalign.video import Demo


class Differences:
    """Stands for a network: how the picture changes over the clip; it counts how often it is asked."""

    name, dim, frames, substitute, fingerprint = "differences", 3 * 48 * 64, 32, "", "0"

    def __init__(self):
        self.asked = 0

    def __call__(self, frames):
        self.asked += 1
        return (frames[-1].astype("f4") - frames[0]).ravel()


def evidence(reward, frames):
    return Evidence(len(frames), reward.observe(Rollout(len(frames), frames)))


@pytest.fixture
def reward():
    return ClipReward([Demo(clip(np.linspace(0, 1, 12)))], encoder=Differences())


def test_it_pays_the_last_step_alone_by_the_cosine(reward):
    same, back = evidence(reward, clip(np.linspace(0, 1, 7))), evidence(reward, clip(np.linspace(1, 0, 9)))
    for one, value in ((same, 1.0), (back, -1.0)):
        (paid,) = reward.pay([one])
        assert (paid[:-1] == 0).all()
        assert paid[-1] == pytest.approx(value)
    assert reward.follow(same) == {"similarity": pytest.approx(1.0)}
    assert reward.summary(back)["reward"] == pytest.approx(-1.0)


def test_each_episode_is_embedded_once_and_the_demo_once(reward):
    some = [evidence(reward, clip(np.linspace(0, 1, T))) for T in (4, 6, 8)]
    for _ in range(3):
        reward.pay(some)
        reward.follow(some[0])
    assert reward.encoder.asked == len(some) + 1


def test_of_several_demos_the_nearest_counts():
    there, back = (Demo(clip(np.linspace(*ends, 12))) for ends in ((0, 1), (1, 0)))
    reward = ClipReward([there, back], encoder=Differences())
    assert reward.pay([evidence(reward, back.frames)])[0][-1] == pytest.approx(1.0)


def test_paying_needs_no_network_once_the_demo_is_known(reward):
    one = evidence(reward, clip(np.linspace(0, 0.6, 7)))
    paid = reward.pay([one])[0]
    other = ClipReward(reward.demos, encoder=Differences())
    other.load_state(reward.state())
    assert (other.pay([one])[0] == paid).all()
    assert other.encoder.asked == 0


def test_what_stands_in_for_another_is_said(reward):
    assert reward.notes == ()
    reward.encoder.substitute = "this in the place of that"
    assert reward.notes == ("clips are embedded by this in the place of that",)


def test_bad_input_is_refused_in_words(reward):
    with pytest.raises(ValueError, match=r"demo 0 \(memory\) has 1 frame, and a video model sees motion"):
        ClipReward([Demo(np.zeros((1, 8, 8, 3), np.uint8))])
    with pytest.raises(ValueError, match="an episode has 1 frame"):
        reward.observe(Rollout(1, clip([0.5])))
    with pytest.raises(ValueError, match="came without frames"):
        reward.observe(Rollout(4))
    with pytest.raises(ValueError, match="cannot be described"):
        reward.describe()
    with pytest.raises(ValueError, match="frames is 1"):
        ClipSettings(frames=1)
