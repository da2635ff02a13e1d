"""Questions about tables with one exact answer: the reward is a checker of mathematics."""

from pathlib import Path

from specs.math_tools.agent import SYSTEM_PROMPT, TOOLS, tasks
from specs.math_tools.policies import careful, eager
from specs.math_tools.world import execute
from specs.spec import EnvironmentSource
from whileai_hf.score.verify import MathEqual


SOURCE = EnvironmentSource(
    name="math-tools",
    about=(
        "Questions about tables that have one exact answer: totals, means and shares as fractions in lowest terms, "
        "variances, compound growth. The tables are not in the prompt; a tool gives them. Another computes exactly. "
        "The reward is `MathEqual` on the final answer: `3/4`, `0.75` and `\\boxed{\\frac{3}{4}}` are the same, a "
        "rounded number is not."
    ),
    tools=TOOLS,
    system_prompt=SYSTEM_PROMPT,
    tasks=tasks,
    careful=careful,
    eager=eager,
    reward=MathEqual,
    world=execute,
    include=(Path(__file__).parent / "world.py",),
    requires=("whileai-hf[math]",),
    needs=(
        "The reward needs math-verify, which installing this package brings along. To load it from its folder, "
        "`pip install 'whileai-hf[math]'`."
    ),
)
