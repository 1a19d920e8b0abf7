"""Local sweeps: what is missing, nothing twice, and nothing lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments.small_numbers import numbers_of
from experiments.tiny_studies import SETTINGS, plan_tiny, sweep_here, tiny_study

from orcalign.experiments import sweep as sweep_module
from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import plan_study
from orcalign.experiments.sweep import SweepSettings, read_progress, recall, sweep_study
from orcalign.experiments.worker import Answer, JobOrder, LocalBackend, run_job
from orcalign.locks import FolderInUseError, folder_lock
from orcalign.training import RunFolder
from orcalign.training.checkpoint import Checkpoints
from orcalign.training.start import start_run


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    out = tmp_path_factory.mktemp("swept")
    plan = plan_tiny()
    progress = sweep_here(plan, out)
    assert progress.complete, progress.failed
    return plan, out


def test_everything_is_there(swept):
    plan, out = swept
    for cell in plan.cells:
        done = CellFolder(out, cell.key).done()
        assert done["values"] == cell.values
        assert done["last"]["step"] == cell.config.steps
        assert len(done["last"]["returns"]) == 2
        assert done["seconds"] > 0
        assert list((CellFolder(out, cell.key).run / "tensorboard").iterdir()), "its curves"
    assert recall(out, "tiny") == {"preset": "laptop", "steps": 180, "seeds": 1}


def test_orca_is_one_run_of_two_stages(swept):
    plan, out = swept
    orca = plan.cells[0]
    records = list(RunFolder(CellFolder(out, orca.key).run).records("episode"))
    assert [record["stage"] for record in records] == ["temporal_ot"] * 3 + ["orca"] * 3
    assert [row[0] for row in CellFolder(out, orca.key).done()["curve"]] == [0, 90, 180]


def test_a_cell_has_the_numbers_of_a_bare_run(swept, tmp_path):
    """Though its process had run other cells before."""
    from orcalign.training import Training

    plan, out = swept
    for cell in plan.cells:
        run = start_run(cell.config, tmp_path / cell.key)
        training = Training(run, 0, "cpu")
        assert training.go()
        training.close()
        assert numbers_of(run) == numbers_of(RunFolder(CellFolder(out, cell.key).run))


def test_again_does_nothing(swept):
    plan, out = swept
    before = {path: path.stat().st_mtime_ns for path in out.rglob("done.json")}

    def never():
        raise AssertionError("there was nothing to do")

    assert sweep_study(plan, out, never).complete
    assert before == {path: path.stat().st_mtime_ns for path in out.rglob("done.json")}


def test_only_what_is_missing_is_done(swept, tmp_path):
    plan, out = swept
    shutil.copytree(out, tmp_path / "copy")
    out = tmp_path / "copy"
    kept = {cell.key: CellFolder(out, cell.key).done_file.stat().st_mtime_ns for cell in plan.cells[1:]}
    result = CellFolder(out, plan.cells[0].key).done()
    shutil.rmtree(CellFolder(out, plan.cells[0].key).path)
    assert sweep_here(plan, out).complete
    assert kept == {key: CellFolder(out, key).done_file.stat().st_mtime_ns for key in kept}
    again = CellFolder(out, plan.cells[0].key).done()
    of_that_day = {"seconds": 0, "finished": ""}
    assert {**again, **of_that_day} == {**result, **of_that_day}


def test_a_run_in_progress_goes_on(tmp_path):
    plan = plan_tiny(recipes=("orca_np",))
    (cell,) = plan.cells
    order = JobOrder.of(cell)
    folder = CellFolder(tmp_path, cell.key)
    assert not run_job(tmp_path, order, lambda: folder.steps() >= 60)
    steps = folder.steps()
    assert 60 <= steps < 180
    assert folder.started()
    assert folder.done() is None
    assert sweep_here(plan, tmp_path).complete
    starts = list(RunFolder(folder.run).records("episode"))
    assert [record["episode"] for record in starts] == list(range(6))


def test_a_folder_that_never_became_a_run_is_begun_anew(tmp_path):
    plan = plan_tiny(recipes=("orca_np",))
    run = CellFolder(tmp_path, plan.cells[0].key).run
    run.mkdir(parents=True)
    (run / "half-written").write_text("killed here")
    assert run_job(tmp_path, JobOrder.of(plan.cells[0]))
    assert not (run / "half-written").exists()


def test_failures_are_retried_listed_and_stop_nobody(tmp_path):
    """A task that cannot be played, between others that can."""
    study = tiny_study(recipes=("temporal_ot", "orca"), tasks=("nav2d", "nav2d-grid"))
    plan = plan_study(study)
    progress = sweep_here(plan, tmp_path, retries=1)
    assert [plan.jobs[key].values["task"] for key in progress.failed] == ["nav2d-grid"] * 2
    assert progress.retried == 2
    assert all("the actions are Discrete" in error for error in progress.failed.values())
    assert [plan.jobs[key].values["task"] for key in progress.done] == ["nav2d"] * 2
    folder = CellFolder(tmp_path, next(iter(progress.failed)))
    assert folder.failure()["attempts"] == 2
    assert "Traceback" in folder.log_file.read_text()


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing(tmp_path):
    """Killed in the middle of a run: a new one goes on, and the numbers are the same."""
    plan = plan_tiny(recipes=("orca_np",), steps=300)
    (cell,) = plan.cells

    class Murderous(LocalBackend):
        killed = 0

        def answer(self, timeout):
            folder = CellFolder(self._out, cell.key)
            if not self.killed and folder.steps() > 60:
                (worker,) = self._busy.values()
                os.kill(worker.process.pid, signal.SIGKILL)
                type(self).killed += 1
            return super().answer(0.02)

    progress = sweep_study(
        plan, tmp_path / "a", lambda: Murderous(tmp_path / "a", 1), SweepSettings(checkpoint_minutes=0)
    )
    assert progress.complete
    assert Murderous.killed == progress.retried == 1
    assert not CellFolder(tmp_path / "a", cell.key).failed_file.exists()
    assert sweep_here(plan, tmp_path / "b").complete
    first, second = (RunFolder(CellFolder(tmp_path / name, cell.key).run) for name in "ab")
    assert numbers_of(first) == numbers_of(second)


SWEEP = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from experiments.tiny_studies import plan_tiny, sweep_here
progress = sweep_here(plan_tiny(recipes=("orca_np", "ot"), steps=600), Path({out!r}), jobs=2, checkpoint_minutes=0)
print("complete" if progress.complete else progress.failed)
"""


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on(tmp_path):
    out = tmp_path / "out"
    code = SWEEP.format(tests=str(Path(__file__).parent.parent), out=str(out))
    plan = plan_tiny(recipes=("orca_np", "ot"), steps=600)
    folders = [CellFolder(out, cell.key) for cell in plan.cells]
    first = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 60
    while not all(folder.steps() > 60 for folder in folders) and time.monotonic() < until:
        time.sleep(0.05)
    first.kill()
    first.wait()
    steps = [folder.steps() for folder in folders]
    assert all(60 < count < 600 for count in steps), steps
    second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert second.stdout.strip() == "complete", second.stderr
    for folder in folders:
        episodes = [record["episode"] for record in RunFolder(folder.run).records("episode")]
        assert episodes == list(range(20)), "nothing lost, nothing twice"


