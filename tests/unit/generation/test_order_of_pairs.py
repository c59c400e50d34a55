"""A new row at the end of a table adds its pair after all others, even if the plan wants only some pairs."""

from __future__ import annotations

from support.projects.plan_project import PlanProject

TABLE = '[[table]]\npath = "sites.csv"\nname = "sites"\nkey = "name"\ntopic = "{area}"\n'
OLDER = """\
table = "sites"
task = "contrast_qa"
ask = "Which is older, {name} or {other.name}, and when was each opened?"
pick = "min(since)"
answer = "{name}"
n = 2
"""
SITES = "name,area,since\nPier,coast,1901\nTower,hill,1920\nCave,hill,1955\nMill,valley,1870\nDam,valley,1930\n"


def questions(project: PlanProject, sites: str) -> list[str]:
    project.write("sites.csv", sites)
    project.plan(OLDER, table=TABLE)
    project.run("--out", "out", "--force")
    return [draft["question"] for draft in project.lines("drafts.jsonl") if draft["state"] == "kept"]


def test_a_new_row_replaces_no_earlier_pair(project: PlanProject) -> None:
    before = questions(project, SITES)
    assert len(before) == 2
    after = questions(project, SITES + "Dock,coast,1950\n")
    assert after == before
    dropped = [draft for draft in project.lines("drafts.jsonl") if draft["reason"]]
    assert [(draft["question"].split(",")[1], draft["reason"]) for draft in dropped] == [(" Pier or Dock", "surplus")]
