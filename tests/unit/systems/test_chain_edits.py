"""Edits of a chain file change only the edited values."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import DataError, UnknownNameError
from pytest_rageval.systems.chains.chain_edits import ChainEdit, edit_chain
from pytest_rageval.toml_files import parse_toml

CHAIN = '''# ours
[[action]]
name = "query"   # first
do = "generate"
prompt = """
Rewrite [[action]] as "do = x".

{question}
"""  # a comment
max_tokens = 40

[[action]]
name = 'found'
do = "retrieve"
query = '{query|line(1)}'
"k" = 5 # five

[[action]]
name = "reply"
do = "generate"
[[action.message]]
role = "system"
content = "Be short."
[[action.message]]
role = "user"
content = "{found} {question}"

[output]
answer = "{reply|strip}"
'''


def apply_edits(*edits: ChainEdit, text: str = CHAIN) -> str:
    return edit_chain(text.encode(), edits, "c.toml").decode()


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (ChainEdit("found", "k", 3), '"k" = 5 # five', '"k" = 3 # five'),
        (ChainEdit("found", "query", "{question}"), "'{query|line(1)}'", '"{question}"'),
        (ChainEdit("found", "query", 'a"b\\c'), "'{query|line(1)}'", '"a\\"b\\\\c"'),
        (
            ChainEdit("query", "model", "openai/x"),
            'do = "generate"\nprompt',
            'do = "generate"\nmodel = "openai/x"\nprompt',
        ),
        (ChainEdit("reply", "content", "No.", 0), '"Be short."', '"No."'),
        (ChainEdit("reply", "content", "{found}", 1), '"{found} {question}"', '"{found}"'),
    ],
)
def test_only_the_value_changes(edit: ChainEdit, old: str, new: str) -> None:
    assert apply_edits(edit) == CHAIN.replace(old, new, 1)
    assert apply_edits(edit, text=CHAIN.replace("\n", "\r\n")) == CHAIN.replace(old, new, 1).replace("\n", "\r\n")


def test_a_new_multiline_prompt_keeps_the_rest_of_the_file() -> None:
    text = apply_edits(ChainEdit("query", "prompt", 'Ask:\n"""{question}"""\\ end\n'))
    assert parse_toml(text.encode(), "c.toml")[1]["action"][0]["prompt"] == 'Ask:\n"""{question}"""\\ end\n'
    assert text.endswith(CHAIN[CHAIN.index("  # a comment") :])
    assert text.startswith('# ours\n[[action]]\nname = "query"   # first\n')


def test_the_same_value_changes_no_byte() -> None:
    assert apply_edits(ChainEdit("found", "k", 5), ChainEdit("found", "query", "{query|line(1)}")) == CHAIN


def test_an_edit_that_fits_nothing_in_the_file_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="unknown action 'fund'"):
        apply_edits(ChainEdit("fund", "k", 1))
    with pytest.raises(UnknownNameError, match="unknown key 'kk'"):
        apply_edits(ChainEdit("found", "kk", 1))
    with pytest.raises(DataError, match="has no message 2"):
        apply_edits(ChainEdit("reply", "content", "x", 2))
    inline = 'action = [{name = "a", do = "template", text = "b"}]\n'
    with pytest.raises(DataError, match="cannot be changed by position; change it in the file by hand"):
        apply_edits(ChainEdit("a", "text", "c"), text=inline)
    hidden = CHAIN.replace("Rewrite [[action]]", "\n[[action]]\n")
    with pytest.raises(DataError, match="by hand"):
        apply_edits(ChainEdit("found", "k", 1), text=hidden)
