"""Words of many texts at once are the words of each text."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.measure.hacks import length_report
from whileai_hf.measure.hacks.letters import COUNTED, count_letters
from whileai_hf.measure.hacks.reading import Reader, read_lengths
from whileai_hf.measure.hacks.vocabulary import Vocabulary
from whileai_hf.rows import view


texts = st.lists(st.text(st.characters() | st.sampled_from("aB_ 9\x00\x1e\u3042\u6771\u0e2a\ud800\u0130")), max_size=8)


def spelled(text):
    """The definition: runs of letters, digits and `_`, in scripts without spaces every letter."""
    alone = "\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f"
    return re.findall(rf"[{alone}]|[^\W{alone}]+", text.lower())


@settings(max_examples=60, deadline=None)
@given(st.lists(texts, max_size=3))
def test_words_of_all_texts_are_those_of_each(blocks):
    vocabulary = Vocabulary()
    found = [vocabulary.read(block) for block in blocks]
    names = list(vocabulary.numbers)
    for block, (words, counts) in zip(blocks, found, strict=True):
        assert counts.tolist() == [len(spelled(text)) for text in block]
        assert [names[word] for word in words] == [word for text in block for word in spelled(text)]
    assert len(set(names)) == len(names)


@settings(max_examples=25, deadline=None)
@given(texts)
def test_letters_of_all_texts_are_those_of_each(block):
    together = count_letters(block)
    for index, text in enumerate(block):
        for name, counts, alone in zip(COUNTED, together, count_letters([text]), strict=True):
            assert counts[index] == alone[0], name


def test_of_a_long_text_both_ends_are_read():
    text = "first " + "x" * 30_000 + " last"
    vocabulary = Vocabulary()
    _, counts = vocabulary.read([text])
    names = list(vocabulary.numbers)
    assert counts.tolist() == [4] and (names[0], names[-1]) == ("first", "last")


def test_lengths_alone_are_those_a_scan_reads():
    rows = [
        {"task_id": i // 4, "final_text": "The parcel was handed over and " * (i % 9), "sim_ok": i % 7 != 0}
        | ({"finish_reason": "length"} if i % 5 == 0 else {})
        for i in range(60)
    ]
    source = view(rows)
    kept = length_report(rows).n_replies
    every = np.ones(len(rows), bool)
    lengths, cut = read_lengths(source, every)
    numbers = Reader().read(source, every).numbers
    assert kept == sum(row["sim_ok"] for row in rows)
    assert lengths.tolist() == numbers["reply_length"].tolist()
    assert cut.tolist() == numbers["truncated"].tolist()
