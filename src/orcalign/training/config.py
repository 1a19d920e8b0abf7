"""Everything that decides what a run does: one frozen dataclass a topic, each field with its help.

The same fields are the options of `orcalign train` and the keys of a run's `config.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from orcalign.agents import AgentSettings, DrQv2Settings
from orcalign.checks import require, share_or_count
from orcalign.costs.predicted.entities import COMPARED
from orcalign.encoders.registry import find_entry
from orcalign.envs import find_task
from orcalign.envs.demo_making import ORDERS
from orcalign.envs.demo_warps import CATEGORIES, check_mixed, check_variant
from orcalign.envs.experts import DEMO_ENDS
from orcalign.envs.making import check_render_choice
from orcalign.rewards.settings import PLAIN
from orcalign.training.follow_config import FollowConfig
from orcalign.training.reward_config import VIDEO, RewardConfig
from orcalign.training.wording import check_goals

DEMO_KINDS = ("misaligned", "aligned", *CATEGORIES, "mixed")
LOOKS = (*PLAIN, *COMPARED)
POLICY_INPUTS = ("states", "pixels")
NOISES = ("white", "pink")
UPDATES = ("episode", "step")
RANDOM_PLAYS = ("uniform", "noise")


def _at_least(least: int, section: Any, *names: str) -> None:
    for name in names:
        require(name, getattr(section, name), at_least=least)


@dataclass(frozen=True)
class DemoConfig:
    """The video that is imitated."""

    demo: tuple[str, ...] = ()
    """Demo videos or saved demos; left out, the task's scripted expert makes them."""
    goal: tuple[str, ...] = ()
    """What is to be seen, in the place of a demo: a sentence, or several one after the other; files of pictures may be
    among them. For encoders that read, such as liv, clip-vit-base, siglip-base and clip-resnet."""
    demo_kind: str = "misaligned"
    """Of the expert's demos: misaligned (the paper's keep-list), aligned, one of the paper's random warps (fast-low,
    fast-high, slow-low, slow-high), or mixed (four of one episode, one of each random warp)."""
    demos: int = 1
    """How many demos of different episodes the expert makes; 4 if they are mixed."""
    demo_seed: int = 0
    """Number of the expert's first demo; another number, another episode."""
    demo_variant: int | None = None
    """Of a random warp, which of the three that the task has of its kind, 0 to 2 (left out, 0); of mixed ones, which
    draw (left out, the run's seed)."""
    demo_order: str = "central"
    """How the expert's episodes are numbered: as drawn, or (central) those first that begin in the middle of what the
    task has to offer."""
    demo_end: str = "hold"
    """What the expert does after its first success: hold what it has, so that the demo ends in success, or go on as
    the script."""
    demo_check: bool = True
    """Compare a demo that is given with the environment's first frames before the run, and refuse one of another
    camera or scene."""

    def __post_init__(self) -> None:
        require("demo_kind", self.demo_kind, DEMO_KINDS)
        _at_least(1, self, "demos")
        _at_least(0, self, "demo_seed")
        require("demo_order", self.demo_order, ORDERS)
        require("demo_end", self.demo_end, DEMO_ENDS)
        if self.demo_kind == "mixed" and not self.demo:
            check_mixed("demos", self.demos)
        if self.demo_variant is not None:
            check_variant("demo_variant", self.demo_variant, self.demo_kind)


@dataclass(frozen=True)
class EncoderConfig:
    """What turns frames into features."""

    encoder: str = "efficientnet-lite0"
    """Name of the encoder; `orcalign doctor` lists them and says which can run here."""
    encoder_size: int | None = None
    """Side in pixels of what it sees; left out, its own."""
    weights: str | None = None
    """File, folder or hub name of its weights, where it needs one."""
    look: str = "whole"
    """What is compared: whole pictures, their worst places (fine), or what a predictor reads in them, places of all
    joints (joints) or the angles of the arms (arms), of the humanoid."""
    predictor: str = "posed"
    """Of joints or arms: one that learns from rollouts of the task's scene (posed; made once and kept), or a file of
    `orcalign predictor train`."""
    predictor_frames: int = 9038
    """Of one that learns from rollouts: how many frames it sees."""
    predictor_updates: int = 4000
    """Updates of 32 of them."""
    engine: str = "auto"
    """auto, openvino, torch, torch-cuda or torch-mps."""
    encoder_threads: int = 1
    """Threads of the encoder in each collector; part of the config because sums round in another order with others."""

    def __post_init__(self) -> None:
        find_entry(self.encoder)
        require("look", self.look, LOOKS)
        _at_least(1, self, "encoder_threads", "predictor_frames", "predictor_updates")
        if self.predictor != "posed" and not self.predictor.endswith(".safetensors"):
            require("predictor", self.predictor, ("posed", "FILE.safetensors"))

    def plain(self) -> dict[str, Any]:
        """What `make_encoder` takes beside its name."""
        size, threads = self.encoder_size, self.encoder_threads
        return {"size": size, "weights": self.weights, "engine": self.engine, "threads": threads}


