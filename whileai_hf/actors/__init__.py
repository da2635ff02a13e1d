"""Who speaks: the user's agent in any of its shapes, a scripted model, and an agent that misbehaves on purpose.

[`adapt`] turns a callable into an [`Agent`]; [`play`] has it answer one ask. Situations, worlds and rewards belong to
other rooms. To support one more kind of agent, give it the shape of a chat callable.
"""

from whileai_hf.actors.callable import Agent, adapt, play
from whileai_hf.actors.loop import background_loop
from whileai_hf.actors.naming import agent_id
from whileai_hf.actors.played import Played
from whileai_hf.actors.scripted import ScriptedModel
from whileai_hf.actors.seeded import seeded_agent


__all__ = [
    "Agent",
    "Played",
    "ScriptedModel",
    "adapt",
    "agent_id",
    "background_loop",
    "play",
    "seeded_agent",
]
