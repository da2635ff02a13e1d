"""The account of a run: why it ended, what has to be said about it, and the report of both."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from whileai_hf.actors import agent_id
from whileai_hf.engine.queue import GroupQueue
from whileai_hf.engine.report import RunReport
from whileai_hf.scenarios import coverage


if TYPE_CHECKING:
    from whileai_hf.engine.config import SimulationConfig
    from whileai_hf.engine.running import Run


class Account:
    """
    What to say about a run that has ended.

    Args:
        run ([`Run`]):
            The run.
        queue ([`GroupQueue`]):
            Its queue, for what was left undone.
    """

    def __init__(self, run: Run, queue: GroupQueue) -> None:
        self._run = run
        self._queue = queue
        self._tally = run.tally

    def stopped_because(self) -> str:
        """Why the run ended, see [`RunReport`]."""
        run, tally = self._run, self._tally
        if self._queue.stop is not None:
            return self._queue.stop.reason
        if tally.errors >= run.losses_allowed:
            return "agent_failed"
        if self._queue.timed_out:
            return "time_budget"
        if tally.errors and not tally.rows:
            return "agent_failed"
        if run.drawn is not None and run.drawn.saturated:
            return "saturation"
        if self._queue.used_up and run.pinned:
            return "tasks_done"
        limited = run.topology.situations is not None
        return "situations_exhausted" if self._queue.used_up and limited else "budget"

    def warnings(self) -> list[str]:
        """One sentence for everything that came out otherwise than asked."""
        run, tally = self._run, self._tally
        asked, repeats = run.topology.rows, run.topology.repeats
        found = list(run.spec.warnings)
        asks = len(dict.fromkeys((*run.spec.seeds, *run.config.seeds)))
        if run.pinned is None and asks * repeats > run.wanted:
            found.append(
                f"budget {asked} is too small for your {asks} example asks: some of them were not played; raise budget"
            )
        if tally.errors:
            found.append(
                f"{tally.errors} rollouts were lost because the agent failed, the first with: {tally.first_error}"
            )
        unjudged = sum(verdict is None or verdict.reward is None for verdict in run.verdicts)
        if run.score is not None and unjudged:
            found.append(
                f"{unjudged} of {len(run.verdicts)} rows have no verdict of {run.score.name}; the allocation took "
                "prompts without two of them for unanimous"
            )
        if self._queue.stop is not None:
            found.append(f"the run stopped early: {self._queue.stop}")
        if self._queue.abandoned:
            found.append(
                f"{self._queue.abandoned} rollouts were still running {run.config.stop_grace:g} s after the end and "
                "were abandoned; raise stop_grace to wait for them"
            )
        return [*found, *self._degraded().values(), *self._shortfall()]

    def _roles(self) -> dict[str, str | None]:
        run = self._run
        writer = "pinned" if run.pinned else "template" if run.writer is None else run.writer.name
        user = run.roles.user.name if run.player.agent.is_chat else None
        return {"agent": run.player.name, "writer": writer, "user": user}

    def _degraded(self) -> dict[str, str]:
        """What ran below its usual quality, with a sentence for each."""
        run = self._run
        found = dict(run.roles.degraded)
        fallback = None if run.writer is None else run.writer.report()["generator_fallback"]
        if fallback:
            found["generator_fallback"] = fallback
        return found

    def _asked(self) -> int:
        config = self._run.config
        if config.twins and self._queue.used_up:
            return self._queue.planned  # how many tasks have a twin shows when they are drawn
        return self._run.topology.rows * config.runs

    def _shortfall(self) -> list[str]:
        run, tally = self._run, self._tally
        asked, repeats = self._asked(), run.topology.repeats
        missing = asked - tally.rows
        if missing <= 0:
            return []
        if run.topology.policy == "fixed" and run.wanted < asked and tally.rows == run.wanted:
            return [f"{tally.rows} rows instead of {asked}: only whole groups of {repeats} repeats are run"]
        why = self.stopped_because()
        # Stopping prompts that teach nothing is the point of the allocation, and the report counts what it saved.
        saved = run.topology.policy != "fixed" and (missing < repeats or why in ("tasks_done", "situations_exhausted"))
        if saved and not tally.errors and not tally.cut:
            return []
        return [f"{tally.rows} rows instead of {asked}: the run stopped because of {why!r}"]

    def report(self, seconds: float) -> RunReport:
        """The report."""
        run, tally, spec, topology = self._run, self._tally, self._run.spec, self._run.topology
        dimensions = [found for found in tally.dimensions.values() if found]
        written = None if run.writer is None else run.writer.report()
        search: dict[str, Any] = {
            **({} if run.drawn is None else run.drawn.report()),
            "writer": written,
            "agent_errors": tally.errors,
            "first_agent_error": tally.first_error,
            "groups": tally.groups(),
            "flaws": dict(tally.flaws),
            "rollouts_abandoned": self._queue.abandoned,
            "writer_waves_abandoned": 0 if written is None else written["abandoned"],
        }
        return RunReport(
            run_id=run.run_id,
            mode=run.config.mode,
            agent=run.agent_id,
            roles=self._roles(),
            spec={
                "name": spec.name,
                "tools": spec.openai_tools(),
                "system_prompt": spec.system_prompt,
                "sha": spec.sha,
            },
            seed=run.config.seed,
            knobs=plain_knobs(run.config),
            n_rows=tally.rows,
            budget=self._asked(),
            shortfall=self._asked() - tally.rows,
            n_situations=len(tally.dimensions),
            n_prompts=len(tally.prompts),
            k=topology.repeats,
            repeat_policy=topology.policy,
            stopped_because=self.stopped_because(),
            search=search,
            coverage=None if run.pinned else coverage(spec, dimensions).to_dict(),
            faults={"scheduled": dict(tally.scheduled), "fired": dict(tally.fired)},
            tools_called={name: tally.tools[name] for name in dict.fromkeys([*spec.names, *sorted(tally.tools)])},
            seconds=seconds,
            warnings=self.warnings(),
            degraded=list(self._degraded()),
        )


def plain_knobs(config: SimulationConfig) -> dict[str, Any]:
    """The knobs as JSON values; what is none stands with its name."""
    knobs = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    for name in ("execute", "embedder", "simulator", "user_model"):
        value = knobs[name]
        knobs[name] = value if value is None or isinstance(value, str | bool) else agent_id(value)
    return knobs
