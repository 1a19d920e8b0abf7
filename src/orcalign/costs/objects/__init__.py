"""The object-centric cost model: compare around the objects, wherever they stand, and ask what has changed of them."""

from orcalign.costs.objects.finder import Finder
from orcalign.costs.objects.view import ObjectModel, ObjectView

__all__ = ["Finder", "ObjectModel", "ObjectView"]
