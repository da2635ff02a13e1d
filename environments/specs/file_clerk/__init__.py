"""Tidying a folder tree with nested tool arguments, in a world that runs: the reward compares the trees."""

from pathlib import Path

from specs.file_clerk.agent import SYSTEM_PROMPT, TOOLS, tasks
from specs.file_clerk.policies import careful, eager
from specs.file_clerk.reward import reward
from specs.file_clerk.world import execute
from specs.spec import EnvironmentSource


_HERE = Path(__file__).parent
SOURCE = EnvironmentSource(
    name="file-clerk",
    about=(
        "A clerk who keeps a folder tree in order: moves, deletes, appends, counts and adds up. The tools take nested "
        "arguments (lists of moves, a file with its mode). Some tools fail once, some files are not there, some "
        "targets are taken, and what is under `/system` may not be touched. The world keeps a tree per rollout; the "
        "reward makes the rollout's calls again and compares the tree with the right one, asks for the right number "
        "where one was asked for, and for the trouble where there was some. No model is in the loop."
    ),
    tools=TOOLS,
    system_prompt=SYSTEM_PROMPT,
    tasks=tasks,
    careful=careful,
    eager=eager,
    reward=reward,
    world=execute,
    include=(_HERE / "world.py", _HERE / "reward.py"),
)
