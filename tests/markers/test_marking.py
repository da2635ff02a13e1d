import pyarrow as pa
import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.markers import Mark
from whileai_hf.rows import open_rows


ROWS = [
    {"prompt": "a", "final_text": "short", "markers": {"short": 0.0, "judged": 1.0}},
    {"prompt": "b", "final_text": None, "markers": None},
]


def _short(row):
    text = row["final_text"]
    if text is None:
        return {}, []
    return {"short": float(len(text) < 20)}, [{"flag": "short", "fragment": text}]


SHORT = Mark(_short, columns=["final_text"])
MARKED = [{"short": 1.0, "judged": 1.0}, None]
FLAGS = [[{"flag": "short", "fragment": "short"}], []]


def test_every_way_of_marking_gives_the_same_columns():
    dataset = open_rows(ROWS)
    streamed = dataset.to_iterable_dataset().map(SHORT, batched=True)
    ways = [SHORT.over(ROWS), SHORT.over(dataset), dataset.map(SHORT, batched=True), list(streamed)]
    for rows in ways:
        assert [row["markers"] for row in rows] == MARKED
        assert [row["trace_flags"] for row in rows] == FLAGS
        assert [row["prompt"] for row in rows] == ["a", "b"]
    assert ROWS[0]["markers"] == {"short": 0.0, "judged": 1.0}


def test_a_family_without_evidence_adds_no_column_for_it():
    plain = Mark(lambda row: ({"there": 1.0}, None), columns=["prompt"])
    assert "trace_flags" not in plain.over(ROWS).column_names


def test_only_its_columns_are_decoded():
    seen = []
    Mark(lambda row: (seen.append(set(row)) or {}, None), columns=["prompt", "absent"]).over(open_rows(ROWS))
    assert seen == [{"prompt"}, {"prompt"}]


def test_a_single_row_is_refused():
    with pytest.raises(ConfigurationError, match="batched=True"):
        open_rows(ROWS).map(SHORT)


def test_an_edited_measure_is_measured_again():
    def mark(value):
        return open_rows(ROWS).map(Mark(lambda row: ({"value": value}, None), columns=["prompt"]), batched=True)

    assert mark(0.0)[0]["markers"]["value"] == 0.0
    assert mark(1.0)[0]["markers"]["value"] == 1.0


def test_a_table_comes_back_as_a_table():
    table = open_rows(ROWS).data.table
    assert isinstance(SHORT(table), pa.Table)
