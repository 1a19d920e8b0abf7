"""A page for one episode that shows, frame by frame, why its labels are what they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orcalign.datasets.labeller import frames_of
from orcalign.datasets.labelling import Labelled
from orcalign.files import write_file
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, explainer_part
from orcalign.report.explainer.document import render_document
from orcalign.video import read_video

NAME = "orcalign_episode_{:06d}.html"
CLIP_BYTES = 700_000
"""Of each of the two videos on a page."""


def write_explainers(done: Labelled, numbers: Iterable[int]) -> dict[int, Path]:
    """The pages of these episodes, by number; with those that had been written before for the same labels."""
    folder, wanted = done.progress.parent, set(numbers)
    if done.fresh:
        # They tell of labels that are no longer there.
        for path in folder.glob(NAME.format(0).replace("000000", "[0-9]*")):
            path.unlink()
    pages = {}
    for one in done.labels:
        path = folder / NAME.format(one.number)
        if one.number in wanted and not path.is_file():
            write_file(path, explainer(done, one.number).encode())
        if path.is_file():
            pages[one.number] = path
    return pages


def explainer(done: Labelled, number: int) -> str:
    """The page of an episode; its pictures are read again."""
    from orcalign import __version__

    order, reward = done.labeller.order, done.labeller.reward
    episode = order.dataset.episode(number)
    frames = read_video(episode.video, frames_of(order.dataset, episode, order.settings.crop)).frames
    match = reward(frames)
    result = PageResult(match.reward, match.match.assignment, match.total, reward.story(match))
    attempt = PageAttempt(f"episode {number}", frames, order.dataset.fps, match.cost, {order.settings.matcher: result})
    settings = {
        "encoder": f"{done.labeller.encoder.name} at {done.labeller.encoder.size} px",
        "distance": f"{order.settings.distance}, context {order.settings.context}",
        **{name: f"{value:.4g} (calibrated)" for name, value in reward.matcher_settings[0].items()},
        "orcalign": __version__,
    }
    shown = PageData(PageClip(order.demo_name, order.demo.frames, order.demo.fps), (attempt,), settings)
    subtitle = f"Demo: {order.demo_name} · {len(order.demo)} frames · {order.dataset.name}, {order.dataset.camera}"
    part = explainer_part(shown, CLIP_BYTES)
    return render_document(f"episode {number}", f"Episode {number}: how well was the demo followed?", subtitle, [part])
