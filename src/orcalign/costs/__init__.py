"""An episode and a demo → costs [T, J]: plain frame distances, or object-centric ones (`orcalign.costs.objects`)."""

from orcalign.costs.frames import FrameCosts, FrameModel
from orcalign.costs.model import CostModel

__all__ = ["CostModel", "FrameCosts", "FrameModel"]
