"""An episode and a demo → costs [T, J]: plain frame distances, or object-centric ones (`orcalign.costs.objects`)."""

from orcalign.costs.frames import CostModel, FrameCosts, FrameModel

__all__ = ["CostModel", "FrameCosts", "FrameModel"]
