"""Simulate, grade, measure and select tool-using agent rollouts as plain `datasets.Dataset` objects.

The names below are those a person needs to walk the loop once; everything else is reached through its room
(`wai.measure`, `wai.score.verify`, ...). A second table holds names that work here as well, because that is where
people look for them, and stay out of `__all__` so that completion shows the loop. All of them load on first use:
importing this package imports none of datasets, numpy or torch. To add a name, add it to `_EXPORTS` (or `_ALSO`) and
to the `TYPE_CHECKING` block, all sorted by room.
"""

from __future__ import annotations

from importlib import import_module


TYPE_CHECKING = False  # what type checkers take for true; importing typing would cost more than the rest of this file
if TYPE_CHECKING:
    from whileai_hf import (
        actors,
        cli,
        engine,
        errors,
        export,
        hub,
        knobs,
        markers,
        measure,
        plots,
        rows,
        sandbox,
        scenarios,
        score,
        select,
        spec,
        stats,
        store,
        testing,
        traces,
        training,
    )
    from whileai_hf.actors import ScriptedModel, seeded_agent
    from whileai_hf.actors.models import as_model, local_model
    from whileai_hf.actors.signature import behavior_signature
    from whileai_hf.engine import Rollout, SimulationConfig, resolve_topology, run_report, simulate
    from whileai_hf.engine.recommending import recommend
    from whileai_hf.engine.replay import replay
    from whileai_hf.errors import ConfigurationError, DataError, HubError, PublishGateError, WhileaiError
    from whileai_hf.export import (
        ExportConfig,
        check_template,
        export_dataset,
        export_preference,
        export_training,
        to_sft,
        to_trl,
        training_rows,
    )
    from whileai_hf.export.environment import EnvironmentSpec, load_environment
    from whileai_hf.export.package import EnvironmentExport, export_environment
    from whileai_hf.export.verifiers import from_traces
    from whileai_hf.hub.lifecycle import publish, unpublish, update_dataset
    from whileai_hf.hub.listing import catalog, datasets
    from whileai_hf.hub.models import AdapterConfig, push_adapter
    from whileai_hf.hub.profiling import preview, profile
    from whileai_hf.hub.pulling import pull
    from whileai_hf.hub.pushing import PushConfig, push, push_file, push_rows
    from whileai_hf.hub.registering import agents, register_agent
    from whileai_hf.hub.removal import delete_dataset, delete_empty_datasets, purge_agent
    from whileai_hf.hub.sessions import export_session_traces
    from whileai_hf.hub.status import hf_status
    from whileai_hf.markers.constitution import constitution_judge, load_spec, stamp_spec
    from whileai_hf.markers.grounding import grounding_report, mark_grounding, ungrounded_arguments
    from whileai_hf.markers.leak import leak_report
    from whileai_hf.markers.style import refusal_report, style_markers, style_report
    from whileai_hf.markers.trajectory import trace_flag_report, trace_markers
    from whileai_hf.measure import group_signal, pass_at
    from whileai_hf.measure.audit import audit
    from whileai_hf.measure.compare import (
        compare_runs,
        delta_report,
        detectable_effect,
        eval_variance,
        holdout_size,
        self_check,
    )
    from whileai_hf.measure.failures import diagnose
    from whileai_hf.measure.hacks import HACK_THRESHOLD, hack_scan, hack_scan_diff, length_report, reward_correlations
    from whileai_hf.measure.hygiene import (
        STAGES,
        decontaminate,
        dedupe_groups,
        near_duplicate_prompts,
        split,
        stage_of,
        stage_report,
        stamp_stage,
    )
    from whileai_hf.measure.logprobs import logprob_report, mean_kl, reference_logprobs, staleness_report
    from whileai_hf.measure.summaries import marker_names, marker_summary, metric_summary
    from whileai_hf.measure.trust import (
        annotator_agreement,
        attach_labels,
        audit_grades,
        corrected_rate,
        judge_agreement,
        judge_probes,
        judge_trust,
        label_budget,
        label_sheet,
    )
    from whileai_hf.measure.users import user_report
    from whileai_hf.rows import open_rows, task_key
    from whileai_hf.rows.schema import calibration_of, from_row, to_row
    from whileai_hf.rows.validation import validate
    from whileai_hf.sandbox import current_rollout, world
    from whileai_hf.scenarios import coverage, situations
    from whileai_hf.score import Score, evaluate, failed_traces, grade, grade_report, passes, run_judge, verify
    from whileai_hf.score.checking import check_reward
    from whileai_hf.score.conduct import conduct_grade, expected_outcome, no_collateral, outcome_check, task_checklist
    from whileai_hf.score.judges import Judge, Panel
    from whileai_hf.score.pairs import groupwise_judge, judge_pairs, pairwise_judge
    from whileai_hf.score.reward_models import reward_model
    from whileai_hf.score.rubrics import attach_rubric, rubric_judge, rubric_of, write_rubrics
    from whileai_hf.score.verify.reward import as_reward
    from whileai_hf.select import (
        build_preference_pairs,
        calibrate,
        curriculum,
        filter_rl_rows,
        next_round,
        optimize,
        publish_gate,
        rank,
        retire_solved,
        select_for_rl,
        select_for_sft,
        trim_out_of_band,
        trim_unanimous_groups,
    )
    from whileai_hf.spec import AgentSpec, Tool
    from whileai_hf.training.callback import TrainerCallback
    from whileai_hf.training.launching import train
    from whileai_hf.training.monitor import HackMonitor
    from whileai_hf.training.recorder import RolloutRecorder
    from whileai_hf.training.runs import TrainingRun, attach_delta, attach_holdout, get_run, list_runs, training_run
    from whileai_hf.training.serving import models, serve, unserve


