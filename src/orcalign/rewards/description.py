"""A reward as plain values, and back: `reward.json` is the only source from which a run's reward is made again."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orcalign.checks import near_miss, require
from orcalign.costs import CameraModel, CostModel, FineModel, FrameModel
from orcalign.costs.goals import GoalModel, GoalScale
from orcalign.costs.predicted.entities import COMPARED
from orcalign.encoders import Encoder, Progress, make_encoder, make_text_encoder
from orcalign.files import write_file
from orcalign.rewards.base import Reward
from orcalign.rewards.demos import as_demos
from orcalign.rewards.settings import PLAIN
from orcalign.video import Demo

FORMAT = 1
FILE = "reward.json"
PREDICTOR = "predictor.safetensors"
PREDICTED = {"joints": "the places of all joints", "arms": "the angles of the arms"}
REWARDS = {
    "video": "orcalign.rewards.video_reward:VideoReward",
    "follow": "orcalign.rewards.follow.reward:FollowReward",
    "gaifo": "orcalign.rewards.adversarial.reward:AdversarialReward",
    "text": "orcalign.rewards.text.reward:TextReward",
    "roboclip": "orcalign.rewards.clip.reward:ClipReward",
    "confidence": "orcalign.rewards.steady:ConfidenceReward",
    "stability": "orcalign.rewards.steady:StabilityReward",
    "sum": "orcalign.rewards.composed:Sum",
    "product": "orcalign.rewards.composed:Product",
    "staged": "orcalign.rewards.composed:Staged",
}
"""Kind to module:class; a class of somebody's own is named in the same way."""
GOALS = "goals"
"""What is looked at where a demo is a list of sentences."""


def reward_class(kind: str) -> Any:
    """The class of a kind of reward: one of `REWARDS`, or module:Class, with a class method `from_description`.

    >>> reward_class("video").__name__
    'VideoReward'
    >>> reward_class("vidoe")
    Traceback (most recent call last):
    ...
    ValueError: no reward is called 'vidoe'; did you mean 'video'? Known: video, follow, gaifo, ...
    """
    place = REWARDS.get(kind, kind)
    module, colon, name = place.partition(":")
    if not colon:
        known = f"Known: {', '.join(REWARDS)}, or module:Class."
        raise ValueError(f"no reward is called {kind!r};{near_miss(kind, REWARDS)} {known}")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise
        raise ValueError(
            f"reward {kind!r} names the module {module!r}, which Python does not find; run where it can be imported."
        ) from None
    if not (isinstance(found, type) and issubclass(found, Reward) and hasattr(found, "from_description")):
        raise ValueError(
            f"reward {kind!r} must name a class derived from orcalign.rewards.Reward that has a class method "
            "from_description(description, kit)."
        )
    return found


class Kit:
    """What rewards are made from beside their description: the demos and first frames in a run's folder.

    Everything is read or made when it is first asked for, and once.
    """

    def __init__(self, folder: Path | None, demos: tuple[Demo, ...] | None = None) -> None:
        self._folder, self._demos = folder, demos
        self._models: dict[str, SharedModel] = {}

    @property
    def folder(self) -> Path:
        """Where the demos and first frames are."""
        if self._folder is None:
            raise ValueError("the demos of this reward are in memory, and there is no folder beside them.")
        return self._folder

    @property
    def demos(self) -> tuple[Demo, ...]:
        """Those of the folder, unless they were given."""
        if self._demos is None:
            self._demos = as_demos(str(self.folder / "demo"))
        return self._demos

    def model(self, costs: dict[str, Any]) -> SharedModel:
        """The cost model of a description; rewards with the same one share it."""
        return self._models.setdefault(json.dumps(costs, sort_keys=True), SharedModel(costs, self))

    def make(self, description: dict[str, Any]) -> Reward:
        """The reward of a description."""
        made: Reward = reward_class(str(description.get("kind"))).from_description(description, self)
        return made


