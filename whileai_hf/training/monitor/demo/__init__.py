"""A reward being hacked, and its honest twin, played on a policy small enough for one CPU core.

`play_hack_demo` trains the shipped policy with GRPO in a tool world of one tool (`desk`), under a monitor that stops
the run. Two training rewards can be had: one that pays for long answers, which has nothing to do with the task, and
one that pays for doing it.
"""

from whileai_hf.training.monitor.demo.play import HackDemo, play_hack_demo


__all__ = ["HackDemo", "play_hack_demo"]
