"""The table of all options and ini settings; each row declares a setting and its typed attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config import components, invocation, option_groups, parsing
from pytest_rageval.hooks.config.option_groups import BaselineSetting, ReportTargets, TrustSetting
from pytest_rageval.hooks.config.setting import Fact, Group, Place, Setting, Settings, declared

if TYPE_CHECKING:
    from pytest_rageval.analysis.decisions.selected_part import PartPolicy
    from pytest_rageval.hooks.config.environments import EnvironmentLine
    from pytest_rageval.hooks.config.models import ModelSetting
    from pytest_rageval.model.phrases import Markers
    from pytest_rageval.trace.otel.live import Mode

__all__ = ["Options", "add_options"]


def _environments(value: Sequence[str], place: Place) -> Mapping[str, EnvironmentLine]:
    """Return name -> environment."""
    if not value:
        return {}
    from pytest_rageval.hooks.config.environments import environments

    return environments(value)


class Options(Settings):
    """The settings of the command line and the ini."""

    # fmt: off
    systems = Setting("--rag-system", parse=parsing.distinct, action="append", default=[], metavar="NAME",
        help="system under test: a registered name, NAME@MODEL, chain:FILE.toml, module:attr or an alias of "
        "rag_systems; repeat to compare several",
        more="how-to/systems.md")
    ini_systems = Setting("rag_system", parse=parsing.distinct, kind="linelist",
        help="system under test, like --rag-system; a fixture rag_system has priority", more="how-to/systems.md")
    named_systems = Setting("rag_systems", parse=components.named_systems, kind="linelist",
        help="aliases of systems: 'alias: name@model; option=value', one per line", reported=True,
        more="how-to/compare-systems.md#several-models")
    model_name = Setting("--rag-model", "rag_model", parse=parsing.name, metavar="MODEL",
        help="the model of the systems: its litellm name (openai/gpt-4o-mini), or script:FILE.toml",
        decides="systems", reported=True, more="how-to/models.md")
    model_params = Setting("rag_model_params", parse=components.chat_params, kind="linelist",
        help="parameters of rag_model: 'name = value', one per line", needs="rag_model",
        decides="systems", reported=True, more="how-to/models.md#parameters")
    judge_name = Setting("--rag-judge-model", "rag_judge_model", parse=parsing.name, metavar="MODEL",
        help="the model that judges: its litellm name, or script:FILE.toml",
        decides="systems", reported=True, more="how-to/judges.md")
    judge_params = Setting("rag_judge_params", parse=components.chat_params, kind="linelist",
        help="parameters of rag_judge_model: 'name = value', one per line", needs="rag_judge_model",
        decides="systems", reported=True, more="how-to/judges.md")
    panels = Setting("rag_judges", parse=components.panels, kind="linelist",
        help="panel of a metric: 'metric: model, model; option', one per line", reported=True,
        more="how-to/judges.md#several-judges")
    min_accuracy = Setting("rag_judge_min_accuracy", parse=parsing.share, default="0.85",
        help="accuracy that a local judge needs for escalate=auto of rag_judges (default 0.85)",
        more="how-to/train-a-judge.md#ask-a-model-only-in-doubt")
    trust = Group(TrustSetting)
    embedder_name = Setting("rag_embedder_model", parse=parsing.name,
        help="the embedding model, by its litellm name",
        decides="systems", reported=True, more="how-to/models.md#embeddings")
    embedder_params = Setting("rag_embedder_params", parse=components.embedder_params, kind="linelist",
        help="parameters of rag_embedder_model: 'name = value', one per line", needs="rag_embedder_model",
        decides="systems", reported=True, more="how-to/models.md#embeddings")
    prompts = Setting("rag_prompts", parse=components.prompts, kind="linelist",
        help="your own prompts: 'language: file.toml', one per line",
        decides="systems", more="how-to/models.md#change-the-prompts")
    rejection = Setting("rag_rejection_sentence", parse=parsing.text_by_language, kind="linelist",
        help="what to answer without evidence: 'language: text'",
        decides="settings", more="how-to/models.md#change-the-prompts")
    error = Setting("rag_error_sentence", parse=parsing.text_by_language, kind="linelist",
        help="what to answer about false passages: 'language: text'",
        decides="settings", more="how-to/models.md#change-the-prompts")

    shard: Setting[tuple[int, int] | None] = Setting("--rag-shard", type=parsing.shard, metavar="I/N",
        help="run one machine's share of the cases, such as 1/3; 'rageval merge' joins the results and decides the "
        "gates", more="how-to/machines.md#split-the-cases-over-machines")
    seed: Setting[int | None] = Setting("--rag-seed", type=int, metavar="S",
        help="seed for assemblies and samples (default: the marker's, else 0)", reported=True)
    limit: Setting[int | None] = Setting("--rag-limit", type=parsing.positive, metavar="N",
        help="run only the first N cases of each testbed", reported=True)
    sample: Setting[int | None] = Setting("--rag-sample", type=parsing.positive, metavar="N",
        help="run N cases of each testbed, stratified by topic and task", reported=True)
    repeat: Setting[int] = Setting("--rag-repeat", type=parsing.positive, default=1, metavar="K",
        help="run each case K times and report the variation", decides="settings", reported=True,
        more="how-to/slow-or-flaky.md#ask-every-case-several-times")
    answers = Setting("--rag-answers", parse=parsing.path, metavar="PATH",
        help="score recorded answers (JSONL) instead of calling a system", decides="systems", reported=True,
        more="how-to/systems.md#score-answers-that-another-program-produced")

    cli_gates = Setting("--rag-gate", parse=parsing.lines, action="append", default=[], metavar="EXPR",
        help="a gate over the session, for instance 'accuracy[noise_rate=0.8] >= 70%'; may be repeated",
        more="how-to/gates.md")
    ini_gates = Setting("rag_gates", parse=parsing.lines, kind="linelist",
        help="gates over the session, one per line", more="how-to/gates.md")
    diagnosis = Setting("rag_diagnosis", parse=option_groups.diagnosis, decides="settings", reported=True,
        help="when the diagnosis calls an answer right: 'metric=hotpot_f1; threshold=0.5' (default: the testbed's "
        "first metric of answers, from 0.5 on)", more="how-to/diagnosis.md")
    baseline = Group(BaselineSetting)
    partial_gates: Setting[PartPolicy] = Setting("rag_partial_gates", parse=parsing.one_of("skip", "decide", "fail"),
        help="skip, decide or fail a gate with a fixed bound over a part of its cases (node ids, -k, --lf, "
        "--rag-limit; not -m or paths)", default="skip", more="how-to/gates.md#a-part-of-the-cases")
    cluster = Setting("rag_cluster", parse=parsing.cluster, default="dialogue",
        help="the facet whose value dependent cases share, for testbeds without cluster",
        more="explanation/decisions.md#independent-units")
    cluster_origin = Fact(lambda config: invocation.ini_origin(config, "rag_cluster"))

    corpus = Setting("rag_corpus", parse=parsing.lines, kind="linelist",
        help="the corpus to search: paths, globs or format:path, one per line",
        more="how-to/retrieval.md#search-your-documents")
    retriever = Setting("rag_retriever", parse=parsing.text, default="bm25",
        help="retriever over rag_corpus (bm25, dense, hybrid, a registered name) or elsewhere (pgvector, opensearch, "
        "run:FILE)", needs="rag_retriever",
        decides="systems", reported=True, more="how-to/retrieval.md#choose-a-retriever")
    retriever_params = Setting("rag_retriever_params", parse=components.retriever_params, kind="linelist",
        help="parameters of rag_retriever: 'name = value', one per line", needs="rag_retriever",
        decides="systems", reported=True, more="how-to/retrieval.md#choose-a-retriever")
    top_k = Setting("rag_top_k", parse=parsing.passages,
        help="number of passages to retrieve (default 5)", needs="rag_retriever",
        decides="systems", reported=True, more="how-to/retrieval.md#choose-a-retriever")
    chunking = Setting("rag_chunking", parse=parsing.text, default="none", needs="rag_corpus", reported=True,
        help="chunking of rag_corpus: none, tokens SIZE [OVERLAP], sentences SIZE [OVERLAP] or sections",
        more="how-to/retrieval.md#search-your-documents")
    user_dict = Setting("rag_user_dict", parse=parsing.lines, kind="linelist",
        help="extra words for segmenting Chinese: files in jieba's format",
        more="explanation/matching.md#chinese")
    environments = Setting("rag_environments", parse=_environments, kind="linelist",
        help="tools of agents: 'name: kind; option=value', one environment per line",
        decides="systems", reported=True, more="how-to/environments.md")
    rejection_markers = Setting("rag_rejection_markers", kind="linelist",
        parse=parsing.texts_by_language("en: no answer"), help="texts of a rejection: 'language: text', one per line",
        more="explanation/matching.md#when-is-an-answer-a-refusal")
    error_markers = Setting("rag_error_markers", kind="linelist",
        parse=parsing.texts_by_language("en: is wrong"), help="texts of a detected error: 'language: text', one per "
        "line", more="explanation/matching.md#when-is-an-answer-a-refusal")

    sandbox: Setting[str] = Setting("rag_sandbox", parse=components.sandbox, default="monty",
        help="where programs that a model wrote run: monty (extra agents), or bubblewrap (all of Python, on Linux)",
        decides="systems", more="explanation/sandbox.md")
    concurrency = Setting("--rag-concurrency", "rag_concurrency", parse=parsing.count, type=parsing.positive,
        help="concurrent answers in a process (default: 16 for async systems and models, 1 for a sync callable)",
        metavar="N", reported=True, more="how-to/slow-or-flaky.md#answer-several-cases-at-once")
    record_mode = Setting("--rag-record-mode", "rag_record_mode", parse=components.record_mode,
        help="record and replay every model call: none = only replay, all = only record (default: neither)",
        choices=("none", "once", "new_episodes", "all"), more="how-to/recordings.md")
    cassettes = Setting("rag_cassettes", parse=parsing.folder, default="cassettes",
        help="folder of the recordings, relative to the ini", more="how-to/recordings.md")
    record_http = Setting("rag_record_http", parse=components.hosts,
        help="hosts whose requests of your own system are recorded, metered and bounded: api.openai.com, "
        "*.anthropic.com, localhost:8000", more="how-to/recordings.md#record-your-own-system")
    proxy: Setting[bool] = Setting("rag_proxy", kind="bool", default=False,
        help="whether a server on the loopback records the calls of systems in other processes; its address is in "
        "OPENAI_BASE_URL", more="how-to/recordings.md#a-system-in-another-process")
    record_cases = Setting("--rag-record-case", parse=parsing.lines, action="append", default=[], metavar="ID",
        help="record the calls of this case anew, whatever the record mode; may be repeated",
        more="how-to/recordings.md#record-one-case-anew")
    stale_recordings: Setting[str] = Setting("rag_stale_recordings", parse=parsing.one_of("error", "warn", "replay"),
        help="error, warn or replay if the code of a recorded function has changed", default="error",
        more="how-to/recordings.md#record-one-function")
    budget_usd: Setting[float | None] = Setting("--rag-budget-usd", type=parsing.dollars, metavar="X",
        help="stop before the model calls cost more than X",
        more="how-to/money.md#stop-before-a-budget-is-passed")
    budget_partial: Setting[bool] = Setting("--rag-budget-partial", action="store_true",
        help="with --rag-budget-usd: bound only the visible calls, although calls of your own system are invisible",
        more="how-to/money.md#stop-before-a-budget-is-passed")
    dry_run: Setting[bool] = Setting("--rag-dry-run", action="store_true",
        help="report numbers of cases, calls, tokens, and cost; run nothing",
        more="how-to/money.md#count-before-you-pay")
    shrink: Setting[int | None] = Setting("--rag-shrink", type=parsing.cases_to_shrink, nargs="?", const=3, metavar="N",
        help="find the smallest context that breaks each of the N worst missed cases (3); write --rag-shrink=N",
        more="how-to/properties.md#find-what-breaks-a-case")
    resume: Setting[str | None] = Setting("--rag-resume", nargs="?", const="", metavar="RUN",
        help="resume a run, by its name or folder (default: the newest that is unfinished or has errors)",
        more="how-to/resume.md")

    traces: Setting[Mode] = Setting("rag_traces", parse=parsing.one_of("auto", "otel", "off"), default="auto",
        help="collect the spans of each case: auto (if OpenTelemetry's SDK is imported when the first case runs), otel "
        "or off", more="how-to/opentelemetry.md")
    otel: Setting[bool] = Setting("--rag-otel", action="store_true",
        help="send each score as an event gen_ai.evaluation.result on its case's trace",
        more="how-to/opentelemetry.md#send-the-verdicts-back")

    matrix: Setting[str | None] = Setting("--rag-matrix", metavar="METRIC",
        help="metric of the printed matrix (default: each testbed's primary metric)",
        more="how-to/reports.md#choose-the-matrix")
    rows: Setting[str | None] = Setting("--rag-rows", metavar="FACET",
        help="rows of the matrix (default: topic)", more="how-to/reports.md#choose-the-matrix")
    cols: Setting[str | None] = Setting("--rag-cols", metavar="FACET",
        help="columns of the matrix (default: task)", more="how-to/reports.md#choose-the-matrix")
    reports = Group(ReportTargets)
    texts: Setting[bool] = Setting("rag_report_texts", kind="bool", default=True, decides="settings",
        help="whether reports contain texts of data and answers",
        more="how-to/secrets.md#keep-texts-out-of-reports")
    trace_chars = Setting("rag_trace_chars", parse=parsing.trace_chars, default="20000",
        help="characters to keep of each text in the steps of an answer (default 20000)",
        more="how-to/traces.md#sizes-and-secrets")
    secrets = Setting("rag_secrets", parse=parsing.lines, kind="args",
        help="environment variables to mask in all output, * allowed", more="how-to/secrets.md")
    keep_runs = Setting("rag_keep_runs", parse=parsing.keep, default="50, 2 GB",
        help="number of runs to keep in .rageval/runs, or all, and their size (default 50, 2 GB)",
        more="explanation/stored.md#the-folder-of-a-run")

    ini_folder = Fact(invocation.ini_folder)
    folders = Fact(invocation.folders)
    cli_models = Fact(invocation.cli_models)
    narrowed = Fact(invocation.is_narrowed)
    apart = Fact(invocation.is_apart)
    debugged = Fact(invocation.is_debugged)
    # fmt: on

    def __init__(self, config: pytest.Config) -> None:
        if Options.limit.read(config) and Options.sample.read(config):
            raise SettingError("--rag-limit and --rag-sample exclude each other; give one of them", code="RAG103")
        if Options.answers.read(config) and Options.systems.read(config):
            raise SettingError("--rag-answers and --rag-system exclude each other; give one of them", code="RAG103")
        super().__init__(config)
        if self.baseline.answers and not self.texts:
            raise SettingError(
                "rag_baseline_answers = true stores the texts that rag_report_texts = false leaves out; remove one of "
                "them",
                code="RAG103",
            )
        if self.baseline.update and self.shard is not None:
            raise SettingError(
                "--rag-update-baseline needs a whole run, and --rag-shard runs a part; give one of them", code="RAG103"
            )

    @property
    def model(self) -> ModelSetting:
        """The model of the systems."""
        return replace(self.model_params, name=self.model_name)

    @property
    def judge(self) -> ModelSetting:
        """The model that judges."""
        return replace(self.judge_params, name=self.judge_name)

    @property
    def embedder(self) -> ModelSetting:
        """The embedding model."""
        return replace(self.embedder_params, name=self.embedder_name)

    @property
    def panelists(self) -> list[str]:
        """The distinct litellm names of the models in panels, without local judges and the fixture ``rag_judge``."""
        names = dict.fromkeys(model for panel in self.panels.values() for model in panel.remote_models)
        return [model for model in names if model != "rag_judge"]

    @property
    def system_models(self) -> list[str]:
        """The distinct litellm names of the models of ``NAME@MODEL`` and of the aliases in use."""
        from pytest_rageval.hooks.config.system_names import model_of

        names = self.systems or self.ini_systems
        return list(dict.fromkeys(model for name in names if (model := model_of(name, self.named_systems))))

    @property
    def trace_mode(self) -> Mode:
        """Whether spans are collected: `traces`, and always with ``--rag-otel``."""
        return "otel" if self.otel else self.traces

    @property
    def looks_ahead(self) -> bool:
        """Whether systems answer cases ahead of their tests; False with a debugger or concurrency 1."""
        return self.concurrency != 1 and not self.debugged

    @property
    def markers(self) -> Markers:
        """The markers of a rejection and of a detected error.

        A language's markers replace its rule for plain refusals. A sentence that replaces RGB's is also a marker, in
        addition to the rule.
        """
        from pytest_rageval.model.phrases import DEFAULT_MARKERS, Markers

        own, errors = self.rejection_markers, self.error_markers
        return Markers(
            rejection={**_tuples(self.rejection), **own},
            error={**DEFAULT_MARKERS.error, **_tuples(self.error), **errors},
            rules=tuple(language for language in DEFAULT_MARKERS.rules if language not in own),
        )


def add_options(parser: pytest.Parser) -> None:
    """Add the group "rag" and the ini settings."""
    parser.getgroup("rag", "RAG regression testing")
    for setting in declared(Options):
        setting.add_to(parser)


def _tuples(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {language: (text,) for language, text in texts.items()}
