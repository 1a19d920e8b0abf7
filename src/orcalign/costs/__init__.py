"""An episode and a demo → costs [T, J]: plain frame distances, their worst places, or object-centric (`objects`)."""

from orcalign.costs.cameras import CameraModel
from orcalign.costs.fine import FineModel
from orcalign.costs.frames import CostModel, FrameCosts, FrameModel

__all__ = ["CameraModel", "CostModel", "FineModel", "FrameCosts", "FrameModel"]
