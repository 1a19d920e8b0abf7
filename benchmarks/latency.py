"""How long a reward takes, by matcher: the paper's appendix table, measured here.

python -m benchmarks.latency [--quick]
"""

from __future__ import annotations

import sys

from benchmarks.timing import machine, store
from orcalign.experiments.latency import latency_table, measure_latency


def main() -> None:
    quick = "--quick" in sys.argv
    here = machine()
    # One measurement has no standard error.
    found = measure_latency(5, 2, tell=print) if quick else measure_latency(tell=print)
    table = latency_table(found)
    place = f"`python -m benchmarks.latency` on {here['cpu']}, {here['cores']} cores, one rollout at a time."
    table += f"\nOver {found['rollouts']} rollouts ({found['encoded']} with distances and encoding): {place}\n"
    print(table)
    if not quick:
        store("latency", {"command": "python -m benchmarks.latency", "machine": here, **found}, table)


if __name__ == "__main__":
    main()
