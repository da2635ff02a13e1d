"""What pairing did: every row given is in a pair or counted at the reason it is not."""

from __future__ import annotations

import dataclasses

from whileai_hf.rows import Report


# Reason -> why a row is in no pair. A row is counted at the first that holds.
REASONS = {
    "ungraded": "no reward: missing, NaN or infinite",
    "unusable": "no prompt, nothing that the agent did or said, or a simulated user at fault",
    "duplicate": "same tool calls, results and reply as an earlier rollout of its group",
    "truncated": "cut at the token limit (finish_reason length)",
    "unanimous": "every reward of the group is the same: nothing is better",
    "single": "the only rollout left of its group",
    "unreadable": "no conversation can be read from its messages or steps",
    "no_pair": "no two rollouts of the group go together; see refused",
    "not_selected": "other rollouts of its group were paired",
}


@dataclasses.dataclass(frozen=True)
class PairReport(Report):
    """
    What [`build_preference_pairs`] returns beside the pairs. `n_in == 2 * n_pairs + sum(dropped.values())`.

    Args:
        n_in (`int`):
            Rows given.
        n_pairs (`int`):
            Pairs built.
        dropped (`dict[str, int]`):
            Reason to rows that are in no pair; every reason is present.
        n_groups_in (`int`):
            Groups (one prompt of one task) given.
        n_groups_paired (`int`):
            Groups with a pair.
        refused (`dict[str, int]`):
            Possible pairs that were not built: `margin` (rewards too close), `policy` (of two policies), `cut` (they
            part where the user or a tool speaks), `length` (one text too long). The last two count those tried.
        chosen_longer (`float`, *optional*):
            Share of pairs whose chosen text is longer, of those whose texts differ in length.
        mean_length_delta (`float`, *optional*):
            Mean of `length_delta`: characters of the chosen text beyond the rejected one.
        mean_margin (`float`, *optional*):
            Mean gap of the rewards.
        eval_sourced (`int`):
            Pairs with a reward that came from an evaluation.
        warnings (`list[str]`):
            What may be wrong with training on the pairs.
        notes (`list[str]`):
            What a reader has to know.
    """

    n_in: int
    n_pairs: int
    dropped: dict[str, int]
    n_groups_in: int
    n_groups_paired: int
    refused: dict[str, int]
    chosen_longer: float | None
    mean_length_delta: float | None
    mean_margin: float | None
    eval_sourced: int
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [f"{self.n_pairs} pairs of {self.n_in} rows, {self.n_groups_paired} of {self.n_groups_in} prompts"]
        lines += [
            f"  - {self.dropped[name]} rows {name}: {why}" for name, why in REASONS.items() if self.dropped[name]
        ]
        if any(self.refused.values()):
            said = ", ".join(f"{count} {name}" for name, count in self.refused.items() if count)
            lines.append(f"  possible pairs refused: {said}")
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])
