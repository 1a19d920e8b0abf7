"""Cost matrix [T, J] in, one reward per learner frame out.

A reward is a pure function of a cost matrix and settings. Functions take one episode [T, J] or a batch
[B, T, J], in float32 or float64, and return a frozen `Match`.

>>> from orcalign.matching import cosine, orca
>>> learner, demo = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]]
>>> orca(cosine(learner, demo)).reward.round(2).tolist()
[0.4, 0.99]
"""

from orcalign.matching import costs
from orcalign.matching.band import band_limits, band_mask, window_that_fits
from orcalign.matching.bottleneck import BottleneckMatch, bottleneck
from orcalign.matching.calibration import Calibration, calibrate
from orcalign.matching.costs import context, cosine, euclidean
from orcalign.matching.dtw import DtwMatch, dtw
from orcalign.matching.linear import ThresholdMatch, even, final_frame, nearest, segment, threshold
from orcalign.matching.match import Match
from orcalign.matching.orca import OrcaMatch, orca
from orcalign.matching.orca_log import OrcaLogMatch, orca_log
from orcalign.matching.orca_progress import OrcaProgressMatch, along_path, orca_progress
from orcalign.matching.pooling import Pooled, pool, pool_rewards
from orcalign.matching.registry import MATCHERS, Matcher, matcher, require_pool
from orcalign.matching.soft_dtw import SoftDtwMatch, soft_dtw
from orcalign.matching.tracker import TRACKERS, BottleneckTracker, OrcaProgressTracker, OrcaTracker
from orcalign.matching.transport import NotConvergedWarning, TransportMatch, ot, temporal_ot

__all__ = [
    "MATCHERS",
    "TRACKERS",
    "BottleneckMatch",
    "BottleneckTracker",
    "Calibration",
    "DtwMatch",
    "Match",
    "Matcher",
    "NotConvergedWarning",
    "OrcaLogMatch",
    "OrcaMatch",
    "OrcaProgressMatch",
    "OrcaProgressTracker",
    "OrcaTracker",
    "Pooled",
    "SoftDtwMatch",
    "ThresholdMatch",
    "TransportMatch",
    "along_path",
    "band_limits",
    "band_mask",
    "bottleneck",
    "calibrate",
    "context",
    "cosine",
    "costs",
    "dtw",
    "euclidean",
    "even",
    "final_frame",
    "matcher",
    "nearest",
    "orca",
    "orca_log",
    "orca_progress",
    "ot",
    "pool",
    "pool_rewards",
    "require_pool",
    "segment",
    "soft_dtw",
    "temporal_ot",
    "threshold",
    "window_that_fits",
]
