"""Options of models: parsing, validation and defaults."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.models import ModelSetting, model_setting
from pytest_rageval.hooks.config.options import Options


def test_values_of_params_are_parsed_as_json_or_text() -> None:
    lines = [
        "max_tokens = 512",
        "api_base=http://127.0.0.1:8000/v1?a=b",
        'stop = ["\\n", "="]',
        "seed = 7",
        "top_p = 0.5",
    ]
    setting = model_setting("openai/m", lines, "rag_model_params")
    assert setting.name == "openai/m"
    assert setting.params == {
        "temperature": 0, "max_tokens": 512, "api_base": "http://127.0.0.1:8000/v1?a=b", "stop": ["\n", "="],
        "seed": 7, "top_p": 0.5,
    }  # fmt: skip
    assert setting.retry == {}


def test_retry_limits_are_not_model_parameters() -> None:
    setting = model_setting("m", ["attempts = 3", "deadline = 0.5", "temperature = 1", "timeout = 9"], "here")
    assert (setting.params, setting.retry) == ({"temperature": 1, "timeout": 9}, {"attempts": 3, "deadline_s": 0.5})


def test_no_name_means_no_model() -> None:
    assert model_setting("", [], "here") == ModelSetting(None, {"temperature": 0})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("max_tokens", "has the line 'max_tokens'; write 'name = value', for instance 'max_tokens = 512'"),
        ("= 3", "has the line '= ...'; write 'name = value'"),
        ("api_key sk-live-secret", "has the line 'api_key ...'; write 'name = value'"),
        ("api_key: sk-live-secret", "has the line 'api_key ...'; write 'name = value'"),
        ("seed =", "has the line 'seed ='; write 'name = value'"),
        ("seed = 2", "gives 'seed' twice; give it once"),
        ("attempts = 0", "has attempts = 0; write a whole number of 1 or more"),
        ("max_reply_bytes = 0", "has max_reply_bytes = 0; write a whole number of 1 or more"),
        ("attempts = 2.5", "has attempts = 2.5; write a whole number of 1 or more"),
        ("attempts = true", "has attempts = True; write a whole number of 1 or more"),
        ("max_tokens = many", "has max_tokens = 'many'; write a whole number of 1 or more"),
        ("max_completion_tokens = -1", "has max_completion_tokens = -1; write a whole number of 1 or more"),
        ("deadline = 0", "has deadline = 0; write a number above 0"),
        ("deadline = Infinity", "has deadline = inf; write a number above 0"),
        ("timeout = soon", "has timeout = 'soon'; write a number above 0"),
        ("input_cost_per_token = $1", "has input_cost_per_token = '$1'; write a number of 0 or more"),
        ("output_cost_per_token = -0.1", "has output_cost_per_token = -0.1; write a number of 0 or more"),
    ],
)
def test_an_error_quotes_the_invalid_line(line: str, sentence: str) -> None:
    with pytest.raises(SettingError) as error:
        model_setting("m", ["seed = 1", line], "rag_model_params")
    assert str(error.value).startswith(f"rag_model_params {sentence}")


def test_a_free_model_costs_nothing() -> None:
    assert model_setting("m", ["input_cost_per_token = 0"], "here").params["input_cost_per_token"] == 0


def options_of(pytester: pytest.Pytester, *args: str) -> Options:
    return Options(pytester.parseconfig(*args))


def test_the_default_is_no_model_and_no_recording(pytester: pytest.Pytester) -> None:
    options = options_of(pytester)
    assert (options.model.name, options.judge.name, options.concurrency, options.looks_ahead) == (
        None,
        None,
        None,
        True,
    )
    assert (options.embedder.name, options.embedder.params) == (None, {})
    assert (options.record_mode, options.cassettes) == (None, pytester.path / "cassettes")
    assert (options.budget_usd, options.dry_run, options.repeat) == (None, False, 1)
    assert (options.prompts, options.rejection, options.error) == ({}, {}, {})


def test_the_command_line_overrides_the_models_of_the_ini(pytester: pytest.Pytester) -> None:
    pytester.makeini("""
        [pytest]
        rag_model = openai/ini
        rag_judge_model = openai/judge
        rag_model_params = seed = 1
        rag_judge_params =
            seed = 2
            attempts = 4
        rag_embedder_model = openai/embedder
        rag_embedder_params =
            dimensions = 256
            deadline = 9
        rag_concurrency = 3
        rag_record_mode = once
        rag_cassettes = calls/recorded
        rag_prompts = de: prompts/de.toml
        rag_rejection_sentence = en: No idea.
        rag_error_sentence = en: That is wrong.
    """)
    options = options_of(pytester)
    assert (options.model.name, options.model.params) == ("openai/ini", {"temperature": 0, "seed": 1})
    assert (options.judge.name, options.judge.retry) == ("openai/judge", {"attempts": 4})
    assert options.embedder == ModelSetting("openai/embedder", {"dimensions": 256}, {"deadline_s": 9})
    assert (options.concurrency, options.record_mode) == (3, "once")
    assert options.cassettes == pytester.path / "calls" / "recorded"
    assert options.prompts == {"de": pytester.path / "prompts" / "de.toml"}
    assert (options.rejection, options.error) == ({"en": "No idea."}, {"en": "That is wrong."})
    assert (options.markers.rejection, options.markers.rules) == ({"en": ("No idea.",)}, ("en", "zh"))
    assert options.markers.error["en"] == ("That is wrong.",)

    options = options_of(
        pytester, "--rag-model", "openai/cli", "--rag-judge-model", "j", "--rag-concurrency", "1",
        "--rag-record-mode", "none", "--rag-budget-usd", "0.5", "--rag-repeat", "2", "--rag-dry-run",
    )  # fmt: skip
    assert (options.model.name, options.model.params["seed"], options.judge.name) == ("openai/cli", 1, "j")
    assert (options.concurrency, options.looks_ahead, options.record_mode) == (1, False, "none")
    assert (options.budget_usd, options.repeat, options.dry_run) == (0.5, 2, True)


@pytest.mark.parametrize("args", [["--pdb"], ["--trace"], ["--rag-concurrency", "1"]])
def test_look_ahead_is_off_with_a_debugger_or_one_answer_at_a_time(pytester: pytest.Pytester, args: list[str]) -> None:
    assert not options_of(pytester, *args).looks_ahead


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("rag_record_mode=al", "rag_record_mode: unknown record mode 'al'; did you mean 'all'?"),
        ("rag_concurrency=0", "rag_concurrency is '0'; write a whole number of 1 or more"),
        ("rag_concurrency=many", "rag_concurrency is 'many'; write a whole number of 1 or more"),
        ("rag_judge_params=seed", "rag_judge_params has the line 'seed'; write 'name = value'"),
        ("rag_prompts=en.toml", "rag_prompts has the line 'en.toml'; write 'language: text', for instance"),
        ("rag_rejection_sentence=en: a\nen: b", "rag_rejection_sentence gives two texts for 'en'; give one"),
        ("rag_cassettes=a_file", "rag_cassettes names the file "),
    ],
)
def test_an_invalid_ini_setting_raises_an_error_with_its_name(
    pytester: pytest.Pytester, line: str, sentence: str
) -> None:
    (pytester.path / "a_file").touch()
    with pytest.raises(SettingError) as error:
        options_of(pytester, "-o", line)
    assert str(error.value).startswith(sentence)
