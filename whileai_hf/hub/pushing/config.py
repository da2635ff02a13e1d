"""The knobs of a push."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.record import PURPOSES


# Bytes of rows in one Parquet file, as `datasets` has it: the Hub's viewer and streaming read whole row groups.
_SHARD = 500_000_000
_CONFIG = re.compile(r"(?!(?:data|figures)$)[A-Za-z0-9_][\w-]*", re.ASCII)
_SPLIT = re.compile(r"\w+", re.ASCII)


@dataclasses.dataclass(frozen=True)
class PushConfig:
    """
    Knobs of [`push`] beyond its arguments.

    Args:
        mode (`str`, *optional*):
            "rl" or "sft", what the gate checks the rows as; left out, rows that repeat an ask are "rl".
        parent (`str` or [`PushResult`], *optional*):
            The push the rows were made from, "namespace/name@v1" (the newest without a tag).
        agent (`str`, *optional*):
            The agent the rows are of; the name in the run's report when left out.
        private (`bool`, *optional*, defaults to `True`):
            Whether a repo made by this push is private. One that is there stays as it is.
        publish (`bool`, *optional*, defaults to `False`):
            Make the repo public once the push is there.
        description (`str`, *optional*, defaults to `""`):
            What a reader of the card should know.
        endorsed (`tuple[str, ...]`, *optional*, defaults to `()`):
            What the reward is meant to track, see [`~whileai_hf.measure.hacks.hack_scan`].
        strict_hacks (`bool`, *optional*, defaults to `False`):
            Refuse rewards that follow something not endorsed.
        eval_data (`Any`, *optional*):
            Evaluation sets no row may be in.
        overwrite (`bool`, *optional*, defaults to `False`):
            Replace what a repo holds that this library did not push, or a configuration pushed for another purpose.
        config_name (`str`, *optional*, defaults to `"default"`):
            The configuration; one of its own for rows with other columns.
        split (`str`, *optional*):
            Name of the split; that of the purpose when left out.
        seed (`int`, *optional*, defaults to `0`):
            Another seed holds out other tasks.
        license (`str`, *optional*):
            Licence, as the Hub names it ("apache-2.0").
        language (`tuple[str, ...]`, *optional*, defaults to `()`):
            Languages of the rows ("en").
        max_shard_size (`int`, *optional*, defaults to `500_000_000`):
            Bytes of rows in one Parquet file, before compression.
        token (`str` or `bool`, *optional*):
            Token; the one of `hf auth login` when left out.
    """

    mode: str | None = dataclasses.field(
        default=None, metadata={"help": "what the gate checks the rows as", "choices": ("rl", "sft")}
    )
    parent: Any = dataclasses.field(default=None, metadata={"help": "push the rows were made from: namespace/name@v1"})
    agent: str | None = dataclasses.field(default=None, metadata={"help": "agent the rows are of"})
    private: bool = dataclasses.field(default=True, metadata={"help": "whether a repo made by this push is private"})
    publish: bool = dataclasses.field(default=False, metadata={"help": "make the repo public after the push"})
    description: str = dataclasses.field(default="", metadata={"help": "what a reader of the card should know"})
    endorsed: tuple[str, ...] = dataclasses.field(default=(), metadata={"help": "what the reward is meant to track"})
    strict_hacks: bool = dataclasses.field(
        default=False, metadata={"help": "refuse rewards that follow something not endorsed"}
    )
    eval_data: Any = dataclasses.field(default=None, metadata={"help": "evaluation sets no row may be in"})
    overwrite: bool = dataclasses.field(
        default=False, metadata={"help": "replace what the repo holds that this library did not push"}
    )
    config_name: str = dataclasses.field(default="default", metadata={"help": "configuration of the data set"})
    split: str | None = dataclasses.field(default=None, metadata={"help": "name of the split"})
    seed: int = dataclasses.field(default=0, metadata={"help": "another seed holds out other tasks"})
    license: str | None = dataclasses.field(default=None, metadata={"help": "licence, as the Hub names it"})
    language: tuple[str, ...] = dataclasses.field(default=(), metadata={"help": "languages of the rows"})
    max_shard_size: int = dataclasses.field(default=_SHARD, metadata={"help": "bytes of rows in one Parquet file"})
    token: str | bool | None = dataclasses.field(default=None, metadata={"help": "token; that of hf auth login else"})


def check_config(config: PushConfig, purpose: str, holdout: float | None) -> None:
    """
    Refuses knobs that cannot be honoured, before anything is read.

    Args:
        config ([`PushConfig`]):
            The knobs.
        purpose (`str`):
            What the push is for.
        holdout (`float`, *optional*):
            Share of the tasks to hold out.

    Raises:
        [`ConfigurationError`]: An unknown purpose, a holdout of what is none to train on, a name that cannot be one.
    """
    if purpose not in PURPOSES:
        raise ConfigurationError(f"purpose={purpose!r} is not one of {', '.join(map(repr, PURPOSES))}")
    if holdout is not None and purpose != "train":
        raise ConfigurationError(f"holdout={holdout!r} with purpose={purpose!r}: only rows to train on have a holdout")
    if not isinstance(config.config_name, str) or not _CONFIG.fullmatch(config.config_name):
        raise ConfigurationError(
            f"config_name={config.config_name!r} cannot name a configuration; use letters, digits, '-' and '_' (and "
            "neither 'data' nor 'figures', which are folders of the repo)"
        )
    if config.split is not None:
        check_split(config.split)
    size = config.max_shard_size
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ConfigurationError(f"max_shard_size={config.max_shard_size!r} is not a number of bytes above 0")
    for name in ("endorsed", "language"):
        if isinstance(getattr(config, name), str):
            raise ConfigurationError(f"{name} is one text; pass a list of them")


def check_split(name: str) -> None:
    """
    Refuses what `datasets` does not take for the name of a split.

    Raises:
        [`ConfigurationError`]: It is none.
    """
    if not isinstance(name, str) or not _SPLIT.fullmatch(name):
        raise ConfigurationError(f"split={name!r} cannot name a split; use letters, digits and '_'")
