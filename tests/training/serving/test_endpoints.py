"""Inference Endpoints, with a Hub that is made up: what is asked for, and that it is deleted again."""

from types import SimpleNamespace

import pytest

from whileai_hf.errors import SourceNotFoundError
from whileai_hf.training.runs import training_run
from whileai_hf.training.serving import endpoints, models, serve, unserve


class MadeUpHub:
    def __init__(self):
        self.made, self.deleted = [], []

    def create_inference_endpoint(self, name, **asked):
        self.made.append({"name": name, **asked})
        ready = SimpleNamespace(url="https://x.endpoints.huggingface.co")
        return SimpleNamespace(wait=lambda timeout: ready)

    def delete_inference_endpoint(self, name, namespace):
        self.deleted.append((name, namespace))


@pytest.fixture
def hub(store, monkeypatch):
    made = MadeUpHub()
    monkeypatch.setattr(endpoints, "hub_api", lambda token: made)
    return made


def test_an_adapter_is_served_beside_its_base(hub):
    run = training_run("refunds", base_model="Qwen/Qwen3-0.6B")
    run.finish(adapter="https://huggingface.co/me/refunds-grpo")
    served = serve("refund-v2", run, where="endpoint", namespace="acme")
    (asked,) = hub.made
    assert (asked["name"], asked["repository"], asked["namespace"]) == ("refund-v2", "Qwen/Qwen3-0.6B", "acme")
    assert "refund-v2=me/refunds-grpo" in asked["container_command"]
    assert dict(served)["endpoint"] == "https://x.endpoints.huggingface.co/v1"
    assert (served.model, served.run) == ("refund-v2", run.id)
    assert models() == [served]
    unserve("refund-v2")
    assert hub.deleted == [("refund-v2", "acme")]
    assert not models()
    with pytest.raises(SourceNotFoundError):
        unserve("refund-v2")


def test_a_whole_model_bears_the_name(hub):
    serve("plain", "me/model", where="endpoint")
    (asked,) = hub.made
    assert asked["container_command"][-2:] == ["--served-model-name", "plain"]
    unserve("plain")
