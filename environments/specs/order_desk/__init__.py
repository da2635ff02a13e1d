"""Refunds, cancellations and lookups in the simulated world, with faults: situations drawn from the library's grid."""

from pathlib import Path

from specs.order_desk.agent import SYSTEM_PROMPT, TOOLS, tasks
from specs.order_desk.policies import careful, eager
from specs.order_desk.reward import reward
from specs.spec import EnvironmentSource


SOURCE = EnvironmentSource(
    name="order-desk",
    about=(
        "An order desk that looks orders up, refunds and cancels them. Asks come in many voices; some are vague, "
        "some try to get around the rules, some are not for this desk. In half of the situations a tool breaks on "
        "schedule: it times out, loses its reply, reports a success that was none. Orders may be missing, twice "
        "there, or dealt with already. The reward is the library's checklist (honest conduct, times what the "
        "situation asks for), and a refusal has to come from a look."
    ),
    tools=TOOLS,
    system_prompt=SYSTEM_PROMPT,
    tasks=tasks,
    careful=careful,
    eager=eager,
    reward=reward,
    include=(Path(__file__).parent / "reward.py",),
)
