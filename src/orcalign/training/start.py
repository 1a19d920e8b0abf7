"""A new run: its folder, with its demo in it; and a whole run in one call."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from orcalign.costs.predicted.entities import COMPARED
from orcalign.envs import find_suite, find_task, make_demos
from orcalign.rewards.demos import as_demos
from orcalign.rewards.description import PREDICTOR
from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_mapping, to_mapping, with_settings
from orcalign.training.episode import known_expert_return
from orcalign.training.follow_config import FOLLOW
from orcalign.training.following import prepare_to_follow
from orcalign.training.imitating import keeps_states, prepare_to_imitate
from orcalign.training.joint_predictors import find_predictor
from orcalign.training.posed_eyes import Told
from orcalign.training.presets import config as config_of
from orcalign.training.rehearsal import compare
from orcalign.training.reward_config import IMITATORS, VIDEO, plan_stages
from orcalign.training.run_folder import COMPARISON, RunFolder
from orcalign.training.wording import find_goals, goal_costs
from orcalign.video import Demo


def start_run(
    config: TrainConfig,
    out: str | os.PathLike[str],
    command: str = "",
    tell: Callable[[str], None] = lambda text: None,
    told: Told | None = None,
) -> RunFolder:
    """Make the folder, which is empty or not there, and find or make the demos; `Training(run).go()` does the rest.

    `command` is what the user typed, for the records; `tell` is given notes for people, and `told` how far an eye is
    that has to be made first: what is being done, how much of it is done, and how much there is to do.
    """
    RunFolder.require_free(Path(out))
    demos, notes = find_demos(config)
    for note in notes:
        tell(note)
    compared = compare(config, demos, Path(out))
    parts, files = reward_parts(config, demos, told)
    beside: dict[str, Any] = {}
    if compared is not None:
        files, beside = {**files, COMPARISON: compared.picture}, {"compared": compared.said}
        tell(f"the demo beside the environment ({Path(out) / COMPARISON}): {compared.said}")
    return RunFolder.create(
        out, config, demos, describe_reward(config, parts), files, **beside,
        command=command, task=config.task, demo_hash=demo_hash(demos),
        expert_return=known_expert_return(config.task, tell),
    )  # fmt: skip


def train(
    task: str | TrainConfig | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    preset: str = "laptop",
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    workers: int | str = 2,
    device: str = "auto",
    resume: str | os.PathLike[str] | None = None,
) -> RunFolder:
    """Train to the end, as `orcalign train` does, and return the run.

    Args:
        task: what is to be learned; or a whole config, of `orcalign.config`.
        out: folder of the run; left out, runs/TASK-RECIPE-seedN.
        preset, recipe, settings: as for `orcalign.config`.
        workers: collector processes, or Ray actors as in "ray:8"; 0 plays in this process.
        device: of the learner: auto, cpu, cuda or mps.
        resume: go on with the run in this folder instead; its settings are those it began with.
    """
    from orcalign.training.loop import Training

    if resume is not None:
        if task is not None or out is not None or recipe is not None or settings:
            raise ValueError("resume goes on with a run as it began; leave out task, out, recipe and settings.")
        run = RunFolder(resume)
    elif task is None:
        raise ValueError("no task was given; name one, such as door-close, or the run to resume.")
    else:
        if isinstance(task, str):
            wanted = config_of(task, preset, recipe, settings)
        elif recipe is not None:
            raise ValueError(f"the config has its recipe already; leave out recipe={recipe!r}.")
        else:
            wanted = from_mapping(with_settings(to_mapping(task), settings or {}))
        run = start_run(wanted, out or default_folder(wanted))
    training = Training(run, workers, device)
    try:
        training.go()
    finally:
        training.close()
    return RunFolder(run.path)


def default_folder(config: TrainConfig) -> Path:
    """Where a run goes, if nothing else is said.

    >>> default_folder(config_of("door-close")).as_posix()
    'runs/door-close-follow_posed-seed0'
    """
    name = f"{config.task}-{config.label}-seed{config.seed}"
    return Path("runs") / name.replace(":", "-").replace("/", "-")


def find_demos(config: TrainConfig) -> tuple[tuple[Demo, ...], tuple[str, ...]]:
    """The demos of a run, read or made by the expert, and notes on how they came about.

    >>> demos, _ = find_demos(TrainConfig("nav2d"))
    >>> len(demos[0]), demos[0].task
    (6, 'nav2d')
    """
    demo, collect = config.demo, config.collect
    if demo.goal or config.reward.reward == "text":
        return find_goals(config), ()
    if demo.demo:
        return as_demos(list(demo.demo)), ()
    # The paper draws four demos of different speeds anew for each seed.
    own = config.seed if demo.demo_kind == "mixed" else 0
    made, notes = make_demos(
        config.task,
        demo.demos,
        demo.demo_seed,
        None if demo.demo_kind in ("misaligned", "aligned") else demo.demo_kind,
        misaligned=demo.demo_kind == "misaligned",
        render=collect.render,
        size=collect.frame_size,
        camera=collect.camera,
        variant=own if demo.demo_variant is None else demo.demo_variant,
        order=demo.demo_order,
        end=demo.demo_end,
        states=keeps_states(config),
    )
    return made.demos, notes


def reward_parts(
    config: TrainConfig, demos: tuple[Demo, ...], told: Told | None = None
) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Descriptions of the rewards of a run's stages, and the files beside `reward.json` that they are made from.

    >>> from orcalign.training.presets import config
    >>> [part["settings"]["matcher"] for part in reward_parts(config("nav2d", recipe="orca"), ())[0]]
    ['temporal_ot', 'orca']
    """
    reward, encoder = config.reward, config.encoder
    if reward.reward == FOLLOW:
        part, read_by = prepare_to_follow(config, demos, told)
        return [_steady(config, part)], read_by
    if reward.reward in IMITATORS:
        return [prepare_to_imitate(config, demos)], {}
    if reward.reward != VIDEO:
        return [{"kind": reward.reward, **reward.extra_settings()}], {}
    files: dict[str, bytes] = {}
    if any(demo.sentences is not None for demo in demos):
        said = goal_costs(config, demos)
        return [
            {"kind": VIDEO, "settings": reward.video_settings(name).plain(), "costs": said} for name in reward.matchers
        ], {}
    costs: dict[str, Any] = {
        "encoder": encoder.encoder,
        **encoder.plain(),
        "look": encoder.look,
        "distance": reward.distance,
    }
    if encoder.look in COMPARED:
        predictor = find_predictor(
            encoder.predictor, config.task, encoder.predictor_frames, encoder.predictor_updates,
            config.collect.render, config.collect.frame_size, told,
        )  # fmt: skip
        files[PREDICTOR] = as_file(predictor.save)
        costs = {"look": encoder.look, "distance": reward.distance, "predictor": predictor.fingerprint}
    if reward.confidence and encoder.look not in COMPARED:
        raise ValueError(
            f"confidence is that of a joint predictor, and look is {encoder.look!r}; leave it out, or look at joints."
        )
    parts = []
    for name in reward.matchers:
        paid: dict[str, Any] = {"kind": VIDEO, "settings": reward.video_settings(name).plain(), "costs": costs}
        if reward.confidence:
            paid = {"kind": "product", "parts": [paid, {"kind": "confidence", "of": paid}]}
        parts.append(_steady(config, paid))
    return parts, files


