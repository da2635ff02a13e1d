"""Settings and fixtures every test shares. The environment is set before anything of Hugging Face is imported."""

import json
import os
import shutil
import tempfile
from pathlib import Path


# Programs with an output of their own, not tests.
collect_ignore = ["benchmarks"]

REPO = Path(__file__).parents[1]
SHARED = REPO.parent / "shared"

_CACHE = tempfile.mkdtemp(prefix="whileai-hf-tests-")
os.environ.update(
    CUDA_VISIBLE_DEVICES="",
    HF_ASSETS_CACHE=f"{_CACHE}/assets",
    HF_DATASETS_CACHE=f"{_CACHE}/datasets",
    HF_HOME=_CACHE,
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_HUB_OFFLINE="1",
    # Tests run side by side, on models so small that threads spend more time on waiting for each other than they save.
    OMP_NUM_THREADS="1",
    # Programs that tests start in another folder run this checkout, installed or not.
    PYTHONPATH=os.pathsep.join(filter(None, [str(REPO), os.environ.get("PYTHONPATH")])),
    # Nothing here speaks TLS, and every client would read a machine's certificates first.
    SSL_CERT_DIR=_CACHE,
    TOKENIZERS_PARALLELISM="false",
    TRL_EXPERIMENTAL_SILENCE="1",
)
os.environ.pop("SSL_CERT_FILE", None)

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402


# How long an example takes says what else the machine is doing; the timeout per test is for what hangs.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_order",
            "description": "Look up an order by id.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string", "description": "Order number, for example ORD-1042."}},
                "required": ["order_id"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "refund_order",
            "description": "Refund an order.",
            "parameters": {
                "type": "object",
                "properties": {
                    "order_id": {"type": "string", "description": "Order number, for example ORD-1042."},
                    "reason": {"type": "string", "enum": ["damaged", "late", "other"]},
                },
                "required": ["order_id"],
            },
        },
    },
]
POLICY = (
    "You are the order desk of a small shop.\n"
    "1. Look an order up before any refund.\n"
    "2. Say so when a lookup fails; do not guess.\n"
    "3. Refuse to share another customer's data.\n"
)


def pytest_unconfigure() -> None:
    shutil.rmtree(_CACHE, ignore_errors=True)


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the checkout."""
    return REPO


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real agents, traces and cases beside the checkout; tests that need them are skipped where they are absent."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared beside this checkout")
    return SHARED


@pytest.fixture
def tools() -> list[dict]:
    """The tools of a small order desk, OpenAI shape."""
    return json.loads(json.dumps(TOOLS))


@pytest.fixture
def policy() -> str:
    """The order desk's system prompt."""
    return POLICY


@pytest.fixture(scope="session")
def load_case(shared: Path):
    """`load_case("O001")`: one symptom case of `real/cases.jsonl`."""
    # One of the cases holds bare NaN and Infinity, which only the standard library's parser reads.
    lines = (shared / "real" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    return cases.__getitem__
