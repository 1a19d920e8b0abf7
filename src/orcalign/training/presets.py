"""What a run is: a preset, what the task's suite needs, a recipe, and what the user sets, each over the one before.

Of the presets `paper` is the paper's exact protocol, `laptop` the same in sizes for two cores. Recipes are what tables
compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from orcalign.agents import AGENTS, find_settings
from orcalign.checks import require
from orcalign.envs import find_task
from orcalign.envs.suite import find_suite
from orcalign.matching import MATCHERS
from orcalign.rewards.follow.own_frames import OwnSettings
from orcalign.rewards.settings import known_settings
from orcalign.training.config import DemoConfig, EncoderConfig, TrainConfig
from orcalign.training.config_mapping import from_mapping, with_settings
from orcalign.training.follow_config import FOLLOW

Plain = Mapping[str, Any]
EYE_FRAMES = 224
"""Least side of the drawn frames where an eye reads them, if the preset names a side: it looks at the part that
changes; or a model that knows words."""
ALIGNED_WINDOW = "window=10"
"""The paper's for TemporalOT and aligned demos; otherwise it is a tenth of the demo, the matcher's own default."""


@dataclass(frozen=True)
class Preset:
    """Settings for a kind of machine."""

    recipe: str
    """Of runs that name none; the preset `laptop` follows in state space where it can (`usual_recipe`)."""
    settings: Plain
    agents: Mapping[str, Plain] = field(default_factory=dict)
    """What is otherwise for an agent that is not the preset's own."""


PRESETS: dict[str, Preset] = {
    # Fast rendering, a small encoder at 128 px, small batches: some hundred agent steps a second on two cores.
    "laptop": Preset(
        "orca_progress",
        {
            "steps": 40_000,
            "reward.critic_only": 0.05,
            "encoder.encoder": "efficientnet-lite0",
            "encoder.encoder_size": 128,
            "agent.layer_norm": True,
            "agent.batch": 128,
            "agent.gamma": 0.9,
            "collect.frame_size": 128,
            "collect.random_steps": 500,
            "collect.updates_per_step": 1.0,
            "collect.noise": "pink",
            "collect.noise_end": 0.1,
            "evaluation.eval_every": 5000,
            "evaluation.eval_last": 50,
        },
    ),
    # As in the paper and its protocol.
    "paper": Preset(
        "orca",
        {
            "steps": 1_000_000,
            "threads": 2,
            "reward.critic_only": 6000,
            "encoder.encoder": "resnet50",
            "encoder.encoder_size": 224,
            "encoder.encoder_threads": 2,
            "agent.gamma": 0.9,
            "demo.demo_end": "script",
            "demo.demo_order": "drawn",
            "collect.render": "paper",
            "collect.in_flight": 0,
            "collect.updates": "step",
        },
        # The second column of its table. Episodes are of Gymnasium's length there, one step of return, no trunk.
        {
            "sac": {
                "steps": 2_000_000,
                "agent.learning_rate": 1e-3,
                "agent.batch": 256,
                "agent.gamma": 0.99,
                "agent.n_step": 1,
                "agent.trunk": 0,
                "collect.random_steps": 6000,
                "collect.learning_starts": 6000,
                "collect.updates_per_step": 1.0,
                "evaluation.eval_every": 20_000,
                "evaluation.eval_episodes": 8,
            }
        },
    ),
}


@dataclass(frozen=True)
class Recipe:
    """Reward, agent and collection: a column of a table."""

    label: str
    """As the paper writes it."""
    summary: str
    """What it does, in a line."""
    settings: Plain
    """Fields of the config that differ from the preset's."""


