"""Jobs as Ray tasks: on the cluster at RAY_ADDRESS, or on one that is started on this machine.

Where all machines see the sweep's folder, a job runs in it and saves its checkpoints there, so that a machine that dies
costs minutes. Where they do not, the cell travels to the job and back through Ray's object store, when the job ends.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from orcalign.experiments.cells import CellFolder
from orcalign.experiments.worker import Answer, JobOrder, attempt
from orcalign.files import atomic_folder
from orcalign.training.ray_players import connect, pack, unpack

PROBE = "ray-probe"
ASK_SECONDS = 1.0
"""Between two questions whether to stop."""


class RayBackend:
    """A `Backend` on a Ray cluster, for so many jobs at the same time, or (0) as many as it has CPUs for.

    A job asks for so many `cpus` and `gpus`. `shared`: whether all machines see the sweep's folder; None finds out.
    """

    def __init__(self, out: Path, jobs: int = 0, cpus: float = 1, gpus: float = 0, shared: bool | None = None) -> None:
        self._ray = ray = connect()
        self._out, self._jobs, self._cpus = out.resolve(), jobs, cpus
        # Every job asks the flag, so it must not be on a machine that can die without the sweep; and an actor that asks
        # for no CPU is put anywhere, unless a place is demanded.
        here = _on(ray, ray.get_runtime_context().get_node_id(), soft=False)
        self._flag = ray.remote(num_cpus=0, scheduling_strategy=here)(StopFlag).remote()
        # The sweep counts attempts; Ray's own would hide them.
        self._task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(ray_job)
        self._running: dict[Any, JobOrder] = {}
        self.shared = self._everybody_sees() if shared is None else shared

    @property
    def slots(self) -> int:
        """As told, or as many as fit on the cluster as it is now."""
        if self._jobs:
            return self._jobs
        return max(1, int(self._ray.cluster_resources().get("CPU", 1) // self._cpus))

    def submit(self, order: JobOrder) -> None:
        """Hand it to Ray, with what has been played if the folder is not shared."""
        parcel = None if self.shared else pack(CellFolder(self._out, order.key).path)
        self._running[self._task.remote(order, str(self._out), parcel, self._flag)] = order

    def answer(self, timeout: float) -> Answer | None:
        """The next job that ended, also if its machine did."""
        if not self._running:
            time.sleep(timeout)
            return None
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=timeout)
        if not ready:
            return None
        order = self._running.pop(ready[0])
        try:
            answer, parcel = self._ray.get(ready[0])
        except self._ray.exceptions.RayError as error:
            said = " ".join(str(error).split())
            return Answer(order.key, error=f"the Ray task is gone ({type(error).__name__}: {said[:300]}).")
        if parcel is not None:
            # Whole or not at all; a lock file does not travel.
            folder = CellFolder(self._out, order.key).path
            folder.parent.mkdir(parents=True, exist_ok=True)
            with atomic_folder(folder, replace=True) as part:
                unpack(parcel, part)
        found: Answer = answer
        return found

    def stop(self) -> None:
        """Raise the flag that every job looks at after an episode."""
        self._ray.get(self._flag.raise_it.remote())

    def close(self) -> None:
        """End what still runs."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._ray.kill(self._flag)

    def _everybody_sees(self) -> bool:
        ray, word = self._ray, secrets.token_hex(8)
        probe = self._out / PROBE
        self._out.mkdir(parents=True, exist_ok=True)
        probe.write_text(word)
        look = ray.remote(num_cpus=0)(sees)
        try:
            asked = [
                look.options(scheduling_strategy=_on(ray, node["NodeID"], soft=True)).remote(str(probe), word)
                for node in ray.nodes()
                if node["Alive"]
            ]
            return all(ray.get(asked))
        finally:
            probe.unlink(missing_ok=True)


def _on(ray: Any, node: str, soft: bool) -> Any:
    """Where something is to be; soft: another place will do if that one is gone."""
    return ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=soft)


class StopFlag:
    """An actor that knows whether the sweep wants to stop."""

    def __init__(self) -> None:
        self._raised = False

    def raise_it(self) -> None:
        """From now on."""
        self._raised = True

    def raised(self) -> bool:
        """Whether it is."""
        return self._raised


def sees(path: str, word: str) -> bool:
    """Whether the file is the same one here.

    >>> sees("/nowhere/at/all", "word")
    False
    """
    try:
        return Path(path).read_text() == word
    except OSError:
        return False


def ray_job(order: JobOrder, out: str, parcel: bytes | None, flag: Any) -> tuple[Answer, bytes | None]:
    """What a task runs: the answer, and the cell if it has to travel."""
    import ray

    asked = [time.monotonic(), False]

    def stop() -> bool:
        if time.monotonic() - asked[0] > ASK_SECONDS:
            asked[0], asked[1] = time.monotonic(), ray.get(flag.raised.remote())
        return bool(asked[1])

    def answer(place: Path) -> Answer:
        with order.log(place) as log, contextlib.redirect_stderr(log):
            return attempt(place, order, stop)

    if parcel is None:
        return answer(Path(out)), None
    place = Path(tempfile.mkdtemp(prefix="orcalign-"))
    try:
        cell = CellFolder(place, order.key)
        unpack(parcel, cell.path)
        found = answer(place)
        # A run that is at its end needs its episodes no more; they are most of its bytes.
        leave_out = ("episodes", "lock") if cell.done_file.is_file() else ("lock",)
        return found, pack(cell.path, leave_out)
    finally:
        shutil.rmtree(place, ignore_errors=True)
