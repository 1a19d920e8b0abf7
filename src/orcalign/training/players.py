"""Who plays: this process, or collector processes. Orders come back in the order in which they were given.

The schedule is the learner's; players only execute it, so their number changes nothing but the time it takes.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from orcalign.rewards import Staged, load_reward
from orcalign.training.collector import Collector, Live, Order, World
from orcalign.training.config import TrainConfig
from orcalign.training.episode import PlayedEpisode
from orcalign.training.run_folder import RunFolder


class CollectorError(ValueError):
    """A collector could not play an episode, or is gone."""


class Players:
    """Collectors that take orders in turn; results come first in, first out.

    Args:
        lines: one to each collector, with `submit`, `answer` and `close`; the first answer is the world.
    """

    def __init__(self, lines: Sequence[Any]) -> None:
        self._lines, self._turns = lines, itertools.cycle(lines)
        self._under_way: deque[Any] = deque()

    @cached_property
    def world(self) -> World:
        """What it is like where they play; waits until all are ready."""
        worlds: list[World] = [line.answer() for line in self._lines]
        return worlds[0]

    def submit(self, order: Order) -> None:
        """Play this, some time."""
        _ = self.world
        self._under_way.append(next(self._turns))
        self._under_way[-1].submit(order)

    def result(self) -> PlayedEpisode:
        """The episode of the oldest order that is not handed over yet; waits for it."""
        episode: PlayedEpisode = self._under_way.popleft().answer()
        return episode

    def act_live(self, live: Callable[[int], Live]) -> None:
        """Before each step of a training episode `live` is asked how to act; for a collector in this process."""
        self._lines[0].collector.live = live

    def close(self) -> None:
        """End the collectors; what they are playing is of no use to anybody."""
        for line in self._lines:
            line.close()


class InProcess:
    """Plays here, when the answer is asked for."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self._orders: deque[Order | None] = deque([None])
        self.submit, self.close = self._orders.append, collector.close

    def answer(self) -> World | PlayedEpisode:
        """Play the oldest."""
        order = self._orders.popleft()
        if order is None:
            return self.collector.world
        try:
            return self.collector.play(order)
        except Exception as error:
            raise CollectorError(failure(order, error)) from error


class Line:
    """A collector process, and two threads that carry orders to it and answers back.

    It holds one end only of its pipe: if this process is killed, the pipe closes and the collector ends by itself.
    Both directions must be able to wait on their own: with the pipe full of orders one way and of frames the
    other, learner and collector would wait for each other for ever.
    """

    def __init__(self, config: TrainConfig, run: Path, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._number = number
        self.process = context.Process(target=work, args=(theirs, config, str(run)), daemon=True)
        self.process.start()
        theirs.close()
        self._orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self.submit = self._orders.put
        self._answers: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        for carry in (self._send, self._receive):
            threading.Thread(target=carry, daemon=True).start()

    def answer(self) -> Any:
        """What the collector says next; waits for it."""
        kind, value = self._answers.get()
        if kind == "gone":
            self.process.join(5)
            code = self.process.exitcode
            how = f"was killed by {signal.Signals(-code).name}" if code and code < 0 else f"ended with code {code}"
            raise CollectorError(
                f"collector {self._number} {how} (out of memory, or stopped from outside; a script of your own needs "
                "`if __name__ == '__main__':` around what it does); nothing that was saved is lost."
            )
        if kind == "error":
            raise CollectorError(value)
        return value

    def close(self) -> None:
        """End the collector."""
        self.process.terminate()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
        self._orders.put(None)

    def _send(self) -> None:
        while (order := self._orders.get()) is not None:
            _send(self._pipe, order)

    def _receive(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._answers.put(self._pipe.recv())
        self._answers.put(("gone", None))


def work(pipe: Any, config: TrainConfig, run: str) -> None:
    """What a collector process does: say what the world is like, then play until the pipe closes."""
    # Ctrl-C is for the learner, which ends the collectors when it has saved.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        collector = make_collector(config, Path(run))
    except Exception as error:
        _send(pipe, ("error", plainly(error)))
        return
    _send(pipe, ("world", collector.world))
    with contextlib.suppress(EOFError, OSError):
        while True:
            order: Order = pipe.recv()
            try:
                answer: tuple[str, Any] = ("episode", collector.play(order))
            except Exception as error:
                answer = ("error", failure(order, error))
            _send(pipe, answer)


def _send(pipe: Any, message: Any) -> None:
    with contextlib.suppress(OSError):  # nobody is there any more
        pipe.send(message)


def failure(order: Order, error: Exception) -> str:
    """Which episode could not be played, and why."""
    what = "evaluation episode" if order.evaluation is not None else "episode"
    return f"{what} {order.number} (seed {order.seed}) could not be played: {plainly(error)}"


def plainly(error: Exception) -> str:
    """Our own errors explain themselves; of others, say what they are and where they come from."""
    if isinstance(error, (ValueError, OSError)) and str(error):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})."


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Collectors share the cores with one another and the learner; numerical libraries would take all."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: value or "1" for name, value in before.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]


def make_collector(config: TrainConfig, folder: Path) -> Collector:
    """Everything that plays, in this process; `folder` holds what the reward is made from."""
    from orcalign.training.learner import limit_threads

    limit_threads(config)
    return Collector(config, load_reward(folder))


def make_players(run: RunFolder, workers: int | str) -> tuple[Players, Staged]:
    """As many collector processes (for 0, this one; for "ray:8", Ray actors), and the reward, side by side."""
    kind, count = parse_workers(workers)
    if count == 0:
        collector = make_collector(run.config, run.path)
        players = Players([InProcess(collector)])
        if not collector.reward.guide_dim:
            # Nothing in it changes while it only observes, so that one object serves both.
            return players, cast(Staged, collector.reward)
    elif kind == "ray":
        from orcalign.training.ray_players import RayPlayers

        players = RayPlayers(run.config, run.path, count)
    else:
        with _one_thread_each():
            players = Players([Line(run.config, run.path, k) for k in range(count)])
    try:
        reward = cast(Staged, load_reward(run.path))
        # What has to be measured is measured now, while the collectors get ready.
        reward.state()
        return players, reward
    except BaseException:
        players.close()
        raise


def parse_workers(given: int | str) -> tuple[str, int]:
    """What kind of collectors, and how many.

    >>> parse_workers("2"), parse_workers("ray:8")
    (('process', 2), ('ray', 8))
    >>> parse_workers("many")
    Traceback (most recent call last):
    ...
    ValueError: workers is 'many'; it must be a number of processes from 0, or of Ray actors, as in ray:8.
    """
    kind, colon, number = str(given).rpartition(":")
    if (colon and kind != "ray") or not number.isdigit() or (colon and int(number) == 0):
        raise ValueError(
            f"workers is {given!r}; it must be a number of processes from 0, or of Ray actors, as in ray:8."
        )
    return ("ray" if colon else "process"), int(number)