_FOLLOW: Plain = {
    "reward.reward": "follow",
    "reward.scale": "none",
    "agent.gamma": 0.95,
    "agent.learning_rate": 3e-4,
    "agent.action_penalty": 0.01,
}
_READS: Plain = {
    "encoder.encoder": "liv",
    "encoder.encoder_size": None,
    "agent.gamma": 0.95,
    "agent.learning_rate": 3e-4,
}
"""What recipes share whose goals are sentences."""
RECIPES: dict[str, Recipe] = {
    "follow": Recipe(
        "follow",
        "follows the video in state space: an eye that learns from the run's own frames reads it",
        {
            **_FOLLOW,
            "follow.eye": "own",
            # Nothing is paid before the eye has learned from random play.
            "collect.random_steps": OwnSettings().begin,
            "collect.random_play": "noise",
            "collect.learning_starts": OwnSettings().begin,
        },
    ),
    "follow_posed": Recipe(
        "follow (posed)",
        "the same with an eye that has learned from scenes posed in the simulator",
        {**_FOLLOW, "follow.eye": "posed"},
    ),
    "follow_pictures": Recipe(
        "follow (pictures)",
        "the same, and the learner's own places are read from its pictures, too: its true states pay nothing",
        {**_FOLLOW, "follow.eye": "posed", "follow.learner": "pictures"},
    ),
    "gaifo": Recipe(
        "GAIfO",
        "a discriminator learns to tell the learner's transitions from a state demo's, and is to be misled",
        {
            "reward.reward": "gaifo",
            "reward.scale": "none",
            "agent.gamma": 0.95,
            "agent.learning_rate": 3e-4,
            "agent.action_penalty": 0.01,
        },
    ),
    "roboclip": Recipe(
        "RoboCLIP",
        "how much the whole episode is like the video, paid at its last step by a network that sees motion",
        {
            "reward.reward": "roboclip",
            # As in the paper. The one reward of an episode is at its end: a learner that looks ahead less far than an
            # episode is long would hardly see it from its beginning.
            "agent.agent": "sac",
            "agent.gamma": 0.99,
            "agent.learning_rate": 3e-4,
        },
    ),
    "liv": Recipe(
        "LIV",
        "how much every frame is like one sentence, in the place of a video",
        {"reward.reward": "text", **_READS},
    ),
    "words": Recipe(
        "words",
        "sentences in the place of demo frames, followed in order as by orca_progress",
        {
            "reward.matcher": "orca_progress",
            "reward.calibrated": True,
            "reward.calibration_episodes": 0,
            "reward.scale": "none",
            "reward.context": 1,
            # As of orca_progress: within a floor nothing is gained by doing the last bit.
            "reward.set": ["last=1"],
            # What comes next depends on what was done already, and no state tells that.
            "reward.guide": True,
            "agent.action_penalty": 0.01,
            **_READS,
        },
    ),
    "orca_progress": Recipe(
        "ORCA progress",
        "pays progress along the demo in order, and for staying in its last frame",
        {
            "reward.matcher": "orca_progress",
            "reward.calibrated": True,
            "reward.scale": "none",
            "reward.progress_in": "path",
            # A floor is for the way. In the last frame one stays, and within a floor nothing is gained by doing the
            # last bit.
            "reward.set": ["last=1"],
            # Progress is paid all along the way: the learner may look further ahead than for one reward at the end.
            # It is not rescaled, so that values are about 10 and a penalty of 0.01 means the same in every task.
            "agent.gamma": 0.95,
            "agent.learning_rate": 3e-4,
            "agent.action_penalty": 0.01,
        },
    ),
    "orca": Recipe(
        "ORCA",
        "TemporalOT for the first half of the steps, then ordered coverage, as the paper trains it",
        {"reward.matcher": "orca", "reward.pretrain": "temporal_ot"},
    ),
    "orca_np": Recipe(
        "ORCA (NP)",
        "ordered coverage from the first step on, without pretraining",
        {"reward.matcher": "orca"},
    ),
    **{
        matcher: Recipe(label, summary, {"reward.matcher": matcher})
        for matcher, label, summary in (
            ("temporal_ot", "TemporalOT", "optimal transport between frames of nearly the same time"),
            ("ot", "OT", "optimal transport between frames, whatever their order"),
            ("dtw", "DTW", "dynamic time warping: frames in order, any of them as often as it fits"),
            ("threshold", "Threshold", "counts the demo's frames that were reached, one after the other"),
        )
    },
}


def config(task: str, preset: str = "laptop", recipe: str | None = None, settings: Plain | None = None) -> TrainConfig:
    """The config of a run: what `orcalign train`, `orcalign.train` and studies do.

    Args:
        task: what is to be learned.
        preset: laptop or paper.
        recipe: one of `orcalign recipes`; left out, the preset's own, unless the settings name a reward or a matcher.
        settings: what is to be otherwise, as in {"steps": 5000, "agent.hidden": 64}.

    >>> config("door-close").recipe, config("door-close", "paper").recipe
    ('follow_posed', 'orca')
    >>> config("door-close", settings={"reward.context": 1}).reward.context
    1
    >>> config("door-close", "desktop")
    Traceback (most recent call last):
    ...
    ValueError: preset is 'desktop'; Known: laptop, paper.
    """
    return from_mapping(plain_config(task, preset, recipe, settings))


