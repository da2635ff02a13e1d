"""What rows hold, before anybody trains or measures on them: ours or anybody's, local or a split on the Hub.

[`profile`] reads all rows and counts; [`preview`] looks at the first few without fetching the rest. Neither judges:
whether rows are fit to be trained on is asked of `measure.audit` and `select.publish_gate`.
"""

from whileai_hf.hub.profiling.previewing import Preview, preview
from whileai_hf.hub.profiling.profiles import Profile, TaskProfile, ToolUse
from whileai_hf.hub.profiling.reading import profile


__all__ = ["Preview", "Profile", "TaskProfile", "ToolUse", "preview", "profile"]
