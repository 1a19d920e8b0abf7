"""orcalign label: a LeRobot data set, and how far each of its frames is in the demo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console
from rich.table import Table

from orcalign.cli.reading import USUAL, EncoderChoice

if TYPE_CHECKING:
    from orcalign.datasets.labelling import Labelled

SHOWN_EPISODES = 8
"""In the table that is printed."""


def label(
    dataset: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATASET")],
    /,
    *,
    demo: str,
    camera: str | None = None,
    out: Path | None = None,
    matcher: str | None = None,
    context: int = 1,
    crop: bool = False,
    reward: bool = False,
    truth: Path | None = None,
    explain: int = 12,
    rrd: Path | None = None,
    ray: bool = False,
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
) -> None:
    """Label a LeRobot data set with its progress along one demo, and rank its episodes.

    Writes orcalign_progress.parquet, which LeRobot's reward-aware training (RA-BC) reads, and orcalign_page.html with
    all episodes, failures first. Nothing that was there is changed. Stopped or killed, the same command goes on.

    Args:
        dataset: The folder of a data set (v3.0 or v2.1), or its name on the hub as org/name.
        demo: What the others are compared with: an episode of the data set as episode:K, or a video.
        camera: Such as observation.images.front; needed where there are several.
        out: Folder to write to; left out, the data set's own, and for one from the hub orcalign-NAME.
        matcher: bottleneck (the default), orca or orca_progress.
        context: Frames in step over which distances are averaged; 1 for none.
        crop: Cut the largest centred square out of each picture.
        reward: Write next.reward as well, to orcalign_reward.parquet.
        truth: A .csv, .json or .parquet file with episode_index and success, rank (1 is best) or quality.
        explain: So many episodes, failures first, get a page of their own that shows why.
        rrd: Write a recording for the Rerun viewer: progress of all episodes, pictures of the explained ones.
        ray: Label on the Ray cluster at RAY_ADDRESS, or on one that is started here.
    """
    from orcalign.checks import require_count
    from orcalign.datasets.hub import find_dataset
    from orcalign.datasets.labeller import MATCHERS, LabelOrder, LabelSettings, read_demo
    from orcalign.datasets.labelling import here, label_dataset, training_line
    from orcalign.datasets.labels import ranked
    from orcalign.datasets.truth import agreement, read_truth
    from orcalign.report.rrd import require_rerun

    require_count(explain, "explain", at_least=0)
    settings = LabelSettings(
        matcher or MATCHERS[0], context=context, encoder=encoder.encoder or USUAL, size=encoder.size,
        weights=encoder.weights, engine=encoder.engine, crop=crop,
    )  # fmt: skip
    if rrd is not None:
        require_rerun(rrd)
    found, beside = find_dataset(dataset, camera)
    known = read_truth(truth, [one.number for one in found.episodes]) if truth is not None else {}
    order = LabelOrder(found, read_demo(found, demo, crop), demo, settings)
    work = here
    if ray:
        from orcalign.datasets.on_ray import on_ray as work
    quiet = Console(stderr=True, style="dim", highlight=False)
    with _bar() as told:
        done = label_dataset(order, out or beside, work, told, reward, quiet.print)
    console = Console(highlight=False)
    console.print(_table(done, known))
    if known:
        console.print(agreement(done.labels, known, order.demo_number).words(), soft_wrap=True)
    explained = [one.number for one in ranked(done.labels)[:explain]]
    _show(done, explained, known, rrd, console)
    console.print(f"progress: {done.progress}", soft_wrap=True)
    if done.reward is not None:
        console.print(f"rewards: {done.reward}", soft_wrap=True)
    console.print(f"train with it: {training_line(found, done.progress)}", soft_wrap=True)


def _show(
    done: Labelled, explained: list[int], known: dict[int, dict[str, float]], rrd: Path | None, console: Console
) -> None:
    """The pages, and the recording."""
    from orcalign.datasets.explainers import write_explainers
    from orcalign.datasets.page import write_page

    with Console(stderr=True).status("drawing the page"):
        pages = write_explainers(done, explained)
        page = write_page(done, pages, known)
    console.print(f"open {page}", soft_wrap=True)
    if rrd is not None:
        from orcalign.datasets.recording import write_recording

        write_recording(rrd, done, explained)
        console.print(f"recording: {rrd}", soft_wrap=True)


def _table(done: Labelled, known: dict[int, dict[str, float]]) -> Table:
    from orcalign.datasets.labels import ranked

    order = ranked(done.labels)
    fresh = f"{done.fresh} now" if done.fresh < len(order) else "all now"
    title = f"{len(order)} episodes labelled ({fresh}), the worst first"
    table = Table("episode", title=title)
    for heading in ("score", "progress at the end", "quarters covered at frame", "longest stall"):
        table.add_column(heading, justify="right")
    if known:
        table.add_column("truth")
    for one in order[:SHOWN_EPISODES]:
        quarters = " ".join("-" if frame is None else str(frame) for frame in one.story["quarters"])
        row = [str(one.number), f"{one.score:.2f}", f"{one.dense[-1]:.2f}", quarters, str(one.story["stall"])]
        if known:
            row.append(", ".join(f"{name} {value:g}" for name, value in known.get(one.number, {}).items()))
        table.add_row(*row)
    if len(order) > SHOWN_EPISODES:
        table.caption = f"and {len(order) - SHOWN_EPISODES} more, on the page"
    return table


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """Frames done, speed and time left, on stderr."""
    from orcalign.cli.bars import bars

    with bars() as tell:
        yield lambda done, total: tell("labelling", done, total)
