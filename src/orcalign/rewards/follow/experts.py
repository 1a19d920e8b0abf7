"""Episodes of an expert, kept beside a reward to say what following its demo can be paid; nothing learns from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from orcalign.files import read_arrays
from orcalign.matching.match import FloatArray

EXPERTS = "experts.safetensors"
"""In the folder of a run, where its task has an expert."""


def experts_bytes(episodes: Sequence[FloatArray]) -> bytes:
    """The file of episodes' values [T+1, E]."""
    from safetensors.numpy import save

    arrays = {f"{k:03d}": np.ascontiguousarray(values) for k, values in enumerate(episodes)}
    content: bytes = save(arrays, {"about": json.dumps({"episodes": len(episodes)})})
    return content


def read_experts(folder: Path) -> tuple[FloatArray, ...]:
    """What `experts_bytes` was given, of a run's folder; nothing if there is none."""
    path = folder / EXPERTS
    if not path.is_file():
        return ()
    arrays, _ = read_arrays(path)
    return tuple(arrays[name] for name in sorted(arrays))
