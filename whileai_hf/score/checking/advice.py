"""What every kind of fault means and what to do about it."""

from __future__ import annotations

from typing import NamedTuple

from whileai_hf.score.checking.report import ERROR, INFO, WARNING


class Advice(NamedTuple):
    """How serious a kind of fault is in a trainer's reward function and in a judge, and what to do."""

    trainer: str
    judge: str
    what_to_do: str


FAULTS = {
    "crash": Advice(ERROR, WARNING, "Catch it and return None for that reply: an exception ends the training."),
    "no list": Advice(ERROR, ERROR, "Return a list with one number or None per completion."),
    "length": Advice(ERROR, ERROR, "Return exactly one reward per completion, in their order."),
    "text": Advice(ERROR, WARNING, "Return a number, or None for no verdict."),
    "inf": Advice(ERROR, WARNING, "Bound the reward: one infinite value makes the advantages of its group NaN."),
    "nan": Advice(
        WARNING, WARNING, "Return None where there is no verdict; NaN hides a division by zero or a log of it."
    ),
    "tensor": Advice(INFO, INFO, "Return plain floats: tensors of one element each are slow to collect."),
    "bool": Advice(INFO, INFO, "True and False count as 1 and 0; write float(...) to say so."),
    "mutates": Advice(ERROR, WARNING, "Work on a copy: other rewards and the log see the same objects."),
    "awaitable": Advice(ERROR, INFO, "Make it an `async def`: a trainer awaits only what it can tell is async."),
}
EXPLOITABLE = (
    "Make it 0 for such a reply, or combine it with a reward that is; a policy finds this within a few steps."
)
PARTLY = "Harmless as long as the total does not pay for it, too; do not train on it alone."
LENIENT = "Look at how the answer is extracted: it should be what the reply settles on, not what it mentions."
ACTING = "Check what the world looks like afterwards and how often it was written to, not only what was said."
STRICT_FORM = "Fine if the prompt asks for the form that is paid; else right replies in these forms are punished."
STRICT = "Check the column the right answer comes from and how replies are parsed: nothing right is paid."
BLIND = "It checks the form, not the answer: train on it only together with one that checks the answer."
