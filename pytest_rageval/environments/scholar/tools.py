"""The seven tools of the environment ``scholar``: persons and publications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_rageval.environments.scholar.records import Person, Scholars
from pytest_rageval.environments.scholar.search import SearchedField
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool, ToolResult

__all__ = ["ScholarTools"]

MAX_ITEMS = 10
"""Largest number of search results, of interests in a result, and of a person's publications."""

Json = dict[str, Any]


class ScholarTools:
    """The tools. They have no state: earlier calls do not change the result of a call.

    Args:
        scholars: all records.
    """

    def __init__(self, scholars: Scholars) -> None:
        self._persons = scholars.persons
        self._publications = scholars.publications
        self._by_rank = tuple(scholars.persons.values())
        self._works_by_rank = tuple(scholars.publications.values())
        self._fields = {
            "name": SearchedField((each.name,) for each in self._by_rank),
            "organization": SearchedField(_text(each.values.get("organization")) for each in self._by_rank),
            "interest": SearchedField(each.interests for each in self._by_rank),
        }
        self._titles = SearchedField((each.title,) for each in self._works_by_rank)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools; search tools come first."""
        name, organization, interest = "The person's name.", "Where the person works.", "A research interest."
        return (
            _tool(
                "searchPerson",
                "Find persons by name, organization and research interest; give one at least. Returns up to 10, the "
                "most cited first.",
                {"name": name, "organization": organization, "interest": interest},
                self.search_person,
                required=(),
            ),
            _tool(
                "searchPublication",
                "Find publications by words of the title. Returns up to 10: those with exactly this title, then the "
                "most cited.",
                {"publication_info": "The title, or words of it."},
                self.search_publication,
            ),
            _of_person("getCoauthors", "List the coauthors of a person, with the relation.", self.coauthors),
            _of_person("getPersonInterest", "List the research interests of a person.", self.interests),
            _of_person(
                "getPersonBasicInfo",
                "Show the name, gender, organization, position, biography, education and e-mail of a person.",
                self.basic_info,
            ),
            _of_person("getPersonPubs", "List the 10 most cited publications of a person.", self.person_pubs),
            _tool(
                "getPublication",
                "Show the title, abstract, authors, number of citations, year and venue of a publication.",
                {"pub_id": "The id of the publication, as searchPublication and getPersonPubs return it."},
                self.publication,
            ),
        )

    def search_person(self, name: str = "", organization: str = "", interest: str = "") -> ToolResult:
        """Return the persons that match every field that is not blank."""
        queries = {"name": name, "organization": organization, "interest": interest}
        conditions = {field: query for field, query in queries.items() if query.strip()}
        if not conditions:
            raise InvalidArgumentsError("searchPerson needs name, organization or interest.")
        matches = set.intersection(*(self._fields[field].matching(query) for field, query in conditions.items()))
        return _search_result(_person_row(self._by_rank[at]) for at in sorted(matches)[:MAX_ITEMS])

    def search_publication(self, publication_info: str) -> ToolResult:
        """Return the publications whose title matches, an equal title first."""
        if not publication_info.strip():
            raise InvalidArgumentsError("searchPublication needs the title of a publication.")
        equal, matches = self._titles.equal(publication_info), self._titles.matching(publication_info)
        works = [self._works_by_rank[at] for at in sorted(matches, key=lambda at: (at not in equal, at))[:MAX_ITEMS]]
        return _search_result(_picked(each.values, "pub_id", "title", "year") for each in works)

    def coauthors(self, person_id: str) -> list[Json]:
        """Return the coauthors of a person in the order of the record."""
        return [
            {"person_id": each.person_id, "name": self._persons[each.person_id].name, "relation": each.relation}
            for each in self._person(person_id).coauthors
        ]

    def interests(self, person_id: str) -> list[str]:
        """Return all interests of a person."""
        return list(self._person(person_id).interests)

    def basic_info(self, person_id: str) -> Json:
        """Return the personal data in a person's record, including unknown keys."""
        person = self._person(person_id)
        shown = ("person_id", "name", "gender", "organization", "position", "bio", "education_experience", "email")
        return {**_picked(person.values, *shown), **person.more}

    def person_pubs(self, person_id: str) -> list[Json]:
        """Return the most cited publications of a person; ties are ordered by id."""
        works = [self._publications[each] for each in dict.fromkeys(self._person(person_id).publications)]
        ranked = sorted(works, key=lambda each: (-each.citations, each.id))
        return [
            {**_picked(each.values, "pub_id", "title", "num_citation", "year"), "authors_name_list": list(each.authors)}
            for each in ranked[:MAX_ITEMS]
        ]

    def publication(self, pub_id: str) -> Json:
        """Return a publication's record, including unknown keys."""
        work = self._publications.get(pub_id.strip())
        if work is None:
            raise LookupError(f"no publication with the id {pub_id}")
        shown = ("pub_id", "title", "abstract", "authors", "num_citation", "year", "venue")
        return {**_picked(work.values, *shown), **work.more}

    def _person(self, person_id: str) -> Person:
        person = self._persons.get(person_id.strip())
        if person is None:
            raise LookupError(f"no person with the id {person_id}")
        return person


def _tool(
    name: str,
    description: str,
    parameters: Mapping[str, str],
    call: Callable[..., Any],
    required: Sequence[str] | None = None,
) -> Tool:
    """Return a tool with text parameters; all are required unless ``required`` lists the required ones."""
    properties = {each: {"type": "string", "description": text} for each, text in parameters.items()}
    needed = list(properties if required is None else required)
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return Tool(name, description, schema, call)


def _of_person(name: str, description: str, call: Callable[..., Any]) -> Tool:
    about = {"person_id": "The id of the person, as searchPerson and getCoauthors return it."}
    return _tool(name, description, about, call)


def _search_result(rows: Iterable[Json]) -> ToolResult:
    result = list(rows)
    return ToolResult(result, found=bool(result))


def _person_row(person: Person) -> Json:
    values = _picked(person.values, "person_id", "name", "organization")
    return {
        **values, "interests": list(person.interests[:MAX_ITEMS]), **_picked(person.values, "num_citation", "num_pubs"),
    }  # fmt: skip


def _picked(values: Mapping[str, Any], *names: str) -> Json:
    """Return some keys of a record in the order of ``names``; a missing key is None."""
    return {name: values.get(name) for name in names}


def _text(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else ()
