from .batches import Batches as Batches
from .live import LiveReward as LiveReward
from .live import Observation as Observation
from .live import Session as Session
from .server import RewardServer as RewardServer
