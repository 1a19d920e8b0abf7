"""Fine-tuning of the paper's joint predictor: SGD over the whole network, then an autoencoder on what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from orcalign.checks import require_count
from orcalign.costs.predicted.confidence import WIDTH, Confidence
from orcalign.costs.predicted.finetuned import FineTuned, JointNetwork
from orcalign.costs.predicted.fitting import held_out
from orcalign.costs.predicted.joints import JointPredictor
from orcalign.encoders.resize import resize
from orcalign.envs.posed_data import PosedData
from orcalign.training.checkpoint import Checkpoints, under
from orcalign.training.joint_predictors import about_of, reads_joints
from orcalign.training.posed_eyes import Told

EPOCHS, BATCH, LEARNING_RATE, MOMENTUM = 100, 16, 0.008, 0.875
"""The paper's."""
BACKBONE, SIZE = "resnet50", 224


def batches(rows: npt.NDArray[np.int64], epoch: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """All rows once, in an order that belongs to the epoch.

    >>> [one.tolist() for one in batches(np.arange(20), 0, 0)] == [one.tolist() for one in batches(np.arange(20), 0, 0)]
    True
    """
    order = np.random.default_rng([seed, epoch]).permutation(rows)
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def optimiser(network: nn.Module) -> torch.optim.Optimizer:
    """The paper's SGD over all weights of a network."""
    return torch.optim.SGD(network.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)


def fine_tune(
    data: PosedData,
    folder: Path,
    epochs: int = EPOCHS,
    seed: int = 0,
    tell: Told | None = None,
    backbone: str = BACKBONE,
    size: int = SIZE,
    patience: int = 0,
) -> JointPredictor:
    """The predictor of a data set, of places alone; it goes on from the checkpoint of an epoch that is in `folder`.

    With a `patience` above 0 it ends after so many epochs without a smaller error on the rollouts held out, and is the
    network of the best one; with 0 that of the last, as in the paper. `about["curve"]` has those errors, in metres.
    """
    require_count(epochs, "epochs", at_least=1)
    require_count(patience, "patience", at_least=0)
    for part in ("network", "autoencoder"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    joints = reads_joints(data.about["task"]["name"])
    outputs = 3 * len(joints)
    network = JointNetwork(backbone, size, outputs, seed)
    aside = held_out(len(data), data.groups)
    rows, others = np.flatnonzero(~aside), np.flatnonzero(aside)
    truth = torch.from_numpy((data.entities.read(data.states)[:, :outputs] / 100).astype(np.float32))

    def images(chosen: npt.NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(resize(np.ascontiguousarray(data.frames[chosen]), size).copy())

    def step(chosen: npt.NDArray[np.int64]) -> Tensor:
        return nn.functional.mse_loss(network(images(chosen))[0], truth[chosen])

    def error() -> float:
        with torch.inference_mode():
            seen = torch.cat([network(images(part))[0] for part in np.array_split(others, -(-len(others) // BATCH))])
        return float((seen - truth[others]).view(len(others), -1, 3).norm(dim=2).mean())

    begun = Checkpoints(folder / "network")
    curve = _learn(network, step, rows, epochs, seed, begun, "fine-tuning", tell, error, patience)
    about = {"backbone": backbone, "size": size, "outputs": outputs, "epochs": len(curve)}
    reader = FineTuned(network.requires_grad_(False), about)
    features = torch.from_numpy(reader.read(data.frames[rows])[1])
    d = features.shape[1]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        coder = nn.Sequential(nn.Linear(d, WIDTH), nn.Linear(WIDTH, d))

    def again(chosen: npt.NDArray[np.int64]) -> Tensor:
        return nn.functional.mse_loss(coder(features[chosen]), features[chosen])

    _learn(coder, again, np.arange(len(rows)), epochs, seed, Checkpoints(folder / "autoencoder"), "confidence", tell)
    (first, first_bias, second, second_bias) = (one.detach().double().numpy() for one in coder.parameters())
    trust = Confidence.of(first.T, second.T, second @ first_bias + second_bias, features.numpy())
    return JointPredictor(reader, trust, {**about_of(data), "curve": curve}, joints, 0)


def _learn(
    network: nn.Module,
    loss_of: Callable[[npt.NDArray[np.int64]], Tensor],
    rows: npt.NDArray[np.int64],
    epochs: int,
    seed: int,
    checkpoints: Checkpoints,
    what: str,
    tell: Told | None,
    error: Callable[[], float] = lambda: 0.0,
    patience: int = 0,
) -> list[float]:
    """All epochs, or those that are left, or as many as `patience` allows; the error after each."""
    sgd = optimiser(network)
    done, curve = 0, []
    best: dict[str, Tensor] = {}
    found = checkpoints.latest()
    if found is not None:
        state, tensors = found
        done, curve = int(state["epochs"]), list(state["curve"])
        network.load_state_dict(under("network/", tensors))
        best = under("best/", tensors)
        for parameter, name in zip(network.parameters(), _names(network), strict=True):
            sgd.state[parameter]["momentum_buffer"] = tensors[f"momentum/{name}"]
    total = -(-len(rows) // BATCH)
    for epoch in range(done, epochs):
        if patience and len(curve) - 1 - int(np.argmin([*curve, np.inf])) >= patience:
            break
        for k, chosen in enumerate(batches(rows, epoch, seed)):
            loss = loss_of(chosen)
            if not torch.isfinite(loss):
                raise ValueError(f"{what} diverged in epoch {epoch} (the loss is {float(loss)}); look at the data.")
            sgd.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            sgd.step()
            if tell is not None:
                tell(what, epoch * total + k + 1, epochs * total)
        before = min(curve, default=np.inf)
        curve.append(error())
        if patience and curve[-1] < before:
            best = {name: value.clone() for name, value in network.state_dict().items()}
        tensors = {f"network/{name}": value for name, value in network.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in best.items()}
        momenta: dict[str, Any] = {
            f"momentum/{name}": sgd.state[parameter]["momentum_buffer"]
            for name, parameter in zip(_names(network), network.parameters(), strict=True)
        }
        checkpoints.save(epoch + 1, {"epochs": epoch + 1, "curve": curve}, {**tensors, **momenta})
    if best and patience:
        network.load_state_dict(best)
    return curve


def _names(network: nn.Module) -> list[str]:
    return [name for name, _ in network.named_parameters()]
