"""What the writer counts, and the sentence that says when too much of it came from the template after all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


# Share of template prompts from which a run says that its writer fell back.
NOTABLE_SHARE = 0.1
# Waves after which a writer that has not written one usable message is not asked again.
HOPELESS_WAVES = 8

_WHY = {
    "missing": "the model's answers held no message for them",
    "model_error": "calls to the model failed",
    "abandoned": "time was up",
    "given_up": "the model had written nothing usable before",
    "missing_value": "the messages lacked a value of the ask",
    "made_up_value": "the messages made up values",
    "not_the_person": "the model spoke as the service instead of as the person",
    "leak": "the messages told what the person cannot know",
    "policy": "the messages quoted the agent's rules",
    "copy": "the messages repeated each other",
}
_FIX = {
    "missing": "use a model that follows a JSON schema, or a smaller batch",
    "model_error": "the writer's report lists the errors",
    "abandoned": "allow more time or more concurrency",
}


@dataclass
class Tally:
    """Counts of one writer."""

    written: int = 0
    kept: int = 0
    repaired: int = 0
    asked_again: int = 0
    waves: int = 0
    abandoned: int = 0
    invented: int = 0
    paraphrased: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    first_wave_failed: bool | None = None

    @property
    def fallback(self) -> int:
        """Prompts that stayed the template's."""
        return sum(self.reasons.values())

    def add(self, finished: bool, repaired: int, asked_again: int) -> None:
        """Counts a wave."""
        self.waves += 1
        self.abandoned += not finished
        self.repaired += repaired
        self.asked_again += asked_again

    @property
    def hopeless(self) -> bool:
        """Whether asking again is a waste."""
        return self.waves >= HOPELESS_WAVES and not self.written

    def sentence(self, name: str) -> str | None:
        """One sentence when the share of template prompts is notable."""
        total = self.written + self.fallback
        notable = total and (self.fallback >= NOTABLE_SHARE * total or self.first_wave_failed)
        if not notable or not self.reasons:
            return None
        reason, count = max(self.reasons.items(), key=lambda item: (item[1], item[0]))
        why = _WHY.get(reason, f"their messages failed the check '{reason}'")
        first = " The first wave gave not one usable message." if self.first_wave_failed else ""
        return (
            f"{self.fallback} of {total} prompts were to be written by {name} and are template prompts; "
            f"for {count} of them {why}: {_FIX.get(reason, 'use a stronger writer model')}.{first}"
        )

    def counts(self) -> dict[str, Any]:
        """The counts as a report shows them."""
        return {
            "written": self.written,
            "fallback": self.fallback,
            "reasons": dict(sorted(self.reasons.items())),
            "repaired": self.repaired,
            "asked_again": self.asked_again,
            "kept": self.kept,
            "invented": self.invented,
            "rejected": dict(sorted(self.rejected.items())),
            "paraphrased": self.paraphrased,
            "waves": self.waves,
            "abandoned": self.abandoned,
            "first_wave_failed": self.first_wave_failed,
        }
