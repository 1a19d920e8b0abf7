"""The latency study: how long the reward of a rollout takes, by matcher, with and without encoding.

Rollouts of 100 and 300 frames against a demo of 100, as in the paper's appendix. Demo and rollouts are scripted-expert
episodes of a Meta-world task, stretched to these lengths, so that encoder and transport have real work to do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.experiments.statistics import mean_and_error
from orcalign.experiments.tables import MARK, paper_table
from orcalign.files import write_file
from orcalign.matching.threads import cores
from orcalign.rewards import Evidence, Rollout
from orcalign.rewards.demos import as_demos
from orcalign.training.presets import RECIPES

DEMO_FRAMES = 100
LENGTHS = (100, 300)
NAMES = ("ot", "threshold", "orca", "orca_progress", "dtw", "temporal_ot")
PAPER_ALONE = {"liv": "LIV (one text as the goal)"}
"""Rewards of the paper's table that are not here."""
FORMAT = 2


def measure_latency(
    rollouts: int = 100,
    encoded: int = 10,
    task: str = "lever-pull",
    encoder: str | None = None,
    encoder_size: int | None = None,
    clip: str = "i3d",
    clip_size: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Milliseconds of every part, as mean and standard error.

    Args:
        rollouts: how often every matcher is measured.
        encoded: how often encoder and distances are; they are the same for every matcher and take most of the time.
        task: whose expert plays.
        encoder: name of the encoder; left out, the default one.
        encoder_size: side in pixels of what it sees; left out, its own.
        clip: what embeds whole clips, for RoboCLIP; left out where its weights are not here.
        clip_size: side in pixels of what it sees; left out, 224.
        tell: is given notes for people.
    """
    from orcalign.encoders import WeightsUnavailable, make_encoder
    from orcalign.encoders.clips.registry import make_clip_encoder
    from orcalign.envs import make_demo
    from orcalign.rewards import VideoReward
    from orcalign.rewards.clip.reward import ClipReward

    # First: one that cannot be had is refused before demos are drawn.
    made = make_encoder(size=encoder_size) if encoder is None else make_encoder(encoder, size=encoder_size)
    demo, *others = (make_demo(task, seed)[0].frames for seed in range(3))
    shown = as_demos(_stretched(demo, DEMO_FRAMES))
    reward = VideoReward(list(shown), made)
    try:
        whole = make_clip_encoder(clip, size=clip_size, threads=cores())
        told = {"name": whole.name, "substitute": whole.substitute, "frames": whole.frames, "size": clip_size or 224}
    except WeightsUnavailable as error:
        whole, told = None, None
        tell(f"RoboCLIP is left out: {error}")
    lengths: dict[str, Any] = {}
    for frames in LENGTHS:
        tell(f"rollouts of {frames} frames")
        clips = [_stretched(one, frames) for one in others]
        encoding = _in_turn({"encoding": (made, clips)}, encoded)
        features = [made(clip) for clip in clips]
        costs = [reward.model.compare(one) for one in features]
        rewards = {name: reward.with_matcher(name) for name in NAMES}
        matching = _in_turn({name: (one.score_costs, costs) for name, one in rewards.items()}, rollouts)
        scored = {name: (one.score_features, features) for name, one in rewards.items()}
        scoring = _in_turn({"distance": (reward.model.compare, features), **scored}, encoded)
        lengths[str(frames)] = {
            **encoding,
            **({} if whole is None else _of_clips(ClipReward(shown, None, whole), clips, encoded)),
            "distance": scoring["distance"],
            "matchers": {name: {"matching": matching[name], "reward": scoring[name]} for name in NAMES},
        }
    return {
        "format": FORMAT,
        "encoder": made.name,
        "encoder_size": made.size,
        "task": task,
        "demo_frames": DEMO_FRAMES,
        "rollouts": rollouts,
        "encoded": encoded,
        "clip": told,
        "lengths": lengths,
    }


def latency_table(found: dict[str, Any]) -> str:
    """Ours beside the paper's, as Markdown."""
    paper = paper_table("latency")
    assert paper is not None
    mark = ""
    lines = [
        "# Latency of the reward",
        "",
        f"Milliseconds for one rollout against a demo of {found['demo_frames']} frames, mean (standard error); "
        f"{found['encoder']} at {found['encoder_size']} px, expert episodes of {found['task']} stretched to length.",
        "*Matching* has the matrix of distances, *reward* the features (it computes distances, context and matching), "
        "*with encoding* the frames.",
        f"The paper's ({paper.source}) are with its encoder on its machine: compare orders, not numbers.",
    ]
    clip = found.get("clip")
    if clip is not None:
        mark = f" {MARK}" if clip["substitute"] else ""
        lines += [
            f"RoboCLIP{mark} sees {clip['frames']} frames of {clip['size']} px by {clip['name']}; *network* is that "
            "alone." + (f" {MARK} {clip['substitute']}." if mark else "")
        ]
    for frames, row in found["lengths"].items():
        encoding, error = row["encoding"]
        lines += [
            "",
            f"**{frames} frames**: encoding {encoding:.0f} ({error or 0:.0f}), distances {row['distance'][0]:.2f} "
            f"({row['distance'][1]:.2f}).",
            "",
            "| matcher | matching | reward | with encoding | paper |",
            "|---|---|---|---|---|",
        ]
        theirs = paper.values[frames]
        for name, entry in sorted(row["matchers"].items(), key=lambda item: item[1]["matching"][0]):
            known = theirs.get(name)
            lines.append(
                f"| {RECIPES[name].label} | {_pair(3, *entry['matching'])} | {_pair(2, *entry['reward'])} "
                f"| {encoding + entry['reward'][0]:.0f} | {_pair(1, *known) if known else '-'} |"
            )
        if "roboclip" in row:
            whole, network = row["roboclip"]["reward"], row["roboclip"]["network"]
            lines.append(
                f"| {RECIPES['roboclip'].label}{mark} | network {_pair(0, *network)} | - | {_pair(0, *whole)} "
                f"| {_pair(1, *theirs['roboclip'])} |"
            )
        else:
            lines.append(f"| {RECIPES['roboclip'].label} | - | - | - | {_pair(1, *theirs['roboclip'])} |")
        lines += [f"| {label} | - | - | - | {_pair(1, *theirs[name])} |" for name, label in PAPER_ALONE.items()]
    return "\n".join(lines) + "\n"


def write_latency(folder: Path, found: dict[str, Any]) -> Path:
    """Keep the numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "latency.json", (json.dumps(found, indent=1) + "\n").encode())
    return folder / "latency.json"


def read_latency(folder: Path) -> dict[str, Any]:
    """What `write_latency` kept."""
    path = folder / "latency.json"
    if not path.is_file():
        raise FileNotFoundError(f"{str(path)!r} is not there; measure first: orcalign sweep latency.")
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if found["format"] == FORMAT:
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise ValueError(f"{str(path)!r} cannot be read; measure again: orcalign sweep latency.")


def _of_clips(reward: Any, clips: list[Any], count: int) -> dict[str, Any]:
    """Of a whole clip: from its frames to the reward, and the network alone."""
    encoder = reward.encoder

    def paid(frames: Any) -> Any:
        return reward.pay([Evidence(len(frames), reward.observe(Rollout(len(frames), frames)))])

    prepared = [encoder.prepared(frames) for frames in clips]
    whole = _in_turn({"reward": (paid, clips)}, count)
    return {"roboclip": {**whole, **_in_turn({"network": (encoder.run, prepared)}, count)}}


def _pair(digits: int, mean: float, error: float | None) -> str:
    return f"{mean:.{digits}f} ({error or 0:.{digits}f})"


def _stretched(frames: npt.NDArray[np.uint8], length: int) -> npt.NDArray[np.uint8]:
    picked: npt.NDArray[np.uint8] = frames[np.linspace(0, len(frames) - 1, length).round().astype(int)]
    return picked


def _in_turn(
    calls: dict[str, tuple[Callable[[Any], Any], list[Any]]], count: int
) -> dict[str, tuple[float, float | None]]:
    """Milliseconds of each over so many calls, which take turns: a busy moment should not hit one of them alone."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for k in range(-1, count):
        for name, (call, inputs) in calls.items():
            start = time.perf_counter()
            call(inputs[k % len(inputs)])
            if k >= 0:  # the first compiles, and finds its memory
                times[name].append(1000 * (time.perf_counter() - start))
    return {name: mean_and_error(found) for name, found in times.items()}
