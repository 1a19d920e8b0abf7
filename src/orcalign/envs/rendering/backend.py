"""The one OpenGL context of this process: EGL where there is a GPU, else OSMesa on the CPU."""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import importlib
import os
import platform
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.checks import near_miss

INSTALL = "apt-get install libosmesa6 libegl1 libgl1-mesa-dri"
BACKENDS = ("egl", "osmesa", "glfw")

_RGBA, _UNSIGNED_BYTE = 0x1908, 0x1401
# Pictures are drawn into framebuffer objects; the window itself only has to exist.
_WINDOW = 64

# One picture is drawn at a time: OpenGL's state belongs to the process, not to a renderer.
gl_lock = threading.RLock()


class OpenGLError(OSError):
    """Pictures cannot be drawn on this machine as it is set up."""


def choose_backend(environment: Mapping[str, str] = os.environ, gpu: bool | None = None) -> str:
    """The backend to draw with: ``MUJOCO_GL`` where it is set, else EGL with a GPU, else OSMesa.

    >>> choose_backend({}, gpu=False), choose_backend({}, gpu=True), choose_backend({"MUJOCO_GL": "EGL"})
    ('osmesa', 'egl', 'egl')
    """
    chosen = environment.get("MUJOCO_GL", "").lower().strip()
    if chosen in BACKENDS:
        return chosen
    if chosen in ("disable", "disabled", "off", "false", "0"):
        raise OpenGLError(f"MUJOCO_GL is {chosen!r}, which turns drawing off; unset it to have pictures.")
    if chosen not in ("", "enable", "enabled", "on", "true", "1", "glx", "cgl", "wgl"):
        hint = near_miss(chosen, BACKENDS)
        raise ValueError(f"MUJOCO_GL is {chosen!r};{hint} It must be one of {', '.join(BACKENDS)}, or unset.")
    if platform.system() != "Linux" or chosen == "glx":
        return "glfw"
    if gpu is None:
        gpu = any(Path("/dev").glob("dri/renderD*")) or Path("/dev/nvidiactl").exists()
    return "egl" if gpu else "osmesa"


class OSMesaContext:
    """OpenGL on the CPU, called directly: PyOpenGL can be bound to another backend by whoever imported it first."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("OSMesa") or "libOSMesa.so.8"
        try:
            # MuJoCo looks its OpenGL functions up among the global symbols.
            self._library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            raise OpenGLError(
                f"OpenGL is missing ({name} cannot be loaded), so no pictures can be drawn; install it with: {INSTALL}"
            ) from None
        create = self._library.OSMesaCreateContextExt
        create.restype = ctypes.c_void_p
        create.argtypes = [ctypes.c_uint] + [ctypes.c_int] * 3 + [ctypes.c_void_p]
        self._library.OSMesaMakeCurrent.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_int,
        ]  # fmt: skip
        self._library.OSMesaGetCurrentContext.restype = ctypes.c_void_p
        self._library.OSMesaDestroyContext.argtypes = [ctypes.c_void_p]
        self._window = np.zeros((_WINDOW, _WINDOW, 4), np.uint8)
        self._context: int | None = create(_RGBA, 24, 8, 0, None)
        if not self._context:
            raise OpenGLError(f"OSMesa gave no OpenGL context; reinstall it with: {INSTALL}")

    def make_current(self) -> None:
        """Direct this thread's OpenGL calls to the context."""
        if self._library.OSMesaGetCurrentContext() == self._context:
            return
        window = self._window.ctypes.data
        if not self._library.OSMesaMakeCurrent(self._context, window, _UNSIGNED_BYTE, _WINDOW, _WINDOW):
            raise OpenGLError(f"OSMesa refused its own OpenGL context; reinstall it with: {INSTALL}")

    def free(self) -> None:
        """Give everything back."""
        if self._context:
            if self._library.OSMesaGetCurrentContext() == self._context:
                self._library.OSMesaMakeCurrent(None, None, _UNSIGNED_BYTE, 0, 0)
            self._library.OSMesaDestroyContext(self._context)
            self._context = None


