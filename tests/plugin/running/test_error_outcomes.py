"""Errors of systems and metrics: reported once with their cause, never scored, never lost."""

from __future__ import annotations

import pytest
from support.projects.rag_project import RAISES, RIGHT, RUNS, WRONG, Mode, Project, case, cases

GATES = "gates=['accuracy >= 0.5', 'error_rate <= 0.25', 'n >= 1']"


def test_an_exception_in_the_system_is_an_error_with_its_cause(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, RAISES, WRONG, RIGHT), GATES)
    run = project.run("-v", *mode)
    outcome = run.outcomes["q2"]
    assert outcome["status"] == "error"
    assert outcome["error_type"] == "system_error"
    assert outcome["scores"] == {}
    assert outcome["answer"] is None
    sentence, *frames = outcome["error"].splitlines()
    assert sentence == "system 'rag_system' failed on case 'q2': ValueError: no such model"
    assert len(frames) == 1
    assert frames[0].endswith("conftest.py:6 in say: raise ValueError(rest)")
    run.result.assert_outcomes(passed=5, errors=1)  # with three gates; a missed case has its own count
    run.said("*ERROR at setup of test_it?q2?*", f"*{sentence}*", "*conftest.py:6 in say*")
    assert "pytest_rageval/" not in run.text
    # The error stays in the denominator of error_rate and out of every mean.
    assert (run.gates["accuracy >= 0.5"]["value"], run.gates["accuracy >= 0.5"]["n"]) == (pytest.approx(2 / 3), 3)
    assert (run.gates["error_rate <= 0.25"]["value"], run.gates["error_rate <= 0.25"]["n"]) == (0.25, 4)
    assert run.gates["n >= 1"]["value"] == 3
    assert run.gates["accuracy >= 0.5"]["n_errors"] == 1
    assert run.results["matrix"]["total"]["n_unscored"] == 1
    assert run.status == 1


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise RuntimeError", "RuntimeError"),
        ("raise ValueError('one\\ntwo \\x1b[31m')", "ValueError: one"),
        ("raise ValueError('x' * 5000)", "xxx… (5,000 characters)"),
        ("pytest.fail('no')", "Failed: no"),
        ("raise Odd()", "Odd: its message cannot be shown, as that raises TypeError"),
        ("raise Base('no')", "Base: no"),
    ],
)
@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_any_exception_is_a_system_error_with_its_cause(project: Project, keyword: str, body: str, cause: str) -> None:
    conftest = f"""
        import pytest

        class Odd(Exception):
            def __str__(self):
                return None

        class Base(BaseException):
            pass

        {keyword} answer(query):
            {body}

        @pytest.fixture(scope="session")
        def rag_system():
            return answer
    """
    project.says(cases("?", "?"), conftest=conftest)
    run = project.run("--timeout", "20")
    run.result.assert_outcomes(errors=2)
    for outcome in run.results["outcomes"]:
        assert outcome["error_type"] == "system_error"
        assert cause in outcome["error"]
        assert "\x1b" not in outcome["error"]


def test_a_traceback_shows_the_users_frames_and_the_last_frame_of_a_library(project: Project) -> None:
    conftest = """
        import pytest
        from packaging.version import Version

        def version(query):
            return Version(query.question)

        @pytest.fixture(scope="session")
        def rag_system():
            return version
    """
    project.says(cases("no version"), conftest=conftest)
    error = project.run().outcomes["q1"]["error"].splitlines()
    assert "InvalidVersion" in error[0]
    assert "conftest.py:5 in version" in error[1]
    assert "version.py" in error[2]
    assert len(error) == 3


METRICS = """
    import pytest
    from pytest_rageval import Metric, Score

    def breaks(sample):
        if sample.case.id == "q2":
            raise KeyError("no such key")
        return Score(1.0)

    def pytest_rageval_register(registry):
        registry.metrics.register("breaks", Metric("breaks", breaks))
        registry.metrics.register("floats", Metric("floats", lambda sample: 0.5))

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: "Paris"
"""


def test_a_metric_that_raises_is_an_error_of_the_case(project: Project) -> None:
    project.says(cases("?", "?"), conftest=METRICS, test=RUNS.replace('"accuracy"', '"accuracy", "breaks"'))
    run = project.run()
    run.result.assert_outcomes(passed=1, errors=1)
    outcome = run.outcomes["q2"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "metric_error")
    assert outcome["error"].startswith("metric 'breaks' failed on case 'q2': KeyError: 'no such key'\n")
    assert "conftest.py:6 in breaks" in outcome["error"]
    assert outcome["answer"]["text"] == "Paris"
    assert outcome["scores"] == {"accuracy": {"value": 1.0}}  # scores from before the error stay


def test_a_metric_that_returns_no_score_is_an_error(project: Project) -> None:
    project.says(cases("?"), conftest=METRICS, test=RUNS.replace('"accuracy"', '"floats"'))
    outcome = project.run().outcomes["q1"]
    assert outcome["error"] == "metric 'floats' returned 0.5 for case 'q1'; it must return a Score"


