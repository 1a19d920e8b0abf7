"""A page that shows, frame by frame, why a score is what it is; one file, no network."""

from orcalign.report.explainer.data import PageAttempt, PageClip, PageData, PageResult, SpanLike, StoryLike
from orcalign.report.explainer.render import render_page

__all__ = ["PageAttempt", "PageClip", "PageData", "PageResult", "SpanLike", "StoryLike", "render_page"]
