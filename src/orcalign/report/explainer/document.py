"""Parts of a page → one HTML text that opens from the file system and asks no network for anything."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

SHELL_SCRIPTS = ("shell.js", "drawing.js")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class PagePart:
    """A stretch of a page with the script and the data that it needs; what came from users is escaped in it."""

    markup: str
    script: str = ""
    """Runs after all markup is there, in a scope of its own below that of `SHELL_SCRIPTS`."""
    style: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    """By the id under which the script finds it with `embedded(id)`; anything that JSON can hold."""
    videos: bool = False
    """Whether it plays video files that lie near the page."""


def render_document(title: str, heading: str, subtitle: str, parts: Sequence[PagePart], connects: bool = False) -> str:
    """One self-contained HTML page of the parts, one below the other, with a switch for dark and light.

    Title, heading and subtitle may be any text; they are escaped here. The same parts give the same text. A page that
    `connects` may talk to the server that it came from, and to nobody else.

    >>> page = render_document("a", "Is 1 < 2?", "b", [PagePart("<p>Yes.</p>", data={"numbers": ["</script>"]})])
    >>> "<h1>Is 1 &lt; 2?</h1>" in page, "<p>Yes.</p>" in page, page.count("</script>")
    (True, True, 2)
    """
    data = [
        f'<script id="{html.escape(name)}" type="application/json">{as_script_json(value)}</script>'
        for part in parts
        for name, value in part.data.items()
    ]
    shell = "\n".join(part_text("orcalign.report.explainer", name) for name in SHELL_SCRIPTS)
    slots = {
        "connect": "connect-src 'self'; " if connects else "",
        "title": safe(title),
        "heading": safe(heading),
        "subtitle": safe(subtitle),
        "media": "; media-src 'self' file:" if any(part.videos for part in parts) else "",
        "style": "\n".join([part_text("orcalign.report.explainer", "page.css"), *(part.style for part in parts)]),
        "markup": "\n".join(part.markup for part in parts),
        "data": "\n".join(data),
        # A block for each: parts may use the same names.
        "script": "\n".join([shell, *(f"{{\n{part.script}\n}}" for part in parts if part.script)]),
    }
    # One pass: a slot's name inside the data is left as it is.
    return _SLOT.sub(lambda slot: slots[slot[1]], part_text("orcalign.report.explainer", "shell.html"))


def part_text(package: str, name: str) -> str:
    """A text file that lies beside the code of a package.

    >>> part_text("orcalign.report.explainer", "shell.html")[:15]
    '<!doctype html>'
    """
    return files(package).joinpath(name).read_text("utf-8")


def as_text(value: str) -> str:
    r"""The text without what no page can hold: a file name may have bytes that are no letters.

    >>> as_text("a\udcff.mp4")
    'a?.mp4'
    """
    return value.encode("utf-8", "replace").decode("utf-8")


def safe(value: object) -> str:
    """Text for a page's markup.

    >>> safe("1 < 2")
    '1 &lt; 2'
    """
    return html.escape(as_text(str(value)))


def as_script_json(value: Any) -> str:
    """JSON that no HTML parser can mistake for the end of its script element.

    >>> as_script_json(["<b>"])
    '["\\\\u003cb\\\\u003e"]'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
