"""A suite: a family of tasks, and all that is special about it.

A new family is a folder with a `Suite` in it and a line in `SUITES`. Whoever wants an environment, an expert, a demo
or a return asks the suite of the task; nobody asks which suite it is.
"""

from __future__ import annotations

import abc
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from orcalign.checks import require

if TYPE_CHECKING:
    import gymnasium
    import numpy as np
    import numpy.typing as npt

    from orcalign.costs.predicted.entities import Entities
    from orcalign.envs.experts import Episode, Expert
    from orcalign.envs.posing import Posed
    from orcalign.envs.rendering import FrameRenderer
    from orcalign.envs.tasks import TaskSpec

Env: TypeAlias = "gymnasium.Env[Any, Any]"
Reset: TypeAlias = tuple[Any, dict[str, Any]]
"""What an environment's `reset` returns: observation, info."""
Step: TypeAlias = tuple[Any, Any, bool, bool, dict[str, Any]]
"""What `step` returns: observation, reward, terminated, truncated, info."""
SUITES: dict[str, str] = {
    "metaworld": "orcalign.envs.metaworld:Metaworld",
    "nav2d": "orcalign.envs.nav2d:Nav2DSuite",
    "humanoid": "orcalign.envs.humanoid:Humanoid",
    "gymnasium": "orcalign.envs.gymnasium:Gymnasium",
}
"""Name to module:class, imported when it is first asked for; a task's name is shown to one after the other."""


