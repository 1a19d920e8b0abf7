"""A demo in numbers: what an eye says of each of its frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.entities import Entities
from orcalign.matching.match import FloatArray


@final
@dataclass(frozen=True, eq=False)
class DescribedDemo:
    """Where the entities are in each of a demo's J frames, how far off that may be, and what is believed.

    Centimetres, in the order of `Entities.parts`.
    """

    entities: Entities
    values: FloatArray
    """[J, E]"""
    scales: FloatArray
    """[J, P] Expected error of each part."""
    start: FloatArray
    """[E] Before the demo begins: objects where they rest, and the hand where an episode begins."""
    believed: npt.NDArray[np.bool_]
    """[J] Whether what is said of the objects is believed; of the hand it always is."""
    error: float
    """Median error of the hand's place relative to the first object's (or the goal's, or its own) on frames that the
    eye was not trained on."""

    def __post_init__(self) -> None:
        J, E, P = len(self.values), self.entities.dim, len(self.entities.parts)
        for name, shape in (("values", (J, E)), ("scales", (J, P)), ("start", (E,)), ("believed", (J,))):
            found = getattr(self, name).shape
            if found != shape:
                raise ValueError(f"{name} of a described demo has shape {found}; it must be {shape}.")
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} of a described demo is not finite; the eye saw what it cannot tell.")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def expected(self) -> float:
        """Median error in centimetres that the eye expects over these frames: of the hand's place relative to the first
        object's (or the goal's, or its own)."""
        names = [part.name for part in self.entities.parts]
        other = [name for name in ("object 1", "goal") if name in names][:1]
        shown = self.scales[:, [names.index(name) for name in ("hand", *other)]]
        return float(np.median(np.linalg.norm(shown, axis=1)))

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Plain values and arrays; `from_state` reads them."""
        arrays = {name: getattr(self, name) for name in ("values", "scales", "start", "believed")}
        return {"entities": self.entities.plain(), "error": self.error}, arrays

    @classmethod
    def from_state(cls, plain: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> DescribedDemo:
        """What `state` gave."""
        named = {name: np.asarray(arrays[name]) for name in ("values", "scales", "start", "believed")}
        return cls(Entities.from_plain(plain["entities"]), error=float(plain["error"]), **named)

    @classmethod
    def known(cls, entities: Entities, states: npt.ArrayLike, start: npt.ArrayLike) -> DescribedDemo:
        """Of a demo whose states [J, D] are known, with the one before its first action [D]: a reference.

        >>> demo = DescribedDemo.known(Entities((0, 1)), [[0.1, 0.0], [0.2, 0.0]], [0.0, 0.0])
        >>> demo.values.tolist(), demo.error
        ([[10.0, 0.0], [20.0, 0.0]], 0.0)
        """
        values = entities.read(states)
        scales = np.full((len(values), len(entities.parts)), 0.1)
        return cls(entities, values, scales, entities.read(start), np.ones(len(values), bool), 0.0)
