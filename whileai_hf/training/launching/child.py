"""`python -m whileai_hf.training.launching.child RUN PROGRAM FLAGS...`: a program in a process of its own.

The run was opened by the process that started this one. Before anything heavy is imported it is taken over, so that
it counts as running for as long as this process does; and whatever ends the program before it has a record of its own
(a library that is missing, a flag that is none) ends the run with the reason.
"""

from __future__ import annotations

import runpy
import sys

from whileai_hf.training.runs import get_run
from whileai_hf.training.runs.processes import this_process
from whileai_hf.training.runs.record import RUNNING


def main(arguments: list[str]) -> None:
    """Runs the program."""
    run_id, program, *flags = arguments
    run = get_run(run_id)
    run.change(status=RUNNING, reason=None, process=this_process())
    sys.argv = [program, *flags]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            run.end_with(RuntimeError(f"the program ended with {end.code}; its output is in {run.folder}"))
        raise
    except BaseException as error:
        if run.refresh().status == RUNNING:
            run.end_with(error)
        raise


if __name__ == "__main__":
    main(sys.argv[1:])