def _steady(config: TrainConfig, part: dict[str, Any]) -> dict[str, Any]:
    """With pay for standing, where that is wanted."""
    weight, spec = config.reward.stability, find_task(config.task)
    if not weight:
        return part
    steady = find_suite(spec.suite).stability(spec)
    if steady is None:
        raise ValueError(f"stability is {weight}, and nothing of {config.task!r} can fall; leave it out.")
    return {"kind": "sum", "weights": [1.0, weight], "parts": [part, {"kind": "stability", **steady}]}


def describe_reward(config: TrainConfig, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What `reward.json` of the run says of the rewards of its stages."""
    return {
        "kind": "staged",
        "starts": [first for first, _ in plan_stages(config.reward, config.steps)],
        "steps": config.steps,
        "scale": config.reward.scale.factor,
        "parts": parts,
    }


def as_file(save: Callable[[Path], None]) -> bytes:
    """What `save` writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / PREDICTOR
        save(file)
        return file.read_bytes()


def demo_hash(demos: tuple[Demo, ...]) -> str:
    """Of all frames of all demos, in order, and of their states and sentences if they have any.

    >>> import numpy as np
    >>> black, white = (Demo(np.full((2, 4, 4, 3), value, np.uint8)) for value in (0, 255))
    >>> demo_hash((black, white)) == demo_hash((white, black)), len(demo_hash((black,)))
    (False, 64)
    """
    digest = hashlib.sha256()
    for demo in demos:
        digest.update(str(demo.frames.shape).encode() + demo.frames.tobytes())
        digest.update(b"" if demo.states is None else demo.states.tobytes())
        digest.update(b"" if demo.sentences is None else repr(demo.sentences).encode())
    return digest.hexdigest()