class SharedModel:
    """A cost model that is made when it is first needed: who only pays does not need an encoder.

    `costs` describes it: encoder, size, …, distance, and what of the pictures is compared (look); None for one of a
    user's own, which is `made` already.
    """

    def __init__(self, costs: dict[str, Any] | None, kit: Kit, made: CostModel | None = None) -> None:
        self.costs, self.kit, self.made = costs, kit, made
        self.note = ""

    def get(self) -> CostModel:
        """The model."""
        if self.made is None:
            self.made = self._make(dict(self.costs or {}))
        return self.made

    @property
    def of_goals(self) -> bool:
        """Whether frames are compared with sentences, or with pictures among them."""
        return any(demo.sentences is not None for demo in self.kit.demos)

    def scales(self) -> tuple[GoalScale, ...] | None:
        """Of goals, their scales as they were when the reward was made, if they were known."""
        if not self.of_goals:
            return None
        if self.costs is not None and "scales" in self.costs:
            return tuple(map(GoalScale.from_plain, self.costs["scales"]))
        found = getattr(self.made, "scales", None)
        return None if found is None else tuple(found)

    def _make(self, costs: dict[str, Any]) -> CostModel:
        kit = self.kit
        look, distance, cameras = costs.pop("look"), costs.pop("distance"), costs.pop("cameras", ())
        if look == GOALS:
            return make_goal_model(kit.demos, costs)
        if look in COMPARED:
            from orcalign.costs.predicted.joints import JointModel, JointPredictor

            predictor = JointPredictor.load(kit.folder / PREDICTOR)
            self.note = f"{PREDICTED[look]} are compared, as a predictor reads them in the pictures"
            return JointModel(predictor, kit.demos, look)
        encoder = make_encoder(costs.pop("encoder"), **costs)
        return plain_model(encoder, kit.demos, look, distance, cameras)


def plain_model(
    encoder: Encoder,
    demos: Sequence[Demo],
    look: str,
    distance: str,
    cameras: Sequence[int] = (),
    progress: Progress | None = None,
) -> CostModel:
    """The cost model that looks at whole pictures, or at their worst places; of several cameras the worst."""
    require("look", look, PLAIN)

    def make(demos: Sequence[Demo]) -> CostModel:
        if look == "fine":
            return FineModel(encoder, demos, progress)
        return FrameModel(encoder, demos, distance, progress=progress)

    return CameraModel(demos, cameras, make) if len(cameras) > 1 else make(demos)


def make_goal_model(demos: tuple[Demo, ...], costs: dict[str, Any]) -> GoalModel:
    """Of goals: an encoder by its name and settings, and its text tower if something has to be read."""
    scales, name, weights = costs.get("scales"), costs["encoder"], costs.get("weights")
    settings = {one: costs[one] for one in ("size", "weights", "engine", "threads") if one in costs}
    # First: that it reads no sentences, or that a word is unknown, is known at once.
    words = any(text for demo in demos for text in demo.sentences or ())
    reader = make_text_encoder(name, weights=weights) if words else None
    encoder = make_encoder(name, pooled=True, **settings)
    return GoalModel(encoder, reader, demos, None if scales is None else [GoalScale.from_plain(one) for one in scales])


def save_description(folder: Path, description: dict[str, Any]) -> None:
    """Write `reward.json` of a run's folder."""
    from orcalign import __version__

    values = {"format": FORMAT, "orcalign": __version__, "reward": description}
    write_file(folder / FILE, (json.dumps(values, indent=1) + "\n").encode())


def load_reward(folder: Path) -> Reward:
    """The reward that `reward.json` of a run's folder describes, as it was when the run began."""
    path = folder / FILE
    try:
        values = json.loads(path.read_text("utf-8"))
        form, description = values["format"], values["reward"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error}); the run is damaged.") from None
    if form != FORMAT:
        raise ValueError(
            f"{str(path)!r} was written by orcalign {values.get('orcalign')} in format {form}, and this version reads "
            f"{FORMAT}; use the version that wrote it."
        )
    return Kit(folder).make(description)
