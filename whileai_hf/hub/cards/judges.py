"""Who gave the rewards, how far that is to be believed, and what the rows were checked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from whileai_hf.hub.cards.markdown import bullets, code, prose
from whileai_hf.hub.cards.numbers import SplitNumbers
from whileai_hf.hub.cards.told import count, mapping, texts
from whileai_hf.score.gold import TrustStatus
from whileai_hf.score.trust import stamped_trust, trust_words


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

# Judges and remarks listed on a card.
_MOST = 12
_STAMP = {"agreement", "agreement_low", "kappa", "n_gold", "ok", "status"}
_WORDS = {
    TrustStatus.TRUSTED.value: "measured and trusted",
    TrustStatus.NOT_TRUSTED.value: "NOT TRUSTED",
    TrustStatus.NOT_MEASURED.value: "NOT MEASURED",
}


def judge_section(record: RunRecord, splits: Sequence[SplitNumbers]) -> str:
    """Provenance of the rewards and trust in them; says so where there is no reward."""
    graded = [split.passes for split in splits if split.passes is not None]
    if not graded:
        return "The rows are not graded: nothing here says how good the agent is, and no judge has seen them."
    names = list(dict.fromkeys(str(name) for passes in graded for name in passes.config.get("judge_name", [])))
    lines = [f"judged by {', '.join(map(code, names[:_MOST]))}"] if names else ["who judged the rows is not recorded"]
    said = dict.fromkeys(text for judge in record.judges if (text := _described(judge)))
    lines += [f"judge: {text}" for text in list(said)[:_MOST]]
    if len(said) > _MOST:
        lines.append(f"{len(said) - _MOST} more editions are in `run.json`")
    return "\n\n".join([bullets(lines), _trust(record)])


def _described(judge: Any) -> str:
    """What a judge's record says in single values; texts such as prompts are in `run.json`."""
    pairs = [
        (key, value)
        for key, value in mapping(judge).items()
        if isinstance(value, str | int | float) and key != "trust"
    ]
    return ", ".join(f"{code(key, 40)} {code(value, 80)}" for key, value in pairs[:_MOST])


def _trust(record: RunRecord) -> str:
    stamp = stamped_trust(record.judges)
    if stamp is None and record.gate:
        stamp = record.gate.get("trust")
    if not _is_stamp(stamp):
        return (
            "**Trust: NOT MEASURED.** The judge was never compared with people's labels. A pass means that this judge "
            "said so, and no more."
        )
    word = _WORDS.get(str(stamp["status"]), "NOT MEASURED")
    return f"**Trust: {word}.** {_sentence(prose(trust_words(stamp)))}."


def _is_stamp(stamp: Any) -> TypeGuard[dict[str, Any]]:
    if not isinstance(stamp, dict) or not stamp.keys() >= _STAMP or count(stamp["n_gold"]) is None:
        return False
    numbers = [
        stamp[name] for name in ("agreement", "agreement_low", *(["kappa"] if stamp["kappa"] is not None else []))
    ]
    return stamp["n_gold"] == 0 or all(isinstance(number, int | float) for number in numbers)


def check_section(record: RunRecord) -> str:
    """What the publish gate said, what was taken out, what was left out."""
    return bullets([*_gate(record.gate), *_removed(record)])


def _gate(gate: Mapping[str, Any] | None) -> Iterator[str]:
    if not gate:
        yield "the publish gate was not run on these rows"
        return
    warnings, refused = texts(gate.get("warnings")), texts(gate.get("refusals"))
    verdict = "passed" if gate.get("ok") else "**did not pass**"
    yield f"publish gate: {verdict}, {len(warnings)} warning{'s' * (len(warnings) != 1)}"
    yield from (f"refusal: {prose(text, 600)}" for text in refused[:_MOST])
    yield from (f"warning: {prose(text, 600)}" for text in warnings[:_MOST])
    scan = mapping(gate.get("hack_scan"))
    if scan.get("regime"):
        top = f"; what the rewards follow most is {code(scan['top_feature'])}" if scan.get("top_feature") else ""
        yield f"reward-hack scan: {code(scan['regime'])}{top}"


def _removed(record: RunRecord) -> Iterator[str]:
    if record.scrubbed:
        names = ", ".join(code(name) for name in record.scrubbed[: 2 * _MOST])
        yield f"scrubbed before the push, since only a judge may see it: {names}"
    else:
        yield "nothing had to be scrubbed: no row carried what only a judge may see"
    for reason, number in list(record.dropped.items())[:_MOST]:
        yield f"left out, {prose(str(reason).replace('_', ' '))}: {code(number, 40)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
