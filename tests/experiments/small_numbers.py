"""What has to be equal in two runs that are the same."""

import json

from orcalign.training.checkpoint import Checkpoints


def numbers_of(run):
    """Weights bit by bit, and metrics without the time they took."""
    _, tensors = Checkpoints(run.path / "checkpoints").latest()
    tensors = {name: value.numpy().tobytes() for name, value in tensors.items()}
    records = [{k: v for k, v in record.items() if k != "timing"} for record in run.records()]
    return tensors, json.dumps(records)
