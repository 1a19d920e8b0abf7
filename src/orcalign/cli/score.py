"""orcalign score and check: what a video says of attempts, and whether it can be cheated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console
from rich.table import Table

from orcalign.cli.ranking import paper_table, show_ranking
from orcalign.cli.reading import EncoderChoice, Reading, encode_all, judge_all
from orcalign.cli.score_goals import score_goals

if TYPE_CHECKING:
    from orcalign.report.scoring import ScoreSettings, ScoreSheet
    from orcalign.report.truth import Truth


def score(
    demo: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEMO")],
    rollouts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="ROLLOUT ...")],
    /,
    matcher: str | None = None,
    goal: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="SENTENCE ...")] = None,
    start: str = "",
    beside: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="VIDEO ...")] = (),
    recipe: str | None = None,
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
    report: Path | None = None,
    rrd: Path | None = None,
    overlay: Path | None = None,
    ranks: Path | None = None,
    paper: bool = False,
    distance: str | None = None,
    context: int | None = None,
    calibrated: bool = False,
    temperature: float | None = None,
    floor: float | None = None,
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
    reading: Annotated[Reading, tyro.conf.arg(name="")] = Reading(),  # noqa: B008
) -> None:
    """Score attempts against a demo video, and show why.

    Prints a ranking: for each attempt a score from 0 to 1, whether it is done (one threshold for all scenes), and in
    words what happened: followed, stopped at 60%, skipped seconds 3.5 to 4.2, wrong order, did nothing. Another camera
    (up to 12%) and other light are corrected, and said.

    Args:
        demo: A video, a folder of images, or a saved demo; several cameras of one moment as left.mp4,right.mp4.
        rollouts: The attempts: one or several of these.
        matcher: One or several of `orcalign matchers`, with commas between: bottleneck, or orca with --paper or
            several goals. The score is the same with all.
        goal: What is to be seen, in words, in the place of DEMO: all videos are then attempts. One sentence gives a
            similarity for every frame; several are followed in order like a demo's frames, pictures may be among them.
            --encoder is then liv (the default), clip-vit-base, siglip-base or clip-resnet.
        start: With one goal, a sentence of how things are before: frames are then placed on the way between both.
        beside: With several goals, videos of anything that may happen there, such as random play: with the attempts
            they say what is far from a goal and what is near.
        recipe: roboclip, in the place of matchers: one number for a whole clip. --encoder is then i3d (the default),
            s3d with --weights, or a video model of transformers as org/name or ./folder.
        json_file: Write every per-frame number to this file.
        report: Write a page to this file (.html) that shows both videos, the reward and where it comes from.
        rrd: Write a recording for the Rerun viewer to this file: videos, reward (of the first matcher) and progress.
        overlay: Write a film to this file (.mp4): the best attempt with a bar of its progress, the demo beside it.
        ranks: A CSV file with the columns path and rank (1 is best) or success (0 or 1): how well scores agree with it.
        paper: Compare whole pictures, as in the paper; then there is no score from 0 to 1, and what follows can be set.
        distance: With --paper: cosine or euclidean.
        context: With --paper: frames in step over which distances are averaged; 1 for none.
        calibrated: With --paper: take temperature and floor from the demo itself, if it has more than some 30 frames.
        temperature: With --paper, of the matchers that have one (orca, orca_progress, ...); lower is stricter.
        floor: With --paper: distance below which a frame counts as reached.
    """
    from orcalign.checks import require
    from orcalign.files import require_writable, write_file
    from orcalign.report.clips import SHOWN
    from orcalign.report.rrd import require_rerun
    from orcalign.report.score_recording import write_score_recording
    from orcalign.report.score_sheet import as_json, score_page
    from orcalign.report.scoring import ScoreSettings, score_clips

    if goal is not None:
        elsewhere = {
            "recipe": recipe, "rrd": rrd, "overlay": overlay, "ranks": ranks, "paper": paper, "distance": distance,
            "context": context, "calibrated": calibrated, "temperature": temperature, "floor": floor,
        }  # fmt: skip
        for name, given in elsewhere.items():
            if given is not None and given is not False:
                raise ValueError(f"--{name} and --goal were both given; give one of them.")
        score_goals((demo, *rollouts), goal, start, beside, matcher, encoder, reading, json_file, report)
        return
    if start or beside:
        raise ValueError("--start and --beside belong to goals in words; add --goal.")
    if not rollouts:
        raise ValueError("no attempt was given; name at least one video after the demo.")
    if recipe is not None:
        require("recipe", recipe, ("roboclip",))
        _score_whole(demo, rollouts, encoder, reading, json_file, report)
        return
    usual = "orca" if paper else "bottleneck"
    names = tuple(name.strip() for name in (usual if matcher is None else matcher).split(",") if name.strip())
    settings = ScoreSettings(names, paper, distance, context, calibrated, temperature, floor)
    truth = None if ranks is None else _ranks(ranks, rollouts, settings)
    for path in (json_file, report, overlay):
        if path is not None:
            require_writable(path)
    if rrd is not None:
        require_rerun(rrd)
    if overlay is not None and (paper or overlay.suffix.lower() != ".mp4"):
        raise ValueError(f"overlay is {str(overlay)!r}; it must be an .mp4, and goes without --paper.")
    model = encoder.make(settings.encoder)
    options = reading.options(longest=SHOWN)
    if paper:
        first, *others = encode_all([demo, *rollouts], model, options)
        sheet = score_clips(first, others, settings)
    else:
        sheet = judge_all(demo, rollouts, settings, model, options)
    console = Console()
    if paper:
        console.print(paper_table(sheet))
        _explain_tiny(console, sheet)
    else:
        show_ranking(console, sheet)
        for note in sheet.notes:
            console.print(note, soft_wrap=True, highlight=False, markup=False)
    if truth is not None:
        for line in truth.words(sheet):
            console.print(line, highlight=False)
    if json_file is not None:
        write_file(json_file, json.dumps(as_json(sheet, model), indent=1, allow_nan=False).encode())
        console.print(f"numbers: {json_file}", soft_wrap=True, highlight=False)
    if report is not None:
        write_file(report, score_page(sheet, model).encode())
        console.print(f"open {report}", soft_wrap=True, highlight=False)
    if rrd is not None:
        write_score_recording(sheet, rrd)
        console.print(f"recording: {rrd}", soft_wrap=True, highlight=False)
    if overlay is not None:
        from orcalign.report.overlay import write_overlay

        write_overlay(sheet.demo, sheet.ranking[0], overlay)
        console.print(f"watch {overlay}", soft_wrap=True, highlight=False)


def _ranks(path: Path, rollouts: tuple[Path, ...], settings: ScoreSettings) -> Truth:
    from orcalign.report.truth import read_truth

    if settings.paper:
        raise ValueError("ranks are compared with the score from 0 to 1, which --paper does not have; leave it out.")
    return read_truth(path, rollouts)


def _explain_tiny(console: Console, sheet: ScoreSheet) -> None:
    best, J = max(attempt.story.final_coverage for attempt in sheet.attempts), len(sheet.demo.frames)
    if best < 1e-3 and J > 30 and not sheet.settings.calibrated:
        console.print(
            f"The coverage is a product over {J} demo frames and therefore tiny; --calibrated or a lower --fps "
            f"makes it readable, and so does --matcher orca_log; or leave out --paper.",
            highlight=False,
        )


def _score_whole(
    demo: Path,
    rollouts: tuple[Path, ...],
    choice: EncoderChoice,
    reading: Reading,
    json_file: Path | None,
    report: Path | None,
) -> None:
    """One number for each attempt."""
    from orcalign.encoders.clips.registry import make_clip_encoder
    from orcalign.files import require_writable, write_file
    from orcalign.matching.threads import cores
    from orcalign.report.clip_scores import clip_json, clip_page, score_whole
    from orcalign.report.clips import SHOWN

    for path in (json_file, report):
        if path is not None:
            require_writable(path)
    name = choice.encoder or "i3d"
    encoder = make_clip_encoder(name, size=choice.size, weights=choice.weights, threads=cores())
    with Console(stderr=True).status("looking at the demo") as status:
        scores = score_whole(demo, rollouts, encoder, reading.options(longest=SHOWN), status.update)
    title = f"attempts at {Path(demo).name} ({len(scores.demo)} frames), by {name}"
    table = Table("attempt", "frames", "similarity", title=title)
    for clip, value in zip(scores.attempts, scores.similarity, strict=True):
        table.add_row(Path(clip.source).name, str(len(clip)), f"{value:.3f}")
    console = Console()
    console.print(table)
    if encoder.substitute:
        console.print(f"by {encoder.substitute}", highlight=False)
    if json_file is not None:
        write_file(json_file, json.dumps(clip_json(scores), indent=1, allow_nan=False).encode())
        console.print(f"numbers: {json_file}", soft_wrap=True, highlight=False)
    if report is not None:
        write_file(report, clip_page(scores).encode())
        console.print(f"open {report}", soft_wrap=True, highlight=False)


def check(
    demo: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEMO")],
    rollout: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="ROLLOUT")],
    /,
    matcher: str = "all",
    plot: Path | None = None,
    distance: str = "cosine",
    context: int = 3,
    calibrated: bool = False,
    seed: int = 0,
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
    reading: Annotated[Reading, tyro.conf.arg(name="")] = Reading(),  # noqa: B008
) -> None:
    """Would an agent be able to cheat? Score a good rollout against itself altered, by every matcher.

    The rollout, of T frames, is altered into another of T frames: reversed (played backwards), shuffled (all frames
    in random order), frozen (frame 0 all the time), truncated (frame min(t, T/2): stops half way and stays),
    stalled (waits for a third of the time after the first third, then does the rest at double speed), looped (frame
    t mod T/2: the first half twice). A matcher is fooled by it if the altered rollout scores as high as the true one:
    (true - altered) / max(|true|, |altered|) <= 0.001, with rewards summed over the rollout. The table shows that
    share; ✘ marks who is fooled.

    Args:
        demo: A video, a folder of images, or a saved demo.
        rollout: A good attempt at it.
        matcher: One or several of `orcalign matchers`, with commas between; all of them by default.
        plot: Draw the table into this file (.png, .svg or .pdf).
        distance: cosine or euclidean.
        context: Frames in step over which distances are averaged; 1 for none.
        calibrated: Take temperature and floor from the demo itself, for the matchers that have them.
        seed: Of the shuffle.
    """
    from orcalign.files import require_writable
    from orcalign.matching import MATCHERS
    from orcalign.report.clips import SHOWN, require_same_shape
    from orcalign.report.plots import plot_exploits, require_kind
    from orcalign.report.scoring import ScoreSettings, clip_reward
    from orcalign.rewards import check as check_costs

    names = tuple(MATCHERS) if matcher == "all" else tuple(name.strip() for name in matcher.split(","))
    if plot is not None:
        require_kind(plot)
        require_writable(plot)
    model = encoder.make()
    shown, attempt = encode_all([demo, rollout], model, reading.options(longest=SHOWN))
    require_same_shape(shown, attempt)
    reward = clip_reward(shown, ScoreSettings(names, True, distance, context, calibrated))
    settings = {name: reward.with_matcher(name).matcher_settings[0] for name in names} if calibrated else {}
    table = check_costs(reward.model.compare(attempt.features)[0], names, settings, context=context, seed=seed)

    console = Console()
    lines = Table("matcher", title="by how much the true rollout beats its altered copy")
    for alteration in table.alterations:
        lines.add_column(alteration, justify="right")
    for m, name in enumerate(table.matchers):
        cells = [
            f"[red]✘ {margin:+.2f}[/]" if fooled else f"{margin:+.2f}"
            for margin, fooled in zip(table.margin[m], table.fooled[m], strict=True)
        ]
        lines.add_row(name, *cells)
    console.print(lines)
    safe = [name for name in table.matchers if not table.fooled_by(name)]
    console.print(f"fooled by none of these: {', '.join(safe) or 'no matcher'}", highlight=False)
    if plot is not None:
        plot_exploits(table, plot)
        console.print(f"open {plot}", soft_wrap=True, highlight=False)
