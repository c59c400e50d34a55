"""Prompts of the systems `llm` and `closed_book`: built-in texts and the user's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.systems.prompting import closed_book_messages, load_prompts, messages_for

BUILTIN = load_prompts()
PASSAGES = (Passage("p0", "Rome.", "Italy"), Passage("p1", "Lima."))


def write_prompts(folder: Path, text: str) -> Path:
    path = folder / "prompts.toml"
    path.write_text(text, encoding="utf-8")
    return path


def content_of(query: Query) -> str:
    return "\n".join(message["content"] for message in messages_for(query, BUILTIN))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_task_contains_the_protocol_s_sentences(language: str) -> None:
    system = messages_for(Query("q?", PASSAGES, language=language), BUILTIN)[0]
    assert system["role"] == "system"
    assert REJECTION_SENTENCE[language] in system["content"]
    assert ERROR_SENTENCE[language] in system["content"]


def test_the_prompt_has_the_task_instructions_passages_and_question_in_this_order() -> None:
    system, user = messages_for(Query("Which city?", PASSAGES, instructions="Be brief."), BUILTIN)
    assert user == {
        "role": "user",
        "content": "Be brief.\n\nDocuments:\n\n[1] Italy\nRome.\n\n[2] Lima.\n\nQuestion: Which city?",
    }
    assert messages_for(Query("Which city?", PASSAGES), BUILTIN)[0] == system
    assert messages_for(Query("Which city?", PASSAGES), BUILTIN)[1]["content"].endswith("Question: Which city?")


def test_without_passages_the_prompt_has_none() -> None:
    assert messages_for(Query("q?", ()), BUILTIN)[1]["content"] == "Documents:\n\nQuestion: q?"
    assert messages_for(Query("q?"), BUILTIN) == messages_for(Query("q?", ()), BUILTIN)


def test_earlier_turns_become_messages() -> None:
    history = (Turn("Where?", "There."), Turn("When?", ""))
    for messages in (
        messages_for(Query("Who?", PASSAGES, history), BUILTIN),
        closed_book_messages(Query("Who?", None, history), BUILTIN),
    ):
        turns = [(message["role"], message["content"]) for message in messages[1:-1]]
        assert turns == [("user", "Where?"), ("assistant", "There."), ("user", "When?")]
        assert messages[-1]["content"].endswith("Question: Who?")


def test_braces_in_the_data_are_data() -> None:
    braces = "{question} {passages} {rejection} {0} {} {{title}} %s $x"
    query = Query(braces, (Passage("p", braces, braces),), (Turn(braces, braces),), "en", braces)
    messages = messages_for(query, BUILTIN)
    assert [message["content"] for message in messages[1:3]] == [braces, braces]
    assert messages[-1]["content"] == f"{braces}\n\nDocuments:\n\n[1] {braces}\n{braces}\n\nQuestion: {braces}"


def test_a_language_without_prompts_is_asked_in_english() -> None:
    assert content_of(Query("q?", PASSAGES, language="fr")) == content_of(Query("q?", PASSAGES))
    assert "文档" in content_of(Query("q?", PASSAGES, language="zh"))


def test_a_user_s_file_replaces_the_keys_it_has(tmp_path: Path) -> None:
    path = write_prompts(tmp_path, '\ufeffuser = "{question}|{passages}"\npassage = "<{text}>"')
    prompts = load_prompts({"en": path})
    system, user = messages_for(Query("q?", PASSAGES), prompts)
    assert user["content"] == "q?|<Rome.>\n\n<Lima.>"
    assert system == messages_for(Query("q?", PASSAGES), BUILTIN)[0]
    assert messages_for(Query("q?", PASSAGES, language="zh"), prompts) == messages_for(
        Query("q?", PASSAGES, language="zh"), BUILTIN
    )


def test_a_new_language_uses_english_for_missing_keys(tmp_path: Path) -> None:
    path = write_prompts(tmp_path, 'user = "Documents : {passages} Question : {question}"\nsystem = ""')
    prompts = load_prompts({"fr": path}, {"fr": "Je ne sais pas."})
    (user,) = messages_for(Query("q ?", (), language="fr"), prompts)  # an empty system text is no message
    assert user["content"] == "Documents : Question : q ?"
    assert "what you know" in closed_book_messages(Query("q ?", language="fr"), prompts)[0]["content"]


def test_the_user_may_replace_the_rejection_and_error_sentences(tmp_path: Path) -> None:
    prompts = load_prompts(rejection={"en": "No idea. {error}"}, error={"zh": "不对！"})
    english = messages_for(Query("q?", PASSAGES), prompts)[0]["content"]
    assert "No idea. {error}" in english
    assert ERROR_SENTENCE["en"] in english
    chinese = messages_for(Query("q?", PASSAGES, language="zh"), prompts)[0]["content"]
    assert "不对！" in chinese
    assert REJECTION_SENTENCE["zh"] in chinese


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('users = "{question} {passages}"', "unknown key 'users'; did you mean 'user'?"),
        ('user = "{passages}"', r"user: the placeholder {question} is missing; put it where the question should be"),
        ('user = "{question}"', r"user: the placeholder {passages} is missing; put it where the documents should be"),
        (
            'passage = "{title}"',
            r"passage: the placeholder {text} is missing; put it where the text of a document should be",
        ),
        ('closed_book_user = "Well?"', r"closed_book_user: the placeholder {question} is missing"),
        ("system = 3", "system: found 3, wanted a string"),
        ('[system]\nen = "x"', "system: found {'en': 'x'}, wanted a string"),
        ('user = "x" y', "is not valid TOML: .*line 1, column 12.*; correct the file"),
    ],
)
def test_an_invalid_file_is_reported_with_its_key(tmp_path: Path, text: str, problem: str) -> None:
    path = write_prompts(tmp_path, text)
    with pytest.raises(SettingError, match=f"^prompts .*prompts.toml: {problem}"):
        load_prompts({"en": path})


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"^prompts .*missing.toml: cannot be read: No such file"):
        load_prompts({"en": tmp_path / "missing.toml"})
    path = tmp_path / "latin.toml"
    path.write_bytes('system = "é"'.encode("latin-1"))
    with pytest.raises(SettingError, match=r"^prompts .*latin.toml: is not UTF-8; save it as UTF-8$"):
        load_prompts({"en": path})
