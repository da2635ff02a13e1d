import json

import pytest
from datasets import Json, List, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.rows import RowView, canonical, dumps, texts, to_dataset, view
from whileai_hf.rows.canonical import dumps_each
from whileai_hf.rows.columns import decode_column
from whileai_hf.rows.texts import json_array, json_cells, json_list_array, json_lists


class Anew(list):
    """Makes its cells whenever it is asked for them, as lazy columns do."""

    def __iter__(self):
        return (None if cell is None else [*cell] for cell in super().__iter__())

    def __getitem__(self, at):
        return [*self][at]


def test_cells_that_are_made_when_asked_for_stay_apart():
    cells = [None, *([n] for n in range(200))]
    for write in (json_lists, json_cells):
        assert write(Anew(cells)).equals(write(cells))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(1 << 80), max_value=1 << 80)
    | st.floats()
    | st.floats(-1e6, 1e6).map(lambda number: round(number, 4))
    | st.sampled_from([-0.0, 1e-7, 1e20, 0.1 + 0.2, "1e5", ",\0,", "[-0.0", ":1234567890123"])
    | st.text(st.characters(codec=None), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def as_texts(array):
    return (array.storage if hasattr(array, "storage") else array.values.storage).to_pylist()


@settings(deadline=None)
@given(st.lists(VALUES, max_size=8))
def test_values_written_together_are_as_written_alone(values):
    assert dumps_each(values) == [dumps(value) for value in values]
    cells = json_cells(values)
    assert cells.equals(json_array([None if value is None else dumps(value) for value in values]))
    cells.validate(full=True)
    assert json_cells([*values, *values]).to_pylist() == cells.to_pylist() * 2


@settings(deadline=None)
@given(st.lists(st.none() | st.lists(VALUES, max_size=4), max_size=6))
def test_lists_written_together_are_as_written_alone(cells):
    array = json_lists(cells)
    array.validate(full=True)
    alone = json_list_array([None if cell is None else [dumps(value) for value in cell] for cell in cells])
    assert array.to_pylist() == alone.to_pylist()
    assert decode_column(array) == [canonical(cell) for cell in cells]


@pytest.mark.parametrize(
    "number", [0.1 + 0.2, 1e20, 1e-7, -0.0, 123456789.1234567, -1.23456789012345678, 12345678901234567.0]
)
@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_one_odd_number_among_many_values_is_found(number, place):
    values = [{"said": "nothing odd here, in 2026", "n": [1, 2.5]} for _ in range(3000)]
    values[place] = {"n": [1, number]}
    written = as_texts(json_cells(values))
    assert json.loads(written[place]) == canonical(values[place])
    assert "-0.0" not in written[place]
    assert written[0 if place else 1] == '{"said":"nothing odd here, in 2026","n":[1,2.5]}'


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=4), st.lists(st.integers(0, 4), max_size=90))
def test_objects_that_cells_share_are_written_as_if_they_were_not(objects, picks):
    cells = [objects[pick] if pick < len(objects) else None for pick in picks]
    assert json_cells(cells).equals(json_array([None if cell is None else dumps(cell) for cell in cells]))
    lists = [[objects[pick]] * pick if pick < len(objects) else None for pick in picks]
    shared = {id(cell): cell for cell in lists[:3]}
    lists = [*lists, *shared.values()] * 2
    array = json_lists(lists)
    array.validate(full=True)
    assert array.to_pylist() == json_lists([None if cell is None else list(cell) for cell in lists]).to_pylist()


def test_shared_text_beyond_one_array_is_written_in_more(monkeypatch):
    monkeypatch.setattr(texts, "_MOST_BYTES", 100)
    tools = [{"name": "x" * 30}]
    data = to_dataset([{"tools": tools, "faults": tools[0]} for _ in range(9)])
    assert data.features["tools"] == List(Json())
    assert data.data.column("tools").num_chunks > 1
    assert data["tools"][:] == [tools] * 9
    assert data["faults"][:] == tools * 9


def test_a_value_that_cannot_be_written_spoils_no_other():
    values = [{"a": 1.5}, {"a": 1 << 70}, "\ud800", {2: 0.1 + 0.2}]
    assert as_texts(json_cells(values)) == ['{"a":1.5}', '{"a":"1180591620717411303424"}', '"\ufffd"', '{"2":0.3}']


def test_foreign_cells_under_a_known_name_keep_what_they_are():
    rows = to_dataset([{"tools": '[{"name": "get_order"}]', "steps": {"n": 1}}, {"tools": None, "steps": None}])
    assert rows.features["tools"] == Value("string")
    assert rows.features["steps"] == Json()
    assert rows[0] == {"tools": '[{"name": "get_order"}]', "steps": {"n": 1}}


def test_a_long_list_is_written_in_runs_and_read_as_one():
    rows = [{"prompt": f"p{n}", "messages": [{"role": "user", "content": f"{n}"}] * (n % 3)} for n in range(20_000)]
    data = to_dataset(rows)
    assert data.data.column("messages").num_chunks > 1
    assert list(view(data).rows()) == rows
    assert data.select([19_999, 0])["messages"][:] == [rows[19_999]["messages"], []]


def test_text_beyond_one_array_is_written_in_more(monkeypatch):
    monkeypatch.setattr(texts, "_MOST_BYTES", 100)
    rows = [{"messages": [{"content": "x" * 30}], "faults": {"n": n}} for n in range(9)]
    data = to_dataset(rows)
    assert data.features["messages"] == List(Json())
    assert data.data.column("messages").num_chunks > 1
    assert list(view(data).rows()) == rows


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": 1}, {"b": 2}],
        [{"a": 1, "b": 2}, {"b": 3, "c": 4}],
        [{"a": 1}, {"a": 2, "b": 3}],
        [{"a": 1, "b": 2}, {}],
        [{}, {"a": 1}],
    ],
)
@pytest.mark.parametrize("alike", [0, 300])
def test_rows_that_are_not_alike_keep_every_column(rows, alike):
    rows = rows[:1] * alike + rows
    data = to_dataset(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    assert data.column_names == names
    assert list(RowView(rows).columns) == names
    assert list(view(data).rows()) == [{name: row.get(name) for name in names} for row in rows]


def test_columns_of_a_list_are_the_same_however_many_are_read():
    rows = [{name: f"{name}{n}" for name in "abcdefg" if (n, name) != (1, "c")} for n in range(3)]
    alone = {name: RowView(rows).column(name) for name in "abcdefgh"}
    together = RowView(rows)
    for _ in range(2):
        assert {name: together.column(name) for name in "abcdefgh"} == alone
    together.column("a").clear()
    assert together.column("a") == alone["a"]
    assert together.column("c", "none") == ["c0", "none", "c2"]
