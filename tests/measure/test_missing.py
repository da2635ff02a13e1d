import pytest

import whileai_hf as wai
from whileai_hf.errors import MissingColumnError


def test_rows_that_name_no_task_are_not_one_task():
    with pytest.raises(MissingColumnError, match="scenario_id, task_id, prompt"):
        wai.pass_at([{"question": str(i), "reward": i % 2} for i in range(12)])
