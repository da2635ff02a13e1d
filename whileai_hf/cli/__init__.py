"""The command line: `whileai-hf`, also installed as `hf-whileai`. It parses, calls the library and prints.

No logic lives here: whatever a command does is a public function, and `--help` imports none of the heavy libraries.
To add a command, add its flags to `cli/parser.py` and its function to `cli/commands.py`.
"""

from whileai_hf.cli.main import main


__all__ = ["main"]
