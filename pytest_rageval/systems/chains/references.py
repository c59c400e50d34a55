"""Check the references in a chain's actions: variables, earlier actions, their fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.errors import DataError, UnknownNameError
from pytest_rageval.systems.chains.chain import Action, Expression, Retrieve, Source, sources_of
from pytest_rageval.systems.chains.expressions import LISTS, free_names
from pytest_rageval.systems.chains.template import Template, Variable

__all__ = ["FIELDS", "LISTED", "OUTPUTS", "PASSAGE", "VARIABLES", "Place", "check_passage", "check_references"]

VARIABLES = ("question", "language", "instructions", "history")
"""The variables of the case. No action may have such a name."""
PASSAGE = ("id", "title", "text", "number")
"""The variables of a template for one passage."""
LISTED = ("ids", "titles", "texts", "titles_and_ids")
"""The fields of a retrieve action; each has one text for each passage."""
FIELDS = ("prompt", *LISTED)
"""The fields of an action in a template."""
OUTPUTS = "outputs"
"""A name in expressions: all fields of the earlier actions, as name -> field -> value."""


class Place:
    """The lines of an action in its file, to locate a fault.

    Args:
        file_name: the name of the file in messages.
        lines: the lines of the file.
        start: the index of the action's first line.
        end: the index after its last line.
    """

    def __init__(self, file_name: str, lines: Sequence[str], start: int, end: int) -> None:
        self._file_name = file_name
        self._lines = lines
        self._start = start
        self._end = end

    def of(self, fragment: str) -> str:
        """Return ``file:line`` of a fragment of the action; of the action itself if the fragment is not found."""
        plain = fragment.split("\n")[0].split('"')[0].split("\\")[0]
        for at in range(self._start, self._end):
            if plain and plain in self._lines[at]:
                return f"{self._file_name}:{at + 1}"
        return f"{self._file_name}:{self._start + 1}"


def check_references(sources: Sequence[Source], at: int, actions: Sequence[Action], place: Place) -> None:
    """Check all references of an action or of the answer.

    Args:
        sources: its templates and expressions.
        at: the index of the action in the chain; the number of actions for the answer.
        actions: all actions.
        place: the lines of the action.

    Raises:
        DataError: it refers to a later action, to itself, or to a field that an action does not have.
        UnknownNameError: it refers to an unknown variable or field.
    """
    earlier = {action.name: action for action in actions[:at]}
    later = [action.name for action in actions[at:]]
    for name, fragment, variable in _references(sources):
        where = place.of(fragment)
        if name in later:
            raise DataError(where, _order_problem(name, at, actions))
        values = VARIABLES if variable is not None else (*VARIABLES, *LISTS, OUTPUTS)
        if name not in earlier and name not in values:
            raise UnknownNameError("variable", name, (*values, *earlier), where)
        if variable is not None:
            _check_field(variable, earlier.get(name), where)


def check_passage(template: Template, place: Place) -> None:
    """Check the template of one passage; raise `RagEvalError`."""
    for variable in template.variables:
        where = place.of(variable.source)
        if variable.name not in PASSAGE:
            raise UnknownNameError("variable of a passage", variable.name, PASSAGE, where)
        _check_field(variable, None, where)


def _references(sources: Sequence[Source]) -> Iterator[tuple[str, str, Variable | None]]:
    """Yield each referenced name, its text in the source, and its variable if it is in a template."""
    for source in sources:
        if isinstance(source, Expression):
            yield from ((name, name, None) for name in free_names(source.code))
        else:
            yield from ((variable.name, variable.source, variable) for variable in source.variables)


def _check_field(variable: Variable, action: Action | None, where: str) -> None:
    field, name = variable.field, variable.name
    if action is None and (field or variable.index is not None):
        raise DataError(where, f"{{{variable.path}}}: {name} is one text; write {{{name}}}")
    if field and field not in FIELDS:
        raise UnknownNameError(f"field of {name}", field, FIELDS, where)
    if field in LISTED and not isinstance(action, Retrieve):
        do = "" if action is None else action.do
        raise DataError(where, f"{{{variable.path}}}: only a retrieve has {field}, and {name} is a {do}")
    if variable.index is not None and field not in LISTED:
        raise DataError(where, f"{{{variable.path}}}: only {', '.join(LISTED)} have an index; remove it")


def _order_problem(name: str, at: int, actions: Sequence[Action]) -> str:
    """Return the problem with a reference to the action itself or to a later action."""
    current = actions[at].name
    if name == current:
        return f"the action {current} uses its own output, which is a loop; it may use only the actions before it"
    loop = _path(name, current, {action.name: action for action in actions})
    if loop:
        loop_text = " -> ".join([current, *loop])
        return f"the actions use each other in a loop: {loop_text}; an action may use only those before it"
    return f"the action {current} uses {name}, which comes later; move {name} before it"


def _path(name: str, goal: str, actions: dict[str, Action]) -> list[str]:
    """Return a path of references from an action to ``goal``; [] if there is none."""
    paths = [[name]]
    visited = {name}
    while paths:
        path = paths.pop(0)
        for reference, _, _ in _references(sources_of(actions[path[-1]])):
            if reference == goal:
                return [*path, goal]
            if reference in actions and reference not in visited:
                visited.add(reference)
                paths.append([*path, reference])
    return []
