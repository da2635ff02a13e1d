"""Whether a judge and a policy are the same model, and which model judges when nobody says.

A model's writing pleases the model itself, so a judge should be another one. Names are compared without what says
where a model runs: scheme, organisation, address, provider, date and quantization.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from whileai_hf.errors import ConfigurationError


# Large open models of two families, both served by several inference providers: whichever family the policy is of,
# the other one judges.
DEFAULT_JUDGES = ("hf:meta-llama/Llama-3.3-70B-Instruct", "hf:Qwen/Qwen2.5-72B-Instruct")
VARIABLE = "WHILEAI_JUDGE"
_SCHEME = re.compile(r"(hf|vllm|openai|ollama|transformers):")
_DATED = re.compile(r"[-@]?(?:20\d\d-\d\d-\d\d|20\d{6})$")
_PACKED = re.compile(r"[-_.](?:awq|gptq|gguf|fp8|fp16|bf16|int4|int8|4bit|8bit|bnb|mlx)(?:[-_.]\w{1,8})?$")


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
    name = model.strip()
    if name.startswith(("http://", "https://")):
        name = name.partition("#")[2]
    scheme = _SCHEME.match(name)
    if scheme is not None:
        name = name[scheme.end() :]
    name = re.sub(r"@https?://.*$", "", name).rstrip("/")
    if "/" in name and "ollama" not in (scheme[1] if scheme else ""):
        name = name.rpartition("/")[2].partition(":")[0]  # without the inference provider
    name = name.rpartition("/")[2].removesuffix(":latest").replace(":", "-").casefold()
    name = _DATED.sub("", name)
    return _PACKED.sub("", name)


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
    return bool(bare_name(judge)) and bare_name(judge) == bare_name(policy)


def _family(name: str) -> str:
    found = re.match(r"[a-z]+", bare_name(name))
    return found[0] if found else ""


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

    families = {_family(policy) for policy in policies if isinstance(policy, str)}
    chosen = next((model for model in DEFAULT_JUDGES if _family(model) not in families), DEFAULT_JUDGES[0])
    if get_token() is None:
        raise ConfigurationError(
            f"no model was named to judge with, and the default {chosen} needs a Hub token: set {VARIABLE}= to one "
            "such as openai:gpt-4.1 or vllm:<model>@<url>, pass model=, set HF_TOKEN, or pass judge= with a function"
        )
    return chosen