class Suite(abc.ABC):
    """A family of tasks; `find_suite` has the one object of each.

    Only `build` has to be written. A module with a suite in it must not import a simulator before it is used.
    """

    name: str
    """Its name in `SUITES`, and `TaskSpec.suite` of its tasks."""
    others: str = ""
    """What else it knows by name besides its table, such as "a registered Gymnasium id"."""
    demonstrator: str = "scripted expert"
    """Who is seen in a demo that `record` makes."""
    plays: bool = True
    """Whether what its demos show was played, so that it has a return."""
    all_scripted: bool = False
    """Whether each of its tasks has a scripted expert, whose return is measured where it is not stored."""
    poses: bool = False
    """Whether it can put its worlds anywhere (`pose`), for an eye to learn from."""
    posing: int = 2
    """Number of the way in which that is done; another where the frames are others."""
    recipe: str | None = None
    """Of runs with the preset `laptop` that name none; None: to follow in state space, where it poses scenes."""
    counts_simulation_steps: bool = False
    """Whether a return counts the simulation's steps, also where an agent's action is held for several of them."""
    joints: tuple[str, ...] = ()
    """What the first entities of `labels` are, where a predictor of joints reads its pictures; then come angles."""
    bones: tuple[tuple[int, int], ...] = ()
    """Pairs of `joints` by which a skeleton is drawn."""
    upside_down: tuple[str, ...] = ()
    """Cameras that hang head down."""
    defaults: Mapping[str, Mapping[str, Any]] = {}
    """Name of a preset to the settings that are others for these tasks, as in {"laptop": {"reward.context": 1}}."""

    recipes: Mapping[str, Mapping[str, Any]] = {}
    """Name of a recipe to the settings that are others with it for these tasks, in every preset; "PRESET RECIPE" to
    those of one preset."""

    @property
    def tasks(self) -> Mapping[str, TaskSpec]:
        """The table of its tasks by name; it may be empty."""
        return {}

    @property
    def names(self) -> Iterable[str]:
        """Names that a user may have meant."""
        return self.tasks

    def find(self, name: str) -> TaskSpec | None:
        """The task of that name; None if it is not of this family."""
        return self.tasks.get(name)

    def check(self, spec: TaskSpec) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuse a task that cannot be of this family."""

    @abc.abstractmethod
    def build(self, spec: TaskSpec, pictures: bool, size: int | None) -> tuple[Env, TaskSpec]:
        """The bare environment, one simulation step a step, and its task with the episode length that it really has.

        `pictures` says whether it will have to draw, `size` the side of the pictures where it can choose it.
        """

    def hint(self, name: str) -> str:
        """What to say to one who names a task that there is not, as a sentence after a space; nothing by default."""
        return ""

    def renderer(self, env: Env, spec: TaskSpec, render: str, size: int | None) -> FrameRenderer | None:
        """What draws the environment: our renderer a MuJoCo scene whose camera is named; None if it draws itself."""
        from orcalign.envs.rendering import make_renderer

        world: Any = env.unwrapped
        mujoco = sys.modules.get("mujoco")
        if spec.camera is None or mujoco is None or not isinstance(getattr(world, "model", None), mujoco.MjModel):
            return None
        flip = spec.camera in self.upside_down
        return make_renderer(world.model, world.data, spec.camera, render, size, flip=flip)

    def entities(self, spec: TaskSpec) -> Entities | None:
        """What of an observation is where; None if that is not known of its tasks."""
        return None

    def labels(self, spec: TaskSpec) -> Entities | None:
        """What of a posed state is where: as of an observation, unless a posed state holds more."""
        return self.entities(spec)

    def scene(self, spec: TaskSpec) -> TaskSpec:
        """The task from whose scenes an eye for this one learns: others may look alike."""
        return spec

    def projection(self, spec: TaskSpec) -> npt.NDArray[np.float64] | None:
        """[3, n+1] Where in its pictures a place of n centimetres is, as `entities` reads it, with a 1 behind it.

        (x, y, 1) times a depth, x from the left and y from the top as shares of the picture; None if that is not known.
        """
        return None

    def pose(
        self, spec: TaskSpec, seed: int = 0, render: str = "fast", size: int | None = None, first: int = 0
    ) -> Iterator[Posed]:
        """Frames of scenes that were posed, each with its state; without an end, layout after layout from `first` on.

        What a layout shows follows from its number and the seed: whoever begins at it sees the same.
        """
        raise ValueError(
            f"scenes of {spec.name!r} cannot be posed; let an eye learn from the agent's own frames instead."
        )

    def expert(self, spec: TaskSpec, env: Env) -> Expert:
        """A fresh scripted expert for one episode of `env`."""
        raise ValueError(
            f"there is no scripted expert for {spec.name!r}; record a video of the task and use that as the demo: "
            "orcalign demo import VIDEO --out DIR."
        )

    def record(self, spec: TaskSpec, seed: int, render: str | None, size: int | None) -> Episode:
        """The episode of that seed as it should be done: here what the scripted expert does."""
        return self._played(spec, seed, render, size, self.expert)

    def demonstrate(self, spec: TaskSpec, seed: int, render: str | None, size: int | None) -> Episode:
        """The episode that a demo shows: that of `record`, unless there is a better ending."""
        return self.record(spec, seed, render, size)

    def _played(
        self, spec: TaskSpec, seed: int, render: str | None, size: int | None, expert: Callable[[TaskSpec, Env], Expert]
    ) -> Episode:
        from orcalign.envs.experts import play
        from orcalign.envs.making import with_frames

        env, spec = self.build(spec, render is not None, size)
        if render is not None:
            env = with_frames(env, spec, render, size)
        try:
            return play(expert(spec, env), env, spec, seed, render is not None)
        finally:
            env.close()

    def stability(self, spec: TaskSpec) -> Mapping[str, Any] | None:
        """Settings of a `StabilityReward` for its tasks; None where nothing can fall."""
        return None

    def references(self, spec: TaskSpec) -> Mapping[str, float]:
        """Returns that a table shows beside those of agents, by name, where there is no expert to normalise by."""
        return {}

    def episode_return(self, success: npt.NDArray[np.bool_], spec: TaskSpec) -> float:
        """The return of an episode by which agents are compared: here the agent steps [T] that report success."""
        return int(success.sum())


@cache
def _loaded(path: str) -> Suite:
    made: Suite = pkgutil.resolve_name(path)()
    return made


def find_suite(name: str) -> Suite:
    """The suite of that name in `SUITES`; `TaskSpec.suite` is one.

    >>> find_suite("nav2d").defaults["laptop"]["encoder.encoder"]
    'pixels'
    """
    require("suite", name, tuple(SUITES))
    return _loaded(SUITES[name])


def all_suites() -> Iterator[Suite]:
    """One after the other, in the order in which they are shown a name."""
    return map(find_suite, SUITES)
