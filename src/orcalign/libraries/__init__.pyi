from .callback import FollowCallback as FollowCallback
from .minari_export import export_minari as export_minari
from .noise import PinkNoise as PinkNoise
from .relabel import RelabelDictReplayBuffer as RelabelDictReplayBuffer
from .relabel import RelabelReplayBuffer as RelabelReplayBuffer
from .scale import RunningScale as RunningScale
from .vec_reward import VideoVecReward as VideoVecReward
