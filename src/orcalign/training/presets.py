"""Named settings: `paper`, its exact protocol, and `laptop`, the same method in sizes for two cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orcalign.agents import DrQv2Settings
from orcalign.checks import require
from orcalign.envs import find_task
from orcalign.training.config import (
    CollectConfig,
    DemoConfig,
    EncoderConfig,
    EvaluationConfig,
    TrainConfig,
)
from orcalign.training.reward_config import RewardConfig


def paper(task: str) -> TrainConfig:
    """As in the paper and its protocol.

    >>> paper("door-close").encoder.encoder, paper("door-close").agent.batch
    ('resnet50', 512)
    """
    return TrainConfig(
        task=task,
        steps=1_000_000,
        threads=2,
        demo=DemoConfig(),
        reward=RewardConfig(matcher="orca", critic_only=6000),
        encoder=EncoderConfig(encoder="resnet50", encoder_size=224, encoder_threads=2),
        agent=DrQv2Settings(gamma=0.9),
        collect=CollectConfig(render="paper", in_flight=0),
        evaluation=EvaluationConfig(),
    )


def laptop(task: str) -> TrainConfig:
    """Fast rendering, a small encoder at 128 px, small batches: some hundred agent steps a second on two cores.

    >>> laptop("door-close").encoder.encoder_size
    128
    """
    config = TrainConfig(
        task=task,
        steps=40_000,
        reward=RewardConfig(critic_only=0.05),
        encoder=EncoderConfig(encoder="efficientnet-lite0", encoder_size=128),
        agent=DrQv2Settings(layer_norm=True, batch=128, gamma=0.9),
        collect=CollectConfig(
            frame_size=128, random_steps=500, updates_per_step=1.0, noise="pink", noise_end=0.1
        ),
        evaluation=EvaluationConfig(eval_every=5000),
    )
    if find_task(task).suite != "nav2d":
        return config
    # Coloured blobs on a map: the pixels themselves say where the agent is. Each frame of the demo is a place of
    # its own, and the agent acts on the demo's very map: what keeps its first episodes off is not the scene.
    return replace(
        config,
        reward=replace(config.reward, context=1, calibration_episodes=0),
        encoder=EncoderConfig(encoder="pixels"),
        collect=replace(config.collect, frame_size=None),
    )


PRESETS: dict[str, Callable[[str], TrainConfig]] = {"laptop": laptop, "paper": paper}


def preset(name: str, task: str, demo_follows: bool = False) -> TrainConfig:
    """The settings of that name for a task.

    Args:
        name: of `PRESETS`.
        task: what is to be learned.
        demo_follows: whoever asks will say which demo; until then, of a task that has no misaligned one, the aligned.

    >>> preset("desktop", "door-close")
    Traceback (most recent call last):
    ...
    ValueError: preset is 'desktop'; Known: laptop, paper.
    >>> preset("laptop", "drawer-open", demo_follows=True).demo.demo_kind
    'aligned'
    """
    require("preset", name, tuple(PRESETS))
    if not demo_follows or find_task(task).misaligned is not None:
        return PRESETS[name](task)
    other = PRESETS[name]("door-close")
    return replace(other, task=task, demo=replace(other.demo, demo_kind="aligned"))
