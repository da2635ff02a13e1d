"""Inference Endpoints: the same on hardware of the Hub, for weights that are there."""

from __future__ import annotations

import time

from whileai_hf.errors import ConfigurationError
from whileai_hf.store.repos import hub_api, hub_errors
from whileai_hf.training.serving.config import ServeConfig
from whileai_hf.training.serving.registry import Served
from whileai_hf.training.serving.weights import Weights


# The server of the endpoint; it serves adapters beside their base.
_IMAGE = "vllm/vllm-openai:latest"
# Where an endpoint finds the repository it is made for.
_MOUNT = "/repository"


def start_endpoint(name: str, weights: Weights, config: ServeConfig) -> Served:
    """
    Creates an Inference Endpoint and waits for it.

    Args:
        name (`str`):
            Its name, and what requests call the model.
        weights ([`Weights`]):
            What it serves; on the Hub.
        config ([`ServeConfig`]):
            Hardware and place.

    Raises:
        [`ConfigurationError`]: The weights are on this machine only.
        [`HubError`]: The Hub said no.
    """
    if weights.is_local:
        raise ConfigurationError(
            f"an Inference Endpoint cannot see {weights.place}; push_adapter(run, 'namespace/name') and serve the repo"
        )
    arguments = ["--served-model-name", name]
    if weights.is_adapter:
        arguments = ["--enable-lora", "--lora-modules", f"{name}={weights.place}"]
    image = {"url": _IMAGE, "health_route": "/health", "port": 8000}
    api = hub_api(None)
    with hub_errors(f"making the endpoint {name}"):
        endpoint = api.create_inference_endpoint(
            name,
            repository=weights.base,
            framework="pytorch",
            task="text-generation",
            accelerator="gpu",
            vendor=config.vendor,
            region=config.region,
            type="protected",
            instance_size=config.instance_size,
            instance_type=config.instance_type,
            namespace=config.namespace,
            custom_image=image,
            container_command=["vllm", "serve", _MOUNT, *arguments, *config.flags],
        )
        endpoint = endpoint.wait(timeout=int(config.timeout))
    url, now = f"{endpoint.url}/v1", time.time()
    return Served(name, url, name, "endpoint", weights.place, weights.run, None, now, config.namespace)


def end_endpoint(served: Served) -> None:
    """Deletes the endpoint of a served model."""
    with hub_errors(f"ending the endpoint {served.name}"):
        hub_api(None).delete_inference_endpoint(served.name, namespace=served.namespace)
