"""Frames on demand."""

import gymnasium
import numpy as np
import pytest
from envs.wrappers.counting import Counting

from orcalign.envs import ActionRepeat, Frames


class Renderer:
    closed = False

    def render(self):
        return np.full((8, 8, 3), 7, np.uint8)

    def close(self):
        self.closed = True


def test_gymnasium_accepts_it(check_gymnasium):
    check_gymnasium(Frames(Counting(), size=8))
    check_gymnasium(Frames(Counting(render_mode=None), Renderer()))


def test_a_frame_is_drawn_once_a_step_and_only_if_asked(still):
    env = Frames(ActionRepeat(Counting(), 2))
    env.reset()
    for _ in range(5):
        env.step(still)
    assert env.unwrapped.drawn == 0
    frame = env.render()
    assert env.render() is frame
    assert env.unwrapped.drawn == env.frames_drawn == 1
    assert frame[0, 0, 0] == 100, "ten steps of brightness 10"
    env.step(still)
    assert env.render()[0, 0, 0] == 120
    assert frame[0, 0, 0] == 100, "a frame once given stays"
    env.reset()
    assert env.render()[0, 1, 0] == 0


def test_another_renderer_can_draw():
    renderer = Renderer()
    env = Frames(Counting(render_mode=None), renderer, mode="fast")
    env.reset()
    assert env.render()[0, 0, 0] == 7
    assert (env.render_mode, env.learner_render) == ("rgb_array", "fast")
    env.close()
    assert renderer.closed


def test_pictures_are_resized():
    env = Frames(Counting(), size=5)
    env.reset()
    assert env.render().shape == (5, 5, 3)


class Blind(Counting):
    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            Counting(render_mode=None),
            r"'Counting' draws no pictures .*; make it with render_mode='rgb_array'",
        ),
        (Blind(render_mode="ansi"), r"render_mode is ansi\); it knows ansi, and pictures need 'rgb_array'"),
        (gymnasium.make("CartPole-v1"), "'CartPole-v1' draws no pictures"),
    ],
)
def test_an_environment_without_pictures_is_refused(env, said):
    with pytest.raises(ValueError, match=said):
        Frames(env)


def test_pictures_that_are_none_are_refused(monkeypatch):
    env = Frames(Counting())
    env.reset()
    for drawn in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), None):
        monkeypatch.setattr(Counting, "render", lambda _, drawn=drawn: drawn)
        with pytest.raises(ValueError, match=r"a picture(?: must be)?,? uint8 \[H,W,3\]"):
            env.render()


def test_what_is_not_installed_is_said(monkeypatch):
    def render(_):
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed, run `pip install pygame`")

    monkeypatch.setattr(Counting, "render", render)
    env = Frames(Counting())
    with pytest.raises(ValueError, match="cannot draw: pygame is not installed, run"):
        env.render()
