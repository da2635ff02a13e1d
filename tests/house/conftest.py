"""What the tests of the house look at."""

import pytest
from sources import read_sources


# Not kept for longer than a file of tests: a million nodes slow every collection of garbage down.
@pytest.fixture(scope="module")
def sources():
    return read_sources()
