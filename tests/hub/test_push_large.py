"""Half a million rows go out and come back in flat memory. Slow; the numbers it prints are those of the machine."""

import json

import pytest


ROWS = 500_000
# Memory a push or a pull may take beyond what it started with (MB).
MOST = 500

CODE = "import sys; sys.path.insert(0, sys.argv.pop()); import large_push; large_push.main(*sys.argv[1:])"


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("gate", ["nogate", "gate"])
def test_half_a_million_rows_in_flat_memory(hub, tmp_path, repo, gate):
    file, support = tmp_path / "rows.arrow", str(repo / "tests" / "support")
    hub.server.run(CODE, "make", str(file), str(ROWS), gate, support, timeout=900)
    size = file.stat().st_size >> 20
    for what in ("push", "pull"):
        found = json.loads(hub.server.run(CODE, what, str(file), str(ROWS), gate, support, timeout=2400).stdout)
        assert sum(found["splits"].values()) == ROWS
        # All of it, with the pages of the mapped file, which the system takes back when somebody wants them.
        assert found["grown"]["all"] < MOST
        print(f"{what} ({gate}): {ROWS / found['seconds']:.0f} rows/s, {found['grown']} MB, file {size} MB")
