"""The loop: play → reward → store → update → evaluate → checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from orcalign.files import save_arrays
from orcalign.rewards.base import State
from orcalign.training.checkpoint import Checkpoints, under
from orcalign.training.collector import Live, Order
from orcalign.training.episode import EpisodeStore, PlayedEpisode, keep_shown, summarise
from orcalign.training.learner import Learner, choose_device, limit_threads
from orcalign.training.players import make_players
from orcalign.training.run_folder import MetricsLog, RunFolder, save_reward_state
from orcalign.training.schedule import Schedule
from orcalign.training.signal import AFTER, signal


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
        self.players, self.reward = make_players(run, 0 if self.config.collect.updates == "step" else workers)
        try:
            world = self.players.world
            self.learner = Learner(self.config, world, self.reward, choose_device(device))
            self.schedule = Schedule(self.config, world.agent_steps)
            self.store = EpisodeStore(run.path / "episodes")
            self.checkpoints = Checkpoints(run.path / "checkpoints")
            self._best: float | None = None
            self._judged = False
            """Whether it has been said what the reward can tell apart; it is after so many episodes."""
            self._judge_after = max(AFTER, self.config.reward.calibration_episodes)
            self._first_needed: dict[int, int] = {}
            self._evaluated: list[PlayedEpisode] = []
            self._waited = self._updating = 0.0
            if self.config.collect.updates == "step":
                self.players.act_live(self._act_live)
            position = self._restore()
            save_reward_state(run.path, self.reward)
            self.metrics = MetricsLog(run.metrics_file, position)
            for note in self.reward.notes if position == 0 else ():
                self._write({"kind": "note", "step": 0, "text": note})
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
            for order in schedule.give(learner.steps, learner.agent.policy_weights, self._guide()):
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
        import torch

        learner = self.learner
        plain, tensors = learner.state()
        orders, weights = self.schedule.state()
        reward, arrays = self.reward.state()
        state = {
            "learner": plain,
            "reward": reward,
            "schedule": orders,
            "best": self._best,
            "judged": self._judged,
            "metrics_bytes": self.metrics.settle(),
            "demo_hash": self.run.facts["demo_hash"],
        }
        tensors = {f"agent/{name}": value.cpu() for name, value in tensors.items()}
        for prefix, values in (("orders", weights), ("reward", arrays)):
            tensors |= {f"{prefix}/{name}": torch.from_numpy(value.copy()) for name, value in values.items()}
        self.checkpoints.save(learner.steps, state, tensors)
        self._keep_policy("last", learner.steps, learner.agent.policy_weights(), self._guide())
        # The checkpoint before this one may still be needed, and with it the episodes that it lists.
        self._first_needed[learner.steps] = learner.digests[0][0] if learner.digests else 0
        self.store.forget_before(min(self._first_needed.get(step, 0) for step in self.checkpoints.steps()))

    def _guide(self) -> State | None:
        """What collectors need to guide the policy as the reward of now does."""
        return self.reward.state() if self.reward.guide_dim else None

    def _learn_from(self, order: Order, episode: PlayedEpisode, waited: float) -> None:
        learner, reward = self.learner, self.reward
        start = time.perf_counter()
        digest = self.store.add(episode)
        told = learner.take(episode, digest)
        notes = list(told or ())
        if not self._judged and reward.ready and order.number + 1 >= self._judge_after:
            self._judged = True
            notes.append(signal(reward, list(learner.kept)))
        for note in notes:
            self._write({"kind": "note", "step": learner.steps, "text": note})
        if told is not None:
            save_reward_state(self.run.path, reward)
        summary, numbers = reward.summary(episode.evidence), reward.numbers()
        took = time.perf_counter()
        learner.learn()
        losses = learner.losses()
        end = time.perf_counter()
        self._write(
            {
                "kind": "episode",
                "step": learner.steps,
                "episode": episode.number,
                "length": len(episode),
                "stage": reward.name,
                **summary,
                "scaled_reward": summary["reward"] * numbers["scale"],
                "success_steps": int(episode.success.sum()) if episode.reports else None,
                "success": bool(episode.success[-1]) if episode.reports else None,
                "env_return": float(episode.env_rewards.sum()),
                **numbers,
                "noise": order.noise,
                "random": order.random,
                "updates": learner.updates,
                **losses,
                "timing": {
                    **episode.seconds,
                    "keep": took - start,
                    "update": end - took + self._updating,
                    "wait": waited - self._updating,
                    "total": end - start + waited,
                },
            }
        )
        self._updating = 0.0

    def _act_live(self, t: int) -> Live:
        """Before step t of a training episode: learn what is due, and act with that."""
        start = time.perf_counter()
        weights = self.learner.agent.policy_weights() if self.learner.learn(t) else None
        self._updating += time.perf_counter() - start
        return Live(weights, *self.schedule.exploration(self.learner.steps + t))

    def _evaluate(self, order: Order, episode: PlayedEpisode, waited: float) -> None:
        self._evaluated.append(episode)
        self._waited += waited
        if any(other.evaluation == order.evaluation for other in self.schedule.pending):
            return
        start, step, reward = time.perf_counter(), order.evaluation, self.reward
        assert step is not None
        played, self._evaluated = self._evaluated, []
        reported = self.config.evaluation.reported(last=step >= self.config.steps)
        episodes, choosing = played[:reported], played[reported:]
        record = summarise(episodes, reward, self.config.task, self.run.facts.get("expert_return"), choosing)
        # By what the reward says, never by true success: a user's own task reports none.
        by = reward.criterion.split(" + ")
        chosen = [sum(map(reward.summary(one.evidence).__getitem__, by)) for one in choosing or episodes]
        score = sum(chosen) / len(chosen)
        best = self._best is None or score > self._best
        if best:
            self._best = score
            self._keep_policy("best", step, order.weights, order.reward)
        keep_shown(self.run.path, step, episodes)
        end = time.perf_counter()
        seconds = {name: sum(one.seconds[name] for one in played) for name in episodes[0].seconds}
        self._write(
            {
                "kind": "evaluation",
                "step": step,
                "stage": reward.name,
                **record,
                "chosen_by": reward.criterion,
                "choosing": score,
                "best": best,
                "timing": {**seconds, "wait": self._waited, "total": self._waited + end - start},
            }
        )
        self._waited = 0.0

    def _keep_policy(self, name: str, step: int, weights: dict[str, Any], guide: State | None) -> None:
        """A policy, with what guides it."""
        about = {"world": vars(self.players.world), "task": self.config.task, "step": step}
        arrays = {f"policy/{key}": value for key, value in weights.items()}
        if guide is not None:
            about["reward"] = guide[0]
            arrays |= {f"reward/{key}": value for key, value in guide[1].items()}
        save_arrays(self.run.path / f"policy-{name}.safetensors", arrays, about)

    def _write(self, record: dict[str, Any]) -> None:
        self.metrics.write(record)
        for watcher in self._watchers:
            watcher.write(record)

    def _restore(self) -> int:
        """Go on from the last checkpoint, or begin; how many bytes of metrics there are."""
        checkpoint = self.checkpoints.latest()
        if checkpoint is None:
            return 0
        state, tensors = checkpoint
        if state["demo_hash"] != self.run.facts["demo_hash"]:
            raise ValueError(
                f"the demo in {str(self.run.path / 'demo')!r} is not the one that the run began with; put it back."
            )
        reward, orders = (
            {name: value.numpy() for name, value in under(prefix, tensors).items()} for prefix in ("reward/", "orders/")
        )
        self.reward.load_state((state["reward"], reward))
        self.learner.load_state(state["learner"], under("agent/", tensors), self.store)
        self.schedule.load_state(state["schedule"], orders)
        self._best, self._judged = state["best"], state.get("judged", True)
        return int(state["metrics_bytes"])
