"""The Markdown report: any data is rendered as text, and the report fits a comment."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from support.samples.run_samples import MARK, NOISE, PLAIN, STARTED, finished_run, outcome, plan, take

from pytest_rageval.analysis.account.finding import Finding
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.digests import text_digest
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.export.ci_links import links_of
from pytest_rageval.report.export.markdown import MARKER, MAX_CHARACTERS, markdown_of
from pytest_rageval.report.export.markdown_text import MAX_TEXT, MarkdownTable, code, plain, tables_within
from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.old_answers import AnswerSource, answers_of
from pytest_rageval.report.run.plan import Plan, Shard, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

HOSTILE = [
    "a|b", "a\\|b", "\\", "\\\\|", "||", "`code`", "``a`b``", "|`|`|", "*bold*", "__init__", "~~gone~~", "a_b_c",
    "[link](https://evil.example)", "![image](x.png)", "<img src=x onerror=alert(1)>", "<script>alert(1)</script>",
    "</details>", "</summary></details>", "<!-- hidden", MARKER, "-->", "<a href=//x>", "&lt;b&gt;&amp;", "@someone",
    "@org/team", "mail@example.org", "#123", "GH-45", "owner/repo#6", "https://evil.example/x", "www.evil.example",
    ":tada:", "$E = mc^2$", "one\ntwo", "one\r\n| x | y |\n| --- | --- |", "# heading", "- item", "1. item", "---",
    "===", "> quote", "a\u202eb", "a\u200bb", "\x1b[31mred\x1b[0m", "a\0b", "\ud800", "基金🙂", "   ", "{{ 7 * 7 }}",
    "[^1]", "[x]: https://evil.example", "!123", "a/b!7", "%5", '%"v 1"', "~bug", '~"a b"', "&12", "0123abc", "f" * 40,
    "C0FFEE1", "[vulnerability:7]", "100% & more!",
]  # fmt: skip
"""Hostile texts of names, errors and answers."""

TITLE = re.compile(r"<summary>(.*)</summary>|^### (.*)$", re.MULTILINE)

OUR_MARKUP = re.compile(r"</?code>|<span>|</span>|&#?\w+;")


def tokens_of(text: str) -> list[Any]:
    """Return the tokens of a text like GitHub's parser."""
    return MarkdownIt("gfm-like").enable(["table", "strikethrough", "linkify"]).parse(text)


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a text as rows of visible cell texts, the head first."""
    result: list[list[list[str]]] = []
    tokens = tokens_of(text)
    for token, following in pairwise(tokens):
        if token.type == "table_open":
            result.append([])
        elif token.type == "tr_open":
            result[-1].append([])
        elif token.type in ("th_open", "td_open"):
            result[-1][-1].append(visible_text(following))
    return result


def by_title(text: str) -> dict[str, list[list[str]]]:
    """Return the tables of a text by the first word of their titles; the last of several with the same word counts."""
    titles = [folded or title for folded, title in TITLE.findall(text)]
    return {title.partition(" ")[0]: table for title, table in zip(titles, tables(text), strict=True)}


def visible_text(token: Any) -> str:
    """Return the visible text of an inline token; it may only contain text, code and our own markup."""
    parts = []
    for child in token.children or []:
        if child.type == "html_inline":
            assert OUR_MARKUP.fullmatch(child.content), child.content
            continue
        assert child.type in ("text", "text_special", "code_inline", "strong_open", "strong_close"), child
        parts.append(child.content)
    return "".join(parts)


def without_breaks(text: str) -> str:
    """Return a visible text without the zero-width spaces that prevent links."""
    return text.replace("\u200b", "")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("render", [plain, code])
def test_any_text_is_shown_unchanged_in_its_cell(text: str, render: Any) -> None:
    part = MarkdownTable(text, [["name", "n"], [render(text), "1"], ["after", "2"]], folded=False, numbers=range(1, 2))
    markdown = tables_within([part], 5_000)
    [table] = tables(markdown)
    assert [len(row) for row in table] == [2, 2, 2]
    assert table[2] == ["after", "2"]
    printable = text if text.isprintable() else text.encode("unicode_escape").decode()
    if text.isprintable():
        assert without_breaks(table[1][0]).strip() == printable.strip()
    else:
        assert without_breaks(table[1][0]).isprintable()
    types = {token.type for token in tokens_of(markdown)}
    elements = ("heading", "table", "thead", "tbody", "tr", "th", "td")
    assert types <= {"inline", *(f"{name}_{end}" for name in elements for end in ("open", "close"))}


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_any_title_of_a_folded_table_is_shown_as_text(text: str) -> None:
    markdown = tables_within([MarkdownTable(text, [["a", "b"], ["1", "2"]], folded=True, numbers=range(0))], 5_000)
    opening, *_, closing = tokens_of(markdown)
    assert opening.content.count("<") == opening.content.count("<span>") * 2 + 3
    assert opening.content.startswith("<details><summary>")
    assert opening.content.endswith("</summary>\n")
    assert closing.content == "</details>\n"
    assert tables(markdown) == [[["a", "b"], ["1", "2"]]]


@pytest.mark.parametrize("render", [plain, code])
def test_no_text_becomes_a_mention_or_a_reference(render: Any) -> None:
    """GitHub looks for mentions and references in rendered text outside of code."""
    for text in ("@someone", "a @org/team", "#12", "owner/repo#6", "GH-7", ":tada:", "me@example.org"):
        inlines = [token for token in tokens_of(render(text)) if token.type == "inline"]
        outside = "".join(c.content for t in inlines for c in t.children or [] if c.type in ("text", "text_special"))
        assert re.search(r"[@#]\w|GH-\d|:\w+:", outside) is None, text


@pytest.mark.parametrize("render", [plain, code])
def test_no_text_becomes_a_reference_on_gitlab(render: Any) -> None:
    """GitLab links merge requests, milestones, labels, epics and commits; ordinary words must not change."""
    texts = ("!123", "a/b!7", "%5", '%"v 1"', "~bug", '~"a b"', "a&12", "0123abc", "f" * 40, "in C0FFEE1.", "[epic:7]")
    for text in texts:
        inlines = [token for token in tokens_of(f"| {render(f'{text} |')} |") if token.type == "inline"]
        outside = "".join(c.content for t in inlines for c in t.children or [] if c.type in ("text", "text_special"))
        assert re.search(r"[!%~&][\w\"]|:\d|(?i:[0-9a-f]{7})", outside) is None, text
    assert "\u200b" not in visible_text(tokens_of(render("100% & more! ~ feedbacks 1,234,567 abcdefab1x"))[1])


def test_a_long_text_is_truncated() -> None:
    assert len(plain("x" * 10_000)) == len(code("x" * 10_000)) - 2 == MAX_TEXT
    assert len(plain("\0" * 10_000)) <= 2 * MAX_TEXT


def run_with(n: int, name: str = "topic", *, error: str = "") -> Run:
    """Return a run with one case per topic; with an ``error``, every case ends in it."""
    run = Run(STARTED, Plan(testbeds={PLAIN: TestbedPlan(PLAIN, "plain", ("accuracy",), ("accuracy >= 0.5",), n)}))
    run.plan.metrics = {"accuracy": MetricInfo(binary=True)}
    for at in range(n):
        result = Outcome(f"{PLAIN}[{name}{at}]", f"q{at}", PLAIN, {"topic": f"{name} {at}", "task": "qa"}, "mine",
                         "error" if error else "scored", Answer("x"),
                         {} if error else {"accuracy": Score(float(at % 2))}, (),
                         error or None, "system_error" if error else None)  # fmt: skip
        run.plan.cases[result.nodeid] = (result.case_id, PLAIN, "mine", 0)
        take(run, result)
    run.evaluate_gates()
    return run


@pytest.mark.parametrize("name", ["topic", "基金与衍生品", "🙂" * 20, "|" * 50, "@#:"], ids=ascii)
def test_the_report_fits_a_comment_and_counts_the_missing_rows(name: str) -> None:
    run = run_with(1_500, name, error=f"{name} broke" * 10)
    text = markdown_of(run, MatrixChoice())
    assert MAX_CHARACTERS - 2_000 < len(text) <= MAX_CHARACTERS
    missing_errors, *missing_rows = map(int, re.findall(r"^(\d+) more rows? did not fit here\.$", text, re.MULTILINE))
    by_word = by_title(text)
    assert list(by_word) == ["Gates:", "Errors", "Model", "accuracy"]
    assert len(by_word["Errors"]) - 1 + missing_errors == 1_500
    assert len(by_word["accuracy"]) - 1 + sum(missing_rows) == 102  # the rows of a matrix, with its margins
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("n", [12, 2_000])
def test_failed_gates_are_unfolded_and_leave_room_for_other_tables(n: int) -> None:
    run = run_with(8)
    failing_gates = [f"accuracy >= 0.{at:04}" for at in range(6_000, 6_000 + n - 2)]
    run.plan.testbeds[PLAIN] = replace(
        run.plan.testbeds[PLAIN], gates=("accuracy >= 0.1", *failing_gates, "accuracy[topic=*] >= 0.2")
    )
    run.evaluate_gates()
    text = markdown_of(run, MatrixChoice())
    assert len(text) <= MAX_CHARACTERS
    two_answers, unfolded, folded_tables = tables(text)[:2], tables(text)[2], tables(text)[3:]
    assert [table[0][0] for table in two_answers] == ["case", "case"]
    assert [table[0][0] for table in folded_tables][-2:] == ["gate", "topic \\ task"]
    assert unfolded[1][1:4] == ["accuracy >= 0.6000", "plain", "0.50"]
    titles = TITLE.findall(text)[2:]
    assert titles[0] == ("", f"Gates: {n - 1} failed")
    if n == 12:
        assert (titles[1], len(unfolded)) == (("Gates: 1 passed", ""), 12)
    else:
        assert (titles[1], len(unfolded)) == (("Gates: 1969 failed, 1 passed", ""), 31)


def test_broken_cases_leave_room_for_fixed_cases_errors_and_the_matrix() -> None:
    before, after = run_with(0), run_with(0)
    for at in range(1_000):
        old_value, is_error = float(at % 5 > 0), at % 50 == 7
        result = Outcome(f"{PLAIN}[{at}]", f"q{at}", PLAIN, {"topic": f"t{at % 9}"}, "mine", "scored",
                         Answer("so " * 60), {"accuracy": Score(old_value)})  # fmt: skip
        take(before, result)
        now = replace(result, status="error", error="it broke " * 20) if is_error else result
        take(after, replace(now, scores={} if is_error else {"accuracy": Score(1 - old_value)}))
    after.baseline = before.snapshot()
    after.evaluate_gates()
    text = markdown_of(after, MatrixChoice())
    by_word = by_title(text)
    assert list(by_word)[2:] == ["Gates:", "Compared", "Broken", "Fixed", "Worst", "Errors", "accuracy"]
    broken, fixed, worst, errors, matrix = (by_word[n] for n in ("Broken", "Fixed", "Worst", "Errors", "accuracy"))
    missing_broken, missing_fixed = map(int, re.findall(r"^(\d+) more rows? did not fit", text, re.MULTILINE))
    assert (len(broken) - 1 + missing_broken, len(fixed) - 1 + missing_fixed) == (780, 200)
    assert min(len(broken), len(fixed)) > 50
    assert (len(worst), len(errors), len(matrix)) == (6, 21, 12)
    assert MAX_CHARACTERS - 2_000 < len(text) <= MAX_CHARACTERS


def test_the_first_matrix_is_shown_despite_many_systems_and_errors() -> None:
    run = Run(STARTED, Plan(testbeds={PLAIN: TestbedPlan(PLAIN, "plain", ("accuracy",), ("accuracy >= 0.5",), 600)}))
    run.plan.metrics = {"accuracy": MetricInfo(binary=True)}
    for system in map(str, range(60)):
        for at in range(10):
            is_error, scores = at % 2, {} if at % 2 else {"accuracy": Score(1.0)}
            result = Outcome(f"{PLAIN}[{at}-{system}]", f"q{at}", PLAIN, {"topic": f"{at}", "system": system}, system,
                             "error" if is_error else "scored", Answer("x"), scores, (), "it broke " * 20)  # fmt: skip
            run.plan.cases[result.nodeid] = (result.case_id, PLAIN, system, 0)
            take(run, result)
    run.evaluate_gates()
    text = markdown_of(run, MatrixChoice())
    assert len(by_title(text)["accuracy"]) == 13
    assert re.search(r"^\d+ more tables with \d+ rows did not fit here\.$", text, re.MULTILINE)
    assert len(text) <= MAX_CHARACTERS


def test_repeats_are_shown_and_n_counts_cases() -> None:
    run = run_with(0)
    for name, values in {"good": (1.0, 1.0), "flaky": (1.0, 0.0), "bad": (0.0, 0.0)}.items():
        for repeat, value in enumerate(values, 1):
            facets = {"topic": "A", "repeat": str(repeat)}
            take(run, Outcome(f"{PLAIN}[{name}-{repeat}]", name, PLAIN, facets, "mine", "scored",
                              Answer("x"), {"accuracy": Score(value)}))  # fmt: skip
    run.evaluate_gates()
    text = markdown_of(run, MatrixChoice())
    by_word = by_title(text)
    flips = ["1 of 3 cases flip over 2 repeats", "flaky", "1 never pass", "bad"]
    assert by_word["Repeats"][1] == ["plain", "accuracy", *flips]
    assert by_word["Gates:"][1][4] == "6 of 3 cases"


@pytest.mark.parametrize("texts", [True, False])
def test_a_gate_quotes_its_judge_only_with_texts(texts: bool) -> None:
    run = Run(STARTED, Plan(testbeds={PLAIN: TestbedPlan(PLAIN, "plain", ("polite",), ("polite[topic=*] >= 0.5",), 1)}),
              texts=texts)  # fmt: skip
    run.plan.metrics = {"polite": MetricInfo(binary=True, judge="polite")}
    problem = f"parse_error: {MARK} I cannot say"
    take(run, Outcome(f"{PLAIN}[q1]", "q1", PLAIN, {"topic": "A"}, "mine", "scored", Answer("x"),
                      {"polite": Score(reason=problem)}))  # fmt: skip
    run.evaluate_gates()
    text = markdown_of(run, MatrixChoice())
    assert "nothing was scored at topic=A" in text
    assert (MARK in text) is texts


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_names_and_errors_do_not_change_rows_and_cells(text: str) -> None:
    run = run_with(3, text)
    take(run, Outcome(f"{PLAIN}[{text}]", text, PLAIN, {"topic": text, "task": text}, text, "error", None, {}, (),
                      text, text))  # fmt: skip
    run.failed = (text,)
    run.evaluate_gates()
    markdown = markdown_of(run, MatrixChoice())
    assert markdown.endswith(f"\n\n{MARKER}\n")
    result = tables(markdown)
    assert [table[0][0] for table in result[:4]] == ["", "case", "count", "topic \\ task"]
    assert [len(table) for table in result[:3]] == [2, 2, 2]
    assert all(len(row) == len(table[0]) for table in result for row in table)
    for token in tokens_of(markdown):
        if token.type == "html_block":
            assert re.fullmatch(rf"<details><summary>.*</summary>\n|</details>\n|{MARKER}\n", token.content)
        elif token.type == "inline":
            visible_text(token)


def test_tables_that_do_not_fit_are_counted() -> None:
    part = MarkdownTable("t", [["a"], ["x" * 500], ["y"]], folded=True, numbers=range(0))
    assert tables_within([part, part], 600) == "\n2 more tables with 4 rows did not fit here.\n"
    assert "did not fit" not in tables_within([part, part], 5_000)


def complete_run(*, texts: bool = True) -> Run:
    """Return a run with all cases ended, one error and one failed gate."""
    run = take(finished_run(texts=texts), outcome(NOISE, "q2", accuracy=Score(0.0)))
    del run.plan.cases[f"{NOISE}[late]"]
    run.evaluate_gates()
    return run


def first_line(run: Run) -> str:
    return markdown_of(run, MatrixChoice()).partition("\n")[0]


def test_the_verdict_comes_first() -> None:
    run = complete_run()
    assert first_line(run) == "## ❌ RAG tests: 1 of 3 gates failed - 1 error, 1 case missed, 2 causes"
    interrupted = run_with(2)
    interrupted.interrupted = True
    interrupted.evaluate_gates()
    assert first_line(interrupted) == "## ⚠️ RAG tests: interrupted"
    passed_run = run_with(4)
    assert first_line(passed_run) == "## ✅ RAG tests: the gate holds"
    passed_run.failed = ("t.py::test",)
    assert first_line(passed_run) == "## ❌ RAG tests: 1 test failed, no gate failed"
    passed_run.failed, passed_run.plan.shard = (), Shard(1, 3, 4, "", (0, 1, 2, 3))
    passed_run.evaluate_gates()
    assert first_line(passed_run) == "## ⚠️ RAG tests: shard 1 of 3 ended, rageval merge decides the gates"
    assert first_line(Run(STARTED, replace(plan(), session_gates=()))) == "## ⚠️ RAG tests: no case was run"


def test_failed_gates_come_first_and_name_their_worst_cases() -> None:
    run = complete_run()
    answer, failed, passed, worst, *_ = tables(markdown_of(run, MatrixChoice()))
    assert [row[0] for row in answer] == ["case", "question", "wanted", "now"]
    assert [row[0] for row in failed] == ["", "❌"]
    assert [row[0] for row in passed] == ["", "✅", "✅"]
    assert failed[1][1:5] == ["accuracy[topic=*] >= 0.9", "test_noise", "0.00", "1"]
    assert failed[1][6] == "at topic=A"
    assert worst[0] == ["gate", "case", "value"]


@pytest.mark.parametrize("texts", [True, False])
def test_texts_are_left_out_if_reports_have_none(texts: bool) -> None:
    text = markdown_of(complete_run(texts=texts), MatrixChoice())
    assert (MARK in text) is texts
    assert "system_error" in text.replace("\\", "")


def test_every_error_is_listed() -> None:
    text = markdown_of(run_with(3, error="no such model"), MatrixChoice())
    assert "3 cases: 0 scored, 3 errors" in text
    assert "no such model" in text
    assert "? (0+1)" in without_breaks(text).replace("\\", "")


def test_an_outcome_outside_the_plan_is_accepted() -> None:
    run = take(Run(STARTED, Plan()), outcome(NOISE, "q2", accuracy=Score(1.0)))
    assert first_line(run) == "## ✅ RAG tests: nothing failed, and there is no gate"


def run_with_causes(answer: str = "new answer", *, texts: bool = True) -> Run:
    """Return a run with four kinds of errors and four cases that miss a gate."""
    testbed = TestbedPlan(PLAIN, "plain", ("accuracy",), ("accuracy >= 0.9",), 12)
    run = Run(STARTED, Plan(testbeds={PLAIN: testbed}), texts=texts)
    run.plan.metrics = {"accuracy": MetricInfo(binary=True)}
    for at in range(12):
        result = Outcome(
            f"{PLAIN}[q{at}]",
            f"q{at}",
            PLAIN,
            {},
            "mine",
            "scored",
            Answer(f"{answer} {at}"),
            {"accuracy": Score(float(at % 2))},
            data=f"{at:016}",
            said=text_digest(f"{answer} {at}"),
        )
        if at < 4:
            kind = ("refused", "timeout", "system_error", "not_found")[at]
            result = replace(
                result, status="error", answer=None, scores={}, said="", error=f"no {kind}", error_type=kind
            )
        run.plan.cases[result.nodeid] = (result.case_id, PLAIN, "mine", 0)
        take(run, result)
    run.evaluate_gates()
    return run


def test_three_causes_are_listed_and_the_others_are_folded() -> None:
    run = run_with_causes()
    causes = account_of(run).causes
    assert len(causes) == 5
    text = markdown_of(run, MatrixChoice())
    head, _, rest = text.partition("<details>")
    items = re.findall(r"^- (.*)$", head, re.MULTILINE)
    assert items == [f"{plain(each.sentence)}{command_of(each)}" for each in causes[:3]] + ["2 more causes"]
    assert [row[0] for row in by_title(text)["More"][1:]] == [each.sentence for each in causes[3:]]
    assert "\nrerun: `pytest test_a.py::test_plain`\n" in head
    assert re.findall(r"^### (.*)$", rest, re.MULTILINE) == ["Gates: 1 failed"]


def command_of(finding: Finding) -> str:
    return f" · `{finding.command}`" if finding.command else ""


@pytest.mark.parametrize("texts", [True, False])
def test_the_worst_two_answers_are_folded(texts: bool) -> None:
    run = run_with_causes(texts=texts)
    first, second, *_ = tables(markdown_of(run, MatrixChoice()))
    if not texts:
        assert first[0] == ["", "gate", "of", "value", "n", "95 %", "why"]
        return
    missed = next(each for each in account_of(run).causes if each.kind == "missed")
    assert [table[0] for table in (first, second)] == [["case", name] for name in missed.cases[:2]]
    answer = run.outcomes[missed.cases[0]].answer
    assert answer is not None
    assert first[1:] == [["question", f"{MARK}?"], ["wanted", f"{MARK} gold"], ["now", answer.text]]


def test_the_old_answer_is_above_the_new_one() -> None:
    before, after = run_with_causes("old answer"), run_with_causes()
    after.baseline, after.source = before.snapshot(), AnswerSource("old.json", answers_of(before.outcomes.values()))
    after.evaluate_gates()
    first, *_ = tables(markdown_of(after, MatrixChoice()))
    assert [row[0] for row in first] == ["case", "question", "wanted", "was", "now"]
    assert [row[1][:3] for row in first[3:]] == ["old", "new"]


GITHUB = {
    "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "we/rag", "GITHUB_RUN_ID": "12",
    "GITHUB_SHA": "0123456789abcdef0123456789abcdef01234567",
}  # fmt: skip
GITLAB = {
    "CI_JOB_URL": "https://gitlab.example:8443/we/rag/-/jobs/7", "CI_PROJECT_URL": "https://gitlab.example:8443/we/rag",
    "CI_COMMIT_SHA": GITHUB["GITHUB_SHA"],
}  # fmt: skip


def test_links_lead_to_the_job_and_the_commit() -> None:
    sha = GITHUB["GITHUB_SHA"]
    assert links_of(GITHUB, Path("/x/rag.html")) == [
        "page: `rag.html`",
        "[job and artifacts](https://github.com/we/rag/actions/runs/12)",
        f"commit [`0123456`](https://github.com/we/rag/commit/{sha})",
    ]
    assert links_of(GITLAB, None) == [
        "[job and artifacts](https://gitlab.example:8443/we/rag/-/jobs/7)",
        f"commit [`0123456`](https://gitlab.example:8443/we/rag/-/commit/{sha})",
    ]
    assert links_of({"CI_COMMIT_SHA": sha}, None) == ["commit `0123456`"]
    assert links_of({}, None) == []
    hostile = {"CI_JOB_URL": "https://x.example/a) [b](javascript:alert(1)", "CI_COMMIT_SHA": "x](y)"}
    assert links_of(hostile, None) == []
