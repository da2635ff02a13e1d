"""Trained adapters on the Hub: the weights, a card that says whether training worked, and the result for machines.

[`push_adapter`] takes a run or a folder. Whether training worked is measured elsewhere (`measure.compare`,
`training`): here it is told. What is told of an adapter nobody measured is that nobody did.
"""

from whileai_hf.hub.models.config import AdapterConfig
from whileai_hf.hub.models.pushing import AdapterPush, push_adapter


__all__ = ["AdapterConfig", "AdapterPush", "push_adapter"]
