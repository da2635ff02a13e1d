"""The card of a push: its front matter, its numbers, its figures, and that it shows other people's text unharmed."""

import html as html_module
import re
from xml.etree import ElementTree

import pytest
import yaml
from datasets import Dataset, load_dataset
from huggingface_hub import DatasetCard, metadata_update
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import whileai_hf as wai
from whileai_hf.hub.cards import agent_tag, build_card, front_matter
from whileai_hf.hub.cards.markdown import code, fence, prose
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.pushing import push
from whileai_hf.hub.record import HistoryEntry, ParentRecord, RunRecord, SplitRecord
from whileai_hf.measure.hygiene import split
from whileai_hf.measure.passes import group_signal, pass_at
from whileai_hf.measure.summaries import marker_summary
from whileai_hf.select.publishing import publish_gate


# A line end that a card could take for the end of its front matter, a table, a fence, a heading, a script.
NASTY = (
    "x\n---\n`a` | ``b`` <script>alert(1)</script>\n# head\n```\n[l](javascript:x) ![i](http://e.example/p.png) "
    "\u202eabc"
)


def record_of(splits, **more):
    """A record of a push of these splits."""
    told = {
        name: SplitRecord(len(rows), 1, "ab", [f"data/{name}-00000-of-00001.parquet"]) for name, rows in splits.items()
    }
    return RunRecord(**{"tag": "v1", "purpose": "train", "splits": told, "digest": "0123456789abcdef", **more})


def card_of(rows, **more):
    splits = rows if isinstance(rows, dict) else {"train": rows}
    return build_card(splits, record_of(splits, **more), repo="me/refunds")


def body(card):
    return card.readme.split("\n---\n", 1)[1]


def html(card):
    return MarkdownIt("gfm-like", {"linkify": False}).render(body(card))


def section(card, heading):
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", body(card), re.MULTILINE | re.DOTALL).group(1)


def headings(card):
    return re.findall(r"<h[12]>(.*?)</h[12]>", html(card))


@pytest.fixture(scope="module")
def graded():
    """Twelve tasks, four rollouts each, two markers, a run report."""
    tools = [
        {
            "name": "get_order",
            "description": "Look an order up.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
        }
    ]
    knobs = {"mode": "rl", "situations": 12, "repeats": 4, "repeat_policy": "fixed"}
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt="Look an order up.", **knobs)
    return wai.grade(
        data,
        judge=lambda row: {
            "reward": float(row["rollout_index"] % 2),
            "markers": {"polite": 1.0, "honest": row["rollout_index"] == 0},
        },
    )


@pytest.fixture(scope="module")
def pushed(graded):
    """The card of a push with a holdout, a parent and a past."""
    report = wai.run_report(graded).to_dict()
    splits = dict(split(graded, holdout=0.4))
    past = [HistoryEntry("v1", "a" * 20, "train", 10), HistoryEntry("v2", "b" * 20, "train", 48, "me/base@v3")]
    record = record_of(
        splits,
        tag="v2",
        mode="rl",
        agent="Order desk",
        parent=ParentRecord("me/base", "v3", "c" * 40),
        spec={name: report["spec"][name] for name in ("sha", "name", "system_prompt", "tools")},
        policy_versions=["seeded@1"],
        judges=[{"code": "5eb1f42fcb42"}],
        run_ids=[report["run_id"]],
        report=report,
        gate=publish_gate(graded, strict=False).to_dict(),
        scrubbed=["privileged", "steps"],
        dropped={"near_copies": 3},
        description="Refunds.\n\nWith faults.",
        license="mit",
        language=["en"],
        history=past,
    )
    return splits, record, build_card(splits, record, repo="me/refunds")


def test_front_matter(pushed):
    splits, record, card = pushed
    data = DatasetCard(card.readme).data.to_dict()
    assert data["license"] == "mit" and data["language"] == ["en"]
    assert data["tags"] == ["whileai-hf", "whileai-agent-order-desk", "whileai-purpose-train"]
    assert data["task_categories"] == ["text-generation", "reinforcement-learning"]
    assert data["size_categories"] == ["n<1K"]
    files = [{"split": name, "path": f"data/{name}-*"} for name in ("train", "holdout")]
    assert data["configs"] == [{"config_name": "default", "data_files": files}]
    assert "dataset_info" not in data
    told = data["whileai"]
    assert {told[name] for name in ("agent", "purpose", "mode", "tag", "digest")} == {
        "Order desk",
        "train",
        "rl",
        "v2",
        "0123456789abcdef",
    }
    assert told["rows"] == 48 and told["tasks"] == 12 and told["run"] == record.run_ids
    assert (
        told["parent"] == {"repo": "me/base", "tag": "v3", "commit": "c" * 40} and told["spec"] == record.spec["sha"]
    )
    assert told["numbers"]["train"]["pass_at_1"] == pass_at(splits["train"]).pass_at_1


