"""The loop: play → reward → store → update → evaluate → checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from orcalign.rewards import ObjectView
from orcalign.training.checkpoint import Checkpoint, Checkpoints, save_policy
from orcalign.training.collector import Order
from orcalign.training.episode import EpisodeStore, PlayedEpisode
from orcalign.training.evaluation import keep_shown, known_expert_return, mean_coverage, summarise
from orcalign.training.learner import Learner
from orcalign.training.players import Players
from orcalign.training.run_folder import MetricsLog, RunFolder
from orcalign.training.schedule import Schedule
from orcalign.training.setup import choose_device, limit_threads, make_players

FOUND = "something to look at was found in the first frames: the end of the video is compared around it"
NOT_FOUND = (
    "whole pictures are compared: no object was found in the first frames, or the demo is not one video of the size of "
    "the drawn frames"
)


class Watcher(Protocol):
    """Is told what happens: the panel, TensorBoard."""

    def write(self, record: dict[str, Any]) -> None:
        """A record of the metrics."""


class Training:
    """A run in progress: `go` brings it to its end, or to the moment when somebody asks it to stop."""

    def __init__(
        self,
        run: RunFolder,
        workers: int | str = 1,
        device: str = "auto",
        watchers: Iterable[Watcher] = (),
        checkpoint_minutes: float = 2.0,
    ) -> None:
        self.run, self.config, self._watchers = run, run.config, tuple(watchers)
        self._every = 60 * checkpoint_minutes
        limit_threads(self.config)
        self.players: Players
        self.players, reward = make_players(self.config, run.demo_folder, workers)
        try:
            world = self.players.world
            self.learner = Learner(self.config, world, reward, choose_device(device))
            self.schedule = Schedule(self.config, world.agent_steps)
            self.store = EpisodeStore(run.path / "episodes")
            self.checkpoints = Checkpoints(run.path / "checkpoints")
            self._best: float | None = None
            self._first_needed: dict[int, int] = {}
            self._evaluated: list[PlayedEpisode] = []
            self._waited = 0.0
            self._about = {"world": vars(world), "task": self.config.task}
            position = self._restore()
            # Only now: a run that goes on has been calibrated by its first episodes already.
            view = isinstance(reward.encoder, ObjectView)
            run.add_facts(matcher_settings=self.learner.labels.orca_settings(), object_view=view)
            self.metrics = MetricsLog(run.metrics_file, position)
            if self.config.encoder.look != "whole" and position == 0:
                text = FOUND if view else NOT_FOUND
                self._write({"kind": "note", "step": 0, "text": text})
        except BaseException:
            self.players.close()
            raise

    def go(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train; True if the run came to its end, False if `stop` asked for a halt. Both leave a checkpoint."""
        learner, schedule = self.learner, self.schedule
        saved = time.monotonic()
        for order in list(schedule.pending):
            self.players.submit(order)
        while True:
            for order in schedule.give(learner.steps, learner.agent.policy_weights):
                self.players.submit(order)
            if not schedule.pending:
                break
            start = time.perf_counter()
            episode = self.players.result()
            waited = time.perf_counter() - start
            order = schedule.pending.popleft()
            if order.evaluation is not None:
                self._evaluate(order, episode, waited)
                continue
            self._learn_from(order, episode, waited)
            if stop() or time.monotonic() - saved > self._every:
                self.save()
                saved = time.monotonic()
            if stop():
                return False
        self.save()
        return True

    def close(self) -> None:
        """End the players and close the metrics."""
        self.players.close()
        self.metrics.close()

    def save(self) -> None:
        """A checkpoint of this moment; the policy of now becomes the last one."""
        learner = self.learner
        plain, tensors = learner.state()
        orders, weights = self.schedule.state()
        import torch

        state = {
            "learner": plain,
            "schedule": orders,
            "best": self._best,
            "metrics_bytes": self.metrics.settle(),
            "demo_hash": self.run.facts["demo_hash"],
        }
        tensors = {f"agent/{name}": value.cpu() for name, value in tensors.items()}
        tensors |= {f"orders/{name}": torch.from_numpy(value) for name, value in weights.items()}
        self.checkpoints.save(learner.steps, Checkpoint(tensors, state))
        self._keep_policy("last")
        # The checkpoint before this one may still be needed, and with it the episodes that it lists.
        self._first_needed[learner.steps] = learner.digests[0][0] if learner.digests else 0
        self.store.forget_before(min(self._first_needed.get(step, 0) for step in self.checkpoints.steps()))

    def _learn_from(self, order: Order, episode: PlayedEpisode, waited: float) -> None:
        learner, labels = self.learner, self.learner.labels
        start = time.perf_counter()
        digest = self.store.add(episode)
        for note in learner.take(episode, digest):
            self._write({"kind": "note", "step": learner.steps, "text": note})
        self.run.add_facts(matcher_settings=labels.orca_settings())
        summary = labels.summary(episode.costs)
        took = time.perf_counter()
        losses = learner.learn()
        end = time.perf_counter()
        scale = 1.0 if labels.scale is None else labels.scale
        self._write(
            {
                "kind": "episode",
                "step": learner.steps,
                "episode": episode.number,
                "length": len(episode),
                "stage": labels.stage.matcher,
                **summary,
                "scaled_reward": summary["reward"] * scale,
                "success_steps": int(episode.success.sum()),
                "success": bool(episode.success[-1]),
                "env_return": float(episode.env_rewards.sum()),
                "scale": scale,
                "temperature": labels.temperature,
                "noise": order.noise,
                "random": order.random,
                "updates": learner.updates,
                **losses,
                "timing": {
                    **episode.seconds,
                    "keep": took - start,
                    "update": end - took,
                    "wait": waited,
                    "total": end - start + waited,
                },
            }
        )

    def _evaluate(self, order: Order, episode: PlayedEpisode, waited: float) -> None:
        self._evaluated.append(episode)
        self._waited += waited
        if any(other.evaluation == order.evaluation for other in self.schedule.pending):
            return
        start, step = time.perf_counter(), order.evaluation
        assert step is not None
        played, self._evaluated = self._evaluated, []
        reported = self.config.evaluation.eval_episodes
        episodes, choosing = played[:reported], played[reported:]
        labels = self.learner.labels
        record = summarise(episodes, labels, known_expert_return(self.config.task))
        # By what the video says, never by true success: a user's own task reports none.
        covered = mean_coverage(choosing or episodes, labels)
        best = self._best is None or covered > self._best
        if best:
            self._best = covered
            self._keep_policy("best", order.weights, step)
        keep_shown(self.run.path, step, episodes)
        end = time.perf_counter()
        seconds = {name: sum(one.seconds[name] for one in played) for name in episodes[0].seconds}
        self._write(
            {
                "kind": "evaluation",
                "step": step,
                "stage": labels.stage.matcher,
                **record,
                "choosing_coverage": covered,
                "best": best,
                "timing": {**seconds, "wait": self._waited, "total": self._waited + end - start},
            }
        )
        self._waited = 0.0

    def _keep_policy(self, name: str, weights: dict[str, Any] | None = None, step: int | None = None) -> None:
        weights = self.learner.agent.policy_weights(True) if weights is None else weights
        about = {**self._about, "step": self.learner.steps if step is None else step}
        save_policy(self.run.path / f"policy-{name}.safetensors", weights, about)

    def _write(self, record: dict[str, Any]) -> None:
        self.metrics.write(record)
        for watcher in self._watchers:
            watcher.write(record)

    def _restore(self) -> int:
        """Go on from the last checkpoint, or begin; how many bytes of metrics there are."""
        checkpoint = self.checkpoints.latest()
        if checkpoint is None:
            return 0
        state = checkpoint.state
        if state["demo_hash"] != self.run.facts["demo_hash"]:
            raise ValueError(
                f"the demo in {str(self.run.demo_folder)!r} is not the one that the run began with; put it back."
            )
        agent = _under("agent/", checkpoint.tensors)
        self.learner.load_state(state["learner"], agent, self.store)
        orders = {name: value.numpy() for name, value in _under("orders/", checkpoint.tensors).items()}
        self.schedule.load_state(state["schedule"], orders)
        self._best = state["best"]
        return int(state["metrics_bytes"])


def _under(prefix: str, tensors: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
