"""An episode and a demo → costs [T, J]: plain frame distances, or of what is read (`orcalign.costs.predicted`)."""

from orcalign.costs.frames import CostModel, FrameCosts, FrameModel

__all__ = ["CostModel", "FrameCosts", "FrameModel"]
