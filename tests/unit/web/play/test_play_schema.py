"""`api.schema.json` of `rageval play`: what the server sends and takes fits it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from support.projects.play_project import PlayPage

SCHEMA = json.loads(files("pytest_rageval.web.play").joinpath("api.schema.json").read_text(encoding="utf-8"))


def fits(value: Any, name: str) -> None:
    jsonschema.validate(value, {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def test_state_events_and_errors_fit_the_schema(play: PlayPage) -> None:
    fits(play.client.get("/api/state").json(), "state")
    asked: tuple[dict[str, Any], ...] = ({"case": "museum"}, {"question": "When?", "system": "steps"})
    for body in (*asked, {"question": "When?", "system": "failing"}):
        fits(body, "ask")
        for _, data in play.ask(**body):
            fits(data, "event")
    for path, body in (("ask", {}), ("search", {}), ("save", {}), ("action", {})):
        fits(play.client.post(f"/api/{path}", json=body).json(), "error")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("ask", {"question": "a", "passages": [{"text": "b"}], "history": [{"question": "c", "answer": ""}]}),
        ("search", {"query": "museum", "k": 2}),
        ("shrink", {"case": "boats"}),
        ("save", {"kind": "record", "record": {"question": "a", "answers": ["b"]}, "file": "x.jsonl", "preview": True}),
    ],
)
def test_bodies_that_fit_are_taken(play: PlayPage, name: str, body: dict[str, Any]) -> None:
    fits(body, name)
    assert play.client.post(f"/api/{name}", json=body, timeout=60).status_code == 200


@pytest.mark.parametrize(("name", "body"), [("ask", {}), ("ask", {"question": "a", "gold": 1}), ("search", {"k": 0})])
def test_bodies_that_do_not_fit_are_refused(play: PlayPage, name: str, body: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        fits(body, name)
    assert play.client.post(f"/api/{name}", json=body).status_code == 400
