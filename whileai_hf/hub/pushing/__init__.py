"""From rows on this machine to a push on the Hub.

`splits` decides which rows go where, `cleaning` what may not leave, `shards` writes Parquet, `provenance` and `heads`
say what `run.json` says, and [`push`] puts it all into one commit.
"""

from whileai_hf.hub.pushing.config import PushConfig
from whileai_hf.hub.pushing.result import PushResult
from whileai_hf.hub.pushing.sending import push, push_file, push_rows


__all__ = ["PushConfig", "PushResult", "push", "push_file", "push_rows"]
