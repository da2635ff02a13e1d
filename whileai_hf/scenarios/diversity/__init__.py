"""How different prompts are: embedders, the archive of what was asked before, and choosing the least alike.

Nothing here knows what a situation is. To compare prompts in another way, pass a function as `embedder=`.
"""

from whileai_hf.scenarios.diversity.archive import Archive, whole
from whileai_hf.scenarios.diversity.embedders import Embedder, EmbedderSource, as_embedder
from whileai_hf.scenarios.diversity.hashing import HashEmbedder
from whileai_hf.scenarios.diversity.picking import pick, temperature


__all__ = ["Archive", "Embedder", "EmbedderSource", "HashEmbedder", "as_embedder", "pick", "temperature", "whole"]
