"""What a run begins with whose reward has settings of its own: its description, and demos that it can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from orcalign.encoders.backbones import Request
from orcalign.encoders.clips.registry import CLIPS, make_clip_encoder
from orcalign.encoders.registry import find_entry, make_text_encoder
from orcalign.envs import find_task
from orcalign.envs.suite import find_suite
from orcalign.rewards.adversarial.reward import check_states
from orcalign.rewards.clip.reward import ClipReward
from orcalign.rewards.text.reward import TextReward
from orcalign.training.reward_config import IMITATORS
from orcalign.training.wording import find_goals
from orcalign.video import Demo

if TYPE_CHECKING:
    from orcalign.training.config import TrainConfig


def keeps_states(config: TrainConfig) -> bool:
    """Whether the demos that the expert makes have to keep its states.

    >>> from orcalign.training.presets import config
    >>> keeps_states(config("nav2d", recipe="gaifo")), keeps_states(config("nav2d"))
    (True, False)
    """
    return config.reward.reward == "gaifo" and bool(config.reward.own_settings().sees == "states")


def prepare_to_imitate(config: TrainConfig, demos: tuple[Demo, ...]) -> dict[str, Any]:
    """Description of the reward; demos that do not fit are refused."""
    reward, encoder = config.reward, config.encoder
    assert reward.reward in IMITATORS
    settings = reward.own_settings(**({} if reward.reward == "text" else {"seed": config.seed}))
    if keeps_states(config):
        check_states(demos, _observed(config.task), find_task(config.task).name)
    described = {"kind": reward.reward, "settings": settings.plain()}
    if reward.reward == "roboclip":
        given = _clip_encoder(config)
        # A network whose weights cannot be had, and a demo of one frame, are refused before anything is written.
        _ = ClipReward(demos, settings, given).encoder
        return {**described, "encoder": given}
    if reward.reward == "text":
        described["encoder"] = {"encoder": encoder.encoder, **encoder.plain()}
        # Weights that cannot be had and words that the model does not know are refused before anything is written.
        _ = TextReward(demos, settings, described["encoder"]).model
        return described
    return {**described, "encoder": {"encoder": encoder.encoder, **encoder.plain()}}


def substitute(config: TrainConfig) -> str:
    """What stands in for the network that the paper names, in words; empty where nothing does."""
    if config.reward.reward != "roboclip":
        return ""
    network = config.reward.own_settings().network
    return CLIPS[network].substitute if network in CLIPS else f"{network} in the place of S3D (HowTo100M)"


def find_networks(config: TrainConfig) -> None:
    """Refuse a run whose encoder, or clip encoder, cannot be had: before minutes are spent on drawing a demo for it."""
    asked, reward = config.encoder, config.reward
    if reward.reward == "roboclip":
        settings = reward.own_settings()
        make_clip_encoder(settings.network, frames=settings.frames, **_clip_encoder(config))
        return
    if config.demo.goal or reward.reward == "text":
        find_goals(config)
        make_text_encoder(asked.encoder, weights=asked.weights)
    if not keeps_states(config):
        entry = find_entry(asked.encoder)
        entry.factory(Request(asked.encoder, asked.encoder_size or entry.size, entry.pooled, asked.weights))


def _clip_encoder(config: TrainConfig) -> dict[str, Any]:
    """What `make_clip_encoder` takes beside the reward's settings."""
    encoder = config.encoder
    # Others have a size of their own.
    size = encoder.encoder_size if config.reward.own_settings().network in CLIPS else None
    return {"size": size, "weights": encoder.weights, "threads": encoder.encoder_threads}


def _observed(task: str) -> int:
    """Numbers of an observation of the bare environment."""
    spec = find_task(task)
    env, _ = find_suite(spec.suite).build(spec, pictures=False, size=None)
    try:
        return int(np.prod(env.observation_space.shape or ()))
    finally:
        env.close()