def _mujoco_context(backend: str) -> Any:
    """MuJoCo's own context for a backend, whatever ``MUJOCO_GL`` was when mujoco was imported."""
    before = os.environ.get("PYOPENGL_PLATFORM")
    if backend == "glfw":
        # GLFW only warns, and MuJoCo goes on with a context that is none.
        with warnings.catch_warnings(action="ignore"):
            import glfw

            display = glfw.init()
        if not display:
            raise OpenGLError("MuJoCo would draw through glfw, but there is no display; set MUJOCO_GL=osmesa.")
    try:
        return importlib.import_module(f"mujoco.{backend}").GLContext(_WINDOW, _WINDOW)
    except Exception as error:  # every library under it has its own kind of error
        if before is None:
            os.environ.pop("PYOPENGL_PLATFORM", None)
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise OpenGLError(
            f"OpenGL through {backend} does not work here ({reason}); "
            f"set MUJOCO_GL=osmesa, or install what is missing with: {INSTALL}"
        ) from None


class _Shared:
    """The context, made at first use and freed before the interpreter takes OpenGL's libraries away."""

    def __init__(self) -> None:
        self.context: Any = None
        """An `OSMesaContext`, or MuJoCo's own, which has the same methods."""
        self.backend: str | None = None
        self.pid: int | None = None
        self.thread: int | None = None
        self.finalizers: list[weakref.finalize[..., object]] = []

    def make_current(self) -> None:
        if self.context is None:
            backend = choose_backend()
            self.context = OSMesaContext() if backend == "osmesa" else _mujoco_context(backend)
            self.backend, self.pid, self.thread = backend, os.getpid(), threading.get_ident()
            atexit.register(self.free)
        elif self.pid != os.getpid():
            raise OpenGLError(
                f"OpenGL was started in process {self.pid} and cannot be used in its fork {os.getpid()}; "
                "start worker processes with multiprocessing's 'spawn' method."
            )
        elif not self.usable_here():
            raise OpenGLError(
                f"OpenGL through {self.backend} belongs to the thread that drew first and cannot be used in "
                f"{threading.current_thread().name!r}; draw in that thread, or set MUJOCO_GL=osmesa."
            )
        self.context.make_current()

    def usable_here(self) -> bool:
        """OSMesa follows its caller from thread to thread; the others stay where they were made."""
        return self.pid == os.getpid() and (self.backend == "osmesa" or self.thread == threading.get_ident())

    def free(self) -> None:
        if self.context is not None and self.usable_here():
            for finalizer in self.finalizers:
                finalizer()
            self.context.free()
        self.context = None


_shared = _Shared()


def make_current() -> None:
    """Direct OpenGL calls to this process's one context, making it at first use.

    >>> make_current()
    """
    _shared.make_current()


def backend_in_use() -> str | None:
    """The backend of this process's context, None before the first picture.

    >>> make_current()
    >>> backend_in_use() in BACKENDS
    True
    """
    return _shared.backend


def free_with(owner: object, free: Callable[[], None]) -> weakref.finalize[..., object]:
    """Have `free()` called with the context current when `owner` is gone, or at exit; call the result for now.

    >>> class Owner: pass
    >>> owner = Owner()
    >>> now = free_with(owner, lambda: print("freed"))
    >>> _ = now()
    freed
    >>> now.alive
    False
    """
    finalizer = weakref.finalize(owner, _free_current, free)
    finalizer.atexit = False
    _shared.finalizers = [old for old in _shared.finalizers if old.alive] + [finalizer]
    return finalizer


def _free_current(free: Callable[[], None]) -> None:
    # A fork has no claim on its parent's objects; what another thread drops goes with the context at the end.
    if _shared.context is not None and _shared.usable_here():
        with gl_lock:
            _shared.context.make_current()
            free()
