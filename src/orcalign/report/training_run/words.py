"""What a run did, in sentences and tables: markup in which everything from outside is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from orcalign.matching import MATCHERS
from orcalign.report.explainer.document import safe
from orcalign.report.training_run.doubts import doubts
from orcalign.report.training_run.reading import PARTS, Record, RunRecords, kept_best, number, section, spent
from orcalign.training.episode import unreported
from orcalign.training.follow_config import FOLLOW
from orcalign.video import Demo

PAID_FOR = {
    "gaifo": "for transitions that a discriminator takes for the demo's",
    "roboclip": "at the last step of an episode alone, for how much all of it is like the video",
    "text": "for how much every frame is like what was said",
}
"""Rewards of whole episodes and of discriminators, in words."""
STATES_OF = "the states of one expert episode"
NOTHING = "\N{EN DASH}"


def headline(run: RunRecords, demos: Sequence[Demo]) -> str:
    """What was trained, from what, and how it ended: two sentences and four numbers."""
    tiles = "".join(
        f"<div><dt>{safe(name)}</dt><dd><b>{safe(value)}</b> <span>{safe(note)}</span></dd></div>"
        for name, value, note in _tiles(run)
    )
    return (
        f'<section class="headline" aria-label="In short"><p>{safe(_beginning(run, demos))} {safe(_end(run))}'
        f'</p><dl class="tiles">{tiles}</dl></section>'
    )


def task_name(run: RunRecords) -> str:
    """The task, as the run has it.

    >>> from pathlib import Path
    >>> task_name(RunRecords(Path("runs/a"), {}, "", {"task": "door-close"}, (), (), (), 0))
    'door-close'
    """
    return str(run.info.get("task") or run.folder.resolve().name)


def videos(demos: Sequence[Demo]) -> str:
    """The demos in a few words.

    >>> import numpy as np
    >>> videos([Demo(np.zeros((4, 8, 8, 3), np.uint8))])
    'one video of 4 frames'
    """
    if not demos:
        return "a video"
    if demos[0].sentences is not None:
        return "words: " + ", then ".join(one or "a picture" for one in demos[0].sentences)
    lengths = sorted({len(demo) for demo in demos})
    frames = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    return f"{'one video' if len(demos) == 1 else f'{len(demos)} videos'} of {frames} frames"


def follows_video(run: RunRecords) -> bool:
    """Whether the reward is one from a video; another one may look at anything."""
    return section(run.config, "reward").get("reward", "video") in ("video", "roboclip", "text") or follows_places(run)


def follows_places(run: RunRecords) -> bool:
    """Whether the video is followed by where things are, as an eye reads it."""
    return bool(section(run.config, "reward").get("reward") == FOLLOW)


def duration(seconds: float) -> str:
    """Time as people say it.

    >>> duration(42), duration(600), duration(4400), duration(100_000)
    ('42 s', '10 min', '1 h 13 min', '1 d 4 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(minutes / 60)
    return f"{hours // 24} d {hours % 24} h"


def evaluation_table(run: RunRecords) -> str:
    """Every evaluation as a row, folded away; nothing if there is none."""
    if not run.evaluations:
        return ""
    every: dict[str, Callable[[Record], str]] = {
        "Step": lambda r: f"{int(r['step']):,}",
        "Return": lambda r: _figure(r.get("return")),
        "Share of expert's": lambda r: _figure(r.get("normalised")),
        "Success": lambda r: _percent(r.get("success_rate")),
        "Success at any step": lambda r: _percent(r.get("any_success_rate")),
        "Reward": lambda r: _figure(r.get("reward")),
        "Progress": lambda r: _figure(r.get("progress")),
        "Coverage": lambda r: _figure(r.get("coverage")),
        "At its best moment": lambda r: _figure(r.get("reached")),
        "Similarity": lambda r: _figure(r.get("similarity")),
        "Nearness": lambda r: _figure(r.get("nearness")),
        "Kept as best": lambda r: "yes" if r.get("best") else "",
    }
    # A reward without a demo to follow says nothing of progress, a task without an expert nothing of shares.
    columns = {name: cell for name, cell in every.items() if {*map(cell, run.evaluations)} != {NOTHING}}
    head = "".join(f'<th scope="col" role="columnheader" class="number">{name}</th>' for name in columns)
    rows = "".join(
        '<tr role="row">'
        + "".join(
            f'<td role="cell" class="number" data-label="{name}">{safe(cell(record))}</td>'
            for name, cell in columns.items()
        )
        + "</tr>"
        for record in run.evaluations
    )
    return (
        f"<details><summary>All {len(run.evaluations)} evaluations in numbers</summary>"
        f'<table id="evaluations" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></details>'
    )


def time_bar(run: RunRecords) -> str:
    """One stacked bar of the parts with a legend; nothing for a run without timing."""
    parts, wall = spent(run)
    whole = sum(parts.values())
    if whole <= 0:
        return ""
    shares = {name: seconds / whole for name, seconds in parts.items()}
    bar = "".join(f'<i class="part-{name}" style="flex-grow:{share:.5f}"></i>' for name, share in shares.items())
    legend = "".join(
        f'<li><i class="part-{name}"></i>{PARTS[name]} <b>{safe(_percent(share))}</b></li>'
        for name, share in shares.items()
    )
    note = (
        '<p class="note">Episodes are played while the learner learns or waits, so the parts add up to '
        f"{whole / wall:.1f} times the time by the clock.</p>"
        if whole > 1.05 * wall > 0
        else ""
    )
    return (
        '<section aria-labelledby="time-title"><h2 id="time-title">Where the time went</h2>'
        f'<div class="timebar" aria-hidden="true">{bar}</div><ul class="legend">{legend}</ul>{note}</section>'
    )


def details(run: RunRecords, demos: Sequence[Demo], problems: Sequence[str]) -> str:
    """Command, seed, versions, config, and what could not be read."""
    info = run.info
    entries: dict[str, Any] = {
        "command": info.get("command"),
        "folder": run.folder.resolve().name,
        "seed": run.config.get("seed"),
        "demo": "; ".join(demo.source for demo in demos),
        "demo and environment": info.get("compared"),
        "demo hash": info.get("demo_hash"),
        "expert's return": info.get("expert_return"),
        "machine": info.get("machine"),
        **section(info, "versions"),
    }
    rows = "".join(
        f"<dt>{safe(name)}</dt><dd>{safe(value)}</dd>" for name, value in entries.items() if value not in (None, "")
    )
    if run.unread:
        left_out = f"Lines of metrics.jsonl that are no records: {run.unread}; they were left out."
        problems = [*problems, left_out]
    said = "".join(f"<li>{safe(text)}</li>" for text in problems)
    config = f"<details><summary>config.yaml</summary><pre>{safe(run.config_text)}</pre></details>"
    return (
        f"<section><h2>Not shown</h2><ul>{said}</ul></section>" if said else ""
    ) + f"<section><h2>How it was made</h2><dl>{rows}</dl>{config if run.config_text else ''}</section>"


def _of_states(reward: Record) -> bool:
    return reward.get("reward") == "gaifo" and "sees=frames" not in (reward.get("set") or ())


def _beginning(run: RunRecords, demos: Sequence[Demo]) -> str:
    reward = section(run.config, "reward")
    blind = "success was only counted, never told to it."
    if run.evaluations and unreported(run.evaluations[-1]):
        blind = "the environment reports no success."
    if reward.get("reward") in PAID_FOR:
        source = STATES_OF if _of_states(reward) else videos(demos)
        paid = PAID_FOR[str(reward["reward"])]
        return f"The agent was to learn {task_name(run)} from {source}. It was rewarded {paid}; {blind}"
    if not follows_video(run):
        return f"The agent was to learn {task_name(run)}. It was rewarded by {reward['reward']}; {blind}"
    text = f"The agent was to learn {task_name(run)} from {videos(demos)}."
    if follows_places(run):
        return f"{text} It was rewarded for bringing things where the eye sees them in the video; {blind}"
    if reward.get("matcher") in MATCHERS:
        first = f"{reward['pretrain']} and then " if reward.get("pretrain") else ""
        what = "the video" if not demos or demos[0].sentences is None else "these words"
        text += f" It was rewarded for following {what}, as by {first}{reward['matcher']}; {blind}"
    return text


def _end(run: RunRecords) -> str:
    if not run.evaluations:
        count = len(run.episodes)
        if not count:
            return "Nothing has been recorded yet."
        if all(record.get("success", False) is None for record in run.episodes):
            return f"It has not been evaluated yet, after {count} training episodes."
        won = sum(bool(record.get("success")) for record in run.episodes)
        return f"It has not been evaluated yet; {won} of its {count} training episodes so far ended in success."
    last = run.evaluations[-1]
    played, rate, mean, share = (
        number(last.get(name)) for name in ("episodes", "success_rate", "return", "normalised")
    )
    text = f"In its last evaluation, after {int(last['step']):,} steps,"
    if unreported(last):
        followed = [f"{name} {_figure(last.get(name))}" for name in ("progress", "coverage") if name in last]
        told = f" it followed the video to {' and '.join(followed)};" if followed else ""
        return f"{text}{told} the environment's own return was {_figure(last.get('env_return'))}.{doubts(run)}"
    if rate is not None:
        text += f" {round(rate * played)} of {int(played)}" if played else f" {rate:.0%} of the"
        text += " episodes ended in success"
    if mean is not None:
        text += " and" if rate is not None else ""
        text += f" the task was solved in {mean:.3g} steps of an episode on average"
    if share is not None:
        text += f", which is {share:.2f} times what the expert of the task manages"
    return f"{text}.{doubts(run)}"


def _tiles(run: RunRecords) -> list[tuple[str, str, str]]:
    tiles: list[tuple[str, str, str]] = []
    best = kept_best(run)
    if run.evaluations and best is not None:
        last = run.evaluations[-1]
        if unreported(last):
            kept = f"kept as best: step {int(best['step']):,}"
            tiles.append(("Progress", _figure(last.get("progress")), f"along the video, last evaluation; {kept}"))
            tiles.append(("Own return", _figure(last.get("env_return")), "the environment's; it reports no success"))
            return [*tiles, *_effort(run)]
        name = "normalised" if number(last.get("normalised")) is not None else "return"
        said = "share of the expert's return" if name == "normalised" else "solved steps of an episode"
        kept = f"{_figure(best.get(name))} at step {int(best['step']):,}"
        note = f"{said}; kept as best: {'this one' if best is last else kept}"
        tiles.append(("Last evaluation", _figure(last.get(name)), note))
        anywhere = f"at the last step; at any step {_percent(last.get('any_success_rate'))}"
        tiles.append(("Success rate", _percent(last.get("success_rate")), anywhere))
    return [*tiles, *_effort(run)]


def _effort(run: RunRecords) -> list[tuple[str, str, str]]:
    tiles: list[tuple[str, str, str]] = []
    planned, (_, wall) = number(run.config.get("steps")), spent(run)
    left = f"; {planned:,.0f} are planned" if planned is not None and run.steps < planned else ""
    tiles.append(("Steps", f"{run.steps:,}", f"in {len(run.episodes):,} episodes{left}"))
    if wall > 0:
        tiles.append(("Time", duration(wall), f"{_figure(run.steps / wall)} steps a second, all included"))
    return tiles


def _figure(value: Any) -> str:
    known = number(value)
    if known is None:
        return NOTHING
    if known == 0 or 0.01 <= abs(known) < 1000:
        return f"{known:.2f}"
    return f"{known:.2g}" if abs(known) < 0.01 else f"{known:,.0f}"


def _percent(value: Any) -> str:
    known = number(value)
    return NOTHING if known is None else f"{known:.0%}" if known == 0 or known >= 0.005 else "< 1%"
