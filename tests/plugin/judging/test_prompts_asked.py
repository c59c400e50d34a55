"""Prompts of the model: ours or the ini's, with refusal sentences and earlier turns."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, case
from support.projects.scripted_projects import NOTED, Requests, asked_of, conftest, judged, refused, values

from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE

NOTED_LLM = """
    @pytest.fixture(scope="session")
    def rag_llm():
        return Noted("llm", {REPLY})
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", {arguments})
    def test_it(rag):
        ...
"""

NEGATIVE = 'ability="negative_rejection", passages=1'
PASSAGES = [{"id": "d1", "text": "The tower opens at 9.", "title": "Tower", "role": "negative"}]


def _ask(project: Project, ini: str, arguments: str, *rows: dict[str, object], reply: str = "No.") -> Requests:
    """Run a project whose model always replies ``reply``; return the requests to the model."""

    project.data(list(rows))
    conftest(project, NOTED, NOTED_LLM.replace("{REPLY}", repr(reply)))
    project.file("pytest.ini", "[pytest]\n" + ini)
    project.file("test_it.py", TEST.replace("{arguments}", arguments))
    run = project.run()
    assert run.status == 0, run.text
    return asked_of(project, "llm")


def test_the_prompt_explains_the_protocol(project: Project) -> None:
    row = case("q1", "When does the castle open?", passages=PASSAGES)
    (request,) = _ask(project, "", NEGATIVE, row)
    system, user = request["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert REJECTION_SENTENCE["en"] in system["content"]
    assert ERROR_SENTENCE["en"] in system["content"]
    assert "\n\nDocuments:\n\n[1] Tower\nThe tower opens at 9.\n\n" in user["content"]
    assert user["content"].endswith("Question: When does the castle open?")
    assert REJECTION_SENTENCE["en"] in user["content"]  # the testbed's own instructions
    assert request["params"] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_sentences_of_the_ini_are_prompted_and_recognised(project: Project, language: str) -> None:
    refusal, error = {"en": ("Beats me.", "These lie."), "zh": ("我不清楚。", "文档有误。")}[language]
    ini = f"rag_rejection_sentence = {language}: {refusal}\nrag_error_sentence = {language}: {error}\n"
    row = case("q1", "Wann?", passages=PASSAGES, language=language)
    (request,) = _ask(project, ini, NEGATIVE, row, reply=refusal)
    prompt = "\n".join(message["content"] for message in request["messages"])
    assert prompt.count(refusal) == 2  # in the prompt and in the testbed's instructions
    assert prompt.count(error) == 1
    assert REJECTION_SENTENCE[language] not in prompt
    assert ERROR_SENTENCE[language] not in prompt
    assert values(project.run(), "rejection_rate") == {"q1": 1.0}


def test_markers_of_the_ini_replace_the_rule_for_refusals(project: Project) -> None:
    row = case("q1", "Wann?", passages=PASSAGES)
    _ask(project, "rag_rejection_sentence = en: Beats me.\n", NEGATIVE, row, reply="The documents do not say.")
    assert values(project.run(), "rejection_rate") == {"q1": 1.0}
    ini = "rag_rejection_sentence = en: Beats me.\nrag_rejection_markers = en: insufficient\n"
    _ask(project, ini, NEGATIVE, row, reply="The documents do not say.")
    assert values(project.run(), "rejection_rate") == {"q1": 0.0}
    _ask(project, ini, NEGATIVE, row, reply=REJECTION_SENTENCE["en"])
    assert values(project.run(), "rejection_rate") == {"q1": 1.0}


def test_the_configured_error_sentence_marks_a_detected_error(project: Project) -> None:
    lie = [{"id": "d1", "text": "It opens at 3.", "role": "counterfactual"}]
    row = case("q1", "When?", "9", passages=lie, fake_answers=["3"])
    ini = "rag_error_sentence = en: These lie.\n"
    (request,) = _ask(project, ini, 'ability="counterfactual_robustness", passages=1', row, reply="These lie. At 9.")
    assert ERROR_SENTENCE["en"] not in str(request["messages"])
    assert request["messages"][1]["content"].count("These lie.") == 1
    assert values(project.run(), "error_detection_rate") == {"q1": 1.0}


def test_prompts_of_the_ini_replace_ours(project: Project) -> None:
    project.file("prompts/en.toml", 'system = "Be brief. Else: {rejection}"\npassage = "<{number}> {text}"')
    row = case("q1", "When?", passages=PASSAGES)
    (request,) = _ask(project, "rag_prompts = en: prompts/en.toml\n", 'metrics=["accuracy"]', row)
    assert request["messages"][0]["content"] == f"Be brief. Else: {REJECTION_SENTENCE['en']}"
    user = request["messages"][1]["content"]
    assert user.endswith("\n\nDocuments:\n\n<1> The tower opens at 9.\n\nQuestion: When?")


def test_another_language_may_have_its_prompts(project: Project) -> None:
    project.file("de.toml", 'user = "Dokumente: {passages} Frage: {question}"')
    rows = [case("q1", "Wann?", passages=PASSAGES, language="de"), case("q2", "When?", passages=PASSAGES)]
    requests = _ask(project, "rag_prompts = de: de.toml\n", 'metrics=["accuracy"]', *rows)
    english, german = sorted(request["messages"][1]["content"] for request in requests)
    assert german == "Dokumente: [1] Tower\nThe tower opens at 9. Frage: Wann?"
    assert english.endswith("Question: When?")
    assert [request["messages"][0]["content"][:10] for request in requests] == [
        "You answer"
    ] * 2  # the system prompt stays English


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        ("rag_prompts = en: gone.toml", "gone.toml: cannot be read"),
        ("rag_prompts = en: bad.toml", "bad.toml: user: the placeholder {question} is missing"),
        ("rag_prompts = bad.toml", "rag_prompts has the line 'bad.toml'; write 'language: text'"),
        ("rag_rejection_sentence = Beats me.", "rag_rejection_sentence has the line 'Beats me.'"),
        ("rag_error_sentence =\n    en: One.\n    en: Two.", "rag_error_sentence gives two texts for 'en'; give one"),
    ],
)
def test_invalid_prompts_and_sentences_are_refused_with_one_sentence(project: Project, ini: str, problem: str) -> None:
    project.file("bad.toml", 'user = "only {passages}"')
    judged(project, [case("q1", passages=PASSAGES)], TEST.replace("{arguments}", 'metrics=["accuracy"]'))
    project.file("pytest.ini", f"[pytest]\n{ini}\n")
    if "toml:" not in problem:
        assert problem in refused(project)
        return
    conftest(project, "import pytest\nfrom pytest_rageval.testing import ScriptedLLM\n", LLM)
    run = project.run()
    assert run.status != 0
    assert problem in run.text + run.result.stderr.str()


LLM = """
    @pytest.fixture(scope="session")
    def rag_llm():
        return ScriptedLLM("Paris")
"""


def test_the_model_receives_the_history_as_turns(project: Project) -> None:
    history = [
        {"question": "Where is the tower?", "answer": "In Paris."},
        {"question": "And the castle?", "answer": ""},
    ]
    row = case("q1", "When does it open?", passages=PASSAGES, history=history)
    arms = 'metrics=["accuracy", "closed_book_accuracy"]'
    requests = _ask(project, "", arms, row)
    assert len(requests) == 2
    for request in requests:
        turns = [(message["role"], message["content"]) for message in request["messages"][1:-1]]
        assert turns == [
            ("user", "Where is the tower?"), ("assistant", "In Paris."), ("user", "And the castle?"),
        ]  # fmt: skip
        assert request["messages"][-1]["role"] == "user"
        assert "When does it open?" in request["messages"][-1]["content"]
        assert "Where is the tower?" not in request["messages"][-1]["content"]
