from . import matching as matching
from .envs.making import make as make
from .envs.wrappers import EpisodeReward as EpisodeReward
from .envs.wrappers import StepReward as StepReward
from .libraries.vec_reward import VideoVecReward as VideoVecReward
from .matching import dtw as dtw
from .matching import orca as orca
from .matching import orca_log as orca_log
from .matching import orca_progress as orca_progress
from .matching import ot as ot
from .matching import soft_dtw as soft_dtw
from .matching import temporal_ot as temporal_ot
from .matching import threshold as threshold
from .report.scoring import score as score
from .rewards import VideoReward as VideoReward
from .training.policy import load_policy as load_policy
from .training.presets import config as config
from .training.start import train as train
from .video import Demo as Demo
from .video import goals as goals
from .video import read_video as read_video

__version__: str
