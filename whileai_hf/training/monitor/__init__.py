"""Watching a training run for a reward that is being hacked."""
