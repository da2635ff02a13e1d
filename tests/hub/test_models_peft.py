"""A real adapter, pushed and loaded again with the code that its card shows."""

import importlib.util
import re
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from whileai_hf.hub.models import push_adapter


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tiny():
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_code_on_the_card_loads_the_adapter(hub, tiny, tmp_path):
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base = tiny.save_tiny_model(tmp_path / "base")
    hub.api.create_repo("alice/tiny")
    hub.api.upload_folder(repo_id="alice/tiny", folder_path=base)
    model = AutoModelForCausalLM.from_pretrained(base)
    model = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    model.save_pretrained(tmp_path / "adapter")  # names the base by its folder
    push_adapter(tmp_path / "adapter", "alice/tiny-lora", base_model="alice/tiny")

    card = ModelCard.load("alice/tiny-lora")
    names = {}
    exec(re.search(r"^```python\n(.*?)^```$", card.text, re.MULTILINE | re.DOTALL).group(1), names)
    tokens = names["tokenizer"]("Where is order ORD-1042?", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        found, expected = names["model"](tokens).logits, model(tokens).logits
        plain = AutoModelForCausalLM.from_pretrained(base)(tokens).logits
    assert torch.allclose(found, expected, atol=1e-5) and not torch.allclose(found, plain, atol=1e-3)
