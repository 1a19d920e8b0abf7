"""Environments of others: registered with Gymnasium under an id, or made by a function of the user's."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, final

from orcalign.checks import near_miss
from orcalign.envs.gymnasium.plugins import how_to_import
from orcalign.envs.suite import Env, Suite
from orcalign.envs.tasks import TaskSpec

UNKNOWN_EPISODE_STEPS = 1000
"""Of environments that name no limit of their own."""
OWN_IDS = {
    "orcalign/Nav2D-v0": ("orcalign.envs.nav2d.env:Nav2D", 30),
    "orcalign/Nav2DGrid-v0": ("orcalign.envs.nav2d.env:Nav2DGrid", 16),
}
"""Our own environments under their Gymnasium ids: module:class, and default length of an episode."""


def register() -> None:
    """Make our own ids known to `gymnasium.make`; a second call changes nothing.

    >>> register()
    >>> import gymnasium
    >>> gymnasium.make("orcalign/Nav2DGrid-v0").action_space
    Discrete(5)
    """
    import gymnasium

    for name, (entry, steps) in OWN_IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, entry, max_episode_steps=steps)


def make_registered(spec: TaskSpec, render_mode: str | None, **settings: Any) -> Env:
    """`gymnasium.make` of a task's id, with `settings` besides those of the task.

    >>> make_registered(TaskSpec("a", "gymnasium", "CartPole-v1"), None).spec.max_episode_steps
    1000
    """
    import gymnasium

    register()
    try:
        return gymnasium.make(
            spec.env_id, max_episode_steps=spec.episode_steps, render_mode=render_mode,
            disable_env_checker=True, **{**dict(spec.settings), **settings},
        )  # fmt: skip
    except gymnasium.error.Error as error:
        raise ValueError(f"the environment {spec.env_id!r} cannot be made: {str(error).rstrip('.')}.") from None


@final
class Gymnasium(Suite):
    """Whatever is registered, and `module:function` where the function returns an environment.

    >>> Gymnasium().find("Pendulum-v1").episode_steps
    200
    """

    name = "gymnasium"
    others = "a registered Gymnasium id, module:id where importing the module registers it, or module:function"
    # Others draw in one size, and a video that was recorded there has it, too. Of what a world can be like at a reset
    # nothing is known.
    defaults: Mapping[str, Mapping[str, Any]] = {"laptop": {"collect.frame_size": None, "follow.eye_episode": 15}}

    @property
    def names(self) -> Iterable[str]:
        """The registered ids."""
        if importlib.util.find_spec("gymnasium") is None:
            return ()
        import gymnasium

        register()
        return gymnasium.registry.keys()

    def find(self, name: str) -> TaskSpec | None:
        """The task of that id, or of that function."""
        module, colon, function = name.partition(":")
        if colon and task_function(name) is not None:
            return TaskSpec(name, "gymnasium", name, episode_steps=UNKNOWN_EPISODE_STEPS)
        # Gymnasium writes module:Id for an id that is registered when its module is imported. The module stays in the
        # task's name: another process has not imported it.
        env_id = function if colon else name
        if env_id in self.names:
            import gymnasium

            steps = gymnasium.registry[env_id].max_episode_steps or UNKNOWN_EPISODE_STEPS
            return TaskSpec(name, "gymnasium", name, episode_steps=steps)
        if not colon:
            return None
        public = [one for one in dir(importlib.import_module(module)) if one[:1] != "_"]
        raise ValueError(
            f"module {module!r} has no function {function!r}, and registers no environment of that id;"
            f"{near_miss(function, [*public, *self.names])} Name a function that returns an environment, or an id."
        )

    def hint(self, name: str) -> str:
        """Which package would register it."""
        return how_to_import(name)

    def build(self, spec: TaskSpec, pictures: bool, size: int | None) -> tuple[Env, TaskSpec]:
        """As Gymnasium or the function makes it."""
        from orcalign.envs.gymnasium.foreign import Foreign

        function = task_function(spec.env_id) if ":" in spec.env_id else None
        if function is not None:
            env, spec = _call(spec, function, pictures)
        else:
            env = make_registered(spec, "rgb_array" if pictures else None)
        return Foreign(env), spec


def _call(spec: TaskSpec, function: Callable[..., Env], pictures: bool) -> tuple[Env, TaskSpec]:
    """What the function returns, no longer than the task says."""
    import gymnasium

    try:
        takes_mode = "render_mode" in inspect.signature(function).parameters
    except ValueError:  # some callables have no signature
        takes_mode = False
    mode = {"render_mode": "rgb_array"} if pictures and takes_mode else {}
    env = function(**dict(spec.settings), **mode)
    if not isinstance(env, gymnasium.Env):
        raise ValueError(f"{spec.env_id!r} returned a {type(env).__name__}; it must return a gymnasium.Env.")
    limit = env.spec.max_episode_steps if env.spec is not None else None
    if limit is None and env.has_wrapper_attr("_max_episode_steps"):
        # A TimeLimit about an environment that was made by hand: it has no spec to say so.
        limit = env.get_wrapper_attr("_max_episode_steps")
    if limit is None or limit > spec.episode_steps:
        return gymnasium.wrappers.TimeLimit(env, spec.episode_steps), spec
    return env, replace(spec, episode_steps=limit)


def task_function(name: str) -> Callable[..., Env] | None:
    """The function that `module:function` names; None if the module has none of that name.

    >>> task_function("json:no_such") is None
    True
    """
    module, _, function = name.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A module that is there but misses one of its own imports must say so itself.
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise
        raise ValueError(
            f"task {name!r} names the module {module!r}, which Python does not find; "
            "run where it can be imported, or install it."
        ) from None
    except (TypeError, ValueError):
        raise ValueError(f"task {name!r} is not module:function, such as 'my_robot:make_env'.") from None
    made = getattr(loaded, function, None)
    if made is not None and not callable(made):
        raise ValueError(f"task {name!r} names a {type(made).__name__}; it must be a function that returns an env.")
    return made