LONG = 3000
"""Steps of a run that is asked to stop: a sweep looks once a second, and 450 steps may take no longer than that."""


def test_a_sweep_that_is_asked_to_stop_saves(tmp_path):
    plan = plan_tiny(recipes=("orca_np",), steps=LONG)
    folder = CellFolder(tmp_path, plan.cells[0].key)
    progress = sweep_study(plan, tmp_path, lambda: LocalBackend(tmp_path, 1), stop=lambda: folder.steps() > 60)
    assert progress.stopped
    assert not progress.complete
    assert not progress.failed
    saved = Checkpoints(folder.run / "checkpoints").steps()[-1]
    assert 60 < saved == folder.steps() < LONG
    assert sweep_here(plan, tmp_path).complete


def test_two_sweeps_do_not_meet(tmp_path):
    plan = plan_tiny(recipes=("orca_np",))
    with (
        folder_lock(tmp_path / "sweep.lock", "x"),
        pytest.raises(FolderInUseError, match=rf"is in use by process {os.getpid()} on .*--wait"),
    ):
        sweep_here(plan, tmp_path)


def test_a_lock_is_waited_for(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from orcalign.locks import folder_lock\n"
        "with folder_lock(Path(sys.argv[1]), 'x'):\n  print('held', flush=True)\n  time.sleep(1)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "lock")], stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(FolderInUseError, match=f"process {other.pid}"), folder_lock(tmp_path / "lock", "x"):
        pass
    with folder_lock(tmp_path / "lock", "x", wait_seconds=30):
        other.stdout.close()
        assert other.wait(5) == 0


def test_another_version_is_named(swept, tmp_path):
    plan, out = swept
    shutil.copytree(out, tmp_path / "copy")
    out = tmp_path / "copy"
    file = CellFolder(out, plan.cells[1].key).done_file
    file.write_text(json.dumps({**json.loads(file.read_text()), "orcalign": "0.0.7"}))
    with pytest.raises(ValueError, match=r"made by orcalign 0\.0\.7, and this is .*another --out"):
        sweep_here(plan, out)
    file.write_text(json.dumps({"format": 99}))
    with pytest.raises(ValueError, match=r"has format 99"):
        sweep_here(plan, out)
    file.write_text("half")
    with pytest.raises(ValueError, match=r"cannot be read .* delete it"):
        sweep_here(plan, out)
    # A run that another version began is not gone on with.
    file.unlink()
    facts = CellFolder(out, plan.cells[1].key).run / "run.json"
    facts.write_text(facts.read_text().replace(json.dumps(sweep_module.__version__), '"0.0.7"'))
    progress = sweep_here(plan, out, retries=0)
    assert "made by orcalign 0.0.7" in progress.failed[plan.cells[1].key]


class Instant:
    """A backend that does at once nothing but write results: for sweeps of many cells."""

    slots = 50

    def __init__(self, out):
        self.out, self.given, self.orders = out, [], []

    def submit(self, order):
        self.orders.append(order)
        self.given.append(order.key)

    def answer(self, timeout):
        order = self.orders.pop()
        folder = CellFolder(self.out, order.key)
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.write_done({"key": order.key, "values": order.values})
        return Answer(order.key, done=True)

    def stop(self):
        pass

    def close(self):
        pass


def test_nothing_is_run_twice(tmp_path):
    plan = plan_study(tiny_study(seeds=20))
    backend = Instant(tmp_path)
    assert sweep_study(plan, tmp_path, lambda: backend).complete
    assert backend.given == list(plan.jobs)
    assert len(plan.jobs) == 60


def test_the_state_of_ten_thousand_cells_is_read_in_seconds(tmp_path):
    plan = plan_study(tiny_study(recipes=("orca_np", "ot"), seeds=5000))
    result = json.dumps({"format": 1, "orcalign": sweep_module.__version__, "last": {"returns": [0] * 10}})
    for cell in plan.cells:
        folder = CellFolder(tmp_path, cell.key)
        folder.path.mkdir(parents=True)
        folder.done_file.write_text(result)
    start = time.process_time()
    progress = read_progress(plan, tmp_path)
    seconds = time.process_time() - start
    assert len(progress.done) == 10_000
    assert seconds < 5, seconds


def test_settings_are_checked():
    with pytest.raises(ValueError, match="retries is -1"):
        SweepSettings(retries=-1)
    with pytest.raises(ValueError, match=r"agent\.'hiden'; did you mean 'hidden'"):
        plan_study(tiny_study(**{"agent.hiden": 3}))
    assert SETTINGS
