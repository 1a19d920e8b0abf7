"""The joint predictor: confidence by hand, rows that do not depend on company, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.costs.predicted.confidence import Confidence
from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.eye import Eye
from orcalign.costs.predicted.joints import EyeReader, JointModel, JointPredictor
from orcalign.video import Demo


def test_confidence_by_hand():
    one = np.array([[1.0, 0.0]])
    trust = Confidence(one.T, one, np.zeros(2), mean=1.0, deviation=0.5, k=2.0)
    # The second number is not known to it: its square, halved, is the loss.
    z = np.array([[7.0, 1.0], [7.0, np.sqrt(2.0)], [7.0, 2.0], [0.0, np.sqrt(6.0)]])
    assert trust.loss(z) == pytest.approx([0.5, 1.0, 2.0, 3.0])
    assert trust(z) == pytest.approx([1.0, 1.0, np.exp(-0.5), np.exp(-2.0)])


def test_fitting_ends_where_gradient_descent_of_the_two_layers_would():
    import torch

    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5)) + 0.2 * rng.normal(size=(300, 5)) + 3.0
    torch.manual_seed(0)
    coder = torch.nn.Sequential(torch.nn.Linear(5, 2), torch.nn.Linear(2, 5)).double()
    descent = torch.optim.LBFGS(coder.parameters(), max_iter=300, line_search_fn="strong_wolfe")
    data = torch.tensor(z)

    def loss():
        descent.zero_grad()
        found = torch.nn.functional.mse_loss(coder(data), data)
        found.backward()
        return found

    descent.step(loss)
    trust = Confidence.fit(z, width=2)
    assert trust.mean == pytest.approx(float(loss().detach()), rel=0.02)
    assert (trust.mean, trust.deviation) == pytest.approx((trust.loss(z).mean(), trust.loss(z).std()))


@pytest.fixture(scope="module")
def predictor() -> tuple[JointPredictor, np.ndarray]:
    rng = np.random.default_rng(0)
    states = rng.uniform(0, 1, (60, 4))
    frames = np.zeros((60, 64, 64, 3), np.uint8)
    for frame, (x, y, *_) in zip(frames, states, strict=True):
        frame[int(56 * y) : int(56 * y) + 8, int(56 * x) : int(56 * x) + 8] = 255
    entities = Entities((0, 1, 2), objects=((1, 2, 3),))
    eye = Eye.begin(entities, frames, states, states[:1], about={"task": "a"})
    maps = eye.look(frames)
    eye.fit(maps, entities.read(states), updates=5)
    about = {"task": "a", "render": "fast", "size": 64, "camera": "front", "data": ""}
    return JointPredictor(EyeReader(eye), Confidence.fit(eye.predict(maps).hidden), about, ("one",), angles=3), frames


def test_a_row_is_the_same_alone_and_in_company(predictor):
    read, frames = predictor
    seen = read(frames[:7])
    assert seen.shape == (7, read.dim) == (7, 3 + 3 + 1)
    for t in range(7):
        assert np.array_equal(read(frames[t : t + 1])[0], seen[t])


def test_costs_are_euclidean_distances_of_what_is_compared_and_confidence_is_kept_beside(predictor):
    read, frames = predictor
    demo = Demo(frames[:5])
    features, known = read(frames[10:14]), read(frames[:5])
    for what, at in (("joints", slice(0, 3)), ("arms", slice(3, 6))):
        model = JointModel(read, [demo], what)
        by_hand = [[np.linalg.norm(a - b) for b in known[:, at]] for a in features[:, at]]
        (costs,) = model.compare(features)
        assert costs == pytest.approx(np.array(by_hand), abs=1e-6)
        assert model.between(0).diagonal() == pytest.approx(0)
        assert np.array_equal(model.beside(features)["confidence"], features[:, -1])
    with pytest.raises(ValueError, match="did you mean 'joints'"):
        JointModel(read, [demo], "joint")


def test_a_file_holds_all_of_it(predictor, tmp_path):
    read, frames = predictor
    read.save(tmp_path / "joints.safetensors")
    again = JointPredictor.load(tmp_path / "joints.safetensors")
    assert np.array_equal(again(frames[:3]), read(frames[:3]))
    assert again.fingerprint == read.fingerprint
    read.reader.eye.save(tmp_path / "eye.safetensors")
    with pytest.raises(ValueError, match="no joint predictor"):
        JointPredictor.load(tmp_path / "eye.safetensors")


@pytest.mark.parametrize(("name", "other"), [("task", "b"), ("render", "paper"), ("size", 128), ("camera", "side")])
def test_a_predictor_made_for_something_else_is_refused(predictor, name, other):
    with pytest.raises(ValueError, match=rf"made for {name} .*, not for .*orcalign predictor train"):
        predictor[0].require(**{name: other})
