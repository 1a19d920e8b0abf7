"""orcalign train: what the words say becomes settings, and `orcalign.config` makes the run of them."""

from __future__ import annotations

import inspect
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from orcalign.cli.bars import bars
from orcalign.cli.interrupt import stop_on_interrupt
from orcalign.cli.options import typed_fields, unchecked, value_of

if TYPE_CHECKING:
    from orcalign.training import RunFolder, Training
    from orcalign.training.config import TrainConfig

STOPPING = "stopping after this episode; Ctrl-C again stops at once and goes back to the last checkpoint."


def command(words: Sequence[str]) -> Callable[..., None]:
    """The command, with an option for every field of the config that the words lead to."""
    if not words or words[0] != "train":
        return train
    find_own_modules()
    from orcalign.training.config import TrainConfig
    from orcalign.training.config_mapping import from_mapping, to_mapping, with_settings
    from orcalign.training.presets import config, plain_config
    from orcalign.training.run_folder import read_config

    if {"-h", "--help"} & {*words}:
        return first_page
    file, task = value_of("--config", words), value_of("--task", words)
    preset, recipe = value_of("--preset", words) or "laptop", value_of("--recipe", words)
    if file is not None and recipe is not None:
        raise ValueError("--recipe and --config were both given; give one of them.")
    # Which fields there are, and so which options, is for the agent to say.
    agent = value_of("--agent", words)
    first = {} if agent is None else {"agent.agent": agent}
    if file is not None:
        base = to_mapping(read_config(Path(file)))
        default = with_settings(base, first)
    else:
        default = plain_config(task or "door-close", preset, recipe, first)

    def with_config(setting, **rest):  # type: ignore[no-untyped-def]
        typed = {name: attrgetter(name)(setting) for name in typed_fields(words)}
        made = None
        if file is not None:
            made = from_mapping(with_settings(base, typed))
        elif task is not None:
            made = config(typed.pop("task"), preset, recipe, typed)
        train(setting=made, **rest)

    # tyro reads signature and docstring; the defaults are known only now.
    shown = unchecked(TrainConfig, default)
    parameters = dict(inspect.signature(train, eval_str=True).parameters)
    parameters["setting"] = parameters["setting"].replace(annotation=type(shown), default=shown)
    with_config.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    with_config.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    with_config.__doc__ = train.__doc__
    return with_config


def first_page(
    *,
    task: Annotated[str | None, tyro.conf.arg(metavar="TASK")] = None,
    demo: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE")] = (),
    goal: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SENTENCE")] = (),
    recipe: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None,
    steps: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    seed: Annotated[int, tyro.conf.arg(metavar="N")] = 0,
    out: Annotated[Path | None, tyro.conf.arg(metavar="RUN")] = None,
    resume: Annotated[Path | None, tyro.conf.arg(metavar="RUN")] = None,
    preset: Annotated[str, tyro.conf.arg(metavar="NAME")] = "laptop",
) -> None:
    """Train a policy from one video: orcalign train --task door-close

    Ends with RUN/report.html. These are the options that people need; all: --help-all.

    Args:
        task: One of `orcalign tasks`, a Gymnasium id, or module:function.
        demo: Videos to imitate; left out, the task's expert makes one.
        goal: Or what is to be seen, in words; docs/words.md.
        recipe: One of `orcalign recipes`; left out, the preset's.
        steps: Agent steps; left out, the preset's.
        seed: Of networks, exploration and episodes.
        out: Folder; left out, runs/TASK-RECIPE-seedN.
        resume: Go on with this run.
        preset: laptop, or paper (its exact protocol).
    """


