"""The command `orcalign`: one small file a command."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; what a user can have done wrong ends in one line and exit code 2, not in a traceback."""
    import tyro

    from orcalign.cli import methods, toy, warmup

    commands = {"toy": toy.toy, "methods": methods.methods, "warmup": warmup.warmup}
    try:
        tyro.extras.subcommand_cli_from_dict(
            commands,
            prog="orcalign",
            description="Turn one video into a reward, and the reward into a policy.",
            args=arguments,
        )
    except (ValueError, OSError) as error:
        print(f"orcalign: {_one_line(error)}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        print(f"orcalign: {_missing(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("orcalign: stopped", file=sys.stderr)
        sys.exit(130)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


EXTRAS = {
    "matplotlib": "plot",
    "av": "video",
    "openvino": "video",
    "torch": "video",
    "transformers": "hub",
    "ray": "ray",
}


def _missing(error: ModuleNotFoundError) -> str:
    package = (error.name or "").split(".")[0]
    extra = EXTRAS.get(package, "all")
    return f"this command needs {package}; install it with: pip install 'orcalign[{extra}]'"
