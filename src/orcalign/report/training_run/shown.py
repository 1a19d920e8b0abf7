"""The episodes that a run kept pictures of, with what it pays for them, beside the demo where there is one."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orcalign.report.clip_scores import bar, curve
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, explainer_part
from orcalign.report.explainer.document import PagePart
from orcalign.report.explainer.embedding import MOST, embed_frames, image_tags
from orcalign.report.plots import moments
from orcalign.report.training_run.eye import eye_part
from orcalign.report.training_run.reading import Record, RunRecords, section
from orcalign.rewards import Evidence, Reward
from orcalign.rewards.explanation import Explanation
from orcalign.training.episode import read_shown, unreported
from orcalign.training.run_folder import run_reward
from orcalign.video import Demo, VideoOptions, read_video

PAGE_BYTES = 9_000_000
"""What pictures and matrices may take of the page."""
MATRIX_BYTES = 4_500_000
STRIP_BYTES = 400_000
"""What the pictures of one episode may take that is shown as a strip."""
SHOWN = 320
PER_EVALUATION = 2
STRIP = 10
HEADING = """<section>
  <h2>What it does now{}</h2>
  <p class="note">Episodes of the last evaluation that was kept with pictures, and of the first, to see what was
  learned. Rewards are those that the run pays for them as it is now.</p>
</section>"""


@dataclass(frozen=True, eq=False)
class ShownEpisode:
    """One evaluation episode with its pictures."""

    name: str
    step: int
    frames: npt.NDArray[np.uint8]
    """[T,H,W,3]"""
    fps: float
    evidence: Evidence


def behaviour(run: RunRecords) -> tuple[list[PagePart], tuple[str, ...]]:
    """What the policy does, with the rewards that the run pays for it; and what could not be shown."""
    episodes, problems = shown_episodes(run)
    if not episodes:
        seen, unseen = eye_part(run)
        return seen, (*problems, *unseen)
    try:
        reward = run_reward(run.folder)
        told = [reward.explain(episode.evidence) for episode in episodes]
        known = [one for one in told if one is not None]
        if len(known) == len(told):
            seen, unseen = eye_part(run, [episode.evidence for episode in episodes], explained=True)
            where, parts = ", beside the video", [*seen, *beside_demo(reward, episodes, known)]
        else:
            seen, unseen = eye_part(run)
            where, parts = "", [*seen, *(alone(reward, episode) for episode in episodes)]
        problems = (*problems, *unseen)
    except (ValueError, KeyError) as error:
        return [], (*problems, f"The episodes that were kept cannot be shown: {error}")
    return [PagePart(HEADING.format(where)), *parts], problems


def shown_episodes(run: RunRecords) -> tuple[tuple[ShownEpisode, ...], tuple[str, ...]]:
    """Episodes of the last evaluation that was kept, then of the first; and what could not be shown."""
    kept = sorted((int(path.stem), path) for path in (run.folder / "evaluations").glob("*.npz") if path.stem.isdigit())
    found: list[ShownEpisode] = []
    problems: list[str] = []
    chosen = [("last", kept[-1])] if kept else []
    if len(kept) > 1:
        chosen.append(("first", kept[0]))
    for which, (step, path) in chosen:
        try:
            content = read_shown(path)
        except (OSError, ValueError) as error:
            problems.append(f"The evaluation of step {step:,} cannot be read ({error}).")
            continue
        for k, (evidence, success) in enumerate(content[:PER_EVALUATION]):
            video = run.folder / "videos" / f"{path.stem}-{k}.mp4"
            if not video.is_file():
                continue
            T, steps = evidence.length, int(success.sum())
            try:
                clip = read_video(video, VideoOptions(longest=SHOWN))
                if len(clip.frames) != T:
                    raise ValueError(f"{len(clip.frames)} frames of {T} steps")
            except (OSError, ValueError) as error:
                problems.append(f"The video {video.name} cannot be shown ({error}).")
                continue
            ending = f": success in {steps} of {T} steps" if steps else ": no success"
            record: Record = next((one for one in run.evaluations if int(one["step"]) == step), {})
            if unreported(record):
                reached = (section(record, "each").get("progress") or [])[k : k + 1]
                ending = f": progress {reached[0]:.2f}" if reached else ""
            name = f"{which} {k + 1}, step {step:,}{ending}"
            found.append(ShownEpisode(name, step, clip.frames, clip.fps, evidence))
    return tuple(found), tuple(problems)


def beside_demo(reward: Reward, episodes: Sequence[ShownEpisode], told: Sequence[Explanation]) -> list[PagePart]:
    """The explainer, against the demo that the last evaluation follows best.

    Where matrices are very large, episodes at the end are left out, so that the page stays small enough to open and to
    send.
    """
    demos = reward.demos
    best = [one.match.demo for episode, one in zip(episodes, told, strict=True) if episode.step == episodes[0].step]
    k = max(set(best), key=best.count)
    attempts: list[PageAttempt] = []
    used = 0.0
    for episode, one in zip(episodes, told, strict=True):
        match = one.match
        cost = match.costs[k]
        T, J = (min(side, MOST) for side in cost.shape)
        used += T * J * (2.7 + 1.4)
        if attempts and used > MATRIX_BYTES:
            break
        result = PageResult(match.reward, match.matches[k].assignment, match.total, one.story)
        results = {reward.name: result}
        attempts.append(PageAttempt(episode.name, episode.frames, episode.fps, cost, results, one.wanted))
    demo = demos[k]
    name = source_name(demo) if len(demos) == 1 else f"demo {k} ({source_name(demo)})"
    clip_bytes = int((PAGE_BYTES - min(used, MATRIX_BYTES)) * 3 / 4 / (1 + len(attempts)))
    data = PageData(PageClip(name, demo.frames, demo.fps, sentences=demo.sentences), tuple(attempts))
    return [explainer_part(data, clip_bytes)]


def source_name(demo: Demo) -> str:
    """A file without its folder, or goals as they were said."""
    return Path(demo.source).name if demo.sentences is None else demo.source


def alone(reward: Reward, episode: ShownEpisode) -> PagePart:
    """An episode that no demo stands beside: some of its frames, and the reward of every step."""
    rewards = reward.pay([episode.evidence])[0]
    chosen = moments(len(episode.frames), STRIP)
    clip = embed_frames(episode.frames[chosen], STRIP_BYTES)
    pictures = image_tags(clip, [f"frame {t}" for t in chosen])
    if np.count_nonzero(rewards[:-1]) == 0:
        # One number for the whole episode: a curve of it would be a spike at the end.
        name = html.escape(f"{reward.name}: {float(rewards[-1]):.3f}, for the whole episode, paid at its last step")
        return PagePart(
            f'<section class="alone"><h3>{html.escape(episode.name)}</h3><div>{pictures}</div>{bar(float(rewards[-1]))}'
            f'<p class="note">{name}</p></section>'
        )
    # Adding 0 makes no -0 of a 0.
    least, most, total = (float(value) + 0.0 for value in (rewards.min(), rewards.max(), rewards.sum()))
    said = f"{reward.name}: {total:.4g} in all, from {least:.4g} to {most:.4g} a step; the grey line is 0"
    return PagePart(
        f'<section class="alone"><h3>{html.escape(episode.name)}</h3><div>{pictures}</div>'
        f'{curve(rewards, "reward at every step")}<p class="note">{html.escape(said)}</p></section>'
    )
