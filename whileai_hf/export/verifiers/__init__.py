"""The classes of exported environments for verifiers, and everything that plays them or reads what they left.

`v1` has the plugins of verifiers 0.4, `v0` the environment of 0.1.11 to 0.3; both are imported by the packages that
`export.package` writes, and neither is imported here, since verifiers takes seconds to import and is optional.
[`evaluate`] plays an environment in this process, [`verifiers_environment`] hands it out, [`from_traces`] reads a run.
`judging` is what they share: the row a judge sees of a rollout.
"""

from whileai_hf.export.verifiers.reading import from_traces
from whileai_hf.export.verifiers.running import EvaluationConfig, evaluate, verifiers_environment


__all__ = ["EvaluationConfig", "evaluate", "from_traces", "verifiers_environment"]
