"""How different the prompts are, and whether one can tell whom they are for."""

import itertools
import re
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from whileai_hf.sandbox import argument_errors
from whileai_hf.scenarios import coverage, draw_tasks


REAL = (
    "agentdojo_slack",
    "agentdojo_workspace",
    "mcp_everything",
    "mcp_fetch",
    "mcp_filesystem",
    "mcp_git",
    "mcp_memory",
    "mcp_time",
    "tau_airline",
)


def drawn(spec, n):
    return list(itertools.islice(draw_tasks(spec), n))


def nearest(prompts):
    """The highest word-set Jaccard of each prompt to another one, every token with a digit masked."""
    sets = [frozenset(re.findall(r"[\w<>']+", re.sub(r"\S*\d\S*", "<id>", prompt.lower()))) for prompt in prompts]
    vocabulary = {word: index for index, word in enumerate(sorted(set().union(*sets)))}
    columns = [vocabulary[word] for words in sets for word in sorted(words)]
    sizes = np.array([len(words) for words in sets])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    table = csr_matrix((np.ones(len(columns), dtype=np.float32), columns, starts), shape=(len(sets), len(vocabulary)))
    best = np.zeros(len(sets))
    for start in range(0, len(sets), 500):
        shared = (table[start : start + 500] @ table.T).toarray()
        union = sizes[start : start + 500, None] + sizes[None, :] - shared
        likeness = shared / union
        rows = np.arange(len(likeness))
        likeness[rows, start + rows] = 0
        best[start : start + 500] = likeness.max(axis=1)
    return best


def test_1000_prompts_do_not_look_alike(shop):
    prompts = [row["prompt"] for row in drawn(shop, 1000)]
    assert len(set(prompts)) == 1000 and (nearest(prompts) < 0.8).mean() >= 0.97


@pytest.mark.slow
def test_5000_prompts_do_not_look_alike(shop):
    prompts = [row["prompt"] for row in drawn(shop, 5000)]
    assert len(set(prompts)) == 5000 and (nearest(prompts) < 0.8).mean() >= 0.95


@pytest.mark.slow
def test_20000_prompts_are_distinct_and_cost_no_more_each(shop):
    spent = {}
    for n in (2000, 20_000):
        start = time.process_time()
        rows = drawn(shop, n)
        spent[n] = (time.process_time() - start) / n
    assert len({row["prompt"] for row in rows}) == len({row["scenario_id"] for row in rows}) == 20_000
    # Loose on purpose: the machine may be busy with other things.
    assert spent[20_000] < 1.5 * spent[2000]


@pytest.mark.parametrize("name", REAL)
def test_200_asks_of_a_real_agent(real, name):
    spec = real(name)
    rows = drawn(spec, 200)
    assert len({row["prompt"] for row in rows}) == len({row["scenario_id"] for row in rows}) == 200
    assert {call["tool"] for row in rows for call in row["expected_calls"]} == set(spec.names)
    assert set(spec.names) <= {row["scenario_dimensions"]["tool"] for row in rows}
    for row in rows:
        assert not re.search("[\ue000-\uf8ff]", row["prompt"])
        for call in row["expected_calls"]:
            assert argument_errors(spec.tool(call["tool"]), call["arguments"]) == []
    assert coverage(spec, [row["scenario_dimensions"] for row in rows]).share > 0.55


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


@pytest.mark.parametrize("held_out", [0, 1])
def test_a_prompt_says_whose_it_is(real, held_out):
    told = [(row["prompt"], label) for label, name in enumerate(REAL) for row in drawn(real(name), 200)]
    train, test = told[1 - held_out :: 2], told[held_out::2]
    vectorizer = TfidfVectorizer()
    known = vectorizer.fit_transform([text for text, _ in train]).toarray()
    labels = np.array([label for _, label in train])
    centroids = unit(np.stack([known[labels == label].mean(axis=0) for label in range(len(REAL))]))
    guessed = (vectorizer.transform([text for text, _ in test]).toarray() @ centroids.T).argmax(axis=1)
    right = guessed == np.array([label for _, label in test])
    assert right.mean() >= 0.95
    assert min(right[[label == one for _, label in test]].mean() for one in range(len(REAL))) >= 0.78