def test_a_metric_that_raises_in_a_check_fails_the_test(project: Project) -> None:
    test = RUNS.replace("...", "rag.check('breaks >= 1')")
    project.says(cases("?", "?"), conftest=METRICS, test=test)
    run = project.run()
    run.result.assert_outcomes(passed=1, failed=1)
    run.said("*metric 'breaks' failed on case 'q2': KeyError*")


WRONG_TYPES = {
    "None": ("None", "*rag_system*returned None; it must return a str or an Answer*"),
    "dict": ("{'text': 'Paris'}", "*rag_system*returned dict *"),
    "text": ("Answer(None)", "*returned an Answer whose text is None*"),
    "ranking": ("Answer('a', ranking=[('d1', 1.0)])", "*Answer whose ranking is *('d1', 1.0)*must be a Ranking*"),
    "score": (
        "Answer('a', ranking=Ranking((ScoredPassage('d', 'high'),)))",
        "*Answer whose ranking holds *the score 'high'*",
    ),
    "trace": ("Answer('a', trace=({'kind': 'x'},))", "*Answer whose trace is *must be a tuple of Step*"),
    "end": (
        "Answer('a', trace=(Step('end', {'reason': 'tool_unavailble'}),))",
        "*Answer whose trace's end.reason is 'tool_unavailble'*must be one of finished, *tool_unavailable*",
    ),
    "usage": ("Answer('a', usage={'cost_usd': 1})", "*Answer whose usage is *must be a Usage*"),
    "cost": ("Answer('a', usage=Usage(cost_usd=-100))", "*Answer whose usage.cost_usd is -100*0 or more*"),
    "nan": ("Answer('a', usage=Usage(cost_usd=float('nan')))", "*Answer whose usage.cost_usd is nan*finite number*"),
    "inf": ("Answer('a', usage=Usage(latency_s=float('inf')))", "*Answer whose usage.latency_s is inf*finite number*"),
    "tokens": ("Answer('a', usage=Usage(prompt_tokens=-1))", "*Answer whose usage.prompt_tokens is -1*0 or more*"),
}


@pytest.mark.parametrize("kind", WRONG_TYPES)
def test_a_system_that_always_returns_the_wrong_type_stops_after_three_cases(project: Project, kind: str) -> None:
    value, message = WRONG_TYPES[kind]
    conftest = f"""
        import pytest
        from pytest_rageval import Answer, Ranking, ScoredPassage, Step, Usage

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: {value}
    """
    project.says(cases(*["?"] * 5), conftest=conftest)
    run = project.run()
    run.result.assert_outcomes(errors=3, skipped=2)
    run.said(message)
    assert [o["error_type"] for o in run.results["outcomes"]] == [*["system_contract"] * 3, *["not_asked"] * 2]
    assert (run.results["usage"]["calls"], run.results["usage"]["cost_usd"]) == (0, None)


WRONG_OBJECTS = {
    "a generator": (
        "Answer('a', Ranking(ScoredPassage(name) for name in 'xy'))",
        "ranking holds a generator; write Ranking(tuple(...)) with a ScoredPassage for each passage",
    ),
    "no items": ("Answer('a', Ranking(None))", "ranking holds None; write Ranking(tuple(...)) with a "),
    "one passage": ("Answer('a', Ranking(ScoredPassage('x')))", "ranking holds a ScoredPassage; write Ranking(tuple("),
    "a number": (
        "Answer('a', Ranking((ScoredPassage('x'), ScoredPassage(1))))",
        "ranking holds at place 2 a passage with the doc_id 1; it must be a str",
    ),
    "a word": ("Answer('a', abstained='no')", "abstained is 'no'; it must be True, False, None or left out"),
}


def test_objects_of_the_wrong_type_in_an_answer_are_errors_of_their_cases(project: Project) -> None:
    answers = "".join(f"{question!r}: lambda: {value}, " for question, (value, _) in WRONG_OBJECTS.items())
    conftest = f"""
        import pytest
        from pytest_rageval import Answer, Ranking, ScoredPassage

        ANSWERS = {{{answers}}}

        @pytest.fixture(scope="session")
        def rag_system():
            def answer(query):
                return ANSWERS.get(query.question, lambda: Answer("Paris", Ranking([ScoredPassage("x")])))()

            return answer
    """
    project.says(cases("?", *WRONG_OBJECTS), conftest=conftest)
    run = project.run()
    run.result.assert_outcomes(passed=1, errors=5)
    errors = [outcome for outcome in run.results["outcomes"] if outcome["status"] == "error"]
    assert {outcome["error_type"] for outcome in errors} == {"system_contract"}
    for outcome, (_, message) in zip(errors, WRONG_OBJECTS.values(), strict=True):
        assert outcome["error"].startswith(f"rag_system 'rag_system' returned an Answer whose {message}")
    assert "Traceback" not in run.result.stdout.str()


