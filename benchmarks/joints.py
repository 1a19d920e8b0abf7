"""How well a joint predictor tells poses apart, and its confidence falls: `python -m benchmarks.joints [DATA]`.

On rollouts of a data set that the predictor has not learned from, every frame is compared with all frames of the four
demos; without DATA, of rollouts and a predictor that are made first. Spearman is that of the distance that is read and
the true one, upright frames and all; beside it the cosine distance of an off-the-shelf encoder on the same frames.
AUROC: does confidence tell a torso below 1.0 m from one above 1.1 m?
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, spearmanr

from orcalign.costs.frames import FrameCosts
from orcalign.costs.predicted.fitting import held_out
from orcalign.costs.predicted.joints import JointPredictor
from orcalign.encoders import make_encoder
from orcalign.envs import make_demo
from orcalign.envs.humanoid.env import FALLEN, STANDING, HumanoidArms
from orcalign.envs.humanoid.poses import GOALS, demo_arms
from orcalign.envs.posed_data import PosedData
from orcalign.envs.tasks import find_task
from orcalign.files import write_file

ENCODER = "efficientnet-lite0"
Numbers = npt.NDArray[Any]


def demos(size: int, render: str) -> tuple[npt.NDArray[np.uint8], Numbers, Numbers]:
    """Frames [40,S,S,3] of the four demos, true places [40, 54] in metres, and true angles [40, 6]."""
    frames, places, angles = [], [], []
    for task in GOALS:
        frames.append(make_demo(task, size=size, render=render)[0].frames)
        env = HumanoidArms(find_task(task))
        for arms in demo_arms(task):
            env.put(np.concatenate([np.zeros(11), arms]))
            places.append(env.joints().ravel())
            angles.append(arms)
    return np.concatenate(frames), np.array(places), np.array(angles)


def apart(rows: Numbers, others: Numbers) -> Numbers:
    """Euclidean distances [N, M]."""
    found: Numbers = np.sqrt(((rows[:, None] - others[None]) ** 2).sum(-1))
    return found


def auroc(low: Numbers, high: Numbers) -> float:
    """Chance that a value of `low` is below one of `high`; ties count half.

    >>> auroc(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.875
    """
    ranks = rankdata(np.concatenate([low, high]))[len(low) :]
    return float((ranks.sum() - len(high) * (len(high) + 1) / 2) / (len(low) * len(high)))


def measure(folder: Path, file: Path) -> dict[str, Any]:
    """All of it, for a data set and a predictor."""
    data = PosedData.load(folder)
    predictor = JointPredictor.load(file)
    rows = np.flatnonzero(held_out(len(data), data.groups))
    frames, height = data.frames[rows], data.states[rows, 0]
    truth = data.entities.read(data.states[rows]) / 100
    K = 3 * len(predictor.joints)
    filmed, places, angles = demos(predictor.size, data.about["render"])
    seen, demo = predictor(frames), predictor(filmed)
    encoder = make_encoder(ENCODER, size=128)
    plain = FrameCosts(encoder(filmed), "cosine")(encoder(frames))
    found: dict[str, Any] = {"frames held out": len(rows), "fallen": round(float((height < FALLEN).mean()), 3)}
    upright = height > STANDING
    for what, known in (("joints", apart(truth[:, :K], places)), ("arms", apart(truth[:, K:], angles))):
        if what == "arms" and not predictor.angles:
            continue
        read = apart(predictor.compared(seen, what), predictor.compared(demo, what))
        for whom, which in (("all", np.ones(len(rows), bool)), ("upright", upright)):
            found[f"Spearman {what}, {whom}"] = [
                round(float(spearmanr(one[which].ravel(), known[which].ravel()).statistic), 4) for one in (read, plain)
            ]
    trust = seen[:, -1]
    found["AUROC of confidence for falls"] = round(auroc(trust[height < FALLEN], trust[upright]), 4)
    found["confidence, median"] = {
        "upright": round(float(np.median(trust[upright])), 3),
        "fallen": round(float(np.median(trust[height < FALLEN])), 3),
        "demos": round(float(np.median(demo[:, -1])), 3),
    }
    return found


def made(folder: Path) -> tuple[Path, Path]:
    """A data set and its predictor in a folder, made if they are not there."""
    from orcalign.envs.posed_data import make_posed_data
    from orcalign.training.joint_predictors import SAMPLES, train_joints

    data, file = folder / "rollouts", folder / "joints.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    if not file.is_file():
        make_posed_data("humanoid-arm-up-left", data, SAMPLES)
        train_joints(PosedData.load(data)).save(file)
    return data, file


if __name__ == "__main__":
    given = [Path(one) for one in sys.argv[1:]]
    data, file = (given[0], [*given, given[0] / "joints.safetensors"][1]) if given else made(Path("runs/joints"))
    text = json.dumps(measure(data, file), indent=1)
    print(text)
    if not given:
        write_file(Path(__file__).with_name("results") / "joints.json", (text + "\n").encode())
