"""Exported environments as OpenEnv servers, and the sessions in which TRL plays them.

[`serve_openenv`] answers over the network what `export.package` wrote to a folder; [`OpenEnvSessions`] is the other
end, in the shape TRL's OpenEnv loop takes. `rollouts` has what happens in between and needs no OpenEnv. For a server
within a larger application, take the app from [`openenv_app`].
"""

from whileai_hf.export.openenv.server import openenv_app, serve_openenv
from whileai_hf.export.openenv.sessions import OpenEnvSessions


__all__ = ["OpenEnvSessions", "openenv_app", "serve_openenv"]
