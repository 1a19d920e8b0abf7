"""The one way to get an environment."""

from __future__ import annotations

from dataclasses import replace

from gymnasium.spaces import Box

from orcalign.envs.rendering import RENDER_MODES
from orcalign.envs.suite import Env, find_suite
from orcalign.envs.tasks import TaskSpec, find_task
from orcalign.envs.wrappers.flat import Flat, layout_of
from orcalign.envs.wrappers.frames import Frames, StackedPixels
from orcalign.envs.wrappers.steps import ActionRepeat, TaskEnv, TimeFraction


def make(
    task: str | TaskSpec,
    render: str | None = "fast",
    seed: int = 0,
    pixels: bool = False,
    size: int | None = None,
    camera: str | None = None,
    repeat: int | None = None,
) -> Env:
    """An environment of agent steps: the bare task, a Dict observation flattened (`Flat`), action repeat, time as a
    share of the episode, frames.

    `env.render()` gives the current frame uint8 [H,W,3] and draws nothing unless it is called.

    Args:
        task: a name (see `find_task`), or a `TaskSpec`.
        render: "fast" or "paper" for MuJoCo scenes whose camera the task names; others draw themselves, in their one
            way. None for no pictures at all.
        seed: of the run; `reset()` without a seed plays its training episodes one after another.
        pixels: observe three stacked 84x84 frames, uint8 [9,84,84], in the place of the state, which is in
            `info["state"]`. Without it a flat observation [D] gets the time, if the task has it, and is [D + 1].
        size: side of the frames in pixels; by default that of the render mode.
        camera: another camera than the task's; our renderer then draws a MuJoCo environment of others, too.
        repeat: simulation steps for which an action is held; by default those of the task.

    >>> env = make("nav2d", seed=0)
    >>> observation, info = env.reset()
    >>> observation.shape, env.render().shape
    ((4,), (64, 64, 3))
    """
    spec = find_task(task)
    check_render_choice(render)
    if pixels and render is None:
        raise ValueError("pixels=True observes pictures, and render=None draws none; use render='fast'.")
    if camera is not None:
        spec = replace(spec, camera=camera)
    if repeat is not None:
        spec = replace(spec, action_repeat=repeat)
    env, spec = find_suite(spec.suite).build(spec, render is not None, size)
    if layout_of(env.observation_space) is not None:
        env = Flat(env)
    if spec.action_repeat > 1:
        env = ActionRepeat(env, spec.action_repeat)
    space = env.observation_space
    if spec.time and isinstance(space, Box) and len(space.shape) == 1 and space.dtype.kind == "f":
        env = TimeFraction(env, spec.agent_steps)
    if render is not None:
        env = with_frames(env, spec, render, size)
    if pixels:
        env = StackedPixels(env)
    return TaskEnv(env, spec, seed)


def check_render_choice(render: str | None) -> None:
    """Refuse a render mode that there is not.

    >>> check_render_choice("quick")
    Traceback (most recent call last):
    ...
    ValueError: render is 'quick'; it must be one of fast, paper, or None for no pictures.
    """
    if render is not None and render not in RENDER_MODES:
        raise ValueError(f"render is {render!r}; it must be one of {', '.join(RENDER_MODES)}, or None for no pictures.")


def with_frames(env: Env, spec: TaskSpec, render: str, size: int | None) -> Frames:
    """The environment with frames: drawn by the renderer that its suite names, else as it draws itself."""
    renderer = find_suite(spec.suite).renderer(env, spec, render, size)
    if renderer is not None:
        return Frames(env, renderer, mode="paper" if render == "paper" else "fast")
    if spec.camera is not None:
        raise ValueError(f"task {spec.name!r} has one view only and no camera {spec.camera!r}; leave the camera out.")
    return Frames(env, size=size)