@dataclass(frozen=True)
class CollectConfig:
    """How experience is gathered."""

    policy_input: str = "states"
    """What the policy sees: states, or pixels (three stacked 84x84 frames)."""
    render: str = "fast"
    """How MuJoCo scenes are drawn: fast, or paper."""
    frame_size: int | None = None
    """Side of the drawn frames; left out, that of the render mode."""
    camera: str | None = None
    """Another camera of a MuJoCo scene than the task's; our renderer then draws an environment of others, too."""
    repeat: int | None = None
    """Simulation steps for which an action is held; left out, those of the task."""
    ends: str | None = None
    """Ends training episodes: an entry of the environment's info, such as fallen; where it is true the world has ended,
    as the agent sees it. Evaluation goes on all the same. Left out, nothing does."""
    in_flight: int = 1
    """Episodes that are played while the learner still learns from those before: episode k is played with the weights
    after the updates of episode k - 1 - in_flight. 0 waits, as the paper does."""
    random_steps: float = 2000
    """Agent steps with random actions first; below 1, a share of the run."""
    random_play: str = "uniform"
    """What random actions are: uniform, each for itself; or noise, of the run's kind with standard deviation 1: pink
    noise goes somewhere, and sees more of the world."""
    learning_starts: int = 500
    """Agent steps before the first update."""
    updates_per_step: float = 0.5
    """Updates for each agent step."""
    updates: str = "episode"
    """When they are made: after each episode; or (step) while it is played, the policy acting with the weights of that
    moment, as the paper does. Then the learner's own process plays, whatever the number of workers."""
    noise: str = "white"
    """Exploration noise: white (independent at every step) or pink (correlated in time: it goes somewhere)."""
    noise_start: float = 0.4
    """Standard deviation of the exploration noise at the beginning; actions are between -1 and 1."""
    noise_end: float = 0.0
    """And at the end, linearly in between."""
    replay: int = 150_000
    """Transitions that are kept; the oldest episodes go first."""
    relabel_every: int = 25
    """Episodes after which rewards follow a changing temperature or scale, for the whole replay."""

    def __post_init__(self) -> None:
        require("policy_input", self.policy_input, POLICY_INPUTS)
        check_render_choice(self.render)
        require("noise", self.noise, NOISES)
        require("random_play", self.random_play, RANDOM_PLAYS)
        require("updates", self.updates, UPDATES)
        share_or_count("random_steps", self.random_steps)
        _at_least(0, self, "in_flight", "learning_starts", "noise_start", "noise_end")
        _at_least(1, self, "replay", "relabel_every", *(() if self.repeat is None else ("repeat",)))
        require("updates_per_step", self.updates_per_step, above=0)
        if self.updates == "step" and self.in_flight:
            raise ValueError(
                f"in_flight is {self.in_flight} and updates is 'step': an episode that is learned from meanwhile "
                "has no other beside it; set in_flight to 0."
            )


@dataclass(frozen=True)
class EvaluationConfig:
    """How the policy is judged: deterministic, on seeds that training never sees."""

    eval_every: int = 10_000
    """Agent steps between evaluations; there is one before the first step and one after the last, too."""
    eval_episodes: int = 10
    """Episodes of each: return and success are theirs. They need no pictures."""
    eval_last: int | None = None
    """Episodes of the last evaluation, which tables report: ten are too few to compare. Left out, as many as before."""
    eval_shown: int = 2
    """Of these, how many are drawn and kept as videos."""
    eval_choosing: int = 5
    """More episodes, on seeds of their own, which are drawn: the best checkpoint is the one that covers the video best
    there. With 0 it is chosen by the episodes that are reported, which are then drawn, all of them."""

    def __post_init__(self) -> None:
        _at_least(1, self, "eval_every", "eval_episodes", *(() if self.eval_last is None else ("eval_last",)))
        _at_least(0, self, "eval_shown", "eval_choosing")

    def reported(self, last: bool) -> int:
        """Episodes of the last evaluation, or of another, that are reported."""
        return self.eval_last if last and self.eval_last is not None else self.eval_episodes


@dataclass(frozen=True)
class TrainConfig:
    """A run.

    >>> TrainConfig(task="nav2d", steps=300).reward.matcher
    'orca'
    """

    task: str
    """A task of `orcalign tasks`, another Meta-world task, a Gymnasium id, or module:function."""
    steps: int = 1_000_000
    """Agent steps."""
    seed: int = 0
    """Of the run: networks, exploration and training episodes."""
    recipe: str = ""
    """Where settings come from, a label for folders, titles and tables: it decides nothing by itself."""
    threads: int = 1
    """Threads of the learner; part of the config because sums round in another order with others."""
    demo: DemoConfig = field(default_factory=DemoConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    follow: FollowConfig = field(default_factory=FollowConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    agent: AgentSettings = field(default_factory=DrQv2Settings)
    collect: CollectConfig = field(default_factory=CollectConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    def __post_init__(self) -> None:
        spec = find_task(self.task)
        _at_least(1, self, "steps", "threads")
        _at_least(0, self, "seed")
        check_goals(self)
        given = self.demo.demo or self.demo.goal or self.reward.reward == "text"
        if not given and spec.misaligned is None and self.demo.demo_kind == "misaligned":
            raise ValueError(
                f"task {self.task!r} has no misaligned demo of its own; give a video with --demo, "
                f"or another --demo-kind: {', '.join(DEMO_KINDS[1:])}."
            )

    @property
    def label(self) -> str:
        """The recipe; of a run that comes from none, what pays it."""
        return self.recipe or (self.reward.matcher if self.reward.reward == VIDEO else self.reward.reward)

    def to_yaml(self) -> str:
        """All settings as text, as they stand in a run's `config.yaml`."""
        import yaml

        from orcalign.training.config_mapping import to_mapping

        text: str = yaml.safe_dump(to_mapping(self), sort_keys=False, allow_unicode=True)
        return text

    @classmethod
    def from_yaml(cls, text: str) -> TrainConfig:
        """The config that `to_yaml` wrote; what is left out has its default.

        >>> TrainConfig.from_yaml("task: nav2d\\nreward: {temperature: 0.5}").reward.temperature
        Ramp(start=0.5, end=0.5)
        """
        import yaml

        from orcalign.training.config_mapping import from_mapping

        try:
            values = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"the config is not YAML ({' '.join(str(error).split())}).") from None
        return from_mapping(values)
