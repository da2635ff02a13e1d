"""Models: anything that turns messages into the next assistant message, behind one protocol.

Policy, situation writer, simulated user and judge are four roles; each takes a [`Model`], and [`as_model`] makes one
out of a spec string, a chat callable or a model. [`ModelAgent`] makes a policy of a model; [`ModelCache`] keeps calls.
To add a kind of server, give it a spec string in `endpoint.py`; to add another kind of model, keep the protocol.
"""

from whileai_hf.actors.models.agent import ModelAgent
from whileai_hf.actors.models.cache import ModelCache
from whileai_hf.actors.models.model import Completion, Model
from whileai_hf.actors.models.sources import as_model, local_model


__all__ = ["Completion", "Model", "ModelAgent", "ModelCache", "as_model", "local_model"]
