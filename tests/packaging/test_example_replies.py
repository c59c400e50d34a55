"""The recorded judge replies of example_project equal those of the stand-in server."""

from __future__ import annotations

import json

from support.servers.example_judge import EXAMPLE, reply

RECORDED = [json.loads(line) for file in EXAMPLE.glob("cassettes/*") for line in file.read_bytes().splitlines()]


def test_the_recorded_replies_equal_those_of_the_stand_in() -> None:
    assert len(RECORDED) > 100
    assert [each["key"] for each in RECORDED if each["response"]["text"] != reply(each)] == []


def test_the_stand_in_uses_every_label_of_its_judges() -> None:
    labels = {json.loads(each["response"]["text"])["label"] for each in RECORDED}
    assert labels == {"wrong", "partly_right", "right", "none", "some", "all"}
