"""An episode and a demo → costs [T, J]: frame distances, their worst places, or of what is read (`predicted`)."""

from orcalign.costs.cameras import CameraModel
from orcalign.costs.fine import FineModel
from orcalign.costs.frames import CostModel, FrameCosts, FrameModel

__all__ = ["CameraModel", "CostModel", "FineModel", "FrameCosts", "FrameModel"]
