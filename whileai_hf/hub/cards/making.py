"""What the agent is, and how its rows were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whileai_hf.hub.cards.markdown import bullets, code, fence, one_line, prose, table
from whileai_hf.hub.cards.numbers import SplitNumbers
from whileai_hf.hub.cards.told import count, counts, mapping, texts


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

# Tools and their parameters listed on a card.
_MOST_TOOLS, _MOST_PARAMETERS = 40, 8
# Characters of a system prompt and of an example shown.
_PROMPT_LENGTH, _EXAMPLE_LENGTH = 3000, 800


def agent_section(record: RunRecord, splits: Sequence[SplitNumbers]) -> str:
    """The agent's tools and system prompt; from the first row where no spec came with the push."""
    spec = mapping(record.spec)
    tools = _tools(spec.get("tools")) or _tools(_first(splits, "tools"))
    parts = []
    if record.agent:
        parts.append(f"{code(record.agent)}" + (f", spec {code(spec['sha'])}" if spec.get("sha") else ""))
    if tools:
        calls = _calls(record, splits)
        head = ["Tool", "What it does", "Parameters", *(["Calls"] if calls else [])]
        rows = [
            [code(name), prose(about, 300) or "-", arguments or "-", *([f"{calls.get(name, 0):,}"] if calls else [])]
            for name, about, arguments in tools[:_MOST_TOOLS]
        ]
        parts.append(table(head, rows))
        if len(tools) > _MOST_TOOLS:
            parts.append(f"{len(tools) - _MOST_TOOLS} more tools are in `run.json`.")
    if isinstance(prompt := spec.get("system_prompt"), str) and prompt.strip():
        parts.append("System prompt:\n\n" + fence(prompt, most=_PROMPT_LENGTH))
    return "\n\n".join(parts)


def _first(splits: Sequence[SplitNumbers], name: str) -> Any:
    return next((split.example[name] for split in splits if split.example.get(name)), None)


def _tools(tools: Any) -> list[tuple[str, str, str]]:
    """Name, description and parameters of tools in the OpenAI or the bare shape."""
    found = []
    for tool in tools if isinstance(tools, list) else []:
        inner = tool.get("function") if isinstance(tool, dict) and isinstance(tool.get("function"), dict) else tool
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            continue
        schema = inner.get("parameters")
        names = schema.get("properties") if isinstance(schema, dict) else None
        listed = [code(name, 60) for name in names] if isinstance(names, dict) else []
        more = [f"and {len(listed) - _MOST_PARAMETERS} more"] if len(listed) > _MOST_PARAMETERS else []
        found.append((inner["name"], inner.get("description") or "", ", ".join(listed[:_MOST_PARAMETERS] + more)))
    return found


def _calls(record: RunRecord, splits: Sequence[SplitNumbers]) -> dict[str, int]:
    counted = counts(mapping(record.report).get("tools_called"))
    if not counted:
        for split in splits:
            for name, calls in split.tools_called.items():
                counted[name] = counted.get(name, 0) + calls
    return counted


def making_section(record: RunRecord, splits: Sequence[SplitNumbers]) -> str:
    """Who played whom, in which situations, and how far those cover what can happen."""
    told = list(_from_report(record.report)) if record.report else list(_without_report(splits))
    tiers: dict[str, int] = {}
    for split in splits:
        for tier, number in split.tiers.items():
            tiers[tier] = tiers.get(tier, 0) + number
    if tiers:
        told.append(
            "kinds of situation: " + ", ".join(f"{code(tier, 40)} {number:,} rows" for tier, number in tiers.items())
        )
    if record.policy_versions:
        told.append("policies: " + ", ".join(code(name) for name in record.policy_versions[:8]))
    return bullets(told)


def _without_report(splits: Sequence[SplitNumbers]) -> Iterator[str]:
    yield "no run report came with these rows: how they were made is not recorded"
    read = sum(split.n_read for split in splits)
    if any(split.tools_called for split in splits):
        yield f"calls of tools are counted in the first {read:,} rows"


def _from_report(report: Mapping[str, Any]) -> Iterator[str]:
    roles = {job: name for job, name in mapping(report.get("roles")).items() if isinstance(name, str) and name}
    if roles:
        yield "played by: " + ", ".join(f"{prose(job, 40)} {code(name)}" for job, name in roles.items())
    rows, situations, prompts, k = (count(report.get(name)) for name in ("n_rows", "n_situations", "n_prompts", "k"))
    if rows is not None and situations is not None and prompts is not None and k is not None:
        yield (
            f"the run made {rows:,} rows from {situations:,} situations and {prompts:,} prompts, "
            f"{k} rollout{'s' * (k != 1)} planned for each (repeats: {code(report.get('repeat_policy'), 40)}); it "
            f"stopped because: {code(report.get('stopped_because'), 40)}"
        )
    yield _coverage(report.get("coverage"))
    yield from _faults(report.get("faults"))
    flaws = counts(mapping(report.get("search")).get("flaws"))
    if any(flaws.values()):
        told = (f"{prose(name.replace('_', ' '))} {number:,}" for name, number in flaws.items() if number)
        yield f"rows with: {', '.join(told)}"
    yield from (prose(text, 600) for text in texts(report.get("warnings")))


def _coverage(coverage: Any) -> str:
    told = counts(coverage)
    covered, total = told.get("pairs_covered"), told.get("pairs_total")
    if covered is None or not total:
        return "coverage of situations: not measured (the tasks were given, not drawn)"
    return (
        f"coverage: {covered:,} of {total:,} pairs of situation values that can occur together "
        f"({covered / total:.0%}), {told.get('cells', 0):,} different situations"
    )


def _faults(faults: Any) -> Iterator[str]:
    scheduled, fired = (counts(mapping(faults).get(name)) for name in ("scheduled", "fired"))
    if scheduled:
        kinds = ", ".join(f"{code(kind, 40)} {number}" for kind, number in sorted(fired.items()))
        yield (
            f"faults of tools: planned on {sum(scheduled.values()):,} rows, fired {sum(fired.values()):,} times"
            + (f" ({kinds})" if kinds else "")
        )
    elif isinstance(faults, Mapping):
        yield "faults of tools: none were planned"


def example_section(splits: Sequence[SplitNumbers]) -> str:
    """The first row: what was asked and what was answered."""
    prompt, reply = _first(splits, "prompt"), _first(splits, "final_text")
    if prompt is None:
        return ""
    asked = prompt if isinstance(prompt, str) else one_line(_last_said(prompt), _EXAMPLE_LENGTH)
    parts = ["Asked:\n\n" + fence(asked, most=_EXAMPLE_LENGTH)]
    if isinstance(reply, str) and reply.strip():
        parts.append("Answered in the end:\n\n" + fence(reply, most=_EXAMPLE_LENGTH))
    return "\n\n".join(parts)


def _last_said(messages: Any) -> Any:
    """The text of the last message of a conversational prompt."""
    last = messages[-1] if isinstance(messages, list) and messages else messages
    return last.get("content") if isinstance(last, dict) else last
