"""The tasks, and how a name becomes one.

A name is one of the table below, any other Meta-world v3 task (`drawer-open`, `drawer-open-v3`), a registered
Gymnasium id (`Pendulum-v1`), or `module:function` where the function returns an environment.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orcalign.envs.metaworld_names import METAWORLD_NAMES
from orcalign.envs.spec import Difficulty, TaskSpec
from orcalign.video import PAPER_KEEP_LISTS

if TYPE_CHECKING:
    import gymnasium

OTHER_EPISODE_STEPS = 175
"""Of Meta-world tasks that are not in the paper: the longer of its two lengths. On four seeds of each of the fifty
tasks the scripted expert first succeeded within 156 steps or, in 400, not at all (peg-insert-side, soccer and
stick-pull, one seed each); only push-back took 300 to 350 on three of four. `replace(find_task(...),
episode_steps=...)` gives another length, up to Meta-world's 500."""
OTHER_CAMERA = "corner3"
UNKNOWN_EPISODE_STEPS = 1000
"""Of environments that name no limit of their own."""


def _paper(name: str, steps: int, camera: str, difficulty: Difficulty, success: str) -> TaskSpec:
    return TaskSpec(
        name=name,
        suite="metaworld",
        env_id=f"{name}-v3",
        camera=camera,
        episode_steps=steps,
        action_repeat=2,
        difficulty=difficulty,
        success=success,
        misaligned=PAPER_KEEP_LISTS[name],
        expert_stops=name == "lever-pull",
    )


def _nav2d(name: str, env_id: str, layout: str, steps: int, difficulty: Difficulty, kept: str) -> TaskSpec:
    return TaskSpec(
        name=name,
        suite="nav2d",
        env_id=env_id,
        episode_steps=steps,
        difficulty=difficulty,
        success="all subgoals were visited in order, and the agent is at the last one",
        misaligned=kept,
        settings=(("layout", layout),),
    )


# fmt: off
TASKS: dict[str, TaskSpec] = {
    spec.name: spec
    for spec in (
        #      name            steps  camera     difficulty  success
        _paper("button-press", 125, "corner",  "easy",   "the button is pushed in"),
        _paper("door-close",   125, "corner",  "easy",   "the door is closed"),
        _paper("door-open",    125, "corner3", "medium", "the door is open"),
        _paper("window-open",  125, "corner3", "medium", "the window is slid open"),
        _paper("lever-pull",   175, "corner3", "medium", "the lever is pulled up"),
        _paper("hand-insert",  125, "corner3", "medium", "the brown block is in the hole of the table"),
        _paper("push",         125, "corner3", "medium", "the cylinder is at the target"),
        _paper("basketball",   175, "corner",  "hard",   "the ball is in the hoop"),
        _paper("stick-push",   125, "corner",  "hard",   "the bottle is pushed to the target with the stick"),
        _paper("door-lock",    125, "corner",  "hard",   "the lock is turned down"),
        #      name                environment              layout      steps
        _nav2d("nav2d",            "orcalign/Nav2D-v0",     "slowness", 30, "easy", "1,3,5,7,9,12"),
        _nav2d("nav2d-order",      "orcalign/Nav2D-v0",     "order",    24, "easy", "1,3,5,7,9,11"),
        _nav2d("nav2d-grid",       "orcalign/Nav2DGrid-v0", "slowness", 16, "easy", "0,1,4,7"),
        _nav2d("nav2d-grid-order", "orcalign/Nav2DGrid-v0", "order",    12, "easy", "1,3,5"),
    )
}
# fmt: on
"""The paper's ten Meta-world tasks, and the 2D navigation."""

PAPER_TASKS: tuple[str, ...] = tuple(PAPER_KEEP_LISTS)
HELD_OUT_TASKS = (
    "drawer-open",
    "window-close",
    "faucet-open",
    "handle-press",
    "plate-slide",
    "coffee-button",
)
"""Others of Meta-world, on which nothing of orcalign's own methods was chosen."""


def find_task(name: str | TaskSpec) -> TaskSpec:
    """The task of that name.

    >>> find_task("door-close").camera, find_task("drawer-open-v3").episode_steps
    ('corner', 175)
    >>> find_task("door-clos")
    Traceback (most recent call last):
    ...
    ValueError: no task is called 'door-clos'; did you mean 'door-close', 'door-lock', 'door-unlock'? Known: ...
    """
    if isinstance(name, TaskSpec):
        return name
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"the task is {name!r}; give a name. {_known()}")
    short = name.removesuffix("-v3")
    if short in TASKS:
        return TASKS[short]
    if short in METAWORLD_NAMES:
        return TaskSpec(
            short, "metaworld", f"{short}-v3", OTHER_CAMERA, OTHER_EPISODE_STEPS, action_repeat=2,
            expert_stops=False, success="as Meta-world reports it",
        )  # fmt: skip
    if ":" in name:
        return _from_module(name)
    if importlib.util.find_spec("gymnasium") is not None:
        found = _registered(name)
        if found is not None:
            return found
    raise ValueError(f"no task is called {name!r};{_near(short)} {_known()}")


def task_function(name: str) -> Callable[..., gymnasium.Env[Any, Any]] | None:
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
        raise ValueError(
            f"task {name!r} names a {type(made).__name__}; it must be a function that returns an env."
        )
    return made


def _from_module(name: str) -> TaskSpec:
    module, _, function = name.partition(":")
    if task_function(name) is not None:
        return TaskSpec(name, "function", name, episode_steps=UNKNOWN_EPISODE_STEPS)
    # Gymnasium writes module:Id for an id that is registered when its module is imported.
    found = _registered(function)
    if found is not None:
        return found
    near = difflib.get_close_matches(
        function, [n for n in dir(importlib.import_module(module)) if n[:1] != "_"]
    )
    hint = f" did you mean {', '.join(map(repr, near))}?" if near else ""
    raise ValueError(
        f"module {module!r} has no function {function!r};{hint} It must be one that returns an environment."
    )


def _registered(name: str) -> TaskSpec | None:
    import gymnasium

    from orcalign.envs.registration import register

    register()
    entry = gymnasium.registry.get(name)
    if entry is None:
        return None
    return TaskSpec(name, "gymnasium", name, episode_steps=entry.max_episode_steps or UNKNOWN_EPISODE_STEPS)


def _near(name: str) -> str:
    names = [*TASKS, *(n for n in METAWORLD_NAMES if n not in TASKS)]
    if importlib.util.find_spec("gymnasium") is not None:
        import gymnasium

        names += list(gymnasium.registry)
    near = difflib.get_close_matches(name, names, n=3)
    return f" did you mean {', '.join(map(repr, near))}?" if near else ""


def _known() -> str:
    return (
        f"Known: {', '.join(TASKS)}, any other Meta-world v3 task, a registered Gymnasium id, "
        "or module:function."
    )
