"""A page that shows, frame by frame, why a score is what it is; one file, no network."""

from orcalign.report.explainer.data import PageAttempt, PageClip, PageData, PageResult, SpanLike, StoryLike
from orcalign.report.explainer.document import PagePart, render_document
from orcalign.report.explainer.render import explainer_part, render_page

__all__ = [
    "PageAttempt",
    "PageClip",
    "PageData",
    "PagePart",
    "PageResult",
    "SpanLike",
    "StoryLike",
    "explainer_part",
    "render_document",
    "render_page",
]
