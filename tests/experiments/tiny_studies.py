"""Studies whose runs take a second: nav2d, tiny networks."""

from orcalign.experiments.planning import plan_study
from orcalign.experiments.study import Budget, Study
from orcalign.experiments.sweep import SweepSettings, sweep_study
from orcalign.experiments.worker import LocalBackend

SETTINGS = {
    "agent.hidden": 16,
    "agent.batch": 16,
    "collect.learning_starts": 60,
    "collect.random_steps": 60,
    "evaluation.eval_every": 90,
    "evaluation.eval_episodes": 2,
    "evaluation.eval_shown": 1,
}


def tiny_study(recipes=("orca", "orca_np", "temporal_ot"), tasks=("nav2d",), steps=180, seeds=1, **settings):
    return Study(
        "tiny",
        "a study for tests",
        {"recipe": recipes, "task": tasks},
        budgets={"laptop": Budget(steps, seeds)},
        settings={**SETTINGS, **settings},
    )


def sweep_here(plan, out, jobs=1, **settings):
    return sweep_study(plan, out, lambda: LocalBackend(out, jobs), SweepSettings(**settings))


def plan_tiny(**study):
    return plan_study(tiny_study(**study))
