"""Verdicts on learners that move along a line; the demo goes from 0 to 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orcalign.matching import bottleneck, orca
from orcalign.rewards.story import tell
from orcalign.rewards.verdict import reached_in_order, retold, verdict_of

LIMIT = 0.1


def judged(learner, demo, fps=10.0):
    cost = np.abs(np.asarray(learner, float)[:, None] - demo)
    return verdict_of(cost, LIMIT, np.asarray(demo) - demo[0], fps), cost


@pytest.mark.parametrize("frames", [12, 30, 60, 240])
@pytest.mark.parametrize("demo_frames", [15, 60, 200])
def test_words_at_any_frame_rate(frames, demo_frames):
    demo, even = np.linspace(0, 1, demo_frames), np.linspace(0, 1, frames)
    fps = demo_frames / 10  # ten seconds
    rest = np.full(frames, 0.6)
    forgets = np.concatenate([even[even < 0.3], even[even > 0.7]])
    for learner, text in (
        (even, "followed"),
        (np.concatenate([even, even[-1:].repeat(20)]), "followed"),
        (np.zeros(frames), "did nothing"),
        (even[::-1], "wrong order"),
    ):
        assert judged(learner, demo, fps)[0].text == text
    assert judged(np.concatenate([even[even < 0.6], rest]), demo, fps)[0].text in {
        f"stopped at {share}%" for share in range(63, 76)
    }
    skipped = judged(forgets, demo, fps)[0]
    assert skipped.kind == "skipped"
    first, last = (float(word) for word in skipped.text.split()[2::2])
    assert 2.7 < first < 4.5
    assert 5.5 < last < 7.3


def test_the_score_is_the_same_at_every_length_and_pause():
    demo = np.linspace(0, 1, 40)
    learner = np.linspace(0, 0.8, 30)
    plain = judged(learner, demo)[0].score
    assert judged(learner.repeat(3), demo)[0].score == plain
    assert judged(np.insert(learner, 9, [learner[9]] * 50), demo)[0].score == plain
    assert judged(learner, demo.repeat(2))[0].score == pytest.approx(plain, abs=1e-12)


def test_still_frames_at_the_end_are_a_stall_and_quarters_agree_with_the_verdict():
    demo = np.linspace(0, 1, 60)
    learner = np.concatenate([np.linspace(0, 0.6, 36), np.full(24, 0.6)])
    verdict, cost = judged(learner, demo)
    story = retold(tell(cost, orca(cost)), verdict, 10.0)
    assert [span.kind for span in story.spans] == ["stall"]
    assert story.spans[0].stop == 60
    assert story.longest_stall >= 20
    assert story.quarters[0] is not None
    assert story.quarters[3] is None


def test_at_the_demos_own_pace_there_is_no_stall():
    slow = np.concatenate([np.linspace(0, 0.5, 10), np.full(30, 0.5), np.linspace(0.5, 1, 10)])
    cost = np.abs(slow[:, None] - slow)
    assert tell(cost, orca(cost)).spans == ()
    # The demo hurries through the middle, the learner goes evenly.
    hurry = np.concatenate([np.linspace(0, 0.3, 30), np.linspace(0.3, 0.7, 4), np.linspace(0.7, 1, 30)])
    verdict, cost = judged(np.linspace(0, 1, 64), hurry)
    assert verdict.done
    assert retold(tell(cost, orca(cost), pace=1.0, shortest=20), verdict, 10.0).spans == ()


def test_what_is_never_as_in_the_demo_from_a_moment_on_is_named_with_its_second():
    demo = np.linspace(0, 1, 50)
    learner = np.linspace(0, 1, 50)
    cost = np.abs(learner[:, None] - demo)
    cost[:, 20:] += 0.3  # a thing stays behind
    verdict = verdict_of(cost, LIMIT, demo, 10.0)
    assert verdict.text == "missed something from second 2.0 on"
    (span,) = (one for one in retold(tell(cost, orca(cost)), verdict, 10.0).spans if one.kind == "skip")
    assert (span.demo_start, span.demo_stop) == (20, 50)


@settings(max_examples=80, deadline=None)
@given(
    learner=st.lists(st.floats(0, 1), min_size=1, max_size=25), demo=st.lists(st.floats(0, 1), min_size=1, max_size=20)
)
def test_done_is_what_the_bottleneck_says_and_all_reached(learner, demo):
    demo = np.array(demo)
    cost = np.abs(np.array(learner)[:, None] - demo)
    verdict = verdict_of(cost, LIMIT, np.arange(len(demo), dtype=float), 10.0)
    assert verdict.done == (bottleneck(cost).worst[-1, -1] <= LIMIT) == verdict.reached.all()
    assert (verdict.kind == "followed") == verdict.done
    assert 0 <= verdict.score <= 1
    assert (np.diff(verdict.when) >= 0).all()
    assert (cost[verdict.when, np.arange(len(demo))][verdict.reached] <= LIMIT).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_no_other_choice_in_order_reaches_more(seed, T, J):
    near = np.random.default_rng(seed).random((T, J)) < 0.4
    reached, _ = reached_in_order(np.where(near, 0.0, 1.0), 0.5)

    def best(t, j):
        return 0 if j == J else max(best(t, j + 1), *(1 + best(u, j + 1) for u in range(t, T) if near[u, j]), 0)

    assert reached.sum() == best(0, 0)
