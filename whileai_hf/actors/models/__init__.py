"""Models: anything that turns messages into the next assistant message, behind one protocol.

Policy, situation writer, simulated user and judge are four roles; each takes a [`Model`], and [`as_model`] makes one
out of a spec string, a chat callable or a model.
"""

from whileai_hf.actors.models.model import Completion, Model


__all__ = ["Completion", "Model"]
