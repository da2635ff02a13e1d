"""Keeps pytest from importing modules that plug into a program which is not installed here."""

import sys
from pathlib import Path


REPO = Path(__file__).parent
sys.path.insert(0, str(REPO / "tests" / "support"))

from guests import homeless  # noqa: E402


collect_ignore = [f"whileai_hf/{path}" for path in homeless()]
