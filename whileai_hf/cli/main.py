"""Entry point: parse, run one command, turn the library's own errors into one line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from whileai_hf.cli.hubflags import HUB_COMMANDS
from whileai_hf.cli.parser import build_parser, parse
from whileai_hf.errors import WhileaiError


# Where a command is, so that it imports no more than it needs.
_MODULES = {"demo": "demo", **dict.fromkeys(HUB_COMMANDS, "hub")}

OK = 0
GATE_FAILED = 1
USAGE_ERROR = 2  # what argparse exits with, too
INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it


def main(argv: Sequence[str] | None = None) -> int:
    """
    Runs one `whileai-hf` command.

    Args:
        argv (`Sequence[str]`, *optional*):
            The arguments without the program's name; those of the process when left out.

    Returns:
        `int`: The exit status: 0, 1 for a gate that failed (`measure --fail-under`, an error found by
            `check-reward`) or a result without rows, 2 for wrong input.
    """
    try:
        args = parse(build_parser(), list(sys.argv[1:] if argv is None else argv))
        module = importlib.import_module(f"whileai_hf.cli.{_MODULES.get(args.command, 'commands')}")
        return int(getattr(module, args.command.replace("-", "_"))(args))
    except WhileaiError as error:
        print(f"whileai-hf: {error}", file=sys.stderr)
        return USAGE_ERROR
    except BrokenPipeError:
        # The reader (head, less) has gone; point stdout elsewhere so that the interpreter's last flush is silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        print("whileai-hf: interrupted", file=sys.stderr)
        return INTERRUPTED
