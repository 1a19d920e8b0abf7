"""The paper's misalignments, against tables made by hand."""

import numpy as np
import pytest

from orcalign.video import (
    PAPER_KEEP_LISTS,
    Misalignment,
    change_segments,
    cut_length,
    identity,
    one_of_each,
    paper_misalignment,
    random_misalignments,
    success_start,
)
from orcalign.video.misalign import RATES, rank


@pytest.mark.parametrize(
    ("task", "length", "indices"),
    [
        ("button-press", 63, [*range(15), 31, 43, 44]),
        ("door-close", 63, [*range(15), 31, 43, 44]),
        ("door-open", 63, [*range(15), 31, 32, 55, 56]),
        ("window-open", 63, [0, 1, 2, 3, 4, *range(26, 38), 49, 50, 51]),
        ("lever-pull", 88, [*range(5, 18), 31, 32, 55, 56, 60, 61]),
        ("hand-insert", 63, [*range(5, 18), 21, 22, 31, 32, 55, 56]),
        ("push", 63, [*range(10, 25), 49, 50, 51]),
        ("basketball", 88, [*range(7, 20), 25, 26, 31, 32, 55, 56]),
        ("stick-push", 63, [*range(10, 25), 49, 50, 51]),
        ("door-lock", 63, [*range(20), 28, 29, 30, 61, 62]),
    ],
)
def test_fixed_table(task, length, indices):
    warp = paper_misalignment(task, length)
    assert list(warp) == indices
    assert warp.source_length == length
    assert warp.keep_list() == PAPER_KEEP_LISTS[task]


def test_every_task_is_in_the_table_above():
    assert len(PAPER_KEEP_LISTS) == 10


def test_unknown_task_and_short_demo():
    with pytest.raises(ValueError, match=r"'dor-open'; did you mean 'door-open'\? Known: button-press"):
        paper_misalignment("dor-open", 63)
    with pytest.raises(ValueError, match=r"Frame 61 .* 40 frames"):
        paper_misalignment("door-lock", 40)


@pytest.mark.parametrize(
    ("length", "success_at", "left"),
    [
        (63, None, 63),  # never succeeded: nothing is cut
        (63, 40, 47),  # a tenth of 63 is 7 frames: 40 to 46 stay
        (60, 40, 46),  # a tenth of 60 is exactly 6
        (70, 0, 7),  # 0.1 * 70 is 7.000000000000001 in floats
        (63, 56, 63),  # success holds to the very end
        (63, 62, 63),  # too late to be held: nothing is cut
    ],
)
def test_cut(length, success_at, left):
    assert cut_length(length, success_at) == left


def test_cut_outside():
    with pytest.raises(ValueError, match="success_at=63"):
        cut_length(63, 63)


@pytest.mark.parametrize(
    ("flags", "start"),
    [
        ("00000000000000000000", None),
        ("00000110000000000000", 5),  # two of twenty frames are a tenth
        ("01000110000000000000", 5),  # a flicker does not count
        ("00000000000000000001", None),
        ("11111111111111111111", 0),
    ],
)
def test_success_start(flags, start):
    assert success_start([flag == "1" for flag in flags]) == start


# Twenty frames: segments are 0-3, 4-7, 8-11, 12-15, 16-19.
TABLE = [
    # one segment twice as fast: 4 and 6 stay
    ("fast", [(1, 2)], [0, 1, 2, 3, 4, 6, *range(8, 20)], (4, 2, 4, 4, 4)),
    # faster than the segment is long: its first frame stays
    ("fast", [(2, 10)], [*range(9), *range(12, 20)], (4, 4, 1, 4, 4)),
    # the last segment: 16 and 18 by the rule, 19 because the last frame is always kept
    ("fast", [(4, 2)], [*range(17), 18, 19], (4, 4, 4, 4, 3)),
    # three segments, each with its own factor
    ("fast", [(4, 4), (0, 2), (2, 4)], [0, 2, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 19], (2, 4, 1, 4, 2)),
    ("slow", [(0, 2)], [0, 0, 1, 1, 2, 2, 3, 3, *range(4, 20)], (8, 4, 4, 4, 4)),
    ("slow", [(4, 3)], [*range(16), 16, 16, 16, 17, 17, 17, 18, 18, 18, 19, 19, 19], (4, 4, 4, 4, 12)),
    ("fast", [], list(range(20)), (4, 4, 4, 4, 4)),
]


