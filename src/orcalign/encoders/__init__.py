"""Frames [T,H,W,3] to features [T,D]: one backbone a file, engines, and a cache."""

from orcalign.encoders.cache import CachedEncoder, FeatureCache
from orcalign.encoders.engine import ENGINES
from orcalign.encoders.protocol import Encoder, Progress
from orcalign.encoders.registry import ENCODERS, EncoderEntry, make_encoder, num_places
from orcalign.encoders.stream import encode_stream
from orcalign.encoders.weights import WeightsUnavailable

__all__ = [
    "ENCODERS",
    "ENGINES",
    "CachedEncoder",
    "Encoder",
    "EncoderEntry",
    "FeatureCache",
    "Progress",
    "WeightsUnavailable",
    "encode_stream",
    "make_encoder",
    "num_places",
]
