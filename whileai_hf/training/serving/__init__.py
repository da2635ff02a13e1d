"""Serving what was trained: an OpenAI-compatible endpoint for a run's weights, here or on the Hub.

[`serve`] starts one, [`models`] lists those there are, [`unserve`] ends one. `servers` knows the programs that can
serve, `registry` remembers what runs. To add a server, describe it in `servers.SERVERS`. Talking to an endpoint is
`actors.models` (`local_model`, `as_model`).
"""

from whileai_hf.training.serving.config import ServeConfig
from whileai_hf.training.serving.registry import Served
from whileai_hf.training.serving.serving import models, serve, unserve


__all__ = ["ServeConfig", "Served", "models", "serve", "unserve"]
