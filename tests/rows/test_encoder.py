import json

from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.rows import canonical, view
from whileai_hf.rows.columns import dataset_from_table
from whileai_hf.rows.encoder import RowEncoder
from whileai_hf.rows.features import rollout_features


TEXT = st.text(st.characters(codec=None), max_size=12)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"prompt": TEXT},
        optional={
            "final_text": TEXT,
            "rollout_index": st.integers(0, 9),
            "group_inclusion_p": st.floats(0, 1).map(lambda x: round(x, 6)),
            "faults": st.none() | st.dictionaries(TEXT, st.floats(allow_nan=False), max_size=3),
            "steps": st.none() | st.lists(st.dictionaries(TEXT, TEXT, max_size=2), max_size=3),
            "seeded": st.none() | st.lists(st.sampled_from(["a", "b"])),
        },
    ),
    min_size=1,
    max_size=4,
)
CONSTANT = {"run_id": "run-\ud83d", "tools": [{"name": "f", "x": 0.1 + 0.2}], "group_planned_k": 4, "sampling": None}


@given(ROWS)
def test_the_line_and_the_cells_hold_the_same_canonical_row(rows):
    encoder = RowEncoder(rollout_features(), CONSTANT)
    encoded = [encoder.encode(row) for row in rows]
    expected = [canonical({**dict.fromkeys(rollout_features()), **row, **CONSTANT}) for row in rows]
    assert [json.loads(line) for _, line in encoded] == expected
    dataset = dataset_from_table(encoder.table([cells for cells, _ in encoded]), rollout_features())
    assert list(view(dataset).rows()) == expected


def test_no_rows_make_a_table_with_the_right_schema():
    table = RowEncoder(rollout_features()).table([])
    assert table.num_rows == 0 and table.schema.names == list(rollout_features())
