"""orcalign train"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from orcalign.cli.interrupt import stop_on_interrupt

if TYPE_CHECKING:
    from orcalign.training import RunFolder, Training
    from orcalign.training.config import TrainConfig

STOPPING = "stopping after this episode; Ctrl-C again stops at once and goes back to the last checkpoint."


def command(words: Sequence[str]) -> Callable[..., None]:
    """The command with the defaults of the preset, or of the config file, that the words name."""
    if not words or words[0] != "train":
        return train
    find_own_modules()
    from orcalign.agents import switch_agent
    from orcalign.training.config_mapping import from_mapping
    from orcalign.training.run_folder import read_config

    file, task = _value_of("--config", words), _value_of("--task", words)
    if file is not None:
        chosen = read_config(Path(file))
    else:
        name = _value_of("--preset", words) or "laptop"
        chosen = _with_method(_defaults(name, task or "door-close", words), name, words)
    # Each agent has options of its own.
    agent = switch_agent(chosen.agent, _value_of("--agent", words) or chosen.agent.agent)
    default = _unchecked(replace(chosen, agent=agent))
    needs_task = file is None and task is None

    def with_config(config, **rest):  # type: ignore[no-untyped-def]
        train(config=from_mapping(asdict(config)), needs_task=needs_task, **rest)

    # tyro reads signature and docstring; the defaults are known only now.
    import inspect

    parameters = dict(inspect.signature(train, eval_str=True).parameters)
    del parameters["needs_task"]
    parameters["config"] = parameters["config"].replace(annotation=type(default), default=default)
    with_config.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    with_config.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    with_config.__doc__ = train.__doc__
    return with_config


def train(
    *,
    config: Annotated[Any, tyro.conf.Suppress] = None,
    preset: str = "laptop",
    method: str | None = None,
    config_file: Annotated[Path | None, tyro.conf.arg(name="config")] = None,
    out: Path | None = None,
    resume: Path | None = None,
    workers: str = "2",
    device: str = "auto",
    checkpoint_minutes: float = 2.0,
    wandb: bool = False,
    print_config: bool = False,
    needs_task: Annotated[bool, tyro.conf.Suppress] = False,
) -> None:
    """Train a policy from one video, and show what it learned.

    orcalign train --task door-close

    Ends with RUN/report.html: curves, and the policy beside the video. A run that was stopped or killed goes on where
    it was with --resume RUN, and ends with the same numbers as if nothing had happened.

    Args:
        config: Every setting of the run.
        preset: Where settings come from that are not given: laptop, or paper (its exact protocol).
        method: One of those that studies compare, such as temporal_ot: its reward and what goes with it. Left out,
            orca_progress with the preset laptop, unless --matcher names a reward.
        config_file: Take settings from this file instead, such as the config.yaml of another run.
        out: Folder of the run; left out, runs/TASK-METHOD-seedN.
        resume: Go on with the run in this folder; settings are those it began with.
        workers: Collector processes, or Ray actors as in ray:8; 0 plays in the learner's own. Changes the time, not the
            result.
        device: Of the learner: auto, cpu, cuda or mps.
        checkpoint_minutes: Time between checkpoints.
        wandb: Also report to Weights & Biases.
        print_config: Print the settings that would be used, and do nothing.
    """
    from orcalign.checks import require
    from orcalign.training import start_run
    from orcalign.training.run_folder import RunFolder, config_text
    from orcalign.training.setup import choose_device, parse_workers

    if method is not None and config_file is not None:
        raise ValueError("--method and --config were both given; give one of them.")
    parse_workers(workers)
    require("checkpoint_minutes", checkpoint_minutes, at_least=0)
    if resume is None and needs_task:
        raise ValueError("no task was given; say which: --task door-close (`orcalign tasks` lists them).")
    if print_config:
        print(config_text(RunFolder(resume).config if resume else config), end="")
        return
    choose_device(device)
    if resume is not None:
        run = RunFolder(resume)
    else:
        where = (
            out or Path("runs") / f"{config.task.replace(':', '-')}-{config.reward.matcher}-seed{config.seed}"
        )
        RunFolder.require_free(where)
        _require_weights(config)
        run = start_run(config, where, shlex.join(["orcalign", *sys.argv[1:]]), _say)
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
            raise type(error)(f"{str(error).rstrip('.')}. {_how_to_go_on(run)}") from error
    from orcalign.report.training_run import write_report

    page = write_report(run.path)
    if not finished:
        _say(f"stopped and saved. {_how_to_go_on(run)}")
        sys.exit(130)
    _say(_result(run))
    print(f"open {page}")


def _defaults(name: str, task: str, words: Sequence[str]) -> TrainConfig:
    """The preset; a task without a misaligned demo of its own is refused unless the words say which demo."""
    from orcalign.training.presets import preset

    return preset(name, task, any(_value_of(option, words) for option in ("--demo", "--demo-kind")))


def _with_method(config: TrainConfig, preset: str, words: Sequence[str]) -> TrainConfig:
    """The settings changed to those of a named method; one that is pretrained is here both halves of one run."""
    from orcalign.experiments.axes import AXES
    from orcalign.experiments.methods import METHODS

    name = _value_of("--method", words)
    if name is None and preset == "laptop" and _value_of("--matcher", words) is None:
        name = "orca_progress"
    if name is None:
        return config
    changed = AXES["method"].change(config, name)
    first = METHODS[name].pretrained_on
    return changed if first is None else replace(changed, reward=replace(changed.reward, pretrain=first))


def _unchecked(config: Any) -> Any:
    """The same settings in classes without rules: tyro would put what they raise into a box with its own words."""
    kind = type(config)
    values = {one.name: getattr(config, one.name) for one in fields(kind)}
    inner = {name: _unchecked(value) for name, value in values.items() if is_dataclass(value)}
    body = {
        "__post_init__": lambda self: None,
        "__doc__": str(kind.__doc__).partition("\n\n")[0],
        "__annotations__": {name: type(value) for name, value in inner.items()},
        **inner,
    }
    made: Any = dataclass(frozen=True)(type(kind.__name__, (kind,), body))
    return made(**{**values, **inner})


def find_own_modules() -> None:
    """Let `module:function` name a file in the folder where the command was typed, as `python -m` would."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)


