"""What a video shows in numbers: entities predicted from frames by an eye, and costs in centimetres between them."""

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.costs.predicted.entities import Entities, Part
from orcalign.costs.predicted.eye import Eye
from orcalign.costs.predicted.network import Predicted

__all__ = ["DescribedDemo", "Entities", "Eye", "Part", "Predicted"]
