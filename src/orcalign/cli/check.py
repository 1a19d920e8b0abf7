"""orcalign check"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from orcalign.cli.reading import EncoderChoice, Reading, encode_all


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
    from orcalign.report.exploit_plot import plot_exploits, require_kind
    from orcalign.report.scoring import SHOWN, ScoreSettings, clip_reward, require_same_shape
    from orcalign.rewards import check as check_costs

    names = tuple(MATCHERS) if matcher == "all" else tuple(name.strip() for name in matcher.split(","))
    if plot is not None:
        require_kind(plot)
        require_writable(plot)
    model = encoder.make()
    shown, attempt = encode_all([demo, rollout], model, reading.options(longest=SHOWN))
    require_same_shape(shown, attempt)
    reward = clip_reward(shown, ScoreSettings(names, distance, context, calibrated))
    settings = {name: reward.with_matcher(name).matcher_settings[0] for name in names} if calibrated else {}
    table = check_costs(
        reward.model.compare(attempt.features)[0], names, settings, context=context, seed=seed
    )

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
