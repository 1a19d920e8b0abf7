"""A run's folder → what was recorded in it, however far the run came."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orcalign.training.run_folder import check_version

Record = Mapping[str, Any]
PARTS = {
    "simulate": "simulate",
    "render": "draw the frames",
    "observe": "observe for the reward",
    "update": "update the agent",
    "wait": "learner waits",
    "evaluate": "evaluate",
    "other": "other",
}
"""What the parts are called on the page, in the order of the data's way."""


@dataclass(frozen=True, eq=False)
class RunRecords:
    """Settings and metrics of one run."""

    folder: Path
    config: Mapping[str, Any]
    config_text: str
    """As it stands in the file."""
    info: Mapping[str, Any]
    """Of run.json: versions, command, task, expert's return, …"""
    episodes: tuple[Record, ...]
    """In the order in which they were written, as are the next two."""
    evaluations: tuple[Record, ...]
    notes: tuple[Record, ...]
    unread: int
    """Lines of metrics.jsonl that are no records; a last line that is being written is not counted."""

    @property
    def steps(self) -> int:
        """The last step that anything was recorded at."""
        return max((int(record["step"]) for record in (*self.episodes, *self.evaluations)), default=0)


def read_run(folder: Path) -> RunRecords:
    """Read a run's folder; everything but one of config.yaml and metrics.jsonl may be missing.

    >>> read_run(Path("no-such-run"))
    Traceback (most recent call last):
    ...
    FileNotFoundError: 'no-such-run' holds no run: neither config.yaml nor metrics.jsonl is there; give the ...
    """
    config, metrics = folder / "config.yaml", folder / "metrics.jsonl"
    if not config.is_file() and not metrics.is_file():
        raise FileNotFoundError(
            f"'{folder}' holds no run: neither config.yaml nor metrics.jsonl is there; give the folder that "
            "a training run wrote."
        )
    import yaml

    check_version(folder)
    config_text = config.read_text("utf-8", "replace") if config.is_file() else ""
    records, unread = read_metrics(metrics)
    episodes, evaluations, notes = (
        tuple(record for record in records if record["kind"] == kind) for kind in ("episode", "evaluation", "note")
    )
    try:
        values = yaml.safe_load(config_text) or {}
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"'{config}' is not valid YAML ({reason}); restore it or mend it by hand.") from error
    facts = folder / "run.json"
    try:
        info = json.loads(facts.read_bytes()) if facts.is_file() else {}
    except ValueError as error:
        raise ValueError(f"'{facts}' is not valid JSON ({error}); restore it or mend it by hand.") from error
    return RunRecords(folder, values, config_text, info, episodes, evaluations, notes, unread)


def read_metrics(path: Path) -> tuple[list[Record], int]:
    """The records of a metrics.jsonl and the number of lines that are none.

    A run may be writing, or have been killed while it wrote: a last line without its end is left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "metrics.jsonl"
    ...     _ = path.write_text('{"kind": "note", "step": 1, "text": "a"}\\n{"kind": "no')
    ...     read_metrics(path)
    ([{'kind': 'note', 'step': 1, 'text': 'a'}], 0)
    """
    if not path.is_file():
        return [], 0
    records: list[Record] = []
    unread = 0
    *lines, torn = path.read_bytes().split(b"\n")
    for line in (*lines, torn):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if isinstance(record, dict) and "kind" in record and number(record.get("step")) is not None:
            records.append(record)
        elif line is not torn:
            unread += 1
    return records, unread


def number(value: Any) -> float | None:
    """A finite number, or None for anything else.

    >>> number(3), number(True), number(float("nan")), number("3"), number(None)
    (3.0, 1.0, None, None, None)
    """
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def numbers(records: Sequence[Record], name: str) -> list[float | None]:
    """One entry of every record, None where it is missing or not finite.

    >>> numbers([{"reward": 1}, {}], "reward")
    [1.0, None]
    """
    return [number(record.get(name)) for record in records]


def section(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping inside a mapping; empty if there is none.

    >>> section({"reward": {"matcher": "orca"}, "seed": 1}, "seed")
    {}
    """
    inside = mapping.get(name)
    return inside if isinstance(inside, Mapping) else {}


def kept_best(run: RunRecords) -> Record | None:
    """The evaluation that the run itself kept as its best."""
    return next((record for record in reversed(run.evaluations) if record.get("best")), None)


def spent(run: RunRecords) -> tuple[dict[str, float], float]:
    """Seconds by the names of `PARTS`, only those above 0, and by the clock, which the records call their total.

    An evaluation counts as one part, whatever it consists of.
    """
    parts = dict.fromkeys(PARTS, 0.0)
    wall = 0.0
    for record in (*run.episodes, *run.evaluations):
        timing = {name: number(value) or 0.0 for name, value in section(record, "timing").items()}
        wall += timing.pop("total", 0.0)
        if record["kind"] == "evaluation":
            # The learner waits for what collectors do.
            timing = {"evaluate": sum(timing.values()) - timing.get("wait", 0.0)}
        for name, value in timing.items():
            parts[name if name in PARTS else "other"] += value
    parts["other"] += max(0.0, wall - sum(parts.values()))
    return {name: seconds for name, seconds in parts.items() if seconds > 0}, wall
