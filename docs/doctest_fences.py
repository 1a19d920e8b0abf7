"""For mkdocs: doctests in docstrings become code blocks, wherever they stand."""

import textwrap
from typing import Any

from griffe import Extension, Object


def fenced(text: str) -> str:
    """Put a fence around every run of lines that begins with a prompt and ends before a blank line."""
    out: list[str] = []
    inside = ""
    for line in textwrap.dedent(text).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if not inside and line.lstrip().startswith(">>>"):
            inside = f"{indent}```"
            out.append(f"{inside}pycon")
        elif inside and not line.strip():
            out.append(inside)
            inside = ""
        out.append(line)
    if inside:
        out.append(inside)
    return "\n".join(out)


class DoctestFences(Extension):
    """Applies `fenced` to every docstring when it is loaded."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