@pytest.mark.parametrize(("speed", "changes", "indices", "lengths"), TABLE)
def test_segments(speed, changes, indices, lengths):
    result = change_segments(20, speed, changes)
    assert list(result.warp) == indices
    assert result.segment_lengths == lengths
    assert result.changes == tuple(sorted(changes))


def test_cut_comes_before_the_split():
    # Twenty frames, success at 8 held for 2: ten frames stay, in segments of two.
    result = change_segments(20, "fast", [(4, 2)], success_at=8)
    assert list(result.warp) == list(range(10))
    assert result.segment_lengths == (2, 2, 2, 2, 2)
    assert result.warp.source_length == 20


def test_uneven_lengths_split_as_evenly_as_can_be():
    assert sorted(change_segments(63, "fast", []).segment_lengths) == [12, 12, 13, 13, 13]


def test_deviation_by_hand():
    # Lengths 8 4 4 4 4: mean 4.8, deviations 3.2 and four times 0.8, mean 6.4 / 5.
    assert change_segments(20, "slow", [(0, 2)]).deviation == pytest.approx(1.28)


def test_ranking_by_hand():
    def with_lengths(*lengths):
        return Misalignment(identity(5), "fast", (), lengths)

    six = [
        with_lengths(4, 4, 4, 4, 4),  # 0
        with_lengths(1, 9, 4, 4, 4),  # 1.84
        with_lengths(4, 4, 4, 4, 2),  # 0.64
        with_lengths(4, 4, 2, 4, 4),  # 0.64: a tie, drawn later
        with_lengths(4, 4, 4, 2, 4),  # 0.64: a tie, drawn last
        with_lengths(0, 9, 9, 0, 0),  # 4.32
    ]
    assert [m.level for m in rank(six)] == ["low", "high", "low", "low", "high", "high"]


@pytest.mark.parametrize("speed", ["fast", "slow"])
@pytest.mark.parametrize("seed", range(20))
def test_random_protocol(speed, seed):
    six = random_misalignments(63, speed, np.random.default_rng(seed), success_at=40)
    assert [len(m.changes) for m in six] == [1, 1, 1, 3, 3, 3]
    assert all(k in RATES[speed] for m in six for _, k in m.changes)
    assert all(len({s for s, _ in m.changes}) == len(m.changes) for m in six)
    assert all(m.warp.indices[-1] == 46 and m.warp.indices[0] == 0 for m in six)
    assert all(list(m.warp) == sorted(m.warp) for m in six)
    assert all(sum(m.segment_lengths) == len(m.warp) for m in six)
    assert all((len(m.warp) < 47) == (speed == "fast") for m in six)
    low = [m.deviation for m in six if m.level == "low"]
    high = [m.deviation for m in six if m.level == "high"]
    assert len(low) == len(high) == 3
    assert max(low) <= min(high)


def test_same_seed_same_demos():
    def draw(seed):
        return random_misalignments(63, "fast", np.random.default_rng(seed))

    assert draw(3) == draw(3)
    assert draw(3) != draw(4)


def test_all_segments_and_factors_are_drawn():
    seen = {
        change
        for seed in range(60)
        for m in random_misalignments(63, "slow", np.random.default_rng(seed))
        for change in m.changes
    }
    assert seen == {(segment, k) for segment in range(5) for k in (2, 3, 4, 5, 6)}


def test_one_of_each_category():
    rng = np.random.default_rng(1)
    pool = [one for speed in ("fast", "slow") for one in random_misalignments(88, speed, rng, success_at=50)]
    four = one_of_each(pool, np.random.default_rng(1))
    assert len(four) == 4
    assert all((m.speed, m.level) == key and m in pool for key, m in four.items())
    assert four == one_of_each(pool, np.random.default_rng(1))
    drawn = [one for seed in range(60) for one in one_of_each(pool, np.random.default_rng(seed)).values()]
    assert all(one in drawn for one in pool), "every one of the pool is drawn"
    with pytest.raises(ValueError, match="no slow-low misalignment to draw"):
        one_of_each(pool[:6], rng)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: change_segments(20, "quick", []), "speed is 'quick'; Known: fast, slow"),
        (lambda: change_segments(4, "fast", []), "4 frames cannot be split"),
        (lambda: change_segments(20, "fast", [(5, 2)]), "segments 0 to 4"),
        (lambda: change_segments(20, "fast", [(1, 2), (1, 3)]), "different segments"),
        (lambda: change_segments(20, "fast", [(1, 0)]), "factor"),
        (lambda: random_misalignments(20, "x", np.random.default_rng(0)), "speed is 'x'"),
    ],
)
def test_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make()
