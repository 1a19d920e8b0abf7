"""What a study costs, from a few measured numbers: a model to plan with, not a promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orcalign.experiments.live import job_steps
from orcalign.experiments.planning import Job, plan_study
from orcalign.experiments.shipped import STUDIES


@dataclass(frozen=True)
class Rates:
    """Measured on the machines that are to do the work."""

    steps_per_second: float
    """Agent steps of one run on `cores` cores, learner included."""
    cores: int = 1
    """That a run takes."""


def all_jobs(preset: str) -> dict[str, Job]:
    """The jobs of all studies that ship, each once.

    >>> len([job for job in all_jobs("paper").values() if job.until is None]) > 800
    True
    """
    plans = (plan_study(study, preset) for study in STUDIES.values() if study.kind == "training")
    return {id: job for plan in plans for id, job in plan.jobs.items()}


def expected_hours(jobs: Iterable[Job], machines: int, cores_each: int, rates: Rates) -> float:
    """Hours until all jobs are done: the work divided by the cores, but no less than the longest single run.

    >>> study = STUDIES["misaligned"]
    >>> jobs = list(plan_study(study, "laptop", only={"method": ["ot"]}).jobs.values())
    >>> round(expected_hours(jobs, 1, 2, Rates(50.0)), 2), round(expected_hours(jobs, 10, 2, Rates(50.0)), 2)
    (1.39, 0.28)
    """
    listed = list(jobs)
    work = sum(job_steps(job) for job in listed) / rates.steps_per_second * rates.cores
    # A run that needs another's half waits for it; together they are as long as a run without.
    longest = max(
        job.cell.config.steps if job.cell.start is None else job.cell.config.steps + job.cell.start.step
        for job in listed
    )
    return max(work / (machines * cores_each), longest / rates.steps_per_second) / 3600
