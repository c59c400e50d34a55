"""An installed but unused plugin loads only a few small modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ALLOWED = {
    "pytest_rageval", "pytest_rageval.engine", "pytest_rageval.engine.catalog", "pytest_rageval.errors",
    "pytest_rageval.hooks", "pytest_rageval.hooks.collect", "pytest_rageval.hooks.collect.keys",
    "pytest_rageval.hooks.collect.markers", "pytest_rageval.hooks.collect.start",
    "pytest_rageval.hooks.collect.usage_errors",
    "pytest_rageval.hooks.config", "pytest_rageval.hooks.config.components", "pytest_rageval.hooks.config.invocation",
    "pytest_rageval.hooks.config.option_groups", "pytest_rageval.hooks.config.options",
    "pytest_rageval.hooks.config.parsing", "pytest_rageval.hooks.config.process", "pytest_rageval.hooks.config.setting",
    "pytest_rageval.hooks.prepare", "pytest_rageval.hooks.prepare.hooks", "pytest_rageval.hooks.reporting",
    "pytest_rageval.hooks.reporting.case_reports", "pytest_rageval.hooks.reporting.account_printer",
    "pytest_rageval.hooks.reporting.hooks",
    "pytest_rageval.hooks.reporting.keys", "pytest_rageval.hooks.run", "pytest_rageval.hooks.run.current_test",
    "pytest_rageval.hooks.run.fixtures",
    "pytest_rageval.hooks.run.keys", "pytest_rageval.hooks.setup", "pytest_rageval.hookspecs",
    "pytest_rageval.model", "pytest_rageval.model.facets", "pytest_rageval.model.fixed_dict",
    "pytest_rageval.plugin", "pytest_rageval.registry",
}  # fmt: skip
"""The modules of the plugin that may be loaded before it meets a rag case."""

HEAVY = (
    "bm25s",
    "numpy",
    "litellm",
    "mlflow",
    "pyarrow",
    "torch",
    "jinja2",
    "tabulate",
    "starlette",
    "uvicorn",
    "httpx",
)

SCRIPT = """
import json, sys
import pytest

class Spy:
    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self):
        with open("loaded.json", "w") as stream:
            json.dump(sorted(sys.modules), stream)

sys.exit(pytest.main(sys.argv[1:], plugins=[Spy()]))
"""


def modules_loaded(folder: Path, *args: str, status: int = 0) -> set[str]:
    """Run a session in a new process without other plugins, and return the modules that it loaded."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COVERAGE_PROCESS_START": ""}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-c", SCRIPT, "-p", "no:cacheprovider", *args]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == status, process.stdout + process.stderr
    return set(json.loads((folder / "loaded.json").read_text(encoding="utf-8")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_plain.py").write_text("def test_plain(): ...\n", encoding="utf-8")
    (tmp_path / "other.toml").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "args",
    [
        ("--collect-only",),
        (),
        ("--markers",),
        ("--rag-limit", "3", "--rag-system", "x:y"),
        ("-o", "rag_user_dict=gone.txt"),
    ],
)
def test_only_these_modules_are_loaded_without_a_rag_case(folder: Path, args: tuple[str, ...]) -> None:
    base_modules = modules_loaded(folder, *(arg for arg in args if arg in ("--collect-only", "--markers")))
    modules = modules_loaded(folder, "-p", "pytest_rageval.plugin", *args)
    plugin_modules = {name for name in modules if name.split(".")[0] == "pytest_rageval"}
    assert plugin_modules <= ALLOWED
    assert {name.split(".")[0] for name in modules - base_modules} <= {
        "pytest_rageval",
        "dis",
        "opcode",
        "_opcode",
        "_opcode_metadata",
    }
    assert not (folder / ".rageval").exists()


def test_a_conftest_that_registers_loads_no_more_than_it_imports(folder: Path) -> None:
    (folder / "conftest.py").write_text(
        "def pytest_rageval_register(registry):\n    registry.systems.register('x', print)\n"
    )
    modules = modules_loaded(folder, "-p", "pytest_rageval.plugin")
    for heavy in (*HEAVY, "rjieba", "jieba", "snowballstemmer"):
        assert heavy not in modules


def test_collecting_a_rag_case_loads_no_model_and_no_table(folder: Path) -> None:
    (folder / "cases.jsonl").write_text('{"id": 1, "question": "Q", "answers": ["a"]}\n', encoding="utf-8")
    (folder / "test_rag.py").write_text(
        "from pytest_rageval import rag_case\n@rag_case('jsonl:cases.jsonl')\ndef test_it(rag): ...\n", encoding="utf-8"
    )
    modules = modules_loaded(folder, "-p", "pytest_rageval.plugin", "--collect-only")
    assert "pytest_rageval.hooks.collect.session" in modules
    for heavy in HEAVY:
        assert heavy not in modules


def test_a_run_over_a_corpus_loads_no_library_of_an_extra(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nrag_corpus = visit.md\n", encoding="utf-8")
    (folder / "visit.md").write_text("The museum opens at 9:00.\n", encoding="utf-8")
    (folder / "cases.jsonl").write_text(
        '{"id": 1, "question": "What opens?", "answers": ["museum"]}\n', encoding="utf-8"
    )
    (folder / "test_rag.py").write_text(
        "from pytest_rageval import rag_case\n@rag_case('jsonl:cases.jsonl')\ndef test_it(rag):\n"
        "    assert rag.answer.ranking\n",
        encoding="utf-8",
    )
    modules = modules_loaded(folder, "-p", "pytest_rageval.plugin")
    assert "pytest_rageval.retrieval.bm25" in modules
    assert modules.isdisjoint({"httpx", "litellm", "pyarrow", "ray", "torch"})


def test_a_session_of_one_plain_system_loads_no_module_that_it_does_not_use(folder: Path) -> None:
    (folder / "cases.jsonl").write_text('{"id": 1, "question": "Q", "answers": ["a"]}\n', encoding="utf-8")
    (folder / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(scope='session')\ndef rag_system():\n    return lambda query: 'a'\n",
        encoding="utf-8",
    )
    (folder / "test_rag.py").write_text(
        "from pytest_rageval import rag_case\n"
        "@rag_case('jsonl:cases.jsonl', gates=['accuracy >= 0.5'])\ndef test_it(rag): ...\n",
        encoding="utf-8",
    )
    modules = modules_loaded(folder, "-p", "pytest_rageval.plugin")
    assert "pytest_rageval.report.files.results_json" in modules
    unused = (
        "environments.environment", "corpora.chunking", "text.refusals_en", "engine.inputs.table",
        "engine.planned_calls", "engine.recorded_answers", "analysis.systems.matching", "report.export.markdown",
        "retrieval.adapt_retriever", "systems.naive", "metrics.rankings.evidence",
    )  # fmt: skip
    assert not modules.intersection(["asyncio", *HEAVY, *(f"pytest_rageval.{name}" for name in unused)])


def test_pytest_loads_the_installed_plugin(folder: Path) -> None:
    off = ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS")
    environment = {name: value for name, value in os.environ.items() if name not in off}
    command = [sys.executable, "-m", "pytest", "--markers"]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert "@pytest.mark.rag_case" in process.stdout
