"""Endpoints for trained weights: started, found again by another process, and ended with what they started."""

import json
import os
import signal
import sys
import time
import urllib.request

import pytest
from forked import run_forked

from whileai_hf.errors import ConfigurationError, SourceNotFoundError, WhileaiError
from whileai_hf.training.runs import training_run
from whileai_hf.training.runs.processes import is_alive
from whileai_hf.training.serving import models, serve, servers, unserve
from whileai_hf.training.serving.servers import choose_server, shown_name, transformers_command, vllm_command
from whileai_hf.training.serving.weights import Weights, find_weights


# A server with the one route that is asked for while it comes up.
SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

name, port = sys.argv[1], int(sys.argv[2])

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"data": [{"id": name}]}).encode()
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.end_headers()
        self.wfile.write(body)

HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def command(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, str(tmp_path / "server.py"), "{name}", "{port}"]


@pytest.fixture
def adapter(tmp_path):
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "Qwen/Qwen3-0.6B"}))
    return folder


@pytest.fixture
def run(store, adapter):
    made = training_run("refunds", base_model="Qwen/Qwen3-0.6B")
    made.finish(adapter=str(adapter))
    return made


@pytest.fixture(autouse=True)
def ended(store):
    yield
    for served in models():
        unserve(served.name)


def test_a_run_is_served_until_it_is_not(run, adapter, command):
    served = serve("refund-v2", run, command=command)
    with urllib.request.urlopen(f"{served['endpoint']}/models") as answer:
        assert json.load(answer)["data"][0]["id"] == "refund-v2"
    assert dict(served)["model"] == "refund-v2"
    assert (served.run, served.weights) == (run.id, str(adapter))
    assert models() == [served]
    assert serve("refund-v2", run.id, command=command) == served
    unserve("refund-v2")
    assert not models()
    assert not is_alive(served.process, 0.0)
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{served.endpoint}/models")
    with pytest.raises(SourceNotFoundError, match="refund-v2"):
        unserve("refund-v2")


def test_another_process_sees_and_ends_it(run, command):
    served = serve("refund-v2", run, command=command)
    code = (
        "from whileai_hf.training.serving import models, unserve\n"
        "print([served.endpoint for served in models()])\n"
        "unserve('refund-v2')\n"
    )
    done = run_forked([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr
    assert served.endpoint in done.stdout
    assert not models()


def test_a_server_that_died_is_not_listed(run, command):
    served = serve("refund-v2", run, command=command)
    os.kill(served.process["pid"], signal.SIGKILL)
    until = time.monotonic() + 20
    while models() and time.monotonic() < until:
        time.sleep(0.05)
    assert not models()


def test_a_name_serves_one_thing(run, tmp_path, command):
    serve("refund-v2", run, command=command)
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"serves .* already"):
        serve("refund-v2", other, command=command)


def test_a_server_that_does_not_come_up_is_quoted_and_gone(run):
    with pytest.raises(WhileaiError, match="ended with 3: out of memory"):
        serve("x", run, command=[sys.executable, "-c", "print('out of memory'); raise SystemExit(3)"])
    with pytest.raises(WhileaiError, match="did not answer within 1 seconds"):
        serve("x", run, timeout=1, command=[sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(ConfigurationError, match="cannot be started"):
        serve("x", run, command=["no-such-program-anywhere"])
    assert not models()


def test_what_can_be_served(run, adapter, tmp_path):
    assert find_weights(run) == find_weights(run.id) == Weights(str(adapter), "Qwen/Qwen3-0.6B", run.id)
    assert find_weights(adapter).is_adapter
    assert find_weights("me/refunds") == Weights("me/refunds", "me/refunds")
    with pytest.raises(SourceNotFoundError, match="no weights"):
        find_weights(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceNotFoundError, match="neither an adapter nor a model"):
        find_weights(tmp_path / "empty")


@pytest.mark.parametrize(
    ("status", "message"), [("running", "is running"), ("failed", "is failed"), ("done", "names no")]
)
def test_runs_without_weights(store, status, message):
    made = training_run("x")
    if status != "running":
        made.finish(status)
    with pytest.raises(ConfigurationError, match=message):
        serve("x", made)
    made.finish()


def test_the_commands_of_servers(adapter):
    weights = find_weights(adapter)
    made = vllm_command(weights, "v2", "127.0.0.1", 8000)
    assert made[1:3] == ["serve", "Qwen/Qwen3-0.6B"]
    assert f"v2={adapter}" == made[-1]
    assert vllm_command(Weights("me/full", "me/full"), "v2", "h", 1)[-2:] == ["--served-model-name", "v2"]
    assert transformers_command(weights, "v2", "h", 1)[1:3] == ["serve", "v2"]
    assert transformers_command(Weights("me/full", "me/full"), "v2", "h", 1)[2] == "me/full"
    assert [shown_name(server, Weights("me/a", "me/a"), "v2") for server in ("vllm", "transformers")] == ["v2", "me/a"]


def test_the_server_that_is_installed_is_taken(monkeypatch):
    for there, taken in (({"vllm", "transformers"}, "vllm"), ({"transformers"}, "transformers")):
        monkeypatch.setattr(servers, "installed", lambda server, there=there: server in there)
        assert choose_server("auto") == taken
    monkeypatch.setattr(servers, "installed", lambda server: False)
    with pytest.raises(ConfigurationError, match="pip install"):
        choose_server("auto")


def test_the_hub_serves_only_what_is_there(run):
    with pytest.raises(ConfigurationError, match="push_adapter"):
        serve("refund-v2", run, where="endpoint")


@pytest.mark.parametrize(
    "knobs", [{"port": 0}, {"port": 70000}, {"timeout": 0}, {"command": "vllm serve"}, {"prt": 1}]
)
def test_impossible_knobs(run, knobs):
    with pytest.raises(ConfigurationError, match=next(iter(knobs))):
        serve("x", run, **knobs)


@pytest.mark.parametrize("name", ["", "a/b", "..", "x" * 80, 3])
def test_impossible_names(run, name):
    with pytest.raises(ConfigurationError, match="cannot name"):
        serve(name, run)
