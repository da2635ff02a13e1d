"""Whether a judge and a policy are the same model, and which model judges when nobody says.

A model's writing pleases the model itself, so a judge should be another one. Names are compared without what says
where a model runs: scheme, organisation, address, provider, revision, date and quantization. Where the last part of
a path is no name ("final", "checkpoint-500"), or the name is nobody's well-known family, the rest of it counts, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from whileai_hf.errors import ConfigurationError


# Large open models of two families, both served by several inference providers: whichever family the policy is of,
# the other one judges.
DEFAULT_JUDGES = ("hf:meta-llama/Llama-3.3-70B-Instruct", "hf:Qwen/Qwen2.5-72B-Instruct")
VARIABLE = "WHILEAI_JUDGE"
_SCHEME = re.compile(r"(hf|vllm|openai|ollama|transformers):")
_ADDRESS = re.compile(r"@https?://.*$")
_REVISION = re.compile(r"@[\w.-]+$")
# Bedrock: "us.anthropic.<model>-v2:0".
_BEDROCK_VERSION = re.compile(r"-v\d{1,2}(?::\d{1,2})+$")
_BEDROCK_VENDOR = re.compile(
    r"(?:(?:us|eu|apac|global)\.)?(?:anthropic|meta|mistral|amazon|cohere|deepseek|ai21|openai|qwen)\."
)
# What the end of a name says about when and how a model was packed; each may follow another.
_PACKED = re.compile(
    r"[-@]?(?:20\d\d-\d\d-\d\d|20\d{6})$"
    r"|\.gguf$"
    r"|[-_.](?:awq|gptq|gguf|ggml|exl[23]|fp8|fp16|bf16|int4|int8|[2-8]bit|bnb|mlx|nf4|unsloth|dynamic|quantized)$"
    r"|[-_.](?:quantized[-_.])?w\d{1,2}a\d{1,2}$"
    r"|[-_.]i?q[1-8](?:_[01k])?(?:_(?:xxs|xs|xl|s|m|l))?$"
    r"|[-_.](?:awq|gptq|gguf|fp8|bnb)[-_.]\w{1,8}$"
)
# Names of a stage of training or a file, not of a model.
_NO_NAME = re.compile(
    r"(?:checkpoint|ckpt|step|epoch|iter|global_step|run|v)?[-_]?\d*"
    r"|final|last|best|latest|merged|model|models|output|outputs|out|adapter|lora|policy|trained|tuned|checkpoints?|hf"
    r"|(?:final|merged|best|last)[-_](?:model|checkpoint|merged|adapter)"
)
# Families whose names mean one model wherever it is kept; others are told apart by who keeps them.
_KNOWN = re.compile(
    r"llama|qwen|qwq|gpt|claude|gemini|gemma|mistral|mixtral|magistral|ministral|phi-?\d|deepseek|command-r|grok"
    r"|falcon|olmo|smollm|granite|nemotron|kimi|glm|yi-|internlm|hermes|vicuna|tulu|zephyr|o[134](?:-|$)"
)
# Families of the default judges, with what is trained from them under other names.
_FAMILIES = {
    "llama": re.compile(r"llama|hermes|vicuna|alpaca|tulu|nemotron"),
    "qwen": re.compile(r"qwen|qwq|qvq"),
}


class _Named(NamedTuple):
    """A name, and where the model is kept, as far as that was said."""

    name: str
    place: str


def _parts(model: str) -> _Named:
    text = model.strip()
    if text.startswith(("http://", "https://")):
        text = text.partition("#")[2]
    scheme = _SCHEME.match(text)
    if scheme is not None:
        text = text[scheme.end() :]
    text = _BEDROCK_VERSION.sub("", _ADDRESS.sub("", text).rstrip("/"))
    place, _, last = text.rpartition("/")
    # A revision may hold slashes nowhere, an inference provider comes after a repository's name.
    last = _REVISION.sub("", last)
    if place and (scheme is None or scheme[1] != "ollama"):
        last = last.partition(":")[0]
    name = last.removesuffix(":latest").replace(":", "-").casefold()
    name = _BEDROCK_VENDOR.sub("", name, count=1) if _BEDROCK_VENDOR.match(name) else name
    while (shorter := _PACKED.sub("", name)) not in ("", name):
        name = shorter
    return _Named(re.sub(r"^meta-(?=llama)", "", name), place.casefold())


def bare_name(model: str) -> str:
    """
    The name of a model without where and how it is served.

    Args:
        model (`str`):
            A spec string, or what rows keep as `model_version`.

    Examples:
    ```python
    >>> bare_name("vllm:Qwen/Qwen3-4B@http://127.0.0.1:8000/v1"), bare_name("openai:gpt-4.1-mini-2025-04-14")
    ('qwen3-4b', 'gpt-4.1-mini')

    ```
    """
    return _parts(model).name


def same_model(judge: str | None, policy: str | None) -> bool:
    """
    Whether two names mean one model.

    Args:
        judge (`str`, *optional*):
            The judge's name.
        policy (`str`, *optional*):
            The policy's, as in `model_version`.

    Examples:
    ```python
    >>> same_model("hf:Qwen/Qwen3-4B:together", "Qwen/Qwen3-4B"), same_model("openai:gpt-4.1", "openai:gpt-4.1-mini")
    (True, False)

    ```
    """
    if not judge or not policy:
        return False
    if judge.strip().rstrip("/") == policy.strip().rstrip("/"):
        return bool(judge.strip())
    one, other = _parts(judge), _parts(policy)
    if not one.name or one.name != other.name:
        return False
    if _NO_NAME.fullmatch(one.name):
        return one.place == other.place
    return one.place == other.place or not (one.place and other.place) or _KNOWN.search(one.name) is not None


def _families(model: str) -> set[str]:
    """The families of the default judges a model may come from, by any part of its name."""
    name = _ADDRESS.sub("", model).casefold()
    return {family for family, words in _FAMILIES.items() if words.search(name)}


def default_judge_model(policies: Iterable[str | None] = ()) -> str:
    """
    The model that judges when none is named.

    Args:
        policies (`Iterable[str]`, *optional*):
            `model_version` of the rows to be judged.

    Returns:
        `str`: The value of `WHILEAI_JUDGE`, else a large open model of another family than the policies.

    Raises:
        [`ConfigurationError`]: `WHILEAI_JUDGE` is not set and there is no Hub token for the default.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return named
    from huggingface_hub import get_token

    families = {family for policy in policies if isinstance(policy, str) for family in _families(policy)}
    chosen = next((model for model in DEFAULT_JUDGES if families.isdisjoint(_families(model))), DEFAULT_JUDGES[0])
    if get_token() is None:
        raise ConfigurationError(
            f"no model was named to judge with, and the default {chosen} needs a Hub token: set {VARIABLE}= to one "
            "such as openai:gpt-4.1 or vllm:<model>@<url>, pass model=, set HF_TOKEN, or pass judge= with a function"
        )
    return chosen
