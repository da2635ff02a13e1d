"""Statistics as short pure functions over numpy arrays: no rows, no columns, no randomness without a seed.

Each module holds one family and is pinned in its tests to scipy or to closed forms. An undefined value is `nan` in an
array and `None` as an interval, never a number that looks measured.
"""

from whileai_hf.stats.advantages import group_advantages
from whileai_hf.stats.agreement import cohen_kappa
from whileai_hf.stats.proportions import Interval, clopper_pearson, wilson
from whileai_hf.stats.repeats import mixed_group_rate, pass_at_k, pass_pow_k
from whileai_hf.stats.resampling import bootstrap_mean_ci
from whileai_hf.stats.stopping import end_values, expected_value, full_values, probe_rates


__all__ = [
    "Interval",
    "bootstrap_mean_ci",
    "clopper_pearson",
    "cohen_kappa",
    "end_values",
    "expected_value",
    "full_values",
    "group_advantages",
    "mixed_group_rate",
    "pass_at_k",
    "pass_pow_k",
    "probe_rates",
    "wilson",
]
