"""The fixture ``rag`` in the body of a test: case, answer, scores and checks."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from support.projects.rag_project import RIGHT, WRONG, Project, cases

HEAD = """
import pytest
from pytest_rageval import rag_case
from pytest_rageval.errors import UnscoredError

@rag_case("jsonl:cases.jsonl", metrics=["accuracy", "over_rejection_rate"])
def test_it(rag):
"""


def _test(body: str) -> str:
    return HEAD + indent(dedent(body).strip(), "    ")


def _run(project: Project, body: str, *args: str, question: str = RIGHT) -> pytest.RunResult:
    project.says(cases(question), test=_test(body))
    return project.run(*args).result


@pytest.mark.parametrize(
    "body",
    [
        "assert rag.case.id == 'q1' and rag.case.instance.gold == (('Paris',),)",
        "assert rag.case.facets['system'] == 'rag_system' and rag.case.facets['dataset'] == 'cases'",
        "assert rag.answer.text == 'Paris' and rag.answer.usage.latency_s > 0",
        "assert rag['accuracy'] == 1.0 and rag.scores['accuracy'].value == 1.0",
        "assert list(rag.scores) == ['accuracy', 'over_rejection_rate']",
        "rag.check('accuracy >= 1')",
        "rag.check('accuracy > 99%')",
        "assert rag['token_f1'] == 1.0  # not in metrics, computed when it is read",
    ],
)
def test_the_body_of_a_test_can_read_case_answer_and_scores(project: Project, body: str) -> None:
    _run(project, body).assert_outcomes(passed=1)


def test_reading_a_score_without_a_value_raises_the_reason(project: Project) -> None:
    body = """
        with pytest.raises(UnscoredError, match="over_rejection_rate.*q1.*not_applicable"):
            rag["over_rejection_rate"]
        with pytest.raises(LookupError):
            rag["over_rejection_rate"]
        assert rag.scores["over_rejection_rate"].value is None
    """
    _run(project, body).assert_outcomes(passed=1)


def test_scores_cannot_be_changed(project: Project) -> None:
    _run(project, "rag.scores['accuracy'] = 1").assert_outcomes(failed=1)


def test_a_failing_check_shows_what_matched_and_what_did_not(project: Project) -> None:
    row = {"id": "q1", "question": "say Lyon and Metz", "slots": [["Lyon"], ["Nancy", "Nanzig"]]}
    project.says([row], test=_test("rag.check('accuracy >= 0.5')"))
    run = project.run()
    assert run.status == 1
    run.said("*check accuracy >= 0.5 failed: accuracy is 0*", "*question*say Lyon and Metz*", "*answer*Lyon and Metz*")
    run.said("*+ slot 1*Lyon: matched*Lyon*", "*- slot 2*Nancy | Nanzig: not found*")
    assert "result.py" not in run.text  # frames of this package are hidden
    assert run.statuses == {"q1": "scored"}  # the check fails the test; the case stays scored
    assert run.outcomes["q1"]["scores"]["accuracy"] == {"value": 0.0}


def test_a_check_stores_the_score_of_a_metric_outside_metrics(project: Project) -> None:
    project.says(cases(RIGHT), test=_test("rag.check('exact_match >= 1')"))
    run = project.run()
    assert run.status == 0
    assert run.outcomes["q1"]["scores"]["exact_match"] == {"value": 1.0}


def test_a_check_of_an_unscored_metric_fails(project: Project) -> None:
    result = _run(project, "rag.check('over_rejection_rate <= 1')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unscored (not_applicable*"])


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("accuracy", "*rag.check: gate 'accuracy' has no valid operator and bound*"),
        ("acuracy >= 1", "*rag.check*unknown metric 'acuracy'; did you mean 'accuracy'*"),
        ("accuracy >= 7", "*rag.check*0..1*"),
        ("accuracy[topic=x] >= 0.5", "*rag.check*is not a bound on one case*"),
        ("n >= 1", "*rag.check*is not a bound on one case*"),
        ("accuracy >= baseline", "*rag.check*is not a bound on one case*"),
    ],
)
def test_a_malformed_check_fails_the_test_with_its_reason(project: Project, check: str, message: str) -> None:
    result = _run(project, f"rag.check({check!r})")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])


def test_a_failing_assertion_fails_the_test_and_leaves_the_case_scored(project: Project) -> None:
    body = "assert rag.answer.text == 'Paris'"
    project.says(cases(RIGHT, WRONG), test=_test(body))
    run = project.run()
    run.result.assert_outcomes(passed=1, failed=1)
    assert run.statuses == {"q1": "scored", "q2": "scored"}
    run.said("*AssertionError*Rome*")


def test_the_fixture_rag_without_a_case_is_reported(project: Project) -> None:
    project.file("test_plain.py", "def test_plain(rag):\n    pass\n")
    result = project.run().result
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*rag fixture belongs to a test with @rag_case*"])
