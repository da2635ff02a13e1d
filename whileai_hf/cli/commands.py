"""One function per command: it calls the library with what was parsed, prints, and returns the exit status."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasets import Dataset

import whileai_hf as wai
from whileai_hf.actors.models.endpoint import FORMS
from whileai_hf.cli.files import check_output, check_writable, json_text, load_object, write_rows
from whileai_hf.cli.knobs import config_from
from whileai_hf.errors import ConfigurationError
from whileai_hf.export import export_report
from whileai_hf.measure.audit import audit as audit_rows
from whileai_hf.rows import Report, open_rows
from whileai_hf.score import verify
from whileai_hf.score.checking import check_reward as check_rewards
from whileai_hf.select import SelectionConfig


# How a model's spec string begins.
_MODEL_FORMS = ("https://", *(form.partition("<")[0] for form in FORMS))
# Where the rows of `simulate` go without --output.
_ROLLOUTS = "rollouts.jsonl"
# What `--verify` names: verifiers that compare with a gold answer, which `--field` says where to find.
_WITH_GOLD: dict[str, Callable[..., Any]] = {
    "exact_match": verify.ExactMatch,
    "includes": verify.Includes,
    "math_equal": verify.MathEqual,
    "multiple_choice": verify.MultipleChoice,
    "numeric": verify.Numeric,
    "tool_calls": verify.ToolCalls,
}
# `regex` takes its pattern after a colon.
VERIFIERS = (*_WITH_GOLD, "json_valid", "regex:PATTERN")


def _agent(name: str, spec: wai.AgentSpec) -> Any:
    """The agent `--agent` names: the sample one, a model's spec string, or an object of the user's."""
    if name == "seeded":
        return wai.seeded_agent(spec.openai_tools())
    if name.startswith(_MODEL_FORMS):
        return name
    try:
        return load_object(name, "--agent")
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}; a model is one of {', '.join(FORMS)}") from error


def simulate(args: argparse.Namespace) -> int:
    """`whileai-hf simulate`: plays the agent and writes the rows as they land."""
    if args.spec is None:
        raise ConfigurationError("simulate needs --spec: a folder or file with the agent's tools and system prompt")
    # Rows somebody has paid for are kept, asked or not; a run that is taken up again goes on in its own file.
    args.output = args.output or args.resume or _ROLLOUTS
    check_writable(args.output)
    config = config_from(args, wai.SimulationConfig)
    spec = wai.AgentSpec.load(args.spec)
    grader = None if args.grader is None else load_object(args.grader, "--grader")
    rows = wai.simulate(_agent(args.agent, spec), spec, tasks=args.tasks, grader=grader, config=config)
    _show(args, wai.run_report(rows), rows=None)
    if not len(rows):
        print("whileai-hf: not one rollout succeeded, so there are no rows", file=sys.stderr)
        return 1
    _note(args, f"wrote {len(rows)} rows to {args.output}")
    return 0


def grade(args: argparse.Namespace) -> int:
    """`whileai-hf grade`: a verdict on every row."""
    check_output(args.output)
    graded = wai.grade(
        args.data,
        _judge(args),
        rubric=args.rubric,
        tasks=args.tasks,
        scale=None if args.scale is None else tuple(args.scale),
        use_privileged=args.use_privileged,
        timeout=args.timeout,
        concurrency=args.concurrency,
    )
    return _show(args, wai.grade_report(graded), graded)


def _judge(args: argparse.Namespace) -> Any:
    """What `--judge` or `--verify` names; without either the rubric decides, or the floor is graded."""
    if args.judge is not None and args.verify is not None:
        raise ConfigurationError("--judge and --verify name two judges; pass one of them")
    if args.verify is None:
        is_model = args.judge is not None and args.judge.startswith(_MODEL_FORMS)
        return args.judge if args.judge is None or is_model else load_object(args.judge, "--judge")
    name, _, pattern = args.verify.partition(":")
    if name in _WITH_GOLD and not pattern:
        return _WITH_GOLD[name](field=args.field)
    if name == "json_valid":
        return verify.JSONValid()
    if name == "regex" and pattern:
        return verify.Regex(pattern)
    raise ConfigurationError(f"--verify {args.verify}: expected one of {', '.join(VERIFIERS)}")


def check_reward(args: argparse.Namespace) -> int:
    """`whileai-hf check-reward`: what rewards pay for; exits 1 when a finding is an error."""
    named = [load_object(name, "check-reward") for name in args.reward_funcs]
    functions = [item for value in named for item in (value if isinstance(value, list | tuple) else [value])]
    report = check_rewards(
        functions,
        args.data,
        n=args.n,
        threshold=args.threshold,
        weights=args.weights,
        gold=args.gold,
        tools=None if args.spec is None else wai.AgentSpec.load(args.spec),
        seed=args.seed,
    )
    _show(args, report, rows=None)
    return 0 if report.ok else 1


def audit(args: argparse.Namespace) -> int:
    """`whileai-hf audit`: what is wrong with rollouts; exits 1 when a finding is a problem."""
    report = audit_rows(
        args.data,
        endorsed=args.endorsed,
        evals=args.evals,
        effect=args.effect,
        threshold=args.threshold,
        reward_weights=None if args.weights is None else dict(map(_weight, args.weights)),
        seed=args.seed,
    )
    _show(args, report, rows=None)
    return 0 if report.ok else 1


def _weight(given: str) -> tuple[str, float]:
    name, _, weight = given.rpartition("=")
    try:
        return name, float(weight)
    except ValueError as error:
        raise ConfigurationError(f"--weights {given}: expected FUNCTION=NUMBER, as in accuracy=1.0") from error


def measure(args: argparse.Namespace) -> int:
    """`whileai-hf measure`: pass rates with intervals, and a gate for continuous integration."""
    if args.fail_under is not None and not 0 <= args.fail_under <= 1:
        raise ConfigurationError(f"--fail-under {args.fail_under} is not a pass rate; pass a number from 0 to 1")
    report = wai.pass_at(open_rows(args.data), k=args.k, threshold=args.threshold)
    _show(args, report, rows=None)
    if args.fail_under is None:
        return 0
    low = None if report.ci95 is None else report.ci95[0]
    if low is not None and low >= args.fail_under:
        _note(args, f"passed: the pass@1 interval starts at {low:.3f}, not under {args.fail_under}")
        return 0
    # A gate that cannot tell must not pass: too few tasks for an interval is a failure, and says so.
    reason = "there is no pass@1 interval" if low is None else f"the pass@1 interval starts at {low:.3f}"
    print(f"whileai-hf: failed: {reason}, and --fail-under asks for {args.fail_under}", file=sys.stderr)
    return 1


def select(args: argparse.Namespace) -> int:
    """`whileai-hf select`: the rows worth training on."""
    check_output(args.output)
    rows, report = wai.optimize(open_rows(args.data), config=config_from(args, SelectionConfig))
    return _show(args, report, rows)


def export(args: argparse.Namespace) -> int:
    """`whileai-hf export`: a Dataset in the shape a TRL trainer takes."""
    check_output(args.output)
    rows = wai.to_trl(open_rows(args.data), args.format)
    return _show(args, export_report(rows), rows)


def _show(args: argparse.Namespace, report: Report, rows: Dataset | None) -> int:
    print(json_text(report.to_dict()) if args.json else report)
    return 0 if rows is None else _write(args, rows)


def _write(args: argparse.Namespace, rows: Dataset) -> int:
    if args.output is None:
        _note(args, f"not kept: pass --output to keep the {len(rows)} rows")
    elif len(rows):
        return _keep(args, rows)
    else:
        # A script must not go on with what an earlier command left under that name.
        print(f"whileai-hf: no rows are left, so {args.output} was not written", file=sys.stderr)
        return 1
    return 0


def _keep(args: argparse.Namespace, rows: Dataset) -> int:
    """Writes the rows where they were asked for; a place that has become full or gone does not lose them."""
    try:
        _note(args, f"wrote {len(rows)} rows to {write_rows(rows, args.output)}")
        return 0
    except OSError as error:
        spare = Path(tempfile.mkdtemp(prefix="whileai-hf-")) / Path(args.output).name
        write_rows(rows, str(spare))
        raise ConfigurationError(
            f"--output {args.output} could not be written ({error.strerror or error}); the rows are in {spare}"
        ) from error


def _note(args: argparse.Namespace, text: str) -> None:
    # With --json, standard output is the report and nothing else.
    print(text, file=sys.stderr if args.json else sys.stdout)
