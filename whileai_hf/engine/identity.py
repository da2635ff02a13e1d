"""What a run is called: equal inputs give an equal `run_id`, on every machine and at any concurrency."""

from __future__ import annotations

from whileai_hf.actors import agent_id
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.roles import Roles
from whileai_hf.rows import dumps
from whileai_hf.rows.rng import digest
from whileai_hf.spec import AgentSpec


# Knobs that shape the rows of a given task, and those that only shape which tasks are drawn.
_PLAYING = ("seed", "max_turns", "avg_turns", "logprobs")
_DRAWING = ("mode", "fault_rate", "until")


def run_id(roles: Roles, spec: AgentSpec, config: SimulationConfig, drawn: bool) -> str:
    """
    Name of a run.

    Args:
        roles ([`Roles`]):
            The actors; a callable enters by name and source, not by its state, a model by its name and sampling.
        spec ([`AgentSpec`]):
            Tools and prompt.
        config ([`SimulationConfig`]):
            Concurrency and output do not enter.
        drawn (`bool`):
            Whether the tasks are drawn under these knobs, or given by the caller.

    Returns:
        `str`: `"run-"` and 12 hexadecimal characters.
    """
    parts: list[object] = [
        spec.sha,
        agent_id(roles.agent),
        roles.user.name,
        *(getattr(config, name) for name in _PLAYING),
    ]
    parts.append(sorted((config.sampling or {}).items()))
    parts.append(None if config.execute is None else agent_id(config.execute))
    topology = config.topology()
    parts += [topology.repeats, topology.policy, topology.probe, topology.explore_rate, config.twins]
    if config.runs > 1:
        parts.append(config.runs)
    if drawn:
        parts += [getattr(config, name) for name in _DRAWING]
        parts += [None if roles.writer is None else [roles.writer.name, dumps(roles.writer.sampling).decode()]]
        parts.append(config.embedder if isinstance(config.embedder, str) else agent_id(config.embedder))
        parts += [topology.rows, topology.situations, topology.phrasings, topology.repeats, list(config.seeds)]
    return "run-" + digest(*parts, length=12)
