"""Agents in a test suite: assertions that fail on an interval, not on a point.

`plugin` is the pytest plugin (installed with the package): the same assertions as fixtures, and a summary of what was
measured at the end of the run. Nothing here needs pytest to be imported.
"""

from whileai_hf.testing.assertions import assert_pass_at


__all__ = ["assert_pass_at"]