def usual_recipe(task: str, preset: str, given: Plain) -> str:
    """The recipe of a run that names none: with `laptop` one that follows in state space, where the task's suite poses
    scenes and names no other recipe, or settings say how to follow; the preset's own otherwise, or where settings want
    pictures or several demos.

    >>> [usual_recipe("push", "laptop", given) for given in ({}, {"follow.eye": "own"}, {"demo.demos": 4})]
    ['follow_posed', 'follow', 'orca_progress']
    >>> usual_recipe("push", "laptop", {"follow.learner": "pictures"}), usual_recipe("humanoid-arms-out", "laptop", {})
    ('follow_pictures', 'orca_progress')
    """
    if given.get("demo.goal"):
        return "words" if len(given["demo.goal"]) > 1 else "liv"
    if given.get("follow.learner") == "pictures":
        return "follow_pictures"
    own = given.get("follow.eye", "own" if "follow.entities" in given else "posed") == "own"
    sections = {name.partition(".")[0] for name in given}
    if "follow" in sections:
        return "follow" if own else "follow_posed"
    several = given.get("demo.demos", 1) != 1 or len(given.get("demo.demo", ())) > 1
    mixed = given.get("demo.demo_kind") == "mixed"
    pictures = given.get("collect.policy_input", "states") != "states"
    if preset != "laptop" or several or mixed or pictures or sections & {"encoder", "reward"}:
        return PRESETS[preset].recipe
    suite = find_suite(find_task(task).suite)
    return suite.recipe or ("follow_posed" if suite.poses else PRESETS[preset].recipe)


def plain_config(
    task: str, preset: str = "laptop", recipe: str | None = None, settings: Plain | None = None
) -> dict[str, Any]:
    """The same before it is checked: fields that differ from their defaults, one section a topic."""
    given = dict(settings or {})
    require("preset", preset, tuple(PRESETS))
    if "demo.goal" in given and not given["demo.goal"]:
        raise ValueError("--goal names nothing; say what is to be seen, in one sentence or in several.")
    if recipe is None and (given.get("demo.goal") or not {"reward.matcher", "reward.reward"} & set(given)):
        recipe = usual_recipe(task, preset, given)
    if recipe is not None:
        require("recipe", recipe, tuple(RECIPES))
    suite = find_suite(find_task(task).suite)
    suited = suite.defaults.get(preset, {})
    rewarded = {} if recipe is None else RECIPES[recipe].settings
    rewarded = {**rewarded, **suite.recipes.get(recipe or "", {}), **suite.recipes.get(f"{preset} {recipe}", {})}
    rewarded = _understood(rewarded, given)
    agent = {**suited, **rewarded, **given}.get("agent.agent", "")
    if agent:
        # A recipe's settings are for the preset's own agent; another does not have all of them.
        known = {f"agent.{one.name}" for one in fields(find_settings(agent))} if agent in AGENTS else set()
        rewarded = {name: value for name, value in rewarded.items() if name[:6] != "agent." or name in known}
    plain: dict[str, Any] = {"task": task, "recipe": recipe or ""}
    for settings in (PRESETS[preset].settings, PRESETS[preset].agents.get(agent, {}), suited, rewarded):
        plain = with_settings(plain, settings)
    return _fitted(with_settings(plain, given), given, plain["encoder"]["encoder"])


def _understood(rewarded: dict[str, Any], given: Plain) -> dict[str, Any]:
    """A recipe's settings without what another matcher or reward than its own knows nothing of."""
    both = {**rewarded, **given}
    matcher, same = both.get("reward.matcher"), both.get("reward.reward") == rewarded.get("reward.reward")
    if "reward.set" not in rewarded or matcher not in MATCHERS:
        return rewarded
    known = known_settings(matcher) if same else ()
    return {**rewarded, "reward.set": [one for one in rewarded["reward.set"] if one.partition("=")[0] in known]}


def _fitted(plain: dict[str, Any], given: Plain, usual: str) -> dict[str, Any]:
    """Settings that follow from others, unless they are given; `usual` is the encoder of the preset."""
    reward, demo, collect = (plain.get(name, {}) for name in ("reward", "demo", "collect"))
    side = collect.get("frame_size")
    reads = reward.get("reward") in (FOLLOW, "text") or demo.get("goal")
    if reads and side is not None and "collect.frame_size" not in given:
        plain = with_settings(plain, {"collect.frame_size": max(side, EYE_FRAMES)})
    if "evaluation.eval_episodes" in given and "evaluation.eval_last" not in given:
        plain = with_settings(plain, {"evaluation.eval_last": None})
    named = plain["encoder"].get("encoder", EncoderConfig.encoder)
    if "encoder.encoder" in given and "encoder.encoder_size" not in given and named != usual:
        # The preset's side is for the preset's encoder; another one has its own.
        plain = with_settings(plain, {"encoder.encoder_size": None})
    aligned = demo.get("demo_kind", DemoConfig.demo_kind) == "aligned" and not demo.get("demo")
    transport = "temporal_ot" in (reward.get("matcher"), reward.get("pretrain"))
    own = reward.get("set", ())
    if aligned and transport and not any(one.startswith("window=") for one in own):
        plain = with_settings(plain, {"reward.set": [*own, ALIGNED_WINDOW]})
    return plain