def train(
    *,
    setting: Annotated[Any, tyro.conf.Suppress] = None,
    recipe: str | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    preset: str = "laptop",
    config_file: Annotated[Path | None, tyro.conf.arg(name="config")] = None,
    workers: str = "2",
    device: str = "auto",
    checkpoint_minutes: float = 2.0,
    wandb: bool = False,
    rrd: Path | None = None,
    print_config: bool = False,
) -> None:
    """Train a policy from one video, and show what it learned.

    Ends with RUN/report.html: curves, and the policy beside the video. A run that was stopped or killed goes on where
    it was with --resume RUN, and ends with the same numbers as if nothing had happened.

    Args:
        setting: Every setting of the run.
        recipe: One of `orcalign recipes`; left out, the preset's own, unless --matcher or --reward is given.
        out: Folder of the run; left out, runs/TASK-RECIPE-seedN.
        resume: Go on with the run in this folder, with the settings it began with.
        preset: Settings that nothing else says: laptop, or paper (its exact protocol).
        config_file: Take settings from this file instead, such as the config.yaml of another run.
        workers: Collector processes, or Ray actors as in ray:8; 0 plays in the learner's own. Changes the time, not the
            result.
        device: Of the learner: auto, cpu, cuda or mps.
        checkpoint_minutes: Time between checkpoints.
        wandb: Also report to Weights & Biases.
        rrd: At the end, also write a recording for the Rerun viewer: the episodes of the page with reward and progress.
        print_config: Print the settings that would be used, and do nothing.
    """
    from orcalign.checks import require
    from orcalign.report.rrd import require_rerun
    from orcalign.training.checkpoint import Checkpoints
    from orcalign.training.imitating import find_networks
    from orcalign.training.learner import choose_device
    from orcalign.training.players import parse_workers
    from orcalign.training.run_folder import RunFolder
    from orcalign.training.start import default_folder, start_run

    parse_workers(workers)
    require("checkpoint_minutes", checkpoint_minutes, at_least=0)
    config: TrainConfig | None = RunFolder(resume).config if resume else setting
    if config is None:
        raise ValueError("no task was given; say which: --task door-close (`orcalign tasks` lists them).")
    if print_config:
        print(config.to_yaml(), end="")
        return
    choose_device(device)
    if rrd is not None:
        require_rerun(rrd)
    if resume is not None:
        run = RunFolder(resume)
    else:
        where = out or default_folder(config)
        RunFolder.require_free(where)
        find_networks(config)
        with bars() as told:
            run = start_run(config, where, shlex.join(["orcalign", *sys.argv[1:]]), _say, told)
    again = f"Go on with: orcalign train --resume {shlex.quote(str(run.path))}"
    _say(f"{run.config.task}: {run.config.steps:,} agent steps, run folder {run.path}")
    with ExitStack() as stack:
        try:
            training = _set_up(run, workers, device, wandb, checkpoint_minutes, stack)
        except BaseException:
            if resume is None:
                # Nothing has been played; left behind, the folder would be in the way of the next try.
                shutil.rmtree(run.path, ignore_errors=True)
            raise
        stop = stack.enter_context(stop_on_interrupt(STOPPING))
        if training.learner.steps:
            _say(f"going on from step {training.learner.steps:,}")
        try:
            finished = training.go(stop)
        except (ValueError, OSError) as error:
            if resume is None and not Checkpoints(run.path / "checkpoints").steps():
                stack.close()
                shutil.rmtree(run.path, ignore_errors=True)
                raise
            raise type(error)(f"{str(error).rstrip('.')}. {again}") from error
    from orcalign.report.training_run import write_report

    page = write_report(run.path)
    if rrd is not None:
        from orcalign.report.training_run.recording import write_run_recording

        write_run_recording(run.path, rrd)
        _say(f"recording: {rrd}")
    if not finished:
        _say(f"stopped and saved. {again}")
        sys.exit(130)
    *_, last = run.records("evaluation")
    _say(f"after {last['step']:,} steps the policy {outcome(last)}.")
    print(f"open {page}")


def outcome(last: dict[str, Any]) -> str:
    """What a policy does in an evaluation, in words.

    >>> outcome({"success_rate": 0.5, "episodes": 10, "return": 7.25, "normalised": None})
    'succeeds in 50% of 10 held-out episodes; return 7.2'
    >>> outcome({"success_rate": None, "progress": 0.75, "coverage": 0.5, "env_return": -3.0, "episodes": 10})
    'follows the demo to progress 0.75, coverage 0.50; the environment reports no success, and its own return is -3'
    """
    if last["success_rate"] is not None:
        normalised = "" if last["normalised"] is None else f", {last['normalised']:.2f} of the expert's"
        won = f"succeeds in {last['success_rate']:.0%} of {last['episodes']} held-out episodes"
        return f"{won}; return {last['return']:.1f}{normalised}"
    followed = ", ".join(f"{name} {last[name]:.2f}" for name in ("progress", "coverage") if name in last)
    told = f"follows the demo to {followed}" if followed else f"has played {last['episodes']} held-out episodes"
    return f"{told}; the environment reports no success, and its own return is {last['env_return']:.3g}"


def find_own_modules() -> None:
    """Let `module:function` name a file in the folder where the command was typed, as `python -m` would."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)


def _set_up(
    run: RunFolder, workers: str, device: str, wandb: bool, checkpoint_minutes: float, stack: ExitStack
) -> Training:
    from orcalign.training import Training
    from orcalign.training.config_mapping import to_mapping
    from orcalign.training.panel import Panel
    from orcalign.training.scalars import TensorBoardLog, WandbLog

    watchers: list[Any] = [
        stack.enter_context(Panel(run.config.steps, f"{run.config.task}, {run.config.label}")),
        TensorBoardLog.of_run(run.path),
    ]
    stack.callback(watchers[-1].close)
    if wandb:
        watchers.append(WandbLog(to_mapping(run.config), run.path))
        stack.callback(watchers[-1].close)
    training = Training(run, workers, device, watchers, checkpoint_minutes)
    stack.callback(training.close)
    return training


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
