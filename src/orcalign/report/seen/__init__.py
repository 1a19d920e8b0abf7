"""What an eye sees in a demo, for people: places over its frames, and how far they are believed."""

from orcalign.report.seen.demo import SeenDemo, see, seen_by_run
from orcalign.report.seen.film import write_film
from orcalign.report.seen.part import seen_part
from orcalign.report.seen.verdict import Verdict, verdict

__all__ = ["SeenDemo", "Verdict", "see", "seen_by_run", "seen_part", "verdict", "write_film"]
