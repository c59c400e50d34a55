"""The page of `rageval review`, requested over HTTP."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import httpx
import pytest
from support.projects.review_project import ReviewProject, grade, of_task
from support.servers.page_process import REVIEW, PageProcess, start_page

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.presentation import seen_sha


@pytest.fixture(name="page")
def served_page(generated: ReviewProject) -> Iterator[PageProcess]:
    with PageProcess(generated.folder / "cases", "--reviewer", "Ann", program=REVIEW) as page:
        yield page


def decide(page: PageProcess, draft: Draft, grade: object, **fields: object) -> httpx.Response:
    form = {"id": draft.id, "seen": seen_sha(draft), "grade": str(grade), **fields}
    return page.client.post("/decide", data=form)


def correction_form(draft: Draft, question: str, action: str) -> dict[str, object]:
    return {
        "id": draft.id, "seen": seen_sha(draft), "question": question, "alias-0": [*draft.gold[0], ""], "alias-1": [""],
        "evidence": [*draft.evidence, ""], "tick": ["task"], "action": action,
    }  # fmt: skip


def test_the_page_stores_decisions_and_corrections_and_undoes_them(generated: ReviewProject, page: PageProcess) -> None:
    first, second, *_ = generated.session().folder.sample
    assert page.client.get("/").headers["location"] == f"/case?id={first.id}"
    html = page.client.get("/case", params={"id": first.id}).text
    for text in (first.question, first.gold[0][0], first.sources[0].text, "template", "evidence_not_verbatim"):
        assert text in html
    assert decide(page, first, 4, tick=["task", "answer"]).headers["location"] == f"/?after={first.id}"
    assert page.client.get(f"/?after={first.id}").headers["location"] == f"/case?id={second.id}"
    assert decide(page, first, 4, tick=["task", "answer"]).status_code == 303  # a second click
    assert len(generated.decisions.read_bytes().splitlines()) == 1
    assert generated.session().decisions.standing[first.id]["Ann"].ticks == ("task", "answer")
    assert page.client.post("/undo", data={}).headers["location"] == f"/case?id={first.id}"
    assert generated.session().decisions.standing == {}
    assert page.client.post("/undo", data={}).headers["location"] == "/"
    assert "There is nothing to undo." in page.client.get("/progress").text

    draft = of_task(generated.session(), "extractive_qa")[0]
    question = draft.question.replace("Where does", "In what city does")
    html_after_check = page.client.post("/correct", data=correction_form(draft, question, "check")).text
    assert "The correction passes all checks." in html_after_check
    assert '<del><bdi class="data">Where</bdi></del><ins><bdi class="data">In what city</bdi></ins>' in html_after_check
    refusal = page.client.post("/correct", data=correction_form(draft, f"Is it {draft.gold[0][0]}?", "save"))
    assert "The correction fails a check: answer_in_question" in refusal.text
    assert generated.session().decisions.standing == {}
    assert page.client.post("/correct", data=correction_form(draft, question, "save")).status_code == 303
    edit = generated.session().decisions.standing[draft.id]["Ann"].edit
    assert edit is not None
    assert (edit.question, edit.gold, edit.evidence) == (question, draft.gold, draft.evidence)
    assert question in page.client.get("/edit", params={"id": draft.id}).text


def test_a_decision_on_a_case_that_changed_on_disk_is_refused(generated: ReviewProject, page: PageProcess) -> None:
    draft = of_task(generated.session(), "extractive_qa")[0]
    staff = generated.folder / "staff.csv"
    staff.write_text(staff.read_text(encoding="utf-8").replace(draft.gold[0][0], "Alta"), encoding="utf-8")
    generated.generate()
    refusal = decide(page, draft, 5)
    assert refusal.status_code == 409
    assert "the case changed since it was shown; nothing was stored" in refusal.text
    assert "The drafts changed on disk; they were read anew." in refusal.text
    assert "The drafts changed on disk" not in page.client.get("/progress").text
    assert page.client.post("/correct", data=correction_form(draft, "Who?", "save")).status_code == 409
    assert not generated.decisions.exists()
    grade(generated.session(), of_task(generated.session(), "extractive_qa")[0], 4)
    assert "Ann: 1 of 8 cases decided" in page.client.get("/progress").text.replace('<bdi class="data">', "").replace(
        "</bdi>", ""
    )
    with generated.decisions.open("a", encoding="utf-8") as stream:
        stream.write("{}\n")
    answer = page.client.get("/progress")
    assert answer.status_code == 400
    assert "cases/decisions.jsonl:2: draft: found nothing" in answer.text


def test_a_malformed_request_gets_a_message(page: PageProcess) -> None:
    unknown = {"id": "x", "seen": "s"}
    for path, form, sentence in (
        ("/decide", {**unknown, "grade": "9"}, "grade: found &#39;9&#39;, wanted 1, 2, 3, 4 or 5"),
        ("/decide", {**unknown, "grade": "4"}, "&#39;x&#39; is not a case of the sample"),
        ("/correct", {"action": "save"}, "&#39;&#39; is not a case of the sample"),
    ):
        answer = page.client.post(path, data=form)
        assert answer.status_code == 400
        assert sentence in answer.text
    assert page.client.get("/case", params={"id": "x"}).status_code == 400


def test_decisions_survive_a_kill_of_the_server(generated: ReviewProject) -> None:
    sample = generated.session().folder.sample
    with PageProcess(generated.folder / "cases", "--reviewer", "Ann", program=REVIEW) as page:
        for draft in sample[:3]:
            assert decide(page, draft, 4).status_code == 303
        page.end(signal.SIGKILL)
    with PageProcess(generated.folder / "cases", "--reviewer", "Ann", program=REVIEW) as page:
        assert page.client.get("/").headers["location"] == f"/case?id={sample[3].id}"


def test_each_person_has_one_page(generated: ReviewProject, page: PageProcess) -> None:
    first, second, *_ = generated.session().folder.sample
    with PageProcess(generated.folder / "cases", "--reviewer", "Bo", program=REVIEW) as other:
        assert other.port != page.port
        assert decide(page, first, 4).status_code == 303
        assert other.client.get("/").headers["location"] == f"/case?id={second.id}"
        assert decide(other, second, 2).status_code == 303
    same = start_page(generated.folder / "cases", "--reviewer", "Ann", program=REVIEW)
    output, _ = same.communicate(timeout=30)
    assert page.url in output
    by_draft = generated.session().decisions.standing
    people = {draft_id: list(by_person) for draft_id, by_person in by_draft.items()}
    assert people == {first.id: ["Ann"], second.id: ["Bo"]}


def test_ctrl_c_ends_the_page_and_prints_the_state(generated: ReviewProject, page: PageProcess) -> None:
    for draft in generated.session().folder.sample:
        decide(page, draft, 5)
    page.client.close()
    page.process.send_signal(signal.SIGINT)
    output, errors = page.process.communicate(timeout=20)
    assert (page.process.returncode, errors) == (0, "")
    assert output.splitlines() == [
        "Ann: 8 of 8 cases of the sample decided",
        "accepted by people: 100.0 % [67.6, 100.0] of 8 (0 to mend, 0 dropped)",
        "  topic=staff, task=conversational_qa: 100.0 % [51.0, 100.0] of 4",
        "  topic=staff, task=extractive_qa: 100.0 % [51.0, 100.0] of 4",
        "next: rageval generate PLAN.toml --out cases --finish",
    ]
