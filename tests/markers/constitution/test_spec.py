import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import SourceNotFoundError, SpecError
from whileai_hf.markers.constitution.spec import load_spec, stamp_spec
from whileai_hf.rows import open_rows


TRAITS = [
    {"id": "candour", "name": "Candour", "principle": "Say what is true.", "authority": "developer"},
    {"id": "warmth", "name": "Warmth", "principle": "Be kind."},
]


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_file_and_its_content_are_one_spec(tmp_path, suffix):
    path = tmp_path / f"constitution{suffix}"
    path.write_text(json.dumps({"source": "ours", "traits": TRAITS}))
    spec = load_spec(path)
    assert spec == load_spec({"source": "ours", "traits": TRAITS}) == load_spec(str(path))
    assert spec.behaviors() == ["candour", "warmth"] and spec.source == "ours"
    assert spec.trait("warmth").principle == "Be kind."


def test_the_version_follows_the_text_and_nothing_else():
    version = load_spec(TRAITS).version
    assert load_spec({"source": "elsewhere", "traits": TRAITS}).version == version
    edited = [{**TRAITS[0], "principle": "Say what is true!"}, TRAITS[1]]
    assert load_spec(edited).version != version
    assert load_spec(TRAITS[::-1]).version != version


@given(st.lists(st.text("abc_", min_size=1, max_size=4), min_size=1, max_size=5, unique=True), st.text(max_size=20))
def test_no_two_texts_share_a_version(names, ending):
    traits = [{"id": name, "principle": f"Be {name}."} for name in names]
    changed = [{**traits[0], "principle": f"Be {names[0]}.{ending}"}, *traits[1:]]
    same = load_spec(changed).trait(names[0]).principle == load_spec(traits).trait(names[0]).principle
    assert (load_spec(changed).version == load_spec(traits).version) == same


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"traits": []}, "no traits"),
        ({"rules": []}, "no traits"),
        ("", "no file"),
        ([{"id": "a"}], "no principle"),
        ([{"id": "a", "principle": " "}], "no principle"),
        ([{"id": "a", "principle": "x"}, {"id": "a", "principle": "y"}], "two traits"),
        ([{"id": "a b", "principle": "x"}], "'a b'"),
        (["candour"], "is a str"),
        ([{"id": 7, "principle": "x"}], "is a int"),
    ],
)
def test_what_is_no_spec_says_why(content, said):
    with pytest.raises((SpecError, SourceNotFoundError), match=said):
        load_spec(content)


def test_broken_files(tmp_path):
    path = tmp_path / "constitution.json"
    path.write_text("{")
    with pytest.raises(SpecError, match="no JSON"):
        load_spec(path)


def test_a_trait_without_an_id_is_named_after_its_name():
    assert load_spec([{"name": "Be Kind", "principle": "x"}]).behaviors() == ["be_kind"]


def test_stamped_rows_keep_their_lineage():
    rows = [{"prompt": "a", "lineage": {"judge": "j"}}, {"prompt": "b"}]
    spec = load_spec({"source": "ours", "traits": TRAITS})
    for data in (rows, open_rows(rows)):
        stamped = stamp_spec(data, spec)["lineage"][:]
        assert stamped[0] == {"judge": "j", "spec_version": spec.version, "spec_source": "ours"}
        assert stamped[1] == {"spec_version": spec.version, "spec_source": "ours"}
    assert "spec_version" not in rows[0]["lineage"]


@pytest.mark.parametrize("name", ["spec.yaml", "spec.json"])
def test_a_file_in_another_encoding_is_one_sentence(tmp_path, name):
    (tmp_path / name).write_bytes(b"id: \xff\xfe\x00")
    with pytest.raises(SpecError, match="byte 4 is not UTF-8"):
        load_spec(tmp_path / name)
