"""Collectors as Ray actors: the same orders, the same episodes, on other machines.

An actor that dies is started again and plays its orders once more; an order holds everything that decides an episode,
so nobody can tell.
"""

from __future__ import annotations

import io
import logging
import os
import secrets
import socket
import sys
import tarfile
import tempfile
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

from orcalign.training.collector import Order
from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_mapping, to_mapping
from orcalign.training.players import CollectorError, Players, failure, make_collector, plainly
from orcalign.training.run_folder import REWARD_FILES

KNOCK_SECONDS = 10.0


class RayPlayers(Players):
    """So many actors, each of which asks for so many `cpus`; what the reward is made from travels to them."""

    def __init__(self, config: TrainConfig, run: Path, workers: int, cpus: float = 1) -> None:
        ray = connect()
        # Kept as long as the players: an actor that is started again needs it again.
        self._files = ray.put(pack(run, only=REWARD_FILES))
        actor = ray.remote(num_cpus=cpus, max_restarts=-1, max_task_retries=-1)(RayCollector)
        super().__init__([RayLine(ray, actor.remote(to_mapping(config), self._files)) for _ in range(workers)])


class RayLine:
    """To one actor; when it is closed, the cluster stays."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self.actor = ray, actor
        self._waiting = deque([actor.world.remote()])
        self.close = partial(ray.kill, actor)

    def submit(self, order: Order) -> None:
        """Play this, some time."""
        self._waiting.append(self.actor.play.remote(order))

    def answer(self) -> Any:
        """What the actor says next; waits for it."""
        try:
            kind, value = self._ray.get(self._waiting.popleft())
        except self._ray.exceptions.RayError as error:
            raise CollectorError(f"a collector on the Ray cluster is gone ({' '.join(str(error).split())}).") from error
        if kind == "error":
            raise CollectorError(value)
        return value


class RayCollector:
    """What an actor runs. Errors travel as text: their types may not be known elsewhere, and Ray would retry them."""

    def __init__(self, config: dict[str, Any], files: bytes) -> None:
        self._config, self._files = config, files
        self._collector: Any = None

    def world(self) -> tuple[str, Any]:
        """What it is like here."""
        try:
            return "world", self._ready().world
        except Exception as error:
            return "error", plainly(error)

    def play(self, order: Order) -> tuple[str, Any]:
        """An episode."""
        try:
            return "episode", self._ready().play(order)
        except Exception as error:
            return "error", failure(order, error)

    def _ready(self) -> Any:
        if self._collector is None:
            # Kept as long as the actor: some of it is read only when it is needed.
            self._folder = tempfile.TemporaryDirectory()
            unpack(self._files, Path(self._folder.name))
            self._collector = make_collector(from_mapping(self._config), Path(self._folder.name))
        return self._collector


def pack(folder: Path, leave_out: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> bytes:
    """The files of a folder in one piece; folders of those names are left out, or only what has those names is taken.

    >>> with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
    ...     _ = (Path(a) / "x.txt").write_text("whole")
    ...     unpack(pack(Path(a)), Path(b))
    ...     (Path(b) / "x.txt").read_text()
    'whole'
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            wanted = not set(inside.parts) & set(leave_out) and (not only or inside.parts[0] in only)
            if path.is_file() and wanted:
                archive.add(path, str(inside))
    return buffer.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """What `pack` packed; names that lead out of the folder are refused."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")


def connect() -> Any:
    """The module `ray`, connected.

    A cluster that is started here asks for a token that only this process and its children know, and listens on this
    machine alone. One that was there before has its own: RAY_AUTH_MODE and RAY_AUTH_TOKEN say how to be let in.
    """
    # Ray would hide GPUs from tasks that ask for none, and warns that it will stop to.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    address = os.environ.get("RAY_ADDRESS") or "local"
    if address == "local":
        # Ray's word for "this machine alone": it then binds to the loopback address, on Linux too.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    if address == "local" and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        if "ray" in sys.modules:
            # Ray reads how to authenticate when it is imported, and somebody else did that before us.
            from ray._raylet import Config  # type: ignore[attr-defined, import-not-found, unused-ignore]

            Config.initialize("")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Ray was asked for, and {error.name} is not installed; install it with: pip install 'orcalign[ray]'."
        ) from error
    if ray.is_initialized():
        return ray
    _require_listening(address)
    here: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **here)
    except Exception as error:
        where, why = "this machine" if address == "local" else address, " ".join(str(error).split())
        raise ValueError(
            f"Ray at {where} cannot be reached ({why}); "
            "check RAY_ADDRESS, and RAY_AUTH_TOKEN if the cluster asks for one."
        ) from error
    return ray


def _require_listening(address: str) -> None:
    """Ray itself would try for minutes to reach a machine that is not there."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except OSError as error:
        raise ValueError(
            f"Ray at {address} cannot be reached ({error.strerror or error}); check RAY_ADDRESS, and that `ray start` "
            "was run there."
        ) from None
