"""The rollouts of a GRPO run as rows: every completion, with what each reward function gave it.

`functions` knows reward functions and who calls them, `batches` puts together what is called one after the other,
`conversations` makes messages into steps, `reading` reads the files back. What the rows are good for is `measure`.
"""

from whileai_hf.training.recorder.recorder import RolloutRecorder


__all__ = ["RolloutRecorder"]
