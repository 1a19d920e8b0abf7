"""orcalign predictor data, train: an eye that learns from posed scenes"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from orcalign.cli.bars import bars


def data(
    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    /,
    out: Path | None = None,
    frames: int = 8000,
    seed: int = 0,
    render: Literal["fast", "paper"] = "fast",
    size: int | None = None,
    camera: str | None = None,
) -> None:
    """Pose scenes of a task in its simulator, and keep their frames with what the environment observes of them.

    Objects lie about, fall, are held or carried, hinges and slides are anywhere, and the hand is near things: what an
    eye has to know before it can read a video. No expert and no demo is in the data. Stopped or killed, the same
    command goes on where it was; with more --frames it adds to what is there. The result is the same in any case.

    Args:
        task: A name of `orcalign tasks`, or any other Meta-world v3 task.
        out: Folder; left out, posed/TASK.
        frames: How many at least; a last layout is not cut.
        seed: Of all that is random in the scenes.
        render: How the frames are drawn: fast, or paper.
        size: Side of the frames in pixels; left out, that of the render mode.
        camera: Another camera than the task's.
    """
    from orcalign.envs import find_task
    from orcalign.envs.posed_data import make_posed_data

    spec = find_task(task)
    folder = Path("posed") / spec.name if out is None else out
    with bars() as tell:
        digest = make_posed_data(
            spec, folder, frames, seed, render, size, camera, lambda done, total: tell("posing", done, total)
        )
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"data: {folder}, SHA-256 {digest}")
    console.print(f"next: orcalign predictor train {folder}")


def train(
    data: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")],
    /,
    out: Path | None = None,
    preset: Literal["laptop", "paper"] = "laptop",
    updates: int = 4000,
    epochs: int = 100,
    patience: int = 0,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Train an eye on posed scenes: it then says where hand, objects and goal are in any frame of that camera.

    Of the humanoid it is a predictor of joints, with angles of the arms and a confidence. Prints how far off it is on
    layouts that it has not seen, in centimetres.

    Args:
        data: A folder that `orcalign predictor data` made.
        out: File of the eye (.safetensors); left out, eye.safetensors or joints.safetensors in that folder.
        preset: Of a predictor of joints: laptop, a frozen EfficientNet-Lite0 and a small head that attends to places,
            minutes; or paper, a whole ResNet50 fine-tuned by SGD, which wants a GPU.
        updates: Steps of learning of the laptop's, of 32 frames each.
        epochs: Of the paper's, with 16 frames a step.
        patience: Of the paper's: after so many epochs that are no better on rollouts held out it ends, with the best;
            0 goes through all of them.
        seed: Of first weights, and of which frames are drawn.
        overwrite: Replace an eye that is already there.
    """
    from orcalign.envs.posed_data import PosedData
    from orcalign.files import require_writable
    from orcalign.training.joint_predictors import read_errors, reads_joints, train_joints
    from orcalign.training.posed_eyes import train_eye

    joints = reads_joints(task_of(data))
    if preset == "paper" and not joints:
        raise ValueError("preset is 'paper', and the paper has a predictor of joints alone; leave it out.")
    file = data / ("joints.safetensors" if joints else "eye.safetensors") if out is None else out
    if file.exists() and not overwrite:
        raise ValueError(f"{str(file)!r} is already there; choose another --out, or give --overwrite.")
    if file.suffix != ".safetensors":
        raise ValueError(f"the eye {str(file)!r} must be a file that ends in .safetensors.")
    posed = PosedData.load(data)
    require_writable(file)
    console = Console(soft_wrap=True, highlight=False)
    made: Any
    with bars() as tell:
        if not joints:
            made = train_eye(posed, updates, seed, tell)
            errors = made.errors
        else:
            if preset == "paper":
                from orcalign.training.finetuning import fine_tune

                made = fine_tune(
                    posed, file.with_suffix(".part"), epochs=epochs, seed=seed, tell=tell, patience=patience
                )
            else:
                made = train_joints(posed, updates, seed, tell)
            errors = read_errors(made, posed)
    made.save(file)
    table = Table("", "median cm", "90% cm", box=None, padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.justify = "right"
    for name, (median, most) in errors.items():
        table.add_row(name, f"{median:.2f}", f"{most:.2f}")
    console.print(table)
    what = "joints" if joints else "eye"
    console.print(f"{what}: {file}, from {len(posed):,} posed frames of {made.about['task']}")
    if joints:
        from orcalign.files import write_file
        from orcalign.report.skeletons import skeleton_page

        page = file.with_suffix(".html")
        write_file(page, skeleton_page(made, posed, errors).encode())
        console.print(f"open {page}")


def task_of(data: Path) -> str:
    """The task of a data set."""
    from orcalign.envs.posed_shards import ShardFolder

    return str(ShardFolder(data).read()["about"]["task"]["name"])
