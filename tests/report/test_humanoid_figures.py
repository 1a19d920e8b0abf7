"""The humanoid's figures through a predictor that has learned next to nothing: they are drawn, and by its costs."""

import numpy as np
import pytest
from PIL import Image

from orcalign.costs.predicted.joints import JointModel
from orcalign.envs import make_demo
from orcalign.envs.posed_data import PosedData, make_posed_data
from orcalign.matching import orca
from orcalign.report.figures import FIGURES, humanoid, make_figure
from orcalign.training.joint_predictors import train_joints


@pytest.fixture(scope="module")
def predictor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("posed") / "data"
    make_posed_data(humanoid.TASK, folder, frames=60, size=64)
    return train_joints(PosedData.load(folder), updates=3)


@pytest.fixture(autouse=True)
def found(predictor, monkeypatch):
    monkeypatch.setattr(humanoid, "find", lambda runs: predictor)


def test_the_agents_of_figure_15_are_paid_by_what_the_predictor_reads(predictor):
    spec, scene = FIGURES["humanoid-agents"], humanoid.agents()
    assert [agent.success.any() for agent in scene.agents] == [False, True]
    demo = make_demo(humanoid.TASK, size=64)[0]
    (cost,) = JointModel(predictor, (demo,)).compare(predictor(scene.agents[1].frames))
    np.testing.assert_array_equal(scene.agents[1].match(spec.methods[-1]).reward, orca(cost).reward)


@pytest.mark.parametrize("name", ["humanoid-rewards", "humanoid-confidence", "humanoid-agents"])
def test_they_are_drawn(name, tmp_path):
    png, svg = make_figure(name, out=tmp_path)
    with Image.open(png) as picture:
        assert np.ptp(np.asarray(picture.convert("L"))) > 200
    assert svg.stat().st_size > 10_000
