"""Options of a run: defaults, command line, ini file and invalid values."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.model.phrases import DEFAULT_MARKERS
from pytest_rageval.report.files.pruning import KeepLimits


def options_of(pytester: pytest.Pytester, *args: str) -> Options:
    return Options(pytester.parseconfig(*args))


def test_options_have_defaults(pytester: pytest.Pytester) -> None:
    options = options_of(pytester)
    assert (options.systems, options.ini_systems, options.cli_gates, options.ini_gates) == ((), (), (), ())
    assert (options.answers, options.limit, options.sample, options.seed, options.reports.json) == (None,) * 5
    assert (options.matrix, options.rows, options.cols) == (None, None, None)
    assert (options.top_k, options.texts, options.markers) == (5, True, DEFAULT_MARKERS)
    assert options.folders == (pytester.path, pytester.path)


def test_all_options_are_read(pytester: pytest.Pytester) -> None:
    pytester.makeini("""
        [pytest]
        rag_system =
            app:one
            two
        rag_gates =
            accuracy >= 0.5
            n > 3
        rag_top_k = 8
        rag_report_texts = false
        rag_rejection_markers =
            en: no idea
            en: cannot say
            de: keine Ahnung: wirklich
        rag_error_markers = zh: 有误
    """)
    options = options_of(
        pytester, "--rag-system", "a:b", "--rag-system", "c", "--rag-limit", "3", "--rag-seed", "-7",
        "--rag-gate", "n > 1", "--rag-gate", "n > 2", "--rag-matrix", "m", "--rag-rows", "r", "--rag-cols", "c",
        "--rag-json", "out/r.json",
    )  # fmt: skip
    assert (options.systems, options.ini_systems) == (("a:b", "c"), ("app:one", "two"))
    assert (options.cli_gates, options.ini_gates) == (("n > 1", "n > 2"), ("accuracy >= 0.5", "n > 3"))
    assert (options.limit, options.seed, options.reports.json) == (3, -7, pytester.path / "out" / "r.json")
    assert (options.matrix, options.rows, options.cols) == ("m", "r", "c")
    assert (options.top_k, options.texts) == (8, False)
    assert options.markers.rejection["en"] == ("no idea", "cannot say")
    assert options.markers.rejection["de"] == ("keine Ahnung: wirklich",)
    assert "zh" not in options.markers.rejection
    assert options.markers.rules == ("zh",)  # the markers replace the English rule
    assert options.markers.error == {**DEFAULT_MARKERS.error, "zh": ("有误",)}


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--rag-limit=1", "--rag-sample=1"], "--rag-limit and --rag-sample exclude each other; give one of them"),
        (["--rag-answers=a", "--rag-system=b"], "--rag-answers and --rag-system exclude each other; give one of them"),
        (["--rag-system=b", "--rag-system=b"], "--rag-system names 'b' twice; name each system once"),
        (["-o", "rag_system=b\nb"], "rag_system names 'b' twice; name each system once"),
        (["-o", "rag_top_k=-1"], "rag_top_k is '-1'; write a whole number of 1 or more"),
        (["-o", "rag_partial_gates=warn"], "rag_partial_gates is 'warn'; write skip, decide or fail"),
        (["-o", "rag_sandbox=mony"], "rag_sandbox: unknown sandbox 'mony'; did you mean 'monty'?"),
        (["-o", "rag_alpha_per=case"], "rag_alpha_per is 'case'; write session or gate"),
        (["-o", "rag_top_k=²"], "rag_top_k is '²'; write a whole number of 1 or more"),
        (["-o", "rag_error_markers=en:"], "rag_error_markers has the line 'en:'; write 'language: text', for instance"),
        (["-o", "rag_report_texts=maybe"], "rag_report_texts in the ini cannot be used: invalid truth value 'maybe'"),
    ],
)
def test_an_invalid_option_raises_an_error_with_its_name(
    pytester: pytest.Pytester, args: list[str], sentence: str
) -> None:
    with pytest.raises(SettingError) as error:
        options_of(pytester, *args)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("args", "is_narrowed"), [((), False), ((".",), False), (("tests",), True), (("test_a.py::test_b",), True)]
)
def test_a_run_of_some_paths_is_narrowed(pytester: pytest.Pytester, args: tuple[str, ...], is_narrowed: bool) -> None:
    pytester.makeini("[pytest]")
    pytester.mkdir("tests")
    pytester.makepyfile(test_a="def test_b(): pass")
    assert options_of(pytester, *args).narrowed is is_narrowed
    assert options_of(pytester, *args, str(pytester.path)).narrowed is False  # the paths include the whole project


@pytest.mark.parametrize(("text", "keep"), [("3", KeepLimits(3)), ("all, 1 GB", KeepLimits(None, 10**9))])
def test_the_ini_sets_the_number_of_runs_to_keep(pytester: pytest.Pytester, text: str, keep: KeepLimits) -> None:
    assert options_of(pytester).keep_runs == KeepLimits(50, 2 * 10**9)
    pytester.makeini(f"[pytest]\nrag_keep_runs = {text}")
    assert options_of(pytester).keep_runs == keep


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_an_invalid_number_of_runs_to_keep_is_refused(pytester: pytest.Pytester, text: str) -> None:
    pytester.makeini(f"[pytest]\nrag_keep_runs = {text}")
    with pytest.raises(SettingError, match=f"^rag_keep_runs is '{text}'; write how many runs to keep, 1 or more, or"):
        options_of(pytester)