def _require_weights(config: TrainConfig) -> None:
    """Refuse an encoder whose weights cannot be had, before minutes are spent on drawing a demo for it."""
    from orcalign.encoders.backbones import Request
    from orcalign.encoders.registry import find_entry

    asked = config.encoder
    entry = find_entry(asked.encoder)
    entry.factory(Request(asked.encoder, asked.encoder_size or entry.size, entry.pooled, asked.weights))


def _set_up(
    run: RunFolder, workers: str, device: str, wandb: bool, checkpoint_minutes: float, stack: ExitStack
) -> Training:
    from orcalign.training import Training

    watchers = _watchers(run, wandb, stack)
    training = Training(run, workers, device, watchers, checkpoint_minutes)
    stack.callback(training.close)
    return training


def _watchers(run: RunFolder, wandb: bool, stack: ExitStack) -> list[Any]:
    from orcalign.training.checkpoint import Checkpoints
    from orcalign.training.panel import Panel
    from orcalign.training.scalars import TensorBoardLog

    steps = Checkpoints(run.path / "checkpoints").steps()
    title = f"{run.config.task}, {run.config.reward.matcher}"
    watchers: list[Any] = [
        stack.enter_context(Panel(run.config.steps, title)),
        stack.enter_context(TensorBoardLog(run.path / "tensorboard", steps[-1] if steps else None)),
    ]
    if wandb:
        from orcalign.training.config_mapping import to_mapping
        from orcalign.training.scalars import WandbLog

        log = WandbLog(to_mapping(run.config), run.path)
        stack.callback(log.close)
        watchers.append(log)
    return watchers


def _how_to_go_on(run: RunFolder) -> str:
    return f"Go on with: orcalign train --resume {shlex.quote(str(run.path))}"


def _result(run: RunFolder) -> str:
    *_, last = run.records("evaluation")
    normalised = "" if last["normalised"] is None else f", {last['normalised']:.2f} of the expert's"
    return (
        f"after {last['step']:,} steps the policy succeeds in {last['success_rate']:.0%} of {last['episodes']} "
        f"held-out episodes; return {last['return']:.1f}{normalised}."
    )


def _value_of(option: str, words: Sequence[str]) -> str | None:
    for k, word in enumerate(words):
        if word == option and k + 1 < len(words):
            return words[k + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
