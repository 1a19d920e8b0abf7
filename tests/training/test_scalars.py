"""Events as TensorBoard itself reads them back."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from orcalign.training.scalars import TensorBoardLog, WandbLog


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def episode(step: int, reward: float = 1.0) -> dict[str, Any]:
    return {"kind": "episode", "step": step, "episode": step // 10, "reward": reward}


def test_records_become_scalars(tmp_path: Path) -> None:
    with closing(TensorBoardLog(tmp_path / "new" / "folder")) as log:
        log.write(
            {
                "kind": "episode",
                "step": 63,
                "episode": 1,
                "stage": "orca",
                "reward": 12.5,
                "success": True,
                "critic_loss": None,
                "actor_loss": -2,
                "timing": {"render": 0.25, "total": 1},
            }
        )
        log.write({"kind": "note", "step": 70, "text": "resumed"})
        log.write(
            {
                "kind": "evaluation",
                "step": 100,
                "episodes": 10,
                "normalised": 0.75,
                "returns": [1, 2, 3],
                "best": False,
                "timing": {"total": 3.0},
            }
        )
    assert read(tmp_path / "new" / "folder") == {
        "train/reward": [(63, 12.5)],
        "train/success": [(63, 1.0)],
        "train/actor_loss": [(63, -2.0)],
        "train_time/render": [(63, 0.25)],
        "train_time/total": [(63, 1.0)],
        "eval/normalised": [(100, 0.75)],
        "eval/best": [(100, 0.0)],
        "eval_time/total": [(100, 3.0)],
    }


def test_a_loss_that_is_no_number_is_seen(tmp_path: Path) -> None:
    with closing(TensorBoardLog(tmp_path)) as log:
        log.write({"kind": "episode", "step": 1, "critic_loss": float("nan")})
    [(step, value)] = read(tmp_path)["train/critic_loss"]
    assert step == 1
    assert value != value


def test_an_evaluation_is_visible_at_once(tmp_path: Path) -> None:
    log = TensorBoardLog(tmp_path)
    log.write(episode(10))
    log.write({"kind": "evaluation", "step": 10, "return": 3.0})
    assert read(tmp_path)["train/reward"] == [(10, 1.0)]
    log.write(episode(20))
    log.flush()
    assert read(tmp_path)["train/reward"] == [(10, 1.0), (20, 1.0)]
    log.close()
    log.close()


def test_a_resumed_run_hides_what_the_killed_one_wrote_later(tmp_path: Path) -> None:
    killed = TensorBoardLog(tmp_path)
    for step in range(10, 100, 10):
        killed.write(episode(step, reward=1.0))
    killed.flush()
    resumed = TensorBoardLog(tmp_path, from_step=50)
    resumed.flush()
    assert [step for step, _ in read(tmp_path)["train/reward"]] == [10, 20, 30, 40, 50]
    for step in (60, 70):
        resumed.write(episode(step, reward=2.0))
    resumed.close()
    assert read(tmp_path)["train/reward"] == [*((s, 1.0) for s in (10, 20, 30, 40, 50)), (60, 2.0), (70, 2.0)]
    # And once more, all within one second: files are read in the order of their names.
    with closing(TensorBoardLog(tmp_path, from_step=20)) as again:
        again.write(episode(30, reward=3.0))
    assert read(tmp_path)["train/reward"] == [(10, 1.0), (20, 1.0), (30, 3.0)]
    assert len(list(tmp_path.iterdir())) == 3
    killed.close()


def test_a_record_cut_off_by_a_kill_does_no_harm(tmp_path: Path) -> None:
    with closing(TensorBoardLog(tmp_path)) as log:
        for step in (10, 20, 30):
            log.write(episode(step))
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-7])
    with closing(TensorBoardLog(tmp_path, from_step=20)) as log:
        log.write(episode(30, reward=2.0))
    assert read(tmp_path)["train/reward"] == [(10, 1.0), (20, 1.0), (30, 2.0)]


def test_neither_tensorflow_nor_torch_comes_along(tmp_path: Path) -> None:
    code = (
        "import sys; from orcalign.training.scalars import TensorBoardLog; "
        "assert 'tensorboard' not in sys.modules; "
        f"TensorBoardLog({str(tmp_path)!r}).close(); "
        "print([name for name in ('tensorflow', 'torch', 'google.protobuf') if name in sys.modules])"
    )
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out.strip() == "['google.protobuf']"


@pytest.mark.parametrize(
    ("package", "make"),
    [("tensorboard", lambda folder: TensorBoardLog(folder)), ("wandb", lambda folder: WandbLog({}, folder))],
)
def test_a_missing_package_is_named(package: str, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name == package or name.startswith(f"{package}."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=f"is not installed; install it with: pip install {package}"):
        make(tmp_path)
