"""Steps from `pytest_rageval.tracing` in results.json and in `rageval show --case`."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import RUNS, Mode, Project, case, cases

CONFTEST = """
    import asyncio
    import pytest
    from pytest_rageval import tracing

    @tracing.tool
    def search(title: str) -> str:
        with tracing.retrieve(title, retriever="shelf") as retrieval:
            retrieval.passages = [{"id": title.lower(), "text": f"{title} is the capital.", "score": 0.5}]
        return f"{title} is the capital.\\nIt is large."

    @tracing.tool(name="clock")
    async def clock(zone, *, style=24):
        await asyncio.sleep(0.001)
        raise LookupError(f"no zone {zone}")

    def plain(query):
        word = query.question.split()[-1]
        if word == "nowhere":
            tracing.end("tool_unavailable", "the index refuses connections")
            return ""
        search(word)
        if word == "trouble":
            raise RuntimeError("the agent is broken")
        with tracing.step("completion", model="m") as call:
            call.detail.update(prompt_tokens=10, completion_tokens=2)
        return "" if word == "nothing" else word

    async def agent(query):
        word = query.question.split()[-1]
        try:
            await clock("UTC", style=12)
        except LookupError:
            pass
        await asyncio.sleep(0.01)
        text = await asyncio.to_thread(search, word)
        return text.partition(" ")[0]

    @pytest.fixture(scope="session")
    def rag_system():
        return {system}
