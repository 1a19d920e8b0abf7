"""The picture of an agent step, drawn only when somebody asks for it; and pictures as observations."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.checks import require_count
from orcalign.encoders.resize import resize
from orcalign.envs.suite import Env, Reset, Step
from orcalign.video.demo import Render

if TYPE_CHECKING:
    from orcalign.envs.rendering import FrameRenderer


def check_draws(env: Env) -> None:
    """Refuse an environment that cannot give pictures as arrays.

    >>> check_draws(gymnasium.make("CartPole-v1"))
    Traceback (most recent call last):
    ...
    ValueError: the environment 'CartPole-v1' draws no pictures (render_mode is None); make it with ...
    """
    if env.render_mode == "rgb_array":
        return
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    modes = list(env.metadata.get("render_modes") or [])
    if "rgb_array" in modes:
        way = "make it with render_mode='rgb_array'."
    elif env.has_wrapper_attr("task_spec"):
        way = "make it with orcalign.envs.make(task, render='fast')."
    else:
        way = f"it knows {', '.join(map(str, modes)) or 'no render modes'}, and pictures need 'rgb_array'."
    raise ValueError(f"the environment {name!r} draws no pictures (render_mode is {env.render_mode}); {way}")


@final
class Frames(gymnasium.Wrapper[Any, Any, Any, Any]):
    """`render()` gives the current frame uint8 [H,W,3], drawn at most once a step, and never unasked.

    Put it around the action repeat, so that only agent steps have a frame.

    Args:
        env: any environment; without `renderer` it has to draw rgb_array itself.
        renderer: draws in the environment's place.
        size: side in pixels to which an environment's own pictures are stretched; left out, as they are.
        mode: how the pictures are made, which a demo must share: "fast", "paper" or "unknown".

    >>> from orcalign.envs.nav2d.env import Nav2D
    >>> env = Frames(Nav2D(render_mode="rgb_array"), size=32)
    >>> _ = env.reset(seed=0)
    >>> env.render().shape, env.render() is env.render(), env.frames_drawn
    ((32, 32, 3), True, 1)
    """

    def __init__(
        self,
        env: Env,
        renderer: FrameRenderer | None = None,
        size: int | None = None,
        mode: Render = "unknown",
    ) -> None:
        if renderer is None:
            check_draws(env)
        super().__init__(env)
        self.metadata = {"render_fps": 20, **env.metadata, "render_modes": ["rgb_array"]}
        self.learner_render = mode
        self.frames_drawn = 0
        self._renderer, self._size = renderer, size
        self._frame: npt.NDArray[np.uint8] | None = None
        self._drawn: tuple[int, ...] | None = None

    @property
    def render_mode(self) -> str:  # type: ignore[override]
        """Always arrays."""
        return "rgb_array"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Forget the frame of the last step."""
        self._frame = None
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Step:
        """Forget the frame of the last step."""
        self._frame = None
        return self.env.step(action)

    def render(self) -> npt.NDArray[np.uint8]:
        """The frame of now, uint8 [H,W,3]."""
        if self._frame is not None:
            return self._frame
        try:
            drawn: Any = self.env.render() if self._renderer is None else self._renderer.render()
        except gymnasium.error.DependencyNotInstalled as error:
            raise ValueError(f"the environment cannot draw: {str(error).rstrip('.')}.") from None
        if drawn is None:
            raise ValueError(
                "the environment drew nothing: its render() returned None; it must return a picture, uint8 [H,W,3]."
            )
        frame: npt.NDArray[np.uint8] = np.ascontiguousarray(drawn)  # MuJoCo's are upside down, and turned by strides
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
            raise ValueError(
                f"the environment drew {frame.dtype} of shape {list(frame.shape)}; a picture must be uint8 [H,W,3]."
            )
        if self._drawn is not None and frame.shape != self._drawn:
            raise ValueError(
                f"the environment drew {_pixels(frame.shape)}, and {_pixels(self._drawn)} before; all its pictures "
                "must have one size."
            )
        self._drawn = frame.shape
        if self._size is not None and self._renderer is None:
            frame = resize(frame[None], self._size)[0]
        self._frame = frame
        self.frames_drawn += 1
        return frame

    def close(self) -> None:
        """Close the renderer, too."""
        if self._renderer is not None:
            self._renderer.close()
        self.env.close()


def _pixels(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}x{shape[0]} pixels"


@final
class FrameInfo(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Hands over the frame uint8 [H,W,3] of each step in `info["frame"]`.

    Vector environments begin the next episode at once where one ends: whoever asks for a frame then is shown the first
    of the next one.

    >>> env = FrameInfo(gymnasium.make("CartPole-v1"))
    Traceback (most recent call last):
    ...
    ValueError: the environment 'CartPole-v1' draws no pictures (render_mode is None); make it with ...
    """

    def __init__(self, env: Env) -> None:
        check_draws(env)
        super().__init__(env)

    def step(self, action: Any) -> Step:
        """Step, and draw."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        # A copy: a renderer may draw into the same array again.
        return observation, reward, terminated, truncated, {**info, "frame": np.array(self.env.render())}


@final
class StackedPixels(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The last `stack` frames as observation, uint8 [3*stack, size, size], the newest last.

    After reset the first frame fills all places. What the environment itself observes is in `info["state"]`.

    >>> from orcalign.envs.nav2d.env import Nav2D
    >>> env = StackedPixels(Nav2D(render_mode="rgb_array"))
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, observation.dtype, info["state"].shape
    ((9, 84, 84), dtype('uint8'), (3,))
    """

    def __init__(self, env: Env, size: int = 84, stack: int = 3) -> None:
        require_count(size, "size", at_least=1)
        require_count(stack, "stack", at_least=1)
        check_draws(env)
        # One frame a step serves policy and reward: without it the reward would draw a second time.
        super().__init__(env if env.has_wrapper_attr("frames_drawn") else Frames(env))
        self.size, self.stack = size, stack
        self.observation_space = gymnasium.spaces.Box(0, 255, (3 * stack, size, size), np.uint8)
        self._recent: deque[npt.NDArray[np.uint8]] = deque(maxlen=stack)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Draw the first frame."""
        state, info = self.env.reset(seed=seed, options=options)
        self._recent.extend([self._small()] * self.stack)
        return np.concatenate(self._recent), {**info, "state": state}

    def step(self, action: Any) -> Step:
        """Draw the next frame."""
        state, reward, terminated, truncated, info = self.env.step(action)
        self._recent.append(self._small())
        return np.concatenate(self._recent), reward, terminated, truncated, {**info, "state": state}

    def _small(self) -> npt.NDArray[np.uint8]:
        frame: Any = self.env.render()
        return np.ascontiguousarray(resize(np.asarray(frame)[None], self.size)[0].transpose(2, 0, 1))
