"""`POST /api/action` of `rageval play`: run, preview, edit and save actions of a chain."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.projects.play_project import PlayPage, play_project
from support.servers.openai_server import OpenAIServer

from pytest_rageval.errors import DataError
from pytest_rageval.web.play.chain_draft import ChainDraft, change_chain_draft

CHAIN = """\
# Ask for a query, search, answer.
[[action]]
name = "query"
do = "generate"
prompt = "Rewrite: {question}"  # short

[[action]]
name = "found"
do = "retrieve"
query = "{query|line(1)}"
k = 1

[[action]]
name = "reply"
do = "generate"
prompt = "{found}\\n\\n{question}"
"""
SCRIPT = """\
[[reply]]
when = "Rewrite"
text = "museum opening"

[[reply]]
when = "Where"
text = "See https://x.org/?token=abcdef"

[[reply]]
when = "closes"
text = "At 18:00."

[[reply]]
text = "At 9:00."
"""
INI = """
    [tool.pytest.ini_options]
    testpaths = ["tests"]
    rag_corpus = ["docs/*.md"]
    rag_chunking = "sections"
    rag_model = "script:replies.toml"
"""
QUESTION = "When does the museum open?"


@pytest.fixture(scope="module")
def chain_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayPage]:
    files = {"pyproject.toml": INI, "replies.toml": SCRIPT, "chains/rewrite.toml": CHAIN}
    with PlayPage(play_project(tmp_path_factory.mktemp("chained"), **files), "chains/rewrite.toml") as page:
        page.wait()
        yield page


def act(page: PlayPage, name: str, **body: Any) -> dict[str, Any]:
    body = {"chain": "chains/rewrite.toml", "name": name, "question": QUESTION, **body}
    answer = page.client.post("/api/action", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_each_action_runs_with_the_outputs_of_earlier_ones(chain_page: PlayPage) -> None:
    query = act(chain_page, "query")["output"]
    assert query == {"prompt": f"Rewrite: {QUESTION}", "text": "museum opening"}
    search = act(chain_page, "found", outputs={"query": query})["output"]
    assert search["prompt"] == "museum opening"
    assert [each["page"] for each in search["passages"]] == ["docs/visit.md"]
    reply = act(chain_page, "reply", outputs={"query": query, "found": search})
    assert reply["output"]["text"] == "At 9:00."
    assert reply["output"]["prompt"].endswith(f"every day.\n\n{QUESTION}")
    assert [step["kind"] for step in reply["steps"]] == ["completion", "end"]
    assert dict(chain_page.ask(question=QUESTION))["answer"]["text"] == "At 9:00."


def test_a_prompt_is_shown_without_a_model_call(chain_page: PlayPage) -> None:
    texts = act(chain_page, "reply", prompts_only=True, outputs={"found": "The castle."})["texts"]
    assert texts == [["user", f"The castle.\n\n{QUESTION}"]]
    assert act(chain_page, "reply", prompts_only=True)["texts"] == [["user", f"<found>\n\n{QUESTION}"]]


def test_edited_values_are_used_but_not_written(chain_page: PlayPage) -> None:
    edits = [{"action": "reply", "key": "prompt", "value": "When it closes: {found}"}]
    assert act(chain_page, "reply", outputs={"found": "x"}, edits=edits)["output"]["text"] == "At 18:00."
    assert (chain_page.project / "chains/rewrite.toml").read_text() == CHAIN


def test_an_action_does_not_run_twice_at_a_time_and_only_its_chain_can_stop_it(tmp_path: Path) -> None:
    body = {"chain": "chains/rewrite.toml", "name": "query", "question": QUESTION}
    with OpenAIServer(delay_s=lambda number, _: 60 if number == 1 else 0) as server:
        model = f'rag_model = "openai/m"\n    rag_model_params = ["api_base = {server.base_url}", "api_key = sk-test"]'
        ini = INI.replace('rag_model = "script:replies.toml"', model)
        project = play_project(tmp_path, **{"pyproject.toml": ini, "chains/rewrite.toml": CHAIN})
        with PlayPage(project) as page, ThreadPoolExecutor() as threads:
            page.wait()
            first = threads.submit(page.client.post, "/api/action", json=body, timeout=60)
            while not server.in_flight:
                time.sleep(0.05)
            second = page.client.post("/api/action", json=body)
            assert second.json()["error"] == "the action query runs already"
            for chain, status in (("kilt/nq-read", 400), ("", 400), ("chains/rewrite.toml", 200)):
                assert page.client.delete("/api/action/query", params={"chain": chain}).status_code == status
            assert "stopped" in first.result().json()["error"]
            assert page.client.post("/api/action", json=body, timeout=60).json()["output"]["text"]


def test_secrets_are_masked_in_an_output(chain_page: PlayPage) -> None:
    edits = [{"action": "reply", "key": "prompt", "value": "Where? {found}"}]
    result = act(chain_page, "reply", outputs={"found": "https://a:secret@x.org"}, edits=edits)
    assert "See https://x.org/?token=" in result["output"]["text"]
    assert not [each for each in ("abcdef", "a:secret") if each in json.dumps(result)]


def test_an_edit_of_a_removed_action_does_not_block_the_page() -> None:
    draft = ChainDraft(edits=({"action": "gone", "key": "k", "value": 2},), outputs={"reply": {"text": "x"}})
    assert change_chain_draft(draft, {"edits": []}, ["reply"]).edits == ()
    edit = {"action": "reply", "key": "prompt", "value": "x"}
    assert change_chain_draft(draft, {"edits": [edit]}, ["reply"]).stale == ("reply",)
    with pytest.raises(DataError, match="no action 'gone'"):
        change_chain_draft(ChainDraft(), {"edits": [*draft.edits]}, ["reply"])


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"name": "reply"}, "outputs: the action reply reads found, which is not among the outputs"),
        ({"name": "nobody"}, "name: unknown action 'nobody'"),
        ({"name": "reply", "outputs": {"fund": "x"}}, "outputs: unknown action before reply 'fund'"),
        ({"name": "reply", "outputs": []}, "the request: outputs"),
        ({"name": "query", "chain": "gone.toml"}, "rageval chain: there is no file 'gone.toml'"),
        ({"name": "query", "edits": [{"action": "query", "key": "k", "value": 2}]}, "chains/rewrite.toml:5: unknown"),
        (
            {"name": "query", "edits": [{"action": "query", "key": "prompt", "value": "{quest}"}]},
            "chains/rewrite.toml:5: unknown",
        ),
        ({"name": "query", "edits": [{"action": "query", "key": "prompt", "value": None}]}, "the request: edits[0]"),
        ({"name": "query", "question": ""}, "the question is empty"),
    ],
)
def test_an_invalid_request_is_refused_in_one_sentence(chain_page: PlayPage, body: dict[str, Any], error: str) -> None:
    whole = {"chain": "chains/rewrite.toml", "question": QUESTION, **body}
    answer = chain_page.client.post("/api/action", json=whole)
    assert (answer.status_code, answer.json()["error"][: len(error)]) == (400, error)


def test_a_change_makes_later_outputs_stale_and_survives_a_reload(chain_page: PlayPage) -> None:
    def keep(**body: Any) -> list[str]:
        answer = chain_page.client.put("/api/chain", json={"chain": "chains/rewrite.toml", **body})
        assert answer.status_code == 200, answer.text
        stale: list[str] = answer.json()["stale"]
        return stale

    keep(question=QUESTION)
    outputs: dict[str, Any] = {}
    for name in ("query", "found", "reply"):
        outputs[name] = act(chain_page, name, outputs=outputs.copy(), draft=True)["output"]
    assert keep(edits=[{"action": "found", "key": "k", "value": 2}]) == ["found", "reply"]
    page = chain_page.client.get("/chain", params={"chain": "chains/rewrite.toml"}).text
    assert page.count("card action stale") == 2
    act(chain_page, "found", outputs={"query": outputs["query"]}, draft=True)
    assert keep() == ["reply"]
    assert keep(question="Another?") == []


def test_a_chain_is_saved_only_after_its_diff_was_shown(chain_page: PlayPage) -> None:
    path = chain_page.project / "chains/rewrite.toml"
    edits = [
        {"action": "found", "key": "k", "value": 2},
        {"action": "query", "key": "prompt", "value": "Say: {question}"},
    ]
    body = {"kind": "chain", "chain": "chains/rewrite.toml", "edits": edits}
    plan = chain_page.client.post("/api/save", json={**body, "preview": True}).json()
    assert '+prompt = "Say: {question}"  # short' in plan["diff"]
    assert path.read_text() == CHAIN
    path.write_text(CHAIN + "# more\n")
    conflict = chain_page.client.post("/api/save", json={**body, "preview": False, "seen": plan["seen"]})
    assert (conflict.status_code, path.read_text()) == (409, CHAIN + "# more\n")
    path.write_text(CHAIN)
    saved = chain_page.client.post("/api/save", json={**body, "preview": False, "seen": plan["seen"]}).json()
    assert saved["written"] == ["rewrite.toml"]
    assert path.read_text() == CHAIN.replace("k = 1", "k = 2").replace('"Rewrite: {question}"', '"Say: {question}"')
    path.write_text(CHAIN)


def test_a_built_in_chain_is_shown_but_cannot_be_saved(chain_page: PlayPage) -> None:
    assert "kilt/nq-read" in chain_page.client.get("/chain", params={"chain": "kilt/nq-read"}).text
    edits = [{"action": "reply", "key": "prompt", "value": "x"}]
    answer = chain_page.client.post("/api/save", json={"kind": "chain", "chain": "kilt/nq-read", "edits": edits})
    assert answer.status_code == 400
