"""Writing by a model: the prompts of drawn situations, further wordings of them, and asks beyond the grid.

`scene` is the agent as its users see it, `brief` one situation as the model is told it, `wave` a handful of them in
one call, `checks` what a message is held to (with `facts` and `quotes`), `model_writer` the whole. The texts for the
model are in `prompts/`, the people in `circumstances.json`, the angles of open-ended asks in `angles.json`. To check
for something new, add a [`Fault`] to `checks.py`.
"""

from whileai_hf.scenarios.writing.model_writer import ModelWriter


__all__ = ["ModelWriter"]
