"""The panel of a run: what it shows on a terminal and in a log, and what telling it costs."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from rich.console import Console

from orcalign.training.panel import LINE_SECONDS, Panel, clock_text, sparkline


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def episode(step: int, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "episode",
        "step": step,
        "reward": 12.34,
        "progress": 0.5,
        "coverage": 0.0625,
        "success_steps": 4,
        "random": False,
        "critic_loss": 0.25,
        "actor_loss": -3.5,
        "q_mean": 7.0,
        "timing": {"simulate": 0.1, "render": 0.3, "observe": 0.2, "update": 0.4, "total": 1.0},
        **changes,
    }


def evaluation(step: int, normalised: float | None = 0.5, **changes: Any) -> dict[str, Any]:
    known = {"return": 16.5, "normalised": normalised, "success_rate": 0.8, "progress": 0.7, "coverage": 0.1}
    return {"kind": "evaluation", "step": step, **known, "returns": [16, 17], "best": False, **changes}


def plain(clock: Clock, total: int = 1000) -> tuple[Panel, io.StringIO]:
    log = io.StringIO()
    return Panel(total, "door-close", Console(file=log, width=60), clock), log


def test_a_log_gets_a_line_every_half_a_minute_and_at_evaluations() -> None:
    clock = Clock()
    panel, log = plain(clock)
    with panel:
        for k in range(1, 13):
            clock.now += LINE_SECONDS / 6
            panel.write(episode(10 * k))
        panel.write(evaluation(120, best=True))
        panel.write({"kind": "note", "step": 121, "text": "the reward is now [orca]"})
        panel.write({"kind": "something new", "step": 122})
    lines = log.getvalue().splitlines()
    assert lines == [
        "door-close: step 60 of 1,000, 2 steps/s, 7:50 left: "
        "reward 12.3, progress 0.5, coverage 0.0625, solved steps 4",
        "door-close: step 120 of 1,000, 2 steps/s, 7:20 left: "
        "reward 12.3, progress 0.5, coverage 0.0625, solved steps 4",
        "door-close: evaluation at step 120 of 1,000: "
        "return 16.5, normalised 0.5, success 80%, progress 0.7, coverage 0.1, the best so far",
        "door-close: step 121: the reward is now [orca]",
    ]


def test_the_speed_is_that_of_the_last_half_a_minute() -> None:
    clock = Clock()
    panel, _ = plain(clock)
    assert panel.steps_per_second() is None
    step = 5000  # resumed: what was done before does not count
    panel.write(episode(step))
    assert panel.steps_per_second() is None
    for steps in [10] * 50 + [100] * 50:
        clock.now += 1
        step += steps
        panel.write(episode(step))
    assert panel.steps_per_second() == pytest.approx(100)


def test_shares_of_time_leave_out_the_total() -> None:
    panel, _ = plain(Clock())
    panel.write(episode(1))
    panel.write(episode(2, timing={"simulate": 1.0, "keep": 5.0, "total": 9.0}))
    assert panel.shares() == pytest.approx({"simulate": 0.55, "render": 0.15, "observe": 0.1, "update": 0.2})


def on_terminal(panel_seconds: float, records: list[dict[str, Any]], width: int = 100) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, height=40, force_terminal=True, color_system=None)
    with Panel(1000, "door-close", console) as panel:
        for record in records:
            panel.write(record)
        time.sleep(panel_seconds)
    return out.getvalue()


def test_a_terminal_shows_everything_at_once() -> None:
    records = [
        episode(63),
        evaluation(0, 0.0),
        episode(126),
        *(evaluation(k * 100, k / 10) for k in range(1, 8)),
    ]
    text = on_terminal(0.1, [*records, {"kind": "note", "step": 126, "text": "resumed"}])
    last = text[text.rindex("╭") :]
    for part in (
        "door-close",
        "step 126 / 1,000",
        "13%",
        "left",
        "reward 12.3, progress 0.5, coverage 0.0625, solved steps 4",
        "critic loss 0.25, actor loss -3.5, mean Q 7",
        "simulate 10%  render 30%  observe 20%  update 40%",
        "step 700",
        "16.5",
        "80%",
        "normalised ▁▂▃▄▅▆▇█",
    ):
        assert part in last
    assert "step 200" not in last  # only the latest evaluations are listed
    assert "door-close: step 126: resumed" in text


def test_narrow_and_odd_records_are_drawn() -> None:
    odd = [
        {"kind": "episode", "step": 1},
        episode(2, critic_loss=float("nan"), timing={"update": None}, random=True),
        evaluation(2, None),
        evaluation(3000, None, **{"return": None, "success_rate": None}),
    ]
    text = on_terminal(0.1, odd, width=40)
    assert "nan" in text
    assert "random" in text
    assert max(len(line) for line in text[text.rindex("╭") :].splitlines()) <= 48  # with the cursor's own codes


def test_it_is_redrawn_at_most_four_times_a_second() -> None:
    text = on_terminal(1.0, [episode(k) for k in range(1, 300)])
    assert 2 <= text.count("╭") <= 7  # the first and the last beside those of one second


def test_telling_it_costs_next_to_nothing() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    records = [episode(k) if k % 50 else evaluation(k) for k in range(1, 2001)]
    times = []
    with Panel(10_000, "door-close", console) as panel:
        for record in records:
            start = time.perf_counter()
            panel.write(record)
            times.append(time.perf_counter() - start)
    assert sorted(times)[len(times) // 2] < 2e-4
    assert len(panel._pace) <= 2000


def test_an_error_leaves_the_terminal_as_it_was() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True)
    with pytest.raises(ZeroDivisionError), Panel(10, "door-close", console):
        raise ZeroDivisionError
    assert out.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is shown again


def test_a_run_of_no_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="total_steps is 0; it must be at least 1"):
        Panel(0, "door-close")


def test_small_texts() -> None:
    assert [clock_text(seconds) for seconds in (0, 59.6, 3600)] == ["0:00", "1:00", "1:00:00"]
    assert sparkline([]) == ""
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([-1.0, 0.0, 1.0]) == "▁▅█"