"""


def steps_of(outcome: dict[str, object]) -> list[tuple[str, dict[str, object]]]:
    answer = outcome["answer"]
    assert isinstance(answer, dict)
    steps = [(step["kind"], dict(step["detail"])) for step in answer["trace"]]
    for kind, detail in steps:
        if kind != "end":
            assert detail.pop("seconds") >= 0
    return steps


def search_steps(word: str, at: int = 0) -> list[tuple[str, dict[str, object]]]:
    passage = {"id": word.lower(), "text": f"{word} is the capital.", "score": 0.5}
    tool: dict[str, object] = {
        "name": "search",
        "arguments": {"title": word},
        "result": f"{word} is the capital.\nIt is large.",
    }
    return [
        ("tool", tool),
        ("retrieve", {"query": word, "retriever": "shelf", "passages": [passage], "parent": at}),
    ]


def test_steps_of_a_plain_function_reach_results_and_show(project: Project, mode: Mode) -> None:
    conftest = CONFTEST.replace("{system}", "plain")
    project.says(cases("say Paris", "say nothing", "say nowhere"), "gates=['n >= 1']", conftest=conftest)
    run = project.run(*mode)
    paris, nothing, nowhere = (run.outcomes[name] for name in ("q1", "q2", "q3"))
    completion = ("completion", {"model": "m", "prompt_tokens": 10, "completion_tokens": 2})
    assert steps_of(paris) == [*search_steps("Paris"), completion, ("end", {"reason": "finished"})]
    assert paris["answer"]["ranking"] == [{"doc_id": "paris", "score": 0.5, "text": "Paris is the capital."}]
    usage = paris["answer"]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["cost_usd"]) == (10, 2, None)
    assert nothing["status"] == "scored"
    assert steps_of(nothing)[-1] == ("end", {"reason": "empty_answer"})
    assert (nowhere["status"], nowhere["error_type"], nowhere["scores"]) == ("error", "tool_unavailable", {})
    assert "the index refuses connections" in nowhere["error"]
    assert nowhere["answer"]["trace"][-1]["detail"]["reason"] == "tool_unavailable"
    process = project.command("show", "--case", "q1")
    assert process.returncode == 0
    pytest.LineMatcher(process.stdout.splitlines()).fnmatch_lines(
        [
            "test_it.py::test_it*q1* - scored, system rag_system",
            "question: say Paris",
            "wanted: Paris",
            "answer: Paris",
            "was: unknown, the run was compared with no other; name a baseline with *",
            "accuracy: 1",
            "diagnosis: EM right, retrieved (the answer was retrieved)",
            "rerun: pytest 'test_it.py::test_it[[]q1]'",
            "play: rageval play --run latest --case 'test_it.py::test_it[[]q1]'",
            "steps:",
            '  1 tool  search(title="Paris")  * s',
            "      -> Paris is the capital....",
            '  2   retrieve  shelf "Paris"  * s',
            "        -> 1 passage: paris",
            "  3 completion  m  10 + 2 tokens  * s",
            "  4 end  finished",
        ],
        consecutive=True,
    )


@pytest.mark.parametrize("at_once", ["1", "16"])
def test_steps_of_async_cases_at_once_do_not_mix(project: Project, at_once: str) -> None:
    words = [f"City{n}" for n in range(16)]
    conftest = CONFTEST.replace("{system}", "agent")
    project.says(cases(*(f"say {word}" for word in words)), "gates=['n >= 1']", conftest=conftest)
    run = project.run("--rag-concurrency", at_once)
    clock = {"name": "clock", "arguments": {"zone": "UTC", "style": 12}, "error": "LookupError: no zone UTC"}
    for number, word in enumerate(words, 1):
        outcome = run.outcomes[f"q{number}"]
        assert steps_of(outcome) == [("tool", clock), *search_steps(word, at=1), ("end", {"reason": "finished"})]


def test_an_unknown_case_is_reported_with_the_nearest_id(project: Project) -> None:
    project.says(cases("say Paris"))
    project.run()
    process = project.command("show", "--case", "q11")
    assert process.returncode == 2
    assert "unknown case 'q11'; did you mean 'q1'?" in process.stderr
    assert "steps: none recorded" in project.command("show", "--case", "q1").stdout


def test_recorded_answers_may_have_traces(project: Project, mode: Mode) -> None:
    passages = [{"id": "rome", "text": "Rome."}, {"id": "paris", "text": "Paris.", "score": 0.5}]
    search = {"kind": "tool", "detail": {"name": "search", "arguments": {"k": [1]}, "passages": passages}}
    completion = {"kind": "completion", "detail": {"prompt_tokens": 7, "completion_tokens": 1, "cost_usd": 0.5}}
    outage = {"kind": "end", "detail": {"reason": "model_error", "detail": "timeout"}}
    rows = [
        {"id": "q1", "answer": "Paris", "trace": [search, completion, completion]},
        {"id": "q2", "answer": "Paris", "trace": [search, outage], "usage": {"prompt_tokens": 1}},
        {"id": "q3", "answer": "Paris", "ranking": [{"id": "own"}], "trace": [search]},
    ]
    project.says(cases(*["?"] * 3), "gates=['tool_calls <= 1', 'model_calls <= 1', 'error_rate <= 0.1']")
    project.file("answers.jsonl", "\n".join(map(json.dumps, rows)))
    run = project.run("--rag-answers", "answers.jsonl", "--rag-matrix", "tool_calls", *mode)
    first, outage_case, ranked = (run.outcomes[name] for name in ("q1", "q2", "q3"))
    assert [each["doc_id"] for each in first["answer"]["ranking"]] == ["rome", "paris"]
    assert first["answer"]["usage"] == {
        "prompt_tokens": 14, "completion_tokens": 2, "cost_usd": 1.0, "latency_s": None
    }  # fmt: skip
    assert first["answer"]["trace"][-1] == {"kind": "end", "detail": {"reason": "finished"}}
    assert ranked["answer"]["ranking"] == [{"doc_id": "own", "score": None}]
    assert (outage_case["status"], outage_case["error_type"], outage_case["scores"]) == ("error", "model_error", {})
    gates = {expr: (gate["status"], gate["value"], gate["n"]) for expr, gate in run.gates.items()}
    assert gates == {
        "tool_calls <= 1": ("passed", 1.0, 2),
        "model_calls <= 1": ("failed", 2.0, 1),
        "error_rate <= 0.1": ("failed", pytest.approx(1 / 3), 3),
    }
    run.said("tool_calls by dataset x ability*", "*calls of an answer (n); *", "*1.00 (2+1)*")


def test_a_row_whose_trace_is_not_a_list_ends_the_session(project: Project) -> None:
    project.says(cases("?"))
    project.file("answers.jsonl", json.dumps({"id": "q1", "answer": "Paris", "trace": "searched"}))
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.status == 4
    message = "answers.jsonl:1: trace: found 'searched', wanted a list of objects with kind and detail"
    assert message in run.result.stderr.str()


def test_traces_are_exported_to_one_file_per_case(project: Project) -> None:
    conftest = CONFTEST.replace("{system}", "plain")
    rows = [
        *cases("say Paris", "say Rome"),
        case("a/b", "say Bonn"),
        case("A_1"),
        case("a_1"),
        case("x", "say nowhere"),
    ]
    project.says(rows, conftest=conftest)
    run = project.run()
    export = project.command("export", "--as", "traces", "--out", "out")
    assert (export.returncode, export.stderr) == (0, "")
    assert export.stdout.startswith("out: 6 traces of run ")
    names = sorted(path.name for path in (project.path / "out").iterdir())
    assert [name.partition("-")[0] for name in names] == ["A_1", "a", "a_1", "q1.json", "q2.json", "x.json"]
    content = json.loads((project.path / "out" / "q1.json").read_text(encoding="utf-8"))
    assert content["trace"] == run.outcomes["q1"]["answer"]["trace"]
    assert content["diagnosis"] == run.outcomes["q1"]["diagnosis"]
    assert content["diagnosis"]["type"] == "EM"
    assert (content["question"], content["gold"], content["answer"]) == ("say Paris", [["Paris"]], "Paris")
    again = project.command("export", "--as", "traces", "--out", "out")
    assert (again.returncode, again.stderr) == (
        2, "rageval: out is not empty; name another folder with --out [RAG101]\n"
    )  # fmt: skip


def test_a_run_without_traces_has_nothing_to_export(project: Project) -> None:
    project.says(cases("say Paris"))
    project.run()
    export = project.command("export", "--as", "traces")
    assert export.returncode == 2
    assert "has a trace; docs/how-to/traces.md shows how" in export.stderr


THREADS = """
    import threading
    import contextvars
    import pytest
    from pytest_rageval import tracing

    @tracing.tool
    def search(title):
        return title

    def system(query):
        for run in (search, lambda title: contextvars.copy_context().run(search, title)):
            thread = threading.Thread(target=run, args=("lost",))
            thread.start()
            thread.join()
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(search, "kept"))
        thread.start()
        thread.join()
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return system
"""


def test_steps_of_threads_without_context_are_counted_once(project: Project, mode: Mode) -> None:
    project.says(cases("say Paris", "say Rome"), conftest=THREADS)
    run = project.run(*mode)
    assert run.text.count("trace: 4 steps came from threads without the case's context") == 1
    for outcome in run.outcomes.values():
        detail = {"name": "search", "arguments": {"title": "kept"}, "result": "kept"}
        assert steps_of(outcome) == [("tool", detail), ("end", {"reason": "finished"})]


def test_steps_of_sync_systems_in_threads_do_not_mix(project: Project) -> None:
    words = [f"City{n}" for n in range(16)]
    conftest = CONFTEST.replace("{system}", "plain")
    project.says(cases(*(f"say {word}" for word in words)), "gates=['n >= 1']", conftest=conftest)
    run = project.run("--rag-concurrency", "16")
    for number, word in enumerate(words, 1):
        assert steps_of(run.outcomes[f"q{number}"])[:2] == search_steps(word)


def test_answers_from_single_documents_add_no_steps_to_the_trace(project: Project) -> None:
    words = ["Paris", "Rome"]
    conftest = CONFTEST.replace("{system}", "plain")
    project.says(cases(*(f"say {word}" for word in words)), conftest=conftest)
    project.file("test_it.py", RUNS.replace('["accuracy"]', '["accuracy", "erag:P@5"]').replace("{arguments}", ""))
    run = project.run()
    for number, word in enumerate(words, 1):
        outcome = run.outcomes[f"q{number}"]
        assert steps_of(outcome)[:2] == search_steps(word)
        assert len(outcome["answer"]["trace"]) == 4
        assert outcome["scores"]["erag:P@5"]["value"] is not None


def test_steps_of_a_user_generator_are_in_the_trace_of_the_default_system(project: Project) -> None:
    conftest = CONFTEST.replace("return {system}", "return plain").replace("def rag_system():", "def rag_generator():")
    project.says(cases("say Paris"), conftest=conftest)
    project.file("pytest.ini", "[pytest]\nrag_corpus = corpus.jsonl\n")
    project.data([{"id": "d1", "text": "Paris is the capital. Say so."}], "corpus.jsonl")
    run = project.run()
    trace = run.outcomes["q1"]["answer"]["trace"]
    assert [step["kind"] for step in trace] == ["tool", "retrieve", "completion", "generate", "end"]
    assert trace[1]["detail"]["retriever"] == "shelf"
    assert [each["doc_id"] for each in run.outcomes["q1"]["answer"]["ranking"]] == ["d1"]


@pytest.mark.parametrize("system", ["plain", "later"])
def test_a_system_that_raises_keeps_the_steps_before_it(project: Project, mode: Mode, system: str) -> None:
    later = """
    async def later(query):
        return await asyncio.to_thread(plain, query)
"""
    conftest = CONFTEST.replace("    @pytest.fixture", f"{later}\n    @pytest.fixture", 1).replace("{system}", system)
    gates = ["tool_calls <= 3", "tokens <= 100"]
    project.says([case("q1", "Where is trouble"), case("q2", "Where is Paris")], f"gates={gates}", conftest=conftest)
    run = project.run(*mode)
    assert [(run.gates[gate]["value"], run.gates[gate]["n"]) for gate in gates] == [(1, 1), (12, 1)]
    broken, fine = run.outcomes["q1"], run.outcomes["q2"]
    assert (broken["status"], broken["error_type"], broken["scores"]) == ("error", "system_error", {})
    assert "RuntimeError: the agent is broken" in broken["error"]
    assert [kind for kind, _ in steps_of(broken)] == ["tool", "retrieve"]
    assert [kind for kind, _ in steps_of(fine)] == ["tool", "retrieve", "completion", "end"]
    output = project.command("show", "--case", "q1").stdout
    assert 'tool  search(title="trouble")' in output