__version__ = "0.1.0"

_ROOMS = (
    "actors",
    "cli",
    "engine",
    "errors",
    "export",
    "hub",
    "knobs",
    "markers",
    "measure",
    "plots",
    "rows",
    "sandbox",
    "scenarios",
    "score",
    "select",
    "spec",
    "stats",
    "store",
    "testing",
    "traces",
    "training",
)

# public name -> where it lives; "module:" alone is the module itself
_EXPORTS = {
    "ScriptedModel": "whileai_hf.actors:ScriptedModel",
    "seeded_agent": "whileai_hf.actors:seeded_agent",
    "as_model": "whileai_hf.actors.models:as_model",
    "Rollout": "whileai_hf.engine:Rollout",
    "SimulationConfig": "whileai_hf.engine:SimulationConfig",
    "run_report": "whileai_hf.engine:run_report",
    "simulate": "whileai_hf.engine:simulate",
    "recommend": "whileai_hf.engine.recommending:recommend",
    "ConfigurationError": "whileai_hf.errors:ConfigurationError",
    "DataError": "whileai_hf.errors:DataError",
    "WhileaiError": "whileai_hf.errors:WhileaiError",
    "to_trl": "whileai_hf.export:to_trl",
    "load_environment": "whileai_hf.export.environment:load_environment",
    "export_environment": "whileai_hf.export.package:export_environment",
    "pull": "whileai_hf.hub.pulling:pull",
    "push": "whileai_hf.hub.pushing:push",
    "group_signal": "whileai_hf.measure:group_signal",
    "pass_at": "whileai_hf.measure:pass_at",
    "audit": "whileai_hf.measure.audit:audit",
    "compare_runs": "whileai_hf.measure.compare:compare_runs",
    "delta_report": "whileai_hf.measure.compare:delta_report",
    "hack_scan": "whileai_hf.measure.hacks:hack_scan",
    "judge_trust": "whileai_hf.measure.trust:judge_trust",
    "open_rows": "whileai_hf.rows:open_rows",
    "task_key": "whileai_hf.rows:task_key",
    "current_rollout": "whileai_hf.sandbox:current_rollout",
    "world": "whileai_hf.sandbox:world",
    "situations": "whileai_hf.scenarios:situations",
    "Score": "whileai_hf.score:Score",
    "evaluate": "whileai_hf.score:evaluate",
    "grade": "whileai_hf.score:grade",
    "grade_report": "whileai_hf.score:grade_report",
    "passes": "whileai_hf.score:passes",
    "run_judge": "whileai_hf.score:run_judge",
    "check_reward": "whileai_hf.score.checking:check_reward",
    "Judge": "whileai_hf.score.judges:Judge",
    "verify": "whileai_hf.score.verify:",
    "optimize": "whileai_hf.select:optimize",
    "AgentSpec": "whileai_hf.spec:AgentSpec",
    "Tool": "whileai_hf.spec:Tool",
    "TrainerCallback": "whileai_hf.training.callback:TrainerCallback",
    "train": "whileai_hf.training.launching:train",
    "HackMonitor": "whileai_hf.training.monitor:HackMonitor",
    "training_run": "whileai_hf.training.runs:training_run",
}

