"""The episodes that a run kept pictures of → attempts of the explainer, beside the demo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.matching import MATCHERS, context, matcher, orca
from orcalign.matching.match import FloatArray
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult
from orcalign.report.explainer.matrices import MOST
from orcalign.report.training_run.reading import RunRecords, section
from orcalign.rewards import tell
from orcalign.rewards.settings import ORCA_SETTINGS, known_settings
from orcalign.video import Demo, DemoSet, VideoOptions, read_video

PAGE_BYTES = 9_000_000
"""What pictures and matrices may take of the page."""
MATRIX_BYTES = 4_500_000
SHOWN = 320
PER_EVALUATION = 2


@dataclass(frozen=True, eq=False)
class ShownEpisode:
    """One evaluation episode with its pictures."""

    name: str
    step: int
    frames: npt.NDArray[np.uint8]
    """[T,H,W,3]"""
    fps: float
    costs: Mapping[int, FloatArray]
    """[T, J] by the number of the demo, without context."""


@dataclass(frozen=True)
class RunReward:
    """How the run rewards an episode, as far as its folder tells; each entry per demo."""

    matcher: str
    context: int
    direction: str
    settings: tuple[Mapping[str, Any], ...]
    guessed: bool = False
    """The run was calibrated, and what calibration found is not in its folder."""

    def of_demo(self, k: int) -> Mapping[str, Any]:
        """Settings of the matcher for demo k."""
        return self.settings[min(k, len(self.settings) - 1)]


def load_demos(run: RunRecords) -> tuple[Demo, ...]:
    """The demo, or demos, that the run keeps; none if it has not saved them yet."""
    folder = run.folder / "demo"
    return DemoSet.load(folder).demos if folder.is_dir() else ()


def run_reward(run: RunRecords) -> RunReward:
    """The reward's settings: those that run.json has as used, or those of config.yaml.

    A temperature that changes from stage to stage ("1.0:0.25") is taken as it is at the end.
    """
    told = section(run.config, "reward")
    # A run may have been rewarded in another way; how it follows the demo can be seen all the same.
    name = str(told.get("matcher"))
    name = name if name in MATCHERS else "orca"
    known = known_settings(name)
    found = run.info.get("matcher_settings")
    used = [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []
    extra = told.get("set")
    given = {**told, **dict(map(_setting, extra if isinstance(extra, list) else ()))}
    # What a setting is by default is the matcher's own affair.
    given = {key: value for key in known if (value := _last(given.get(key))) is not None}
    settings = tuple(
        {**given, **{key: value for key, value in entry.items() if key in known}} for entry in used
    )
    guessed = bool(told.get("calibrated")) and not settings and set(ORCA_SETTINGS) <= set(known)
    if guessed:
        given = {key: value for key, value in given.items() if key not in ORCA_SETTINGS}
    return RunReward(
        name, int(told.get("context", 3)), str(told.get("direction", "future")), settings or (given,), guessed
    )


def shown_episodes(run: RunRecords) -> tuple[tuple[ShownEpisode, ...], tuple[str, ...]]:
    """Episodes of the last evaluation that was kept, then of the first; and what could not be shown."""
    kept = sorted(
        (int(path.stem), path) for path in (run.folder / "evaluations").glob("*.npz") if path.stem.isdigit()
    )
    found: list[ShownEpisode] = []
    problems: list[str] = []
    chosen = [("last", kept[-1])] if kept else []
    if len(kept) > 1:
        chosen.append(("first", kept[0]))
    for which, (step, path) in chosen:
        try:
            with np.load(path, allow_pickle=False) as arrays:
                content = {key: arrays[key] for key in arrays.files}
        except (OSError, ValueError, EOFError) as error:
            problems.append(f"The evaluation of step {step:,} cannot be read ({error}).")
            continue
        for k in range(PER_EVALUATION):
            video = run.folder / "videos" / f"{path.stem}-{k}.mp4"
            if f"cost_{k}" not in content or not video.is_file():
                continue
            try:
                found.append(_episode(content, k, video, f"{which} {k + 1}, step {step:,}", step))
            except (OSError, ValueError) as error:
                problems.append(f"The video {video.name} cannot be shown ({error}).")
    return tuple(found), tuple(problems)


def explainer_data(
    demos: Sequence[Demo], episodes: Sequence[ShownEpisode], reward: RunReward
) -> tuple[PageData, int]:
    """What the explainer shows, against the demo that the first evaluation among them follows best.

    Also the bytes that each clip's pictures may take. Where matrices are very large, episodes at the end are
    left out, so that the page stays small enough to open and to send.
    """
    k = _best_demo(demos, episodes, reward)
    demo = demos[k]
    attempts: list[PageAttempt] = []
    used = 0.0
    for episode in episodes:
        if k not in episode.costs:
            continue
        attempt = _attempt(episode, k, reward)
        T, J = (min(side, MOST) for side in attempt.cost.shape)
        used += T * J * (2.7 + 1.4 * len(attempt.results))
        if attempts and used > MATRIX_BYTES:
            break
        attempts.append(attempt)
    name = Path(demo.source).name if len(demos) == 1 else f"demo {k} ({Path(demo.source).name})"
    clip_bytes = int((PAGE_BYTES - min(used, MATRIX_BYTES)) * 3 / 4 / (1 + len(attempts)))
    return PageData(PageClip(name, demo.frames, demo.fps), tuple(attempts)), clip_bytes


def _episode(content: Mapping[str, Any], k: int, video: Path, name: str, step: int) -> ShownEpisode:
    clip = read_video(video, VideoOptions(longest=SHOWN))
    prefix = f"cost_{k}_"
    costs = {0: np.asarray(content[f"cost_{k}"], np.float64)}
    for key, values in content.items():
        if key.startswith(prefix) and key.removeprefix(prefix).isdigit():
            costs[int(key.removeprefix(prefix))] = np.asarray(values, np.float64)
    T = len(clip.frames)
    for demo, cost in costs.items():
        if cost.ndim != 2 or len(cost) != T:
            raise ValueError(f"{T} frames do not fit costs of shape {list(cost.shape)} against demo {demo}")
    if f"success_{k}" in content:
        steps = int(np.asarray(content[f"success_{k}"]).astype(bool).sum())
        name += f": success in {steps} of {T} steps" if steps else ": no success"
    return ShownEpisode(name, step, clip.frames, clip.fps, costs)


def _attempt(episode: ShownEpisode, demo: int, reward: RunReward) -> PageAttempt:
    raw = episode.costs[demo]
    cost = context(raw, reward.context, reward.direction)
    settings = reward.of_demo(demo)
    ordered = orca(cost, **{key: value for key, value in settings.items() if key in ORCA_SETTINGS})
    # The story is told from costs without context, which would let it run ahead of the pictures.
    story = tell(raw, ordered)
    matches = {reward.matcher: matcher(reward.matcher)(cost, **settings)}
    matches.setdefault("orca", ordered)
    results = {
        name: PageResult(match.reward, match.assignment, float(match.reward.sum()), story)
        for name, match in matches.items()
    }
    return PageAttempt(episode.name, episode.frames, episode.fps, cost, results)


def _best_demo(demos: Sequence[Demo], episodes: Sequence[ShownEpisode], reward: RunReward) -> int:
    totals = [0.0] * len(demos)
    for episode in episodes:
        if episode.step != episodes[0].step:
            break
        for k in range(len(demos)):
            if k in episode.costs:
                cost = context(episode.costs[k], reward.context, reward.direction)
                totals[k] += float(matcher(reward.matcher)(cost, **reward.of_demo(k)).reward.sum())
            else:
                totals[k] = -np.inf
    return int(np.argmax(totals))


def _setting(text: Any) -> tuple[str, Any]:
    """A setting written as name=value."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    name, _, value = str(text).partition("=")
    return name.strip(), None if value.strip().lower() == "none" else yaml.safe_load(value)


def _last(value: Any) -> Any:
    """A setting at the end of the run: of "1.0:0.25" the last number."""
    if not isinstance(value, str):
        return value
    try:
        return float(value.split(":")[-1])
    except ValueError:
        return value
