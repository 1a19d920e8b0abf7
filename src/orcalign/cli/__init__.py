"""The command `orcalign`: one small file a command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from orcalign import __version__


def commands(words: Sequence[str] = ()) -> dict[str, Callable[..., None]]:
    """Name to function, for what the user typed; a name of two words is a command of a group.

    >>> sorted(commands())[:2]
    ['check', 'demo import']
    """
    from orcalign.cli import (
        demo,
        demo_look,
        demo_videos,
        doctor,
        entities,
        evaluate,
        export,
        figure,
        label,
        lists,
        predictor,
        report,
        score,
        serve,
        sweep,
        table,
        train,
        weights,
    )

    return {
        "score": score.score,
        "check": score.check,
        "label": label.label,
        "serve": serve.serve,
        "watch": serve.watch,
        "train": train.command(words),
        "eval": evaluate.evaluate,
        "export": export.export,
        "report": report.report,
        "strip": report.strip,
        "studies": lists.studies,
        "sweep": sweep.sweep,
        "table": table.table,
        "plot": table.plot,
        "figure": figure.figure,
        "demo make": demo.make,
        "demo-videos": demo_videos.demo_videos,
        "demo import": demo.import_,
        "demo warp": demo.warp,
        "demo info": demo.info,
        "demo lint": demo.lint,
        "demo look": demo_look.look,
        "predictor data": predictor.data,
        "predictor train": predictor.train,
        "tasks": lists.tasks,
        "entities": entities.entities,
        "matchers": lists.matchers,
        "recipes": lists.recipes,
        "weights list": weights.list_,
        "weights get": weights.get,
        "toy": report.toy,
        "doctor": doctor.doctor,
        "warmup": doctor.warmup,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; what a user can have done wrong ends in one line and exit code 2, not in a traceback."""
    import tyro

    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["--version"]:
        print(f"orcalign {__version__}")
        return
    from orcalign.cli.options import text_settings, with_import

    try:
        words = with_import(words, commands())
        known, prog = commands(words), "orcalign"
        group = {name.split()[1]: call for name, call in known.items() if name.split()[:-1] == words[:1]}
        if group:
            # A group that can list what it has does so when nothing else is said.
            shown = ["list"] if "list" in group else []
            known, prog, words = group, f"orcalign {words[0]}", words[1:] or shown
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            tyro.extras.subcommand_cli_from_dict(
                known,
                prog=prog,
                description="Turn one video into a reward, and the reward into a policy.",
                args=["--help" if word == "--help-all" else word for word in words],
                config=(tyro.conf.OmitArgPrefixes,),
                registry=text_settings(),
            )
    except (ValueError, OSError) as error:
        _fail(_one_line(error))
    except ModuleNotFoundError as error:
        _fail(_missing(error))
    except KeyboardInterrupt:
        print("orcalign: stopped", file=sys.stderr)
        sys.exit(130)


def _fail(text: str) -> None:
    print(f"orcalign: {text}", file=sys.stderr)
    sys.exit(2)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"orcalign: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _missing(error: ModuleNotFoundError) -> str:
    from orcalign.cli.doctor import EXTRAS

    package = (error.name or "").split(".")[0]
    extra = EXTRAS.get(package) or "all"
    return f"this command needs {package}; install it with: pip install 'orcalign[{extra}]'"
