import pytest
from datasets import Dataset

import whileai_hf as wai
from whileai_hf.errors import MissingColumnError


@pytest.mark.parametrize("kind", ["sft", "grpo"])
def test_rows_without_a_conversation_say_what_is_needed(kind):
    with pytest.raises(MissingColumnError, match=r"no conversation \(columns: foo\).*messages"):
        wai.to_trl(Dataset.from_dict({"foo": [1, 2]}), kind)
