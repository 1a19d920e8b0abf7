"""What of Stable-Baselines3 is built upon; one sentence where it is not installed."""

try:
    from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Image
    from stable_baselines3.common.noise import ActionNoise
    from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecNormalize
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "stable_baselines3":
        raise
    raise ModuleNotFoundError(
        "this needs Stable-Baselines3, which is not installed; install it with: pip install 'orcalign[sb3]'.",
        name=error.name,
    ) from None

__all__ = [
    "ActionNoise",
    "BaseCallback",
    "DictReplayBuffer",
    "Image",
    "ReplayBuffer",
    "VecEnv",
    "VecEnvWrapper",
    "VecNormalize",
]