PICKY = """
    import pytest

    ANSWERS = {"none": None, "dict": {"text": "Paris"}}

    KEYWORD answer(query):
        if query.question == "raise":
            raise ValueError("no")
        return ANSWERS.get(query.question, "Paris")

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_one_answer_of_the_wrong_type_is_an_error_of_its_case(project: Project, keyword: str) -> None:
    questions = ["?", "?", "?", "?", "none", "dict", "none", "none"]  # each process begins with an answer
    project.says(cases(*questions), conftest=PICKY.replace("KEYWORD", keyword))
    run = project.run()
    run.result.assert_outcomes(errors=4, passed=4)
    wrong = {name for name, status in run.statuses.items() if status == "error"}
    assert wrong == {"q5", "q6", "q7", "q8"}
    assert {run.outcomes[name]["error_type"] for name in wrong} == {"system_contract"}
    assert run.outcomes["q5"]["error"] == "rag_system 'rag_system' returned None; it must return a str or an Answer"
    assert "returned dict {'text': 'Paris'}" in run.outcomes["q6"]["error"]


@pytest.mark.parametrize("between", ["?", "raise"])
def test_only_three_wrong_types_in_a_row_from_the_start_stop_a_system(project: Project, between: str) -> None:
    project.says(cases("none", "none", between, "none", "none", "none", "?"), conftest=PICKY.replace("KEYWORD", "def"))
    statuses = list(project.run().statuses.values())
    assert "skipped" not in statuses
    assert statuses[-1] == "scored"


def test_a_rerun_of_one_case_does_not_count_as_three(project: Project) -> None:
    project.says(cases("none", "?", "?"), conftest=PICKY.replace("KEYWORD", "def"))
    run = project.run("--reruns", "3")
    assert list(run.statuses.values()) == ["error", "scored", "scored"]


BROKEN = {
    "wrong type": ("session", "return lambda query: 42", "system_contract"),
    "wrong type, built for each case": ("function", "return lambda query: 42", "system_contract"),
    "raises": ("session", "raise ConnectionError('no route')", "system_build"),
    "raises for each case": ("function", "raise ConnectionError(f'no route {object()}')", "system_build"),
    "fails": ("session", "pytest.fail('no key')", "system_build"),
    "cannot be called": ("session", "return 42", "system_build"),
    "unknown fixture": ("session", "request.getfixturevalue('nothing')", "system_build"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_fixture_is_one_error_and_its_other_cases_are_skipped(project: Project, kind: str) -> None:
    scope, body, error_type = BROKEN[kind]
    conftest = f"""
        import pytest

        @pytest.fixture(scope={scope!r})
        def rag_system(request):
            {body}
    """
    test = RUNS.replace("{arguments}", ", gates=['accuracy >= 0.1', 'error_rate <= 1']")
    project.says(cases(*["?"] * 4), conftest=conftest, test=test + test.replace("test_it", "test_also"))
    run = project.run("-rs")
    errors = [outcome for outcome in run.results["outcomes"] if outcome["status"] == "error"]
    n_errors = 3 if error_type == "system_contract" else 1
    assert [error["error_type"] for error in errors] == [error_type] * n_errors
    assert "rag_system" in errors[0]["error"]
    run.result.assert_outcomes(errors=n_errors, skipped=8 - n_errors, failed=4)  # each of the four gates
    run.said("*SKIPPED*not asked: *rag_system*")
    for gate in run.results["gates"]:
        assert gate["status"] == "failed"
        assert "not asked" in gate["reason"]


@pytest.mark.parametrize("kind", ["wrong type", "raises"])
def test_each_process_stops_asking_a_broken_system(project: Project, kind: str, mode: Mode) -> None:
    _, body, error_type = BROKEN[kind]
    conftest = f"import pytest\n\n@pytest.fixture(scope='session')\ndef rag_system():\n    {body}\n"
    project.says(cases(*["?"] * 40), "gates=['accuracy >= 0.1']", conftest=conftest)  # each worker begins with five
    run = project.run(*mode)
    types = sorted(outcome["error_type"] for outcome in run.results["outcomes"])
    errors = (2 if "-n2" in mode else 1) * (3 if error_type == "system_contract" else 1)
    assert types == ["not_asked"] * (40 - errors) + [error_type] * errors
    run.result.assert_outcomes(errors=errors, skipped=40 - errors, failed=1)


def test_the_error_of_a_system_that_cannot_be_built_has_its_frames(project: Project) -> None:
    conftest = """
        import pytest

        def connect():
            raise ConnectionError("no route")

        @pytest.fixture(scope="session")
        def rag_system():
            return connect()
    """
    project.says(cases("?"), conftest=conftest)
    error = project.run().outcomes["q1"]["error"].splitlines()
    assert error[0] == "system 'rag_system' could not be built: ConnectionError: no route"
    assert [line.rpartition("/")[2] for line in error[1:]] == [
        "conftest.py:8 in rag_system: return connect()",
        'conftest.py:4 in connect: raise ConnectionError("no route")',
    ]


def test_the_error_of_a_registered_system_that_cannot_be_called_names_it(project: Project) -> None:
    register = "def pytest_rageval_register(registry):\n    registry.systems.register('none', lambda parts: None)\n"
    project.says([case("q1"), case("q2")], conftest=register)
    run = project.run("--rag-system", "none")
    assert "system 'none' could not be built" in run.outcomes["q1"]["error"]
    assert run.statuses == {"q1": "error", "q2": "skipped"}
