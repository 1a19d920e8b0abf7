"""The paper's Humanoid: four motions of the arms while standing, each from ten frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.envs.humanoid.look import CAMERA
from orcalign.envs.humanoid.poses import BONES, FRAMES, GOALS, HINGES, POINTS, demo_arms
from orcalign.envs.suite import Env, Suite
from orcalign.envs.tasks import TaskSpec

if TYPE_CHECKING:
    from orcalign.costs.predicted.entities import Entities
    from orcalign.envs.experts import Episode
    from orcalign.envs.posing import Posed

STEPS = 120
_PAID: Mapping[str, Any] = {
    "reward.distance": "euclidean",
    "reward.context": 1,
    "reward.scale": "none",
    "reward.confidence": True,
    "reward.stability": 1.0,
    "evaluation.eval_episodes": 8,
}
"""What all recipes have here."""
WORDS = {
    "humanoid-arm-up-left": "the left arm is raised above the head and the right arm is down",
    "humanoid-arm-up-right": "the right arm is raised above the head and the left arm is down",
    "humanoid-arms-out": "both arms are raised to shoulder height",
    "humanoid-arms-down": "both arms are lowered to the side",
}


@final
class Humanoid(Suite):
    """Physics by Gymnasium, pictures by our renderer; demos are posed, not played.

    >>> list(Humanoid().tasks)
    ['humanoid-arm-up-left', 'humanoid-arm-up-right', 'humanoid-arms-out', 'humanoid-arms-down']
    """

    name = "humanoid"
    demonstrator = "joint angles from the start to the goal"
    plays = False
    poses = True
    posing = 4
    # Following reads the learner's true angles, and is a reference here: what is learned from is pictures.
    recipe = "orca_progress"
    joints = tuple(name for name, _ in POINTS)
    bones = BONES
    counts_simulation_steps = True

    # A radian off is about what a task forgives: costs have a unit, and nothing has to be calibrated. The demo's ten
    # frames stand for no times, so that neither context nor time would tell anything.
    defaults: Mapping[str, Mapping[str, Any]] = {
        "laptop": {
            **_PAID,
            "encoder.look": "arms",
            # The default weighs standing as much as the last frame of the demo: a step is worth at most 1 of each. A
            # floor near what the task forgives, and little beyond: who has passed the frames has covered them, and
            # staying in the last one is worth more than being somewhere near it.
            "reward.floor": 0.75,
            "reward.temperature": 0.5,
            "agent.agent": "sac",
            "agent.entropy_start": 0.1,
            "agent.hidden": 128,
            "agent.learning_rate": 7e-4,
            "agent.gamma": 0.97,
            "collect.repeat": 2,
            "collect.ends": "fallen",
            "collect.noise": "white",
            "collect.learning_starts": 500,
            "evaluation.eval_choosing": 3,
        },
        "paper": {**_PAID, "encoder.look": "joints", "agent.agent": "sac"},
    }
    recipes: Mapping[str, Mapping[str, Any]] = {
        "ot": {"reward.set": ["epsilon=0"]},
        "threshold": {"reward.set": ["threshold=0.7"]},
        "orca_progress": {
            "reward.calibrated": False,
            "reward.set": ["weight=10"],
            "encoder.look": "arms",
            "agent.gamma": 0.97,
            "agent.learning_rate": 7e-4,
        },
        # A reference: the learner's angles are the simulator's. What counts as a centimetre is a hundredth of a radian.
        "follow_posed": {
            "reward.confidence": False,
            "follow.tolerance": 50.0,
            "follow.near": 75.0,
            "agent.gamma": 0.97,
            "agent.learning_rate": 7e-4,
        },
    }

    @cached_property
    def tasks(self) -> Mapping[str, TaskSpec]:
        """The paper's four."""
        return {
            name: TaskSpec(
                name, "humanoid", "Humanoid-v4", CAMERA, STEPS, difficulty="hard", time=False,
                success=f"{words}, and the humanoid stands",
                # All ten frames: the demo is misaligned as it is, as nobody could follow it at its own speed.
                misaligned=f"0-{FRAMES - 1}",
            )
            for name, words in WORDS.items()
        }  # fmt: skip

    def check(self, spec: TaskSpec) -> None:
        """The goal comes with the name, and the view with the camera."""
        if spec.name not in GOALS:
            raise ValueError(f"task {spec.name!r} is no motion of the humanoid; there are {', '.join(GOALS)}.")
        if spec.camera != CAMERA:
            raise ValueError(f"task {spec.name!r} has the camera {spec.camera!r}; the humanoid has one, {CAMERA!r}.")

    def build(self, spec: TaskSpec, pictures: bool, size: int | None) -> tuple[Env, TaskSpec]:
        """Physics only."""
        from orcalign.envs.humanoid.env import HumanoidArms

        return HumanoidArms(spec), spec

    def entities(self, spec: TaskSpec) -> Entities:
        """The arms, as one place of six angles; a radian counts as a metre."""
        from orcalign.costs.predicted.entities import Entities
        from orcalign.envs.humanoid.poses import OBSERVED_ARMS

        return Entities(OBSERVED_ARMS, units=(100.0,) * len(OBSERVED_ARMS))

    def labels(self, spec: TaskSpec) -> Entities:
        """The joints and the angles of the arms, behind what is observed."""
        from orcalign.envs.humanoid.rollouts import labels

        return labels()

    def scene(self, spec: TaskSpec) -> TaskSpec:
        """One for all: a goal is not to be seen."""
        return next(iter(self.tasks.values()))

    def pose(
        self, spec: TaskSpec, seed: int = 0, render: str = "fast", size: int | None = None, first: int = 0
    ) -> Iterator[Posed]:
        """Rollouts: random, held, falling."""
        from orcalign.envs.humanoid.env import HumanoidArms
        from orcalign.envs.humanoid.rollouts import pose_rollouts

        env = HumanoidArms(spec)
        renderer = self.renderer(env, spec, render, size)
        assert renderer is not None, "the humanoid is a MuJoCo scene"
        return pose_rollouts(env, renderer, seed, first)

    def stability(self, spec: TaskSpec) -> Mapping[str, Any]:
        """The height of the torso, and Gymnasium's control cost: a tenth of the squares of actions from -0.4 to 0.4."""
        return {"height": 0, "upright": 1.3, "effort": 0.1 * 0.4**2}

    def references(self, spec: TaskSpec) -> Mapping[str, float]:
        """What comes without learning, as `orcalign tasks --measure-references` measured it."""
        from orcalign.envs.humanoid.references import stored_references

        return stored_references(spec.name)

    def record(self, spec: TaskSpec, seed: int, render: str | None, size: int | None) -> Episode:
        """Ten poses from the start to the goal, put there rather than moved; the seed changes nothing."""
        from orcalign.envs.experts import Episode
        from orcalign.envs.humanoid.env import HumanoidArms

        env = HumanoidArms(spec)
        renderer = None if render is None else self.renderer(env, spec, render, size)
        frames, observations, successes = [], [], []
        for arms in demo_arms(spec.name):
            env.put(np.concatenate([np.zeros(len(HINGES) - len(arms)), arms]))
            observations.append(env.observe())
            successes.append(env.facts()["success"])
            if renderer is not None:
                frames.append(renderer.render())
        if renderer is not None:
            renderer.close()
        return Episode(
            spec, seed, np.stack(frames) if frames else None, np.stack(observations),
            np.zeros((FRAMES, len(HINGES)), np.float32), np.array(successes),
            "unknown" if render is None else "paper" if render == "paper" else "fast",
        )  # fmt: skip