def test_numbers_are_those_of_pass_at(pushed):
    splits, _, card = pushed
    told = section(card, "How good the agent is")
    for name, rows in splits.items():
        report = pass_at(rows)
        low, high = report.ci95
        cells = re.search(rf"^\| `{name}` \|(.*)\|$", told, re.MULTILINE).group(1).split(" | ")
        assert cells[0].strip() == f"{report.pass_at_1:.2f} [{low:.2f}, {high:.2f}]"
        for cell, value, ends in (
            (cells[2], report.pass_pow_k, report.pass_pow_k_ci95),
            (cells[3], report.pass_at_k, report.pass_at_k_ci95),
        ):
            assert cell.strip() == f"{value:.2f} [{ends[0]:.2f}, {ends[1]:.2f}]"
        assert cells[1].strip() == str(report.k) and cells[4].strip() == f"{report.headroom:.2f}"
        signal = group_signal(rows)
        assert f"`{name}`: {signal.mixed} of {signal.n_groups} groups" in told
        for level in marker_summary(rows).metrics.values():
            low, high = level.ci95
            assert f"| `{level.metric}` | {level.mean:.2f} [{low:.2f}, {high:.2f}] |" in section(card, "Markers")


def test_support_counts_tasks_with_a_pass():
    rewards = {"a": [1, 1], "b": [0, 1], "c": [0, 0], "d": [0, 0]}
    rows = [{"task_id": task, "reward": reward} for task, given in rewards.items() for reward in given]
    told = section(card_of(rows), "How good the agent is")
    assert "support on 2 of 4 tasks (50%)" in told and "1 always pass, 1 sometimes, 2 never" in told


def test_sections(pushed):
    _, record, card = pushed
    assert headings(card)[1:] == [
        "Load it",
        "Splits",
        "The agent",
        "How the rows were made",
        "How good the agent is",
        "Markers",
        "Who judged",
        "What was checked, scrubbed and left out",
        "A row",
        "Known limits",
        "Pushes",
    ]
    agent = section(card, "The agent")
    assert "| `get_order` | Look an order up. | `order_id` |" in agent and "```text\nLook an order up.\n```" in agent
    calls = record.report["tools_called"]["get_order"]
    assert f"| `order_id` | {calls} |" in agent
    made = section(card, "How the rows were made")
    coverage = record.report["coverage"]
    assert f"{coverage['pairs_covered']} of {coverage['pairs_total']} pairs" in made and "writer `template`" in made
    checks = section(card, "What was checked, scrubbed and left out")
    assert (
        "`privileged`, `steps`" in checks
        and "left out, near copies: `3`" in checks
        and "publish gate: passed" in checks
    )
    assert "| `v2` | 48 | `train` | `default` | `bbbbbbbbbbbb` | `me/base@v3` |" in section(card, "Pushes")
    assert "Every task is wholly in one split" in section(card, "Splits")


