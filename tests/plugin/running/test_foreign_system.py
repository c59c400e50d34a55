"""A LangChain chain as the system, from a fixture or from an option."""

from __future__ import annotations

import pytest

# pytester unloads modules after a run; two runs would mix two copies of one class.
from langchain_core.documents import Document  # noqa: F401
from langchain_core.messages import AIMessage  # noqa: F401
from langchain_core.runnables import RunnableLambda, RunnablePassthrough  # noqa: F401
from support.projects.rag_project import Project, case

CHAIN = """
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    def say(state):
        usage = {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35}
        return AIMessage(state["context"][0].page_content, usage_metadata=usage)

    def retrieve(inputs):
        return [Document(f"{inputs['question']} Two years.", id="d1")]

    chain = RunnablePassthrough.assign(context=RunnableLambda(retrieve)).assign(answer=RunnableLambda(say))
"""
FIXTURE = """
    import pytest
    from desk import chain

    @pytest.fixture(scope="session")
    def rag_system():
        return chain
"""


@pytest.mark.parametrize("by_option", [True, False], ids=["option", "fixture"])
def test_a_chain_is_the_system(project: Project, by_option: bool) -> None:
    project.file("desk.py", CHAIN)
    gates = "gates=['accuracy >= 1', 'tokens <= 35']"
    project.says([case("q1", "How long?", "two years", qrels={"d1": 1})], gates, conftest="" if by_option else FIXTURE)
    run = project.run(*(["--rag-system", "desk:chain"] if by_option else ["-o", "pythonpath=."]))
    assert run.status == 0
    answer = run.outcomes["q1"]["answer"]
    assert answer["text"] == "How long? Two years."
    assert [item["doc_id"] for item in answer["ranking"]] == ["d1"]
    assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (30, 5)