# the same for names outside `__all__`
_ALSO = {
    "local_model": "whileai_hf.actors.models:local_model",
    "behavior_signature": "whileai_hf.actors.signature:behavior_signature",
    "resolve_topology": "whileai_hf.engine:resolve_topology",
    "replay": "whileai_hf.engine.replay:replay",
    "HubError": "whileai_hf.errors:HubError",
    "PublishGateError": "whileai_hf.errors:PublishGateError",
    "ExportConfig": "whileai_hf.export:ExportConfig",
    "check_template": "whileai_hf.export:check_template",
    "export_dataset": "whileai_hf.export:export_dataset",
    "export_preference": "whileai_hf.export:export_preference",
    "export_training": "whileai_hf.export:export_training",
    "to_sft": "whileai_hf.export:to_sft",
    "training_rows": "whileai_hf.export:training_rows",
    "EnvironmentSpec": "whileai_hf.export.environment:EnvironmentSpec",
    "EnvironmentExport": "whileai_hf.export.package:EnvironmentExport",
    "from_traces": "whileai_hf.export.verifiers:from_traces",
    "publish": "whileai_hf.hub.lifecycle:publish",
    "unpublish": "whileai_hf.hub.lifecycle:unpublish",
    "update_dataset": "whileai_hf.hub.lifecycle:update_dataset",
    "catalog": "whileai_hf.hub.listing:catalog",
    "datasets": "whileai_hf.hub.listing:datasets",
    "AdapterConfig": "whileai_hf.hub.models:AdapterConfig",
    "push_adapter": "whileai_hf.hub.models:push_adapter",
    "preview": "whileai_hf.hub.profiling:preview",
    "profile": "whileai_hf.hub.profiling:profile",
    "PushConfig": "whileai_hf.hub.pushing:PushConfig",
    "push_file": "whileai_hf.hub.pushing:push_file",
    "push_rows": "whileai_hf.hub.pushing:push_rows",
    "agents": "whileai_hf.hub.registering:agents",
    "register_agent": "whileai_hf.hub.registering:register_agent",
    "delete_dataset": "whileai_hf.hub.removal:delete_dataset",
    "delete_empty_datasets": "whileai_hf.hub.removal:delete_empty_datasets",
    "purge_agent": "whileai_hf.hub.removal:purge_agent",
    "export_session_traces": "whileai_hf.hub.sessions:export_session_traces",
    "hf_status": "whileai_hf.hub.status:hf_status",
    "constitution_judge": "whileai_hf.markers.constitution:constitution_judge",
    "load_spec": "whileai_hf.markers.constitution:load_spec",
    "stamp_spec": "whileai_hf.markers.constitution:stamp_spec",
    "grounding_report": "whileai_hf.markers.grounding:grounding_report",
    "mark_grounding": "whileai_hf.markers.grounding:mark_grounding",
    "ungrounded_arguments": "whileai_hf.markers.grounding:ungrounded_arguments",
    "leak_report": "whileai_hf.markers.leak:leak_report",
    "refusal_report": "whileai_hf.markers.style:refusal_report",
    "style_markers": "whileai_hf.markers.style:style_markers",
    "style_report": "whileai_hf.markers.style:style_report",
    "trace_flag_report": "whileai_hf.markers.trajectory:trace_flag_report",
    "trace_markers": "whileai_hf.markers.trajectory:trace_markers",
    "detectable_effect": "whileai_hf.measure.compare:detectable_effect",
    "eval_variance": "whileai_hf.measure.compare:eval_variance",
    "holdout_size": "whileai_hf.measure.compare:holdout_size",
    "self_check": "whileai_hf.measure.compare:self_check",
    "diagnose": "whileai_hf.measure.failures:diagnose",
    "HACK_THRESHOLD": "whileai_hf.measure.hacks:HACK_THRESHOLD",
    "hack_scan_diff": "whileai_hf.measure.hacks:hack_scan_diff",
    "length_report": "whileai_hf.measure.hacks:length_report",
    "reward_correlations": "whileai_hf.measure.hacks:reward_correlations",
    "STAGES": "whileai_hf.measure.hygiene:STAGES",
    "decontaminate": "whileai_hf.measure.hygiene:decontaminate",
    "dedupe_groups": "whileai_hf.measure.hygiene:dedupe_groups",
    "near_duplicate_prompts": "whileai_hf.measure.hygiene:near_duplicate_prompts",
    "split": "whileai_hf.measure.hygiene:split",
    "stage_of": "whileai_hf.measure.hygiene:stage_of",
    "stage_report": "whileai_hf.measure.hygiene:stage_report",
    "stamp_stage": "whileai_hf.measure.hygiene:stamp_stage",
    "logprob_report": "whileai_hf.measure.logprobs:logprob_report",
    "mean_kl": "whileai_hf.measure.logprobs:mean_kl",
    "reference_logprobs": "whileai_hf.measure.logprobs:reference_logprobs",
    "staleness_report": "whileai_hf.measure.logprobs:staleness_report",
    "marker_names": "whileai_hf.measure.summaries:marker_names",
    "marker_summary": "whileai_hf.measure.summaries:marker_summary",
    "metric_summary": "whileai_hf.measure.summaries:metric_summary",
    "annotator_agreement": "whileai_hf.measure.trust:annotator_agreement",
    "attach_labels": "whileai_hf.measure.trust:attach_labels",
    "audit_grades": "whileai_hf.measure.trust:audit_grades",
    "corrected_rate": "whileai_hf.measure.trust:corrected_rate",
    "judge_agreement": "whileai_hf.measure.trust:judge_agreement",
    "judge_probes": "whileai_hf.measure.trust:judge_probes",
    "label_budget": "whileai_hf.measure.trust:label_budget",
    "label_sheet": "whileai_hf.measure.trust:label_sheet",
    "user_report": "whileai_hf.measure.users:user_report",
    "calibration_of": "whileai_hf.rows.schema:calibration_of",
    "from_row": "whileai_hf.rows.schema:from_row",
    "to_row": "whileai_hf.rows.schema:to_row",
    "validate": "whileai_hf.rows.validation:validate",
    "coverage": "whileai_hf.scenarios:coverage",
    "failed_traces": "whileai_hf.score:failed_traces",
    "conduct_grade": "whileai_hf.score.conduct:conduct_grade",
    "expected_outcome": "whileai_hf.score.conduct:expected_outcome",
    "no_collateral": "whileai_hf.score.conduct:no_collateral",
    "outcome_check": "whileai_hf.score.conduct:outcome_check",
    "task_checklist": "whileai_hf.score.conduct:task_checklist",
    "Panel": "whileai_hf.score.judges:Panel",
    "groupwise_judge": "whileai_hf.score.pairs:groupwise_judge",
    "judge_pairs": "whileai_hf.score.pairs:judge_pairs",
    "pairwise_judge": "whileai_hf.score.pairs:pairwise_judge",
    "reward_model": "whileai_hf.score.reward_models:reward_model",
    "attach_rubric": "whileai_hf.score.rubrics:attach_rubric",
    "rubric_judge": "whileai_hf.score.rubrics:rubric_judge",
    "rubric_of": "whileai_hf.score.rubrics:rubric_of",
    "write_rubrics": "whileai_hf.score.rubrics:write_rubrics",
    "as_reward": "whileai_hf.score.verify.reward:as_reward",
    "build_preference_pairs": "whileai_hf.select:build_preference_pairs",
    "calibrate": "whileai_hf.select:calibrate",
    "curriculum": "whileai_hf.select:curriculum",
    "filter_rl_rows": "whileai_hf.select:filter_rl_rows",
    "next_round": "whileai_hf.select:next_round",
    "publish_gate": "whileai_hf.select:publish_gate",
    "rank": "whileai_hf.select:rank",
    "retire_solved": "whileai_hf.select:retire_solved",
    "select_for_rl": "whileai_hf.select:select_for_rl",
    "select_for_sft": "whileai_hf.select:select_for_sft",
    "trim_out_of_band": "whileai_hf.select:trim_out_of_band",
    "trim_unanimous_groups": "whileai_hf.select:trim_unanimous_groups",
    "RolloutRecorder": "whileai_hf.training.recorder:RolloutRecorder",
    "TrainingRun": "whileai_hf.training.runs:TrainingRun",
    "attach_delta": "whileai_hf.training.runs:attach_delta",
    "attach_holdout": "whileai_hf.training.runs:attach_holdout",
    "get_run": "whileai_hf.training.runs:get_run",
    "list_runs": "whileai_hf.training.runs:list_runs",
    "models": "whileai_hf.training.serving:models",
    "serve": "whileai_hf.training.serving:serve",
    "unserve": "whileai_hf.training.serving:unserve",
}


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    place = _EXPORTS.get(name) or _ALSO.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; see dir({__name__})")
    module, _, attribute = place.partition(":")
    value = getattr(import_module(module), attribute) if attribute else import_module(module)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


__all__ = [
    "AgentSpec",
    "ConfigurationError",
    "DataError",
    "HackMonitor",
    "Judge",
    "Rollout",
    "Score",
    "ScriptedModel",
    "SimulationConfig",
    "Tool",
    "TrainerCallback",
    "WhileaiError",
    "__version__",
    "as_model",
    "audit",
    "check_reward",
    "compare_runs",
    "current_rollout",
    "delta_report",
    "evaluate",
    "export_environment",
    "grade",
    "grade_report",
    "group_signal",
    "hack_scan",
    "judge_trust",
    "load_environment",
    "open_rows",
    "optimize",
    "pass_at",
    "passes",
    "pull",
    "push",
    "recommend",
    "run_judge",
    "run_report",
    "seeded_agent",
    "simulate",
    "situations",
    "task_key",
    "to_trl",
    "train",
    "training_run",
    "verify",
    "world",
]
