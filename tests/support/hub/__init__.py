"""A Hub on loopback for tests: repos with commits, branches, tags and LFS, spoken to by unmodified clients over HTTP.

[`HubServer`] serves it on a thread, [`pointed_at`] points the clients of this process at it for the length of a block,
and [`HubServer.run`] runs a program against it in a process of its own. Users are known by token: `hf_alice` writes
for alice and the organisation acme, `hf_alice_read` only reads, `hf_bob` writes for bob.

What is not served: Xet, jobs, inference, the dataset viewer, discussions beyond opening a pull request.
"""

from hub.client import HubEnv, pointed_at
from hub.faults import Fault
from hub.server import HubServer


__all__ = ["Fault", "HubEnv", "HubServer", "pointed_at"]
