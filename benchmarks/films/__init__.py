"""Families of short films, good and bad attempts at a demo, for `benchmarks.score_quality`."""

from benchmarks.films.drawn import DRAWN
from benchmarks.films.family import Attempt, Family
from benchmarks.films.simulated import SIMULATED

FAMILIES: tuple[Family, ...] = (*DRAWN, *SIMULATED)
"""The first of each kind are for choosing, the others held out: see `Family.held_out`."""

__all__ = ["FAMILIES", "Attempt", "Family"]
