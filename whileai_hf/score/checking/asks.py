"""Generic asks with known answers, for a check without a dataset.

They are short enough that nobody disputes the answer. Numbers, words, names and choices occur, and some asks name
their answer among others, as asks do. What is checked on them says nothing about columns, tools or a rubric of yours.
"""

from __future__ import annotations

from typing import Any


_ASKS = (
    ("What is 17 + 25?", "42"),
    ("Which is larger, 1317 or 1171?", "1317"),
    ("What is the capital of France?", "Paris"),
    ("A box holds 12 eggs. How many eggs are in 150 boxes?", "1800"),
    ("Is the Pacific or the Atlantic the larger ocean?", "Pacific"),
    ("How many days are there in a leap year?", "366"),
    ("Who wrote the play Hamlet?", "Shakespeare"),
    ("What is 45 divided by 9?", "5"),
    ("Which planet is closest to the sun?", "Mercury"),
    ("A train covers 240 km in 3 hours. What is its speed in km per hour?", "80"),
    ("Is gold or iron the denser metal?", "gold"),
    ("How many sides does a hexagon have?", "6"),
)
# Names under which published reward functions ask for the right answer.
ANSWER_COLUMNS = ("answer", "solution", "target", "ground_truth", "gold", "label", "final_answer", "expected_answer")


def generic_rows() -> list[dict[str, Any]]:
    """The asks as rows: `prompt`, and the answer under every name a reward function may know it by."""
    return [{"prompt": ask, **dict.fromkeys(ANSWER_COLUMNS, answer)} for ask, answer in _ASKS]
