"""Pictures of MuJoCo scenes: fast ones for training, the paper's for comparison."""

from orcalign.envs.rendering.backend import OpenGLError, choose_backend
from orcalign.envs.rendering.make import RENDER_MODES, FrameRenderer, make_renderer

__all__ = ["RENDER_MODES", "FrameRenderer", "OpenGLError", "choose_backend", "make_renderer"]
