"""Translate RaLLe's ``str.format`` templates to chain templates."""

from __future__ import annotations

import re
from string import Formatter

from pytest_rageval.errors import SettingError, did_you_mean, short_repr

__all__ = ["VARIABLES", "chain_template"]

VARIABLES = {"prompt": "{{a{}.prompt}}", "response": "{{a{}}}", "wiki_id_title": "{{a{}.titles_and_ids}}"}
"""RaLLe's list, with an item per earlier action -> the same variable in a chain."""

_FIELD = re.compile(r"(\w+)\[([0-9]{1,9})\]")


def chain_template(template: str, action: int) -> str:
    """Translate a template to a chain's variables: ``{response[0]}`` becomes ``{a0}``.

    Args:
        template: a template of the kind ``f-strings``, which RaLLe fills with ``str.format``.
        action: the number of the action, from 0; its template may use only earlier actions.

    Raises:
        SettingError: ``str.format`` cannot parse the template, or a field is not a plain variable.
    """
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise SettingError(f"{error}; write {{{{ and }}}} for braces") from None
    return "".join(_escape(text) + _variable(name, spec, form, action) for text, name, spec, form in parts)


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _variable(name: str | None, spec: str | None, form: str | None, action: int) -> str:
    """Return the chain variable for a field; "" if the part is only text."""
    if name is None:
        return ""
    shown = short_repr(f"{{{name}{f'!{form}' if form else ''}{f':{spec}' if spec else ''}}}")
    if spec or form:
        raise SettingError(f"{shown} formats a variable; leave out what follows its name")
    if name == "question":
        return "{question}"
    field = _FIELD.fullmatch(name)
    if field is None or field[1] not in VARIABLES:
        variables = ["question", *(f"{each}[0]" for each in VARIABLES)]
        raise SettingError(f"{shown} is not a variable; {did_you_mean(name, variables)} Write {{{{ and }}}} for braces")
    number = int(field[2])
    if number >= action:
        before = f"the actions before it are 0 to {action - 1}" if action else "no action is before it"
        raise SettingError(f"{shown} is the output of an action that has not run yet; {before}")
    return VARIABLES[field[1]].format(number)
