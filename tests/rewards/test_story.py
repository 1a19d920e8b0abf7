"""Stories of learners that move along a line; the demo goes from 0 to 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orcalign.matching import orca
from orcalign.rewards import tell

DEMO = np.linspace(0.0, 1.0, 60)


def story_of(learner, demo=DEMO, noise=0.0, seed=0, offset=0.0, **more):
    learner, demo = np.asarray(learner, float), np.asarray(demo, float)
    rng = np.random.default_rng(seed)
    cost = np.abs(learner[:, None] - demo) + offset + noise * rng.random((len(learner), len(demo)))
    return tell(cost, orca(cost, temperature=0.05), **more)


def kinds(story):
    return [span.kind for span in story.spans]


def test_perfect_follow_has_nothing_to_report():
    story = story_of(DEMO)
    assert story.spans == ()
    assert story.quarters == (14, 29, 44, 59)  # the last frame of each fifteen
    assert story.position.tolist() == list(range(60))
    assert story.longest_stall == 0
    assert story.final_coverage == 1 == story.final_progress
    assert story.total == pytest.approx(orca(np.abs(DEMO[:, None] - DEMO), temperature=0.05).reward.sum())


@pytest.mark.parametrize("frames", [25, 60, 150, 600])
def test_another_pace_and_another_distance_are_no_fault(frames):
    story = story_of(np.linspace(0, 1, frames), noise=0.02, offset=0.05)
    assert story.spans == ()
    for q, t in enumerate(story.quarters, start=1):
        assert t == pytest.approx(q / 4 * frames, abs=0.06 * frames)


def test_stall_in_the_middle():
    learner = np.concatenate([np.linspace(0, 0.5, 20), np.full(20, 0.5), np.linspace(0.5, 1, 20)])
    story = story_of(learner, noise=0.01)
    (span,) = story.spans
    assert span.kind == "stall"
    assert abs(span.start - 19) <= 2
    assert abs(span.stop - 41) <= 2
    assert span.demo_start <= 30 < span.demo_stop + 1
    assert story.longest_stall == span.length
    assert f"{span.length} learner frames" in span.text
    assert story.quarters[0] < 19
    assert story.quarters[2] >= 40


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_break_a_stall_in_pieces(seed):
    learner = np.concatenate([np.linspace(0, 0.5, 20), np.full(20, 0.5), np.linspace(0.5, 1, 20)])
    story = story_of(learner, noise=0.03, seed=seed)
    assert kinds(story) == ["stall"]
    assert story.longest_stall == pytest.approx(21, abs=4)


def test_skipping_the_middle():
    learner = np.concatenate([np.linspace(0, 0.25, 30), np.linspace(0.75, 1, 30)])
    story = story_of(learner)
    (span,) = story.spans
    assert span.kind == "skip"
    assert (span.start, span.stop) == (29, 31)  # between the last frame before and the first after
    assert 15 <= span.demo_start < 22
    assert 38 < span.demo_stop <= 45
    assert story.quarters[0] is not None
    assert story.quarters[1] is None is story.quarters[2]
    assert story.quarters[3] is not None


def test_going_back_and_on_again():
    learner = np.concatenate([np.linspace(0, 0.6, 30), np.linspace(0.6, 0.3, 15), np.linspace(0.3, 1, 35)])
    story = story_of(learner, noise=0.01)
    assert kinds(story) == ["backwards"]
    (span,) = story.spans
    assert abs(span.start - 29) <= 3
    assert abs(span.stop - 45) <= 3
    assert span.demo_start == pytest.approx(0.3 * 59, abs=3)
    assert span.demo_stop == pytest.approx(0.6 * 59, abs=3)
    assert None not in story.quarters


def test_reversed_is_one_long_way_back():
    story = story_of(DEMO[::-1])
    assert kinds(story) == ["backwards"]
    assert story.spans[0].length >= 55
    assert story.quarters == (None, None, None, None)


def test_frozen_is_one_long_stall():
    story = story_of(np.zeros(60), noise=0.01)
    assert kinds(story) == ["stall"]
    assert story.longest_stall >= 58
    assert story.quarters == (None, None, None, None)


def test_stopping_half_way_is_a_stall_and_no_skip():
    story = story_of(np.concatenate([np.linspace(0, 0.5, 30), np.full(30, 0.5)]))
    assert kinds(story) == ["stall"]
    assert story.spans[0].stop == 60
    assert story.quarters[1] is not None
    assert story.quarters[2] is None is story.quarters[3]


def test_staying_at_the_end_is_not_stalling():
    story = story_of(np.concatenate([DEMO, np.ones(60)]))
    assert story.spans == ()
    assert story.position[60:].tolist() == [59] * 60


def test_starting_in_the_middle_is_a_skip_from_the_first_frame_on():
    story = story_of(np.linspace(0.5, 1, 60))
    assert kinds(story) == ["skip"]
    assert story.spans[0].start == 0 == story.spans[0].demo_start


def test_a_pause_in_the_demo_is_neither_skipped_nor_stalled():
    paused = np.concatenate([DEMO[:30], np.full(40, DEMO[30]), DEMO[31:]])
    assert story_of(DEMO, paused).spans == ()  # the learner does not wait
    assert story_of(paused, paused).spans == ()  # the learner waits as long
    noisy = story_of(DEMO, paused, noise=0.01)
    assert noisy.spans == ()
    patient = np.concatenate([DEMO[:30], np.full(400, DEMO[30]), DEMO[31:]])
    assert kinds(story_of(patient, paused)) == ["stall"]  # it waits ten times as long


def test_a_learner_that_is_nowhere_near_reaches_nothing():
    far = story_of(np.full(60, 0.5), offset=5.0, demo_cost=np.abs(DEMO[:, None] - DEMO))
    assert far.quarters == (None, None, None, None)
    assert far.reach.max() < 1
    assert "skip" not in kinds(far)
    assert "backwards" not in kinds(far)


def test_backwards_needs_a_learner_near_the_demo():
    between = np.abs(DEMO[:, None] - DEMO)
    near = story_of(DEMO[::-1], offset=0.05, demo_cost=between)
    far = story_of(DEMO[::-1], offset=5.0, demo_cost=between)
    assert kinds(near) == ["backwards"]
    assert "backwards" not in kinds(far)


def test_beginning_at_the_end_does_not_count_as_having_passed_the_rest():
    story = story_of(np.concatenate([np.linspace(0.9, 0, 30), DEMO]))
    assert story.quarters == (44, 59, 74, 89)


def test_a_short_detour_from_home_to_home_is_followed_in_order():
    there_and_back = np.concatenate([DEMO, DEMO[-2::-1]])  # its last frame looks like the first
    story = story_of(there_and_back, there_and_back)
    assert story.spans == ()
    assert np.abs(story.position - np.arange(119)).max() <= 4  # the turn itself is one place
    frozen = story_of(np.zeros(119), there_and_back)
    assert kinds(frozen) == ["stall"]


@pytest.mark.parametrize("J", [1, 2, 3, 5])
@pytest.mark.parametrize("T", [1, 2, 7])
def test_tiny_episodes(T, J):
    story = story_of(np.linspace(0, 1, T), np.linspace(0, 1, J))
    assert story.position.shape == (T,)
    assert len(story.quarters) == 4


@settings(max_examples=60, deadline=None)
@given(
    learner=st.lists(st.floats(0, 1), min_size=1, max_size=40),
    demo=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_any_story_is_well_formed(learner, demo, scale):
    cost = np.abs(np.array(learner)[:, None] - np.array(demo)) * scale
    story = tell(cost, orca(cost))
    T, J = cost.shape
    assert ((story.position >= 0) & (story.position < J)).all()
    reached = [t for t in story.quarters if t is not None]
    assert reached == sorted(reached)
    for span in story.spans:
        assert 0 <= span.start < span.stop <= T
        assert 0 <= span.demo_start < span.demo_stop <= J
        assert span.text.endswith(".")
    assert [s.start for s in story.spans] == sorted(s.start for s in story.spans)


def test_bad_input_is_refused_in_a_sentence():
    cost = np.ones((4, 3))
    with pytest.raises(ValueError, match=r"\(4, 3\).*give orca\(cost\)"):
        tell(cost, orca(np.ones((4, 2))))
    with pytest.raises(ValueError, match="one episode"):
        tell(cost[None], orca(cost[None]))
    with pytest.raises(ValueError, match=r"demo_cost has shape \(2, 2\).*\[3, 3\]"):
        tell(cost, orca(cost), demo_cost=np.ones((2, 2)))
