"""The model writer: drawn situations in, the same situations with a prompt in the person's own words out.

Which situations there are, their values and their world stay the template stream's; a model only words them, without
ever seeing the agent's prompt. What does not hold up against its situation keeps the template's wording, and is
counted. The words depend on the order of the tasks, the seed and the model; concurrency changes the speed alone.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.scenarios.writing.brief import Brief, Task, brief_of
from whileai_hf.scenarios.writing.caller import Caller
from whileai_hf.scenarios.writing.invented import Inventor
from whileai_hf.scenarios.writing.quotes import copy_keys, words
from whileai_hf.scenarios.writing.running import run_all
from whileai_hf.scenarios.writing.scene import Scene
from whileai_hf.scenarios.writing.tally import Tally
from whileai_hf.scenarios.writing.wave import Wave
from whileai_hf.spec import AgentSpec


# Prompts that are nobody's to word again: the owner's, a pinned run's, asks that are their own point.
_GIVEN_ARMS = frozenset({"seed", "open_ended"})
_GIVEN_WRITERS = frozenset({"seed", "pinned"})
# Situations whose wordings are remembered for their next phrasing; phrasings of one follow each other closely.
_REMEMBERED = 4096
# Rounds of calls for open-ended asks before fewer than wanted are returned.
_SITTINGS = 2
# Prompts an open-ended ask is compared with, the latest ones; a run of any length stays linear.
_COMPARED = 2_000
# Different error messages of failed calls kept for the report.
_MOST_ERRORS = 5


class ModelWriter:
    """
    Writes prompts with a model.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent whose users are written. Its prompt stays out of the writer's view.
        model ([`~whileai_hf.actors.models.Model`]):
            The model.
        seed (`int`, *optional*, defaults to `0`):
            Seed of circumstances and of the calls.
        concurrency (`int`, *optional*, defaults to `16`):
            Calls in flight at once.
        batch (`int`, *optional*, defaults to `8`):
            Situations in one call.
        deadline (`float`, *optional*):
            Reading of `clock` after which outstanding waves are abandoned. May be set at any time.
        clock (`Callable`, *optional*, defaults to `time.monotonic`):
            Seconds.
    """

    def __init__(
        self,
        spec: AgentSpec,
        model: Model,
        *,
        seed: int = 0,
        concurrency: int = 16,
        batch: int = 8,
        deadline: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(model, Model):
            raise ConfigurationError(f"the writer's model is {model!r:.60}; pass a Model, for instance as_model(...).")
        for name, number in (("concurrency", concurrency), ("batch", batch)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ConfigurationError(f"the writer's {name} is {number!r:.40}; pass 1 or more.")
        self.deadline = deadline
        self._clock = clock
        self._model = model
        self._seed = seed
        self._batch = batch
        self._scene = Scene(spec)
        self._caller = Caller(model, self._scene.service, seed, concurrency)
        self._inventor = Inventor(spec, self._scene, self._caller, model.name, seed)
        self._tally = Tally()
        self._wordings: OrderedDict[str, list[str]] = OrderedDict()
        self._taken: set[int] = set()

    @property
    def name(self) -> str:
        """What rows say in `writer_model`."""
        return self._model.name

    def write(self, tasks: Sequence[Task], *, deadline: float | None = None) -> list[Task]:
        """
        The tasks with their prompts written by the model.

        Args:
            tasks (`Sequence[dict]`):
                Drawn tasks, in running order. The owner's own asks and pinned prompts come back as they are.
            deadline (`float`, *optional*):
                Reading of the clock after which outstanding waves are abandoned; the writer's own when absent.

        Returns:
            `list[dict]`: As many, in the same order. A written one has the model's name as `writer_model` and, when it
            was of the `structured` arm, `model_guided` as its arm; one whose message did not hold up is unchanged.

        Raises:
            [`~whileai_hf.errors.ModelStopError`]: If the model answers no further call.
        """
        written = list(tasks)
        for round_ in self._rounds(tasks):
            self._write_round(written, round_, deadline)
        return written

    def _rounds(self, tasks: Sequence[Task]) -> list[list[int]]:
        """Positions to be written; a second wording of a situation waits for the first, to be unlike it."""
        rounds: list[list[int]] = []
        seen: dict[str, int] = {}
        for at, task in enumerate(tasks):
            given = task.get("arm") in _GIVEN_ARMS and not task.get("phrasing")
            if given or task.get("writer_model") in _GIVEN_WRITERS:
                self._tally.kept += 1
                self._note(task["scenario_id"], task["prompt"], ())
                continue
            turn = seen.get(task["scenario_id"], 0)
            seen[task["scenario_id"]] = turn + 1
            if turn == len(rounds):
                rounds.append([])
            rounds[turn].append(at)
        return rounds

    def _write_round(self, written: list[Task], places: list[int], deadline: float | None) -> None:
        if self._tally.hopeless:
            self._tally.reasons["given_up"] += len(places)
            return
        briefs = [self._brief(written[at]) for at in places]
        waves = [Wave(part, self._scene, self._caller) for part in _batches(briefs, self._batch)]
        try:
            self._run([wave.run() for wave in waves], deadline)
        finally:
            for number, wave in enumerate(waves):
                self._settle(wave, written, places[number * self._batch :])

    def _brief(self, task: Task) -> Brief:
        earlier = self._wordings.get(task["scenario_id"], [])
        if task.get("phrasing") and not earlier:
            # The wording before this one was somebody else's or is forgotten: the template's stands for it.
            earlier = [task["prompt"]]
        return brief_of(task, self._scene, self._seed, earlier)

    def _run(self, jobs: Sequence[Coroutine[Any, Any, None]], deadline: float | None) -> None:
        def left() -> float | None:
            # Read each time: the writer's own deadline may be drawn nearer while a call waits.
            until = self.deadline if deadline is None else deadline
            return None if until is None else until - self._clock()

        self._caller.open_gate()
        run_all(jobs, left)

    def _settle(self, wave: Wave, written: list[Task], places: Sequence[int]) -> None:
        """Puts a wave's messages onto its tasks; what was said before in this run is not said again."""
        tally = self._tally
        tally.add(wave.finished, wave.repaired, wave.asked_again)
        usable = 0
        for at, brief in enumerate(wave.briefs):
            text, task = wave.texts.get(at), brief.task
            if text is not None and self._note(task["scenario_id"], text, brief.values):
                written[places[at]] = self._with(task, text)
                usable += 1
                continue
            if text is not None:
                tally.reasons["copy"] += 1
            else:
                tally.reasons[wave.faults.get(at, "missing") if wave.finished else "abandoned"] += 1
            self._note(task["scenario_id"], task["prompt"], brief.values)
        tally.written += usable
        if tally.first_wave_failed is None:
            tally.first_wave_failed = not usable

    def _with(self, task: Task, text: str) -> Task:
        # Arms that chose the situation for a reason of their own keep the credit for it.
        arm = task.get("arm") or "structured"
        arm = "model_guided" if arm in ("structured", "seed") else arm
        return {**task, "prompt": text, "writer_model": self.name, "arm": arm}

    def _note(self, scenario_id: str, text: str, values: Iterable[str]) -> bool:
        """Remembers a wording; `False` when it was there before."""
        keys = {hash(key) for key in copy_keys(text, values)}
        if not self._taken.isdisjoint(keys):
            return False
        self._taken |= keys
        self._wordings.setdefault(scenario_id, []).append(text)
        self._wordings.move_to_end(scenario_id)
        while len(self._wordings) > _REMEMBERED:
            self._wordings.popitem(last=False)
        return True

    def paraphrase(self, task: Task, n: int, *, deadline: float | None = None) -> list[Task]:
        """
        Further wordings of a task: same situation, same values.

        Args:
            task (`dict`):
                A task with a prompt; the owner's own asks are welcome.
            n (`int`):
                Number of wordings.
            deadline (`float`, *optional*):
                Reading of the clock after which outstanding waves are abandoned; the writer's own when absent.

        Returns:
            `list[dict]`: `n` tasks or fewer, with the next values of `phrasing`; what did not hold up is left out.
        """
        first = (task.get("phrasing") or 0) + 1
        self._note(task["scenario_id"], task["prompt"], ())
        earlier = [*self._wordings.get(task["scenario_id"], []), task["prompt"]]
        earlier = list(dict.fromkeys(earlier))
        tasks = [{**task, "phrasing": first + turn} for turn in range(n)]
        briefs = [brief_of(one, self._scene, self._seed, earlier) for one in tasks]
        waves = [Wave(part, self._scene, self._caller) for part in _batches(briefs, self._batch)]
        self._run([wave.run() for wave in waves], deadline)
        found: list[Task] = []
        for wave in waves:
            for at, brief in enumerate(wave.briefs):
                text = wave.texts.get(at)
                if text is not None and self._note(task["scenario_id"], text, brief.values):
                    found.append({**self._with(task, text), "phrasing": first + len(found)})
        self._tally.paraphrased += len(found)
        return found

    def invent(self, n: int, avoid: Sequence[str] = (), *, deadline: float | None = None) -> list[Task]:
        """
        Asks beyond the grid that a user of this agent might have.

        Args:
            n (`int`):
                Number of asks.
            avoid (`Sequence[str]`, *optional*):
                Prompts that exist; nothing like them is returned, and the last of them are shown to the model.
            deadline (`float`, *optional*):
                Reading of the clock after which outstanding calls are abandoned; the writer's own when absent.

        Returns:
            `list[dict]`: Task rows of the `open_ended` arm, `n` or fewer.
        """
        rows: list[Task] = []
        said = list(avoid[-_COMPARED:])
        known = [set(words(text)) for text in said]
        for _ in range(_SITTINGS):
            if len(rows) >= n:
                break
            sittings = self._inventor.jobs(n - len(rows), said)
            self._run([sitting.run() for sitting in sittings], deadline)
            for text, tier in (found for sitting in sittings for found in sitting.found):
                row = self._inventor.row(text, tier, known)
                if isinstance(row, str):
                    self._tally.rejected[row] += 1
                else:
                    rows.append(row)
                    said.append(row["prompt"])
                    known.append(set(words(row["prompt"])))
        self._tally.invented += len(rows)
        return rows

    def report(self) -> dict[str, Any]:
        """
        What was written and what was not.

        Returns:
            `dict`: `written`, `fallback`, `reasons` (of the fallbacks), `repaired`, `asked_again` (entries the model
            left out), `kept` (prompts that were not to be written), `invented`, `rejected` (reasons), `paraphrased`,
            `waves`, `abandoned`, `first_wave_failed` (`None` before there was one), `calls`, `usage`, `errors` (the
            first few), `model`, and `generator_fallback`: one sentence when the share of template prompts is
            notable, else `None`.
        """
        return {
            **self._tally.counts(),
            "calls": self._caller.calls,
            "usage": dict(self._caller.usage),
            "errors": list(dict.fromkeys(self._caller.errors))[:_MOST_ERRORS],
            "model": self.name,
            "generator_fallback": self._tally.sentence(self.name),
        }


def _batches(items: Sequence[Brief], size: int) -> list[Sequence[Brief]]:
    return [items[at : at + size] for at in range(0, len(items), size)]
