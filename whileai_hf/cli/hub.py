"""The commands that speak to the Hub: each calls one public function and prints its report."""

from __future__ import annotations

import argparse
import sys

from whileai_hf.cli.files import check_output, json_text
from whileai_hf.errors import ConfigurationError, PublishGateError
from whileai_hf.hub.lifecycle import publish as make_public
from whileai_hf.hub.lifecycle import unpublish as make_private
from whileai_hf.hub.listing import catalog as list_public
from whileai_hf.hub.listing import datasets as list_own
from whileai_hf.hub.profiling import preview as look_at
from whileai_hf.hub.profiling import profile as describe
from whileai_hf.hub.pulling import pull as fetch
from whileai_hf.hub.pushing import push as send
from whileai_hf.hub.removal import Removal, carry_out, delete_dataset, delete_empty_datasets, purge_agent
from whileai_hf.hub.status import hf_status
from whileai_hf.rows import Report


def status(args: argparse.Namespace) -> int:
    """`whileai-hf status`: exits 1 when nobody is signed in, or the Hub does not answer."""
    found = hf_status()
    _print(args, found)
    return 0 if found.signed_in else 1


def datasets(args: argparse.Namespace) -> int:
    """`whileai-hf datasets`: your data sets by purpose."""
    return _print(args, list_own(namespace=args.namespace, agent=args.agent, purpose=args.purpose))


def catalog(args: argparse.Namespace) -> int:
    """`whileai-hf catalog`: everybody's public data sets by agent."""
    return _print(args, list_public(args.agent, author=args.author, purpose=args.purpose, limit=args.limit))


# Arguments of `push` that are no knobs of its config.
_NO_KNOBS = ("command", "config", "json", "data", "repo", "purpose", "holdout", "gate")


def push(args: argparse.Namespace) -> int:
    """`whileai-hf push`: rows to a dataset repo; exits 1 when the publish gate refuses them."""
    knobs = {name: value for name, value in vars(args).items() if name not in _NO_KNOBS}
    try:
        done = send(args.data, args.repo, purpose=args.purpose, holdout=args.holdout, gate=args.gate, **knobs)
    except PublishGateError as error:
        print(f"whileai-hf: {error}", file=sys.stderr)
        return 1
    return _print(args, done)


def pull(args: argparse.Namespace) -> int:
    """`whileai-hf pull`: fetches a push and keeps it in the cache, or writes it to a file."""
    check_output(args.output)
    rows = fetch(args.repo, revision=args.revision, split=args.split, config_name=args.subset, path=args.output)
    kept = "in the local cache; pass --output for a file" if args.output is None else args.output
    if args.json:
        print(json_text({"repo": args.repo, "rows": len(rows), "columns": rows.column_names, "output": args.output}))
    else:
        print(f"{args.repo}: {len(rows)} rows, {kept}")
    return 0


def profile(args: argparse.Namespace) -> int:
    """`whileai-hf profile`: what rows hold."""
    where = {"split": args.split, "config": args.subset, "revision": args.revision}
    return _print(args, describe(args.data, reward=args.reward, threshold=args.threshold, **where))


def preview(args: argparse.Namespace) -> int:
    """`whileai-hf preview`: the first rows."""
    return _print(args, look_at(args.data, n=args.n, split=args.split, config=args.subset, revision=args.revision))


def publish(args: argparse.Namespace) -> int:
    """`whileai-hf publish`: everybody may see it."""
    return _print(args, make_public(args.repo, agent=args.agent, description=args.description))


def unpublish(args: argparse.Namespace) -> int:
    """`whileai-hf unpublish`: nobody else may."""
    return _print(args, make_private(args.repo))


def purge(args: argparse.Namespace) -> int:
    """`whileai-hf purge`: lists what would be deleted, asks, deletes exactly that; exits 1 when something is left."""
    found = _planned(args)
    if args.dry_run or found.is_empty:
        return _print(args, found)
    if not args.yes and not _agreed(found):
        print("whileai-hf: nothing was deleted", file=sys.stderr)
        return 1
    done = carry_out(found)
    _print(args, done)
    return 1 if done.failed else 0


def _planned(args: argparse.Namespace) -> Removal:
    if args.agent is not None:
        return purge_agent(args.agent, namespace=args.namespace, dry_run=True)
    if args.dataset is not None:
        return delete_dataset(args.dataset, dry_run=True)
    if args.empty:
        return delete_empty_datasets(max_rows=args.max_rows, namespace=args.namespace, dry_run=True)
    raise ConfigurationError("purge needs --agent NAME, --dataset REPO or --empty: it never deletes all there is")


def _agreed(found: Removal) -> bool:
    """Asks on the terminal; no answer, as in a script without input, is no."""
    # Not on standard output, which with --json is the report and nothing else.
    print(found, file=sys.stderr)
    print("Delete them for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(args: argparse.Namespace, report: Report) -> int:
    print(json_text(report.to_dict()) if args.json else report)
    return 0
