"""Reading other programs' records of rollouts into rows.

One module per format: `trl_completions` (the completions tables of TRL's GRPO) and `verifiers_runs` (`traces.jsonl` of
verifiers). [`read_any`] finds out which it is. To add one, write a module with a `load_<format>` that returns
[`loaded.Loaded`] and a `read_<format>` that returns the Dataset, and tell `sniffing` how to know it. Privileged parts
of a record (answer keys, hidden states) are left behind here, not later.
"""

from whileai_hf.traces.sniffing import read_any
from whileai_hf.traces.trl_completions import read_trl_completions
from whileai_hf.traces.verifiers_runs import read_verifiers_run


__all__ = ["read_any", "read_trl_completions", "read_verifiers_run"]
