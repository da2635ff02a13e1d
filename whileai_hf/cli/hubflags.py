"""The flags of the commands that speak to the Hub."""

from __future__ import annotations

import argparse
from collections.abc import Callable


_DATA = "rows: a JSONL, JSON or Parquet file, a saved Dataset folder, or a dataset repo on the Hub"
_REPO = "dataset repo on the Hub, as in me/refunds"
_PURPOSES = ("train", "holdout", "eval")
HUB_COMMANDS = ("catalog", "datasets", "preview", "profile", "publish", "pull", "purge", "push", "status", "unpublish")
# Makes a sub-command's parser from its name and its line of help.
Command = Callable[[str, str], argparse.ArgumentParser]


def add_hub_commands(command: Command) -> None:
    """
    Adds every command that speaks to the Hub.

    Args:
        command (`Callable`):
            Makes the parser of a command from its name and one line of help.
    """
    _status_and_lists(command)
    _rows(command)
    _changes(command)


def _status_and_lists(command: Command) -> None:
    command("status", "which account, endpoint and caches are in use")

    datasets = command("datasets", "your data sets, with rows, purpose and storage")
    datasets.add_argument("--namespace", metavar="ORG", help="an organisation of yours (default: your own)")
    datasets.add_argument("--agent", metavar="NAME", help="only those of one agent")
    datasets.add_argument("--purpose", choices=_PURPOSES, help="only those with this purpose")

    catalog = command("catalog", "public data sets of everybody, by agent")
    catalog.add_argument("--agent", metavar="NAME", help="only those of one agent")
    catalog.add_argument("--author", metavar="NAMESPACE", help="only those in one namespace")
    catalog.add_argument("--purpose", choices=_PURPOSES, help="only those with this purpose")
    catalog.add_argument("--limit", type=int, metavar="N", help="how many at most, the newest first")


def _rows(command: Command) -> None:
    _push(command)
    pull = command("pull", "fetch exactly what was pushed, and check it")
    pull.add_argument("repo", help=_REPO)
    pull.add_argument("--output", metavar="PATH", help="where the rows go: a .jsonl or .parquet file")
    _place(pull)

    profile = command("profile", "pass rate, support, mixed tasks and tool use of any rows, yours or not")
    profile.add_argument("data", help=_DATA)
    _place(profile)
    profile.add_argument("--reward", metavar="COLUMN", help="column with the verdict, where it has another name")
    profile.add_argument("--threshold", type=float, help="reward from which a row passes")

    preview = command("preview", "the first rows, without fetching the rest")
    preview.add_argument("data", help=_DATA)
    preview.add_argument("--n", type=int, default=3, help="how many rows (default: 3)")
    _place(preview)


def _push(command: Command) -> None:
    push = command("push", "put rows into a dataset repo: gated, scrubbed, as one commit with a tag of its own")
    push.add_argument("data", help=_DATA)
    push.add_argument("repo", help=_REPO)
    push.add_argument("--purpose", choices=_PURPOSES, default="train", help="what the rows are for (default: train)")
    push.add_argument("--holdout", type=float, metavar="SHARE", help="share of the tasks that go into a holdout split")
    push.add_argument("--no-gate", dest="gate", action="store_false", help="skip the publish gate")
    push.add_argument("--mode", choices=("rl", "sft"), help="what the gate checks the rows as")
    push.add_argument("--parent", metavar="REPO@TAG", help="the push the rows were made from")
    push.add_argument("--agent", metavar="NAME", help="the agent the rows are of")
    push.add_argument("--description", default="", metavar="TEXT", help="what a reader of the card should know")
    push.add_argument("--endorsed", nargs="+", default=(), metavar="NAME", help="what the reward is meant to track")
    push.add_argument("--strict-hacks", action="store_true", help="refuse rewards that follow something not endorsed")
    push.add_argument("--eval-data", nargs="+", metavar="DATA", help="evaluation sets no row may be in")
    push.add_argument("--public", dest="private", action="store_false", help="make a new repo public, not private")
    push.add_argument("--publish", action="store_true", help="make the repo public once the push is there")
    push.add_argument("--overwrite", action="store_true", help="replace what the repo holds that is not ours")
    push.add_argument("--subset", dest="config_name", default="default", metavar="NAME", help="configuration to write")
    push.add_argument("--split", help="name of the split (default: that of the purpose)")
    push.add_argument("--seed", type=int, default=0, help="another seed holds out other tasks (default: 0)")
    push.add_argument("--license", metavar="NAME", help="licence, as the Hub names it")
    push.add_argument("--language", nargs="+", default=(), metavar="CODE", help="languages of the rows")


def _place(parser: argparse.ArgumentParser) -> None:
    """Where in a repo; a configuration is called a subset, as on the Hub's pages, since `--config` is a YAML file."""
    parser.add_argument("--revision", metavar="TAG", help="tag, branch or commit of the repo (default: the newest)")
    parser.add_argument("--split", help="split of the repo (default: the only one, or train)")
    parser.add_argument("--subset", metavar="NAME", help="configuration of the repo (default: its default)")


def _changes(command: Command) -> None:
    publish = command("publish", "let everybody see a data set of yours, all its versions")
    publish.add_argument("repo", help=_REPO)
    publish.add_argument("--agent", metavar="NAME", help="the agent it belongs to")
    publish.add_argument("--description", metavar="TEXT", help="what its card says about it")

    unpublish = command("unpublish", "make a data set of yours private again")
    unpublish.add_argument("repo", help=_REPO)

    purge = command("purge", "delete an agent with all its repos, a data set, or those that are empty")
    what = purge.add_mutually_exclusive_group()
    what.add_argument("--agent", metavar="NAME", help="an agent: its data sets, models, record and collection")
    what.add_argument("--dataset", metavar="REPO", help="one data set")
    what.add_argument("--empty", action="store_true", help="data sets without rows")
    purge.add_argument("--max-rows", type=int, default=0, metavar="N", help="with --empty: this many rows are none")
    purge.add_argument("--namespace", metavar="ORG", help="an organisation of yours (default: your own)")
    purge.add_argument("--dry-run", action="store_true", help="only list what would be deleted")
    purge.add_argument("--yes", action="store_true", help="do not ask")
