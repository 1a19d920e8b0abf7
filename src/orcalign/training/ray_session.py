"""The connection to Ray: the cluster at RAY_ADDRESS, or one on this machine that is ended with us."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
from typing import Any

KNOCK_SECONDS = 10.0


def connect() -> Any:
    """The module `ray`, connected.

    A cluster that is started here asks for a token that only this process and its children know, and listens on this
    machine alone. One that was there before has its own: RAY_AUTH_MODE and RAY_AUTH_TOKEN say how to be let in.
    """
    # Ray would hide GPUs from tasks that ask for none, and warns that it will stop to.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    address = os.environ.get("RAY_ADDRESS") or None
    if address in (None, "local"):
        # Ray's word for "this machine alone": it then binds to the loopback address, on Linux too.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    if address in (None, "local") and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        if "ray" in sys.modules:
            # Ray reads how to authenticate when it is imported, and somebody else did that before us.
            from ray._raylet import Config  # type: ignore[attr-defined, import-not-found, unused-ignore]

            Config.initialize("")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Ray was asked for, and {error.name} is not installed; install it with: pip install 'orcalign[ray]'."
        ) from error
    if ray.is_initialized():
        return ray
    if address is not None:
        _require_listening(address)
    here: dict[str, Any] = {"include_dashboard": False} if address in (None, "local") else {}
    try:
        ray.init(address=address or "local", logging_level=logging.ERROR, log_to_driver=False, **here)
    except Exception as error:
        raise ValueError(
            f"Ray at {address or 'this machine'} cannot be reached ({' '.join(str(error).split())}); "
            "check RAY_ADDRESS, and RAY_AUTH_TOKEN if the cluster asks for one."
        ) from error
    return ray


def _require_listening(address: str) -> None:
    """Ray itself would try for minutes to reach a machine that is not there."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except OSError as error:
        raise ValueError(
            f"Ray at {address} cannot be reached ({error.strerror or error}); check RAY_ADDRESS, and that `ray start` "
            "was run there."
        ) from None
