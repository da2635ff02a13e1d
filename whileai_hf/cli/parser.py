"""The argument parser of every command, built without importing anything heavy."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial

from whileai_hf import __version__
from whileai_hf.cli.hubflags import add_hub_commands
from whileai_hf.cli.knobs import add_config_flags, apply_yaml
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.select.config import SelectionConfig


_AGENT = "your agent as MODULE:ATTR, a model such as openai:<model>, or 'seeded' (default)"
_DESCRIPTION = "Simulate an agent, grade what it did, measure it, and select what is worth training on."
_DATA_HELP = "rows: a JSONL, JSON or Parquet file, a saved Dataset folder, or a dataset repo on the Hub"
_OUTPUT_HELP = "where the rows go: a .jsonl or .parquet file, or a folder for a saved Dataset"


def build_parser() -> argparse.ArgumentParser:
    """The parser of `whileai-hf` with all its commands."""
    parser = argparse.ArgumentParser(prog="whileai-hf", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"whileai-hf {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="the whole loop on a sample agent, offline, in seconds")
    demo.add_argument("--output", default="demo-out", metavar="DIR", help="folder to write to (default: demo-out)")
    demo.add_argument("--situations", type=int, default=60, help="distinct situations (default: 60)")
    demo.add_argument("--repeats", type=int, default=4, help="rollouts of each (default: 4)")
    demo.add_argument("--seed", type=int, default=0, help="seed of every random choice (default: 0)")
    demo.add_argument(
        "--hack", action="store_true", help="instead: train on a reward that can be hacked, and be stopped (needs trl)"
    )

    simulate = _command(commands, "simulate", "play the agent through simulated situations")
    simulate.add_argument("--agent", default="seeded", metavar="AGENT", help=_AGENT)
    simulate.add_argument("--spec", metavar="PATH", help="folder or file with the agent's tools and system prompt")
    simulate.add_argument("--tasks", metavar="DATA", help="pinned tasks to run instead of drawing new ones")
    simulate.add_argument("--grader", metavar="MODULE:ATTR", help="a judge that sees rows as they land")
    add_config_flags(simulate, SimulationConfig)

    grade = _command(commands, "grade", "write a verdict on every row")
    grade.add_argument("data", help=_DATA_HELP)
    grade.add_argument(
        "--judge",
        metavar="JUDGE",
        help="MODULE:ATTR, any callable: row -> number, bool or dict; or a model that judges by the rubric, such as "
        "openai:<model>; without judge, verifier and rubric the conduct floor is graded",
    )
    grade.add_argument(
        "--verify",
        metavar="NAME",
        help="a built-in verifier: exact_match, includes, math_equal, multiple_choice, numeric, tool_calls, "
        "json_valid or regex:PATTERN",
    )
    grade.add_argument("--field", help="column with the expected answer, for verifiers that compare")
    grade.add_argument(
        "--rubric", metavar="TEXT", help="what a judge model goes by: a text, or the path of a .md file"
    )
    grade.add_argument("--scale", type=float, nargs=2, metavar=("LO", "HI"), help="the judge rates on this scale")
    grade.add_argument(
        "--use-privileged", action="store_true", help="the judge model also reads the task's privileged block"
    )
    grade.add_argument("--tasks", metavar="DATA", help="task rows with the references, where the run store has none")
    grade.add_argument("--timeout", type=float, help="seconds a verdict may take")
    grade.add_argument("--concurrency", type=int, help="judge calls in flight (default: 8, for a verifier 1)")
    grade.add_argument("--output", metavar="PATH", help=_OUTPUT_HELP)

    check = _command(commands, "check-reward", "ask reward functions what they pay for, before any training")
    check.add_argument(
        "reward_funcs",
        nargs="+",
        metavar="MODULE:ATTR",
        help="reward functions of a trainer, judges, or lists of them; FILE.py:ATTR works, too",
    )
    check.add_argument("--data", metavar="DATA", help="what will be trained on (default: generic asks); " + _DATA_HELP)
    check.add_argument("--spec", metavar="PATH", help="folder or file with the tools of tasks that carry none")
    check.add_argument("--gold", metavar="COLUMN", help="where the right answer is, as a dotted path into the row")
    check.add_argument("--n", type=int, default=8, help="tasks every reply is tried on (default: 8)")
    check.add_argument("--threshold", type=float, help="reward from which a reply counts as paid")
    check.add_argument("--weights", type=float, nargs="+", metavar="W", help="the trainer's reward_weights")
    check.add_argument("--seed", type=int, default=0, help="seed of the choice of tasks (default: 0)")

    measure = _command(commands, "measure", "pass@1, pass@k and pass^k with their intervals")
    measure.add_argument("data", help=_DATA_HELP)
    measure.add_argument("--k", type=int, help="k of pass@k and pass^k; the smallest group when left out")
    measure.add_argument("--threshold", type=float, default=1.0, help="reward from which a row passes (default: 1.0)")
    measure.add_argument(
        "--fail-under",
        type=float,
        metavar="P",
        help="exit 1 when the lower end of the pass@1 interval is under P, or when there is no interval",
    )

    audit = _command(commands, "audit", "what is wrong with rollouts, before they train or measure anything")
    audit.add_argument("data", help="completions tables of TRL, a traces.jsonl of verifiers, or " + _DATA_HELP)
    audit.add_argument(
        "--endorsed", nargs="+", default=[], metavar="NAME", help="what the reward is for, as in tool:lookup_order"
    )
    audit.add_argument("--evals", nargs="+", metavar="DATA", help="what is measured on; finds tasks that are in both")
    audit.add_argument("--effect", type=float, default=0.05, help="change a comparison has to see (default: 0.05)")
    audit.add_argument("--threshold", type=float, help="reward from which a row passes")
    audit.add_argument("--weights", nargs="+", metavar="FUNCTION=W", help="weights of the table's reward functions")
    audit.add_argument("--seed", type=int, default=0, help="seed of shuffles and resampling (default: 0)")

    select = _command(commands, "select", "keep the rows worth training on, and say what every gate dropped")
    select.add_argument("data", help=_DATA_HELP)
    select.add_argument("--output", metavar="PATH", help=_OUTPUT_HELP)
    add_config_flags(select, SelectionConfig)

    export = _command(commands, "export", "write a training file in the shape TRL takes")
    export.add_argument("data", help=_DATA_HELP)
    kinds = ("sft", "preference", "reward", "kto", "grpo", "eval", "opd", "opsd")
    export.add_argument("--format", choices=kinds, default="sft", help="trainer (default: sft)")
    export.add_argument("--output", metavar="PATH", help=_OUTPUT_HELP)

    add_hub_commands(partial(_command, commands))
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    parser.add_argument("--config", metavar="FILE", help="YAML file with any of these flags; a flag given here wins")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """
    Arguments, with the YAML file named by `--config` below the flags.

    Raises:
        [`ConfigurationError`]: The file cannot be read, or holds a key that is no flag of the command.
    """
    config = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    config.add_argument("--config")
    path = config.parse_known_args(argv)[0].config
    if path is not None and argv[0] in _commands(parser):
        apply_yaml(_commands(parser)[argv[0]], path)
    return parser.parse_args(argv)


def _commands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}
