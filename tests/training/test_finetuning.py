"""The paper's predictor in small: it learns, goes on where it was, and its file is a predictor as any other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from orcalign.costs.predicted.joints import JointPredictor
from orcalign.envs.posed_data import PosedData, make_posed_data
from orcalign.report.skeletons import skeleton_page
from orcalign.training import finetuning
from orcalign.training.finetuning import LEARNING_RATE, MOMENTUM, fine_tune, optimiser

TINY = {"backbone": "efficientnet-lite0", "size": 32}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> PosedData:
    folder = tmp_path_factory.mktemp("posed") / "data"
    make_posed_data("humanoid-arms-out", folder, frames=40, size=32)
    return PosedData.load(folder)


def test_it_is_the_papers_sgd():
    (group,) = optimiser(torch.nn.Linear(2, 2)).param_groups
    assert (group["lr"], group["momentum"]) == (LEARNING_RATE, MOMENTUM) == (0.008, 0.875)


def test_it_ends_where_it_gets_no_better_and_is_its_best(data, tmp_path, monkeypatch):
    """With a learning rate of 0 no epoch is better than the first one."""
    monkeypatch.setattr(finetuning, "LEARNING_RATE", 0.0)
    found = fine_tune(data, tmp_path / "still", epochs=9, patience=2, **TINY)
    curve = found.about["curve"]
    assert len(curve) == 3
    assert len(set(curve)) == 1
    # Asked again, it has ended already.
    assert fine_tune(data, tmp_path / "still", epochs=9, patience=2, **TINY).about["curve"] == curve
    assert "Mean error after each epoch" in skeleton_page(found, data, {})


def test_it_goes_on_where_it_was_with_the_same_numbers(data, tmp_path):
    fine_tune(data, tmp_path / "parted", epochs=1, **TINY)
    parted = fine_tune(data, tmp_path / "parted", epochs=2, **TINY)
    whole = fine_tune(data, tmp_path / "whole", epochs=2, **TINY)
    assert np.array_equal(parted.reader.read(data.frames[:2])[0], whole.reader.read(data.frames[:2])[0])
    whole.save(tmp_path / "joints.safetensors")
    again = JointPredictor.load(tmp_path / "joints.safetensors")
    assert again(data.frames[:2]).shape == (2, 18 * 3 + 1)
    assert np.array_equal(again(data.frames[:2]), whole(data.frames[:2]))
    with pytest.raises(ValueError, match="reads places and no angles"):
        again.compared(np.zeros((1, 55)), "arms")
