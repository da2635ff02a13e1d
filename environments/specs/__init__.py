"""What the environments of this folder are generated from: agents, tasks, worlds, rewards, and scripted policies."""