def test_code_on_the_card_is_python(pushed):
    _, _, card = pushed
    blocks = re.findall(r"^```python\n(.*?)^```$", body(card), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        compile(block, "card", "exec")
    assert 'load_dataset("me/refunds", split="train", revision="v2")' in blocks[0]


def test_figures_are_plain_svg(pushed):
    _, _, card = pushed
    assert set(re.findall(r"<img src=\"(.*?)\"", html(card))) == set(card.files)
    assert {"figures/difficulty.svg", "figures/reliability.svg", "figures/markers.svg"} <= set(card.files)
    for content in card.files.values():
        for element in ElementTree.fromstring(content).iter():
            assert element.tag.rpartition("}")[2] not in ("script", "image", "a", "foreignObject", "use", "style")
            assert not [name for name in element.attrib if "href" in name or name.startswith("on")]


def test_same_push_same_card(pushed):
    splits, record, card = pushed
    assert build_card(splits, record, repo="me/refunds") == card


def test_trust():
    rows = [{"task_id": task, "reward": task % 2} for task in range(6)]
    assert "**Trust: NOT MEASURED.**" in section(card_of(rows, judges=[{"code": "x"}]), "Who judged")
    trust = {"agreement": 0.95, "agreement_low": 0.9, "kappa": 0.9, "n_gold": 60, "ok": True, "status": "trusted"}
    told = section(card_of(rows, judges=[{"code": "x", "trust": trust}]), "Who judged")
    assert "measured and trusted" in told and "Agreement with people 0.95, lower bound 0.900" in told
    poor = {**trust, "ok": False, "status": "not_trusted", "kappa": None}
    assert "NOT TRUSTED" in section(card_of(rows, judges=[{"trust": poor}]), "Who judged")
    # Two judges whose trust differs: neither speaks for the rows.
    assert "NOT MEASURED" in section(card_of(rows, judges=[{"trust": trust}, {"trust": poor}]), "Who judged")


@pytest.mark.parametrize("odd", [None, "yes", {"status": "trusted"}, {"n_gold": "many"}])
def test_trust_of_a_foreign_record(odd):
    rows = [{"task_id": task, "reward": task % 2} for task in range(6)]
    assert "NOT MEASURED" in section(card_of(rows, judges=[{"trust": odd}], gate={"trust": odd}), "Who judged")


@pytest.mark.parametrize(
    "rows",
    [
        [{"prompt": "Where is my order?", "final_text": "Here."}],
        [{"prompt": "Where is my order?", "final_text": "Here.", "reward": None, "markers": None}],
        [{"messages": [{"role": "user", "content": "hi"}]}],
        [{"note": "nothing that names a task"}],
        [{"note": "neither here", "reward": 1.0}],
    ],
)
def test_ungraded_rows(rows):
    card = card_of(Dataset.from_list(rows))
    assert "not graded" in section(card, "Who judged") and "How good the agent is" not in headings(card)
    assert "no run report came with these rows" in section(card, "How the rows were made")
    assert not card.files and DatasetCard(card.readme).data.to_dict()["whileai"]["numbers"] == {}


def test_tasks_only(tools, policy):
    tasks = wai.situations(tools=tools, system_prompt=policy, n=6)
    rows = tasks.remove_columns([name for name in ("privileged", "expected_calls") if name in tasks.column_names])
    card = card_of(rows, purpose="eval")
    assert "| `train` | tasks | 6 | 6 | 0 |" in section(card, "Splits") and "6 situations" in body(card)
    assert "wai.simulate(your_agent, tasks=rows" in section(card, "Load it")


def test_an_empty_split_and_one_that_shares_tasks():
    rows = [{"task_id": task, "reward": 1.0} for task in range(4)]
    card = card_of({"train": rows, "holdout": Dataset.from_list([]), "test": rows[:1]})
    assert "**1 of 4 tasks are in more than one split**" in section(card, "Splits")
    files = front_matter(card.readme)["configs"][0]["data_files"]
    assert [one["split"] for one in files] == ["train", "test"]


@pytest.mark.parametrize(
    "nasty", [NASTY, "`<script>alert(1)</script>", "&lt;script>alert(1)<script>", "\\`<script>alert(1)"]
)
def test_other_peoples_text_stays_text(nasty):
    rows = [
        {"task_id": task, "prompt": nasty * 3, "final_text": nasty, "reward": task % 2, "markers": {nasty: 1.0}}
        for task in range(4)
    ]
    spec = {
        "sha": "abc",
        "name": nasty,
        "system_prompt": nasty,
        "tools": [{"name": nasty, "description": nasty, "parameters": {"properties": {nasty: {}}}}],
    }
    more = {
        "agent": nasty,
        "description": nasty,
        "spec": spec,
        "policy_versions": [nasty],
        "judges": [{nasty: nasty}],
        "scrubbed": [nasty],
        "dropped": {nasty: 1},
        "gate": {"ok": True, "warnings": [nasty], "refusals": []},
        "report": {"roles": {"agent": nasty, nasty: "x"}, "warnings": [nasty], "search": {"flaws": {nasty: 1}}},
    }
    card = card_of(rows, **more)
    plain = card_of([{**row, "prompt": "p", "final_text": "f", "markers": {"m": 1.0}} for row in rows], agent="a")
    shown = html(card)
    assert not re.search(r"<script|<img src=\"http|href=", shown) and "alert(1)" in shown
    assert "\u202e" not in card.readme
    assert DatasetCard(card.readme).data.to_dict().keys() == DatasetCard(plain.readme).data.to_dict().keys()
    assert {"head", "l"}.isdisjoint(headings(card))
    widths = {line.count("<td>") for line in re.findall(r"<tr>.*?</tr>", shown.replace("\n", ""))}
    assert widths <= {0, 2, 3, 4, 5, 6}, "a bar in a name is no border of a cell"
    for content in card.files.values():
        ElementTree.fromstring(content)


@pytest.mark.parametrize(
    "agent",
    ["a: b", "- x", "yes", "1.0", "'", '"', "#", "null", "\u0000\u0085\u2028", "\ud800", "{x}", "%TAG", "订单"],
)
def test_any_agent_name_survives_yaml(agent):
    rows = [{"task_id": task, "reward": 1.0} for task in range(3)]
    told = DatasetCard(card_of(rows, agent=agent).readme).data.to_dict()
    assert isinstance(told["whileai"]["agent"], str)
    assert all(re.fullmatch(r"[a-z0-9-]+", tag) for tag in told["tags"])


def test_tags_tell_agents_apart():
    names = ["Order desk", "order desk 2", "订单", "退款", "!!!", "???", "a" * 60, "a" * 61]
    assert len({agent_tag(name) for name in names}) == len(names)


def test_huge_text_is_cut():
    rows = [
        {"task_id": task, "prompt": "word " * 200_000, "final_text": "`" * 1_000_000, "reward": 1.0}
        for task in range(3)
    ]
    card = card_of(rows, description="d" * 1_000_000, spec={"sha": "s", "system_prompt": "y" * 1_000_000, "tools": []})
    assert len(card.readme) < 20_000 and "more characters]" in card.readme
    assert headings(card)[-1] == "Known limits"


def test_a_conversational_prompt():
    rows = [{"task_id": 1, "prompt": [{"role": "user", "content": "Where is it?"}], "messages": [], "final_text": ""}]
    assert "```text\nWhere is it?\n```" in section(card_of(rows), "A row")


def test_what_a_person_wrote_stays_and_what_a_push_wrote_goes():
    old = {
        "license": "cc-by-4.0",
        "pretty_name": "Old",
        "tags": ["mine", "whileai-hf", "whileai-agent-old"],
        "configs": [
            {"config_name": "default", "data_files": [{"split": "gone", "path": "data/gone-*"}]},
            {"config_name": "prefs", "data_files": [{"split": "train", "path": "prefs/train-*"}]},
        ],
        "dataset_info": {"features": []},
        "whileai": {"tag": "v1"},
        "arxiv": "x",
    }
    rows = [{"task_id": task, "reward": 1.0} for task in range(3)]
    previous = f"---\n{yaml.safe_dump(old)}---\n# Old text"
    card = build_card({"train": rows}, record_of({"train": rows}, agent="new", tag="v2"), previous=previous)
    data = front_matter(card.readme)
    assert data["license"] == "cc-by-4.0" and data["arxiv"] == "x" and "dataset_info" not in data
    assert data["tags"] == ["whileai-hf", "whileai-agent-new", "whileai-purpose-train", "mine"]
    assert [config["config_name"] for config in data["configs"]] == ["default", "prefs"]
    assert data["configs"][0]["data_files"] == [{"split": "train", "path": "data/train-*"}]
    assert data["whileai"]["tag"] == "v2" and "Old text" not in card.readme
    other = build_card({"train": rows}, record_of({"train": rows}, config_name="prefs"), previous=previous)
    assert [one["config_name"] for one in front_matter(other.readme)["configs"]] == ["default", "prefs"]
    assert 'load_dataset("namespace/name", "prefs", split="train"' in other.readme


@pytest.mark.parametrize(
    "readme", [None, "", "# no front matter", "---\n: [\n---\n", "---\n- a\n---\n", "---\nunfinished"]
)
def test_front_matter_that_is_none(readme):
    assert front_matter(readme) == {}


def test_a_pushed_card(hub, graded, monkeypatch):
    """The card as the Hub has it: its code runs, its figures are there, and the next push leaves nothing stale."""
    first = push(graded, "alice/refunds", holdout=0.4, agent="Order desk", license="mit", description="Refunds.")
    card = DatasetCard.load("alice/refunds")
    told = card.data.to_dict()["whileai"]
    assert told["tag"] == first.tag == "v1" and told["digest"] == first.digest and told["rows"] == 48
    train = load_dataset("alice/refunds", split="train", revision="v1")
    low, high = pass_at(train).ci95
    assert f"| `train` | {pass_at(train).pass_at_1:.2f} [{low:.2f}, {high:.2f}] |" in card.text
    assert "Every task is wholly in one split" in card.text and "pairs of situation values" in card.text
    figures = set(re.findall(r"\]\((figures/.*?)\)", card.text))
    files = hub.api.list_repo_files("alice/refunds", repo_type="dataset")
    assert figures == {name for name in files if name.startswith("figures/")} and len(figures) >= 3

    monkeypatch.setattr(wai, "pull", pull, raising=False)
    plain, ours = re.findall(r"^```python\n(.*?)^```$", card.text, re.MULTILINE | re.DOTALL)
    for block in (plain, ours):
        names = {}
        exec(compile(block, "card", "exec"), names)
        assert names["rows"]["scenario_id"] == train["scenario_id"]
    assert len(names["prompts"]) and len(names["pairs"])

    metadata_update("alice/refunds", {"license": "cc-by-4.0"}, repo_type="dataset", overwrite=True)
    tasks = graded.select_columns(["scenario_id", "prompt", "final_text"])
    push(tasks, "alice/refunds", gate=False, purpose="eval", config_name="later")
    beside = DatasetCard.load("alice/refunds")
    assert [config["config_name"] for config in beside.data.to_dict()["configs"]] == ["default", "later"]
    assert "configuration `default`, described by the card at `v1`" in beside.text
    assert load_dataset("alice/refunds", split="train", revision="v2")["scenario_id"] == train["scenario_id"]

    push(tasks, "alice/refunds", gate=False, purpose="eval", overwrite=True)
    again = DatasetCard.load("alice/refunds")
    data = again.data.to_dict()
    assert data["license"] == "cc-by-4.0" and data["whileai"]["tag"] == "v3" and data["whileai"]["numbers"] == {}
    files = [one["path"] for config in data["configs"] for one in config["data_files"]]
    assert files == ["data/eval-*", "later/eval-*"]
    assert "whileai-purpose-eval" in data["tags"] and "whileai-purpose-train" not in data["tags"]
    assert "figures/" not in again.text and "## Pushes" in again.text
    files = hub.api.list_repo_files("alice/refunds", repo_type="dataset")
    assert not [name for name in files if name.startswith("figures/")]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_REPORT = (
    "roles",
    "n_rows",
    "n_situations",
    "n_prompts",
    "k",
    "coverage",
    "faults",
    "search",
    "warnings",
    "tools_called",
)
_INNER = (
    "pairs_covered",
    "pairs_total",
    "cells",
    "scheduled",
    "fired",
    "flaws",
    "writer",
    "user",
    "trust",
    "top_feature",
)


def _odd(keys):
    inner = st.dictionaries(st.sampled_from(_INNER), _JSON, max_size=4)
    return st.none() | st.dictionaries(st.sampled_from(keys), inner | _JSON, max_size=len(keys))


@settings(max_examples=30)
@given(
    report=_odd(_REPORT),
    gate=_odd(("ok", "warnings", "refusals", "hack_scan", "trust")),
    spec=_odd(("sha", "name", "system_prompt", "tools")),
    judges=st.lists(_odd(("trust", "code")).filter(lambda judge: judge is not None), max_size=2),
)
def test_records_of_others_never_crash_a_card(report, gate, spec, judges):
    rows = [{"task_id": task, "prompt": "p", "final_text": "f", "reward": task % 2} for task in range(3)]
    card = card_of(rows, report=report, gate=gate, spec=spec, judges=judges)
    assert front_matter(card.readme)["whileai"]["rows"] == 3 and "## Known limits" in card.readme


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_text_is_shown_as_it_is(text):
    """What a reader sees of a cell is the text, spaces and the unseen aside."""
    seen = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+", " ", text).split())
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(f"- {prose(text)}\n- {code(text)}\n\n{fence(text)}\n")
    listed = r"<ul>\n<li>(.*?)</li>\n<li><code>(.*?)</code></li>\n</ul>\n"
    block = r"<pre><code class=\"language-text\">(.*?)</code></pre>\n"
    found = re.fullmatch(listed + block, shown, re.DOTALL)
    for text_found in found.groups():
        assert "<" not in text_found
        visible = " ".join(html_module.unescape(text_found).replace("\ufffd", " ").split())
        assert visible == " ".join(seen.replace("\ufffd", " ").split())
