"""Metrics for Weights & Biases, for those who have an account there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orcalign.training.tensorboard import scalars


class WandbLog:
    """Sends the same scalars as `TensorBoardLog`; nothing is sent unless one is made.

    Args:
        config: the run's config, as plain values.
        folder: where wandb keeps its files.
    """

    def __init__(self, config: Mapping[str, Any], folder: str | os.PathLike[str]) -> None:
        try:
            import wandb  # type: ignore[import-not-found, unused-ignore]
        except ModuleNotFoundError as error:
            raise ValueError(
                f"Weights & Biases was asked for, and {error.name} is not installed; "
                "install it with: pip install wandb, or leave it out."
            ) from error
        self._run: Any = wandb.init(project="orcalign", config=dict(config), dir=os.fspath(folder))

    def write(self, record: Mapping[str, Any]) -> None:
        """Send the scalars of an episode or evaluation."""
        values = dict(scalars(record))
        if values:
            self._run.log({**values, "step": int(record["step"])})

    def close(self) -> None:
        """Send the rest."""
        self._run.finish()
