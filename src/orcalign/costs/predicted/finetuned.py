"""The paper's joint predictor: a whole backbone and a head of three layers, fine-tuned. Needs torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from orcalign.encoders import Progress
from orcalign.encoders.backbones import Request
from orcalign.encoders.protocol import Frames
from orcalign.encoders.registry import find_entry
from orcalign.encoders.resize import resize
from orcalign.matching.match import FloatArray

HIDDEN = 1024
CHUNK = 16


class JointNetwork(nn.Module):
    """uint8 [B,S,S,3] → places [B, outputs] in metres and pooled features [B, d].

    The backbone's batch norms are folded into its convolutions, so their statistics stay those of ImageNet.
    """

    def __init__(self, backbone: str, size: int, outputs: int, seed: int = 0, weights: str | None = None) -> None:
        super().__init__()
        made: Any = find_entry(backbone).factory(Request(backbone, size, True, weights))
        self.trunk = made.graph().requires_grad_(True)
        with torch.no_grad():
            d = self.trunk(torch.zeros((1, size, size, 3), dtype=torch.uint8)).shape[1]
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.head = nn.Sequential(
                nn.Linear(d, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs)
            )

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """[B,S,S,3] → places, features."""
        features = self.trunk(images)
        return self.head(features), features


@final
class FineTuned:
    """A fine-tuned network as a reader of joints."""

    kind = "fine-tuned"

    def __init__(self, network: JointNetwork, about: Mapping[str, Any]) -> None:
        self.network, self.about = network.eval(), dict(about)

    def read(self, frames: Frames, progress: Progress | None = None) -> tuple[FloatArray, npt.NDArray[np.float32]]:
        """Places [T, E] and features [T, d] of frames [T,H,W,3], each by itself."""
        small = resize(np.ascontiguousarray(frames), self.about["size"])
        values, features = [], []
        with torch.inference_mode():
            for t in range(len(small)):
                # Torch rounds otherwise in other company.
                value, feature = self.network(torch.from_numpy(small[t : t + 1].copy()))
                values.append(value[0].double().numpy())
                features.append(feature[0].numpy())
                if progress is not None:
                    progress(t + 1)
        return np.stack(values), np.stack(features)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """How it is built, and all weights."""
        return self.about, {name: value.detach().cpu().numpy() for name, value in self.network.state_dict().items()}

    @classmethod
    def from_state(cls, plain: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> FineTuned:
        """What `state` gave."""
        network = JointNetwork(plain["backbone"], plain["size"], plain["outputs"])
        network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in arrays.items()})
        return cls(network, plain)
