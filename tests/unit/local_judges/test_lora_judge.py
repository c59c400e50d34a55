"""``rageval judge train --kind llm`` with a small random model and no network."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main
from pytest_rageval.commands.judge.serving import llm_reply
from pytest_rageval.datasets.sheets import sheet_text
from pytest_rageval.errors import MissingDependencyError, SettingError
from pytest_rageval.judge_training.examples import Example
from pytest_rageval.judge_training.figures import Prediction
from pytest_rageval.judge_training.kind_comparison import KindComparison, compare_kinds
from pytest_rageval.judge_training.llm_card import advice
from pytest_rageval.judge_training.lora import stable_config
from pytest_rageval.local_judges import lora_model
from pytest_rageval.local_judges.features import JudgeInput
from pytest_rageval.local_judges.local_judge import load_judge
from pytest_rageval.local_judges.lora_judge import load_lora_judge, reply_of
from pytest_rageval.local_judges.lora_model import LoraModel, load_base, quiet, require_libraries
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE
from pytest_rageval.retrieval.encoder import model_digest

COLUMNS = ("id", "system", "question", "gold", "answer", "label")
TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}> {{ message.content }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


@pytest.fixture
def no_socket(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Refuse and record every connection and host look-up."""
    attempts: list[Any] = []

    def refuse(*arguments: Any, **more: Any) -> Any:
        attempts.append(arguments)
        raise OSError("the test has no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return attempts


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Let torch use one thread: on a busy machine its threads wait for each other in loops."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rows() -> list[tuple[str, ...]]:
    """Return the labelled answers of two systems to 40 questions: one is right, one is wrong."""
    answers: list[tuple[str, ...]] = []
    for at in range(40):
        for system, price, label in (("desk", at, "right"), ("kiosk", at + 100, "wrong")):
            question, gold = f"What does item {at} cost?", f"{at} euros"
            answers.append((f"q{at}", system, question, gold, f"It costs {price} euros.", label))
    return answers


def random_llama(folder: Path) -> Path:
    """Write a two-layer Llama with random weights, and a tokenizer with the words of the prompts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    prompt = ACCURACY_JUDGE.messages(JudgeInput("What?", (("1 euros",),), "It costs 1 euros.").sample)
    texts = [str(each["content"]) for each in prompt] + [" ".join(row) for row in rows()] + [reply_of("")]
    special = ["<unk>", "<pad>", "<end>", "<system>", "<user>", "<assistant>"]
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))  # noqa: S106
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special))
    tokens = {"unk_token": "<unk>", "pad_token": "<pad>", "eos_token": "<end>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, **tokens)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    set_seed(0)
    sizes: dict[str, int] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads: dict[str, int] = {"num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 1024}
    with quiet():
        LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **sizes, **heads)).save_pretrained(folder)
    return folder


@pytest.mark.usefixtures("one_thread")
def test_an_adapter_can_be_trained_stored_evaluated_and_served(
    tmp_path: Path, no_socket: list[Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random_llama(tmp_path / "base")
    out = tmp_path / "judge"
    Path("sheet.csv").write_text(sheet_text(COLUMNS, rows()), encoding="utf-8")
    labels = ["--value", "right=1", "--value", "wrong=0"]
    train = ["judge", "train", "sheet.csv", "--metric", "accuracy_judged", "--kind", "llm", "--base", "base"]
    assert main([*train, *labels, "--out", "judge"]) == 0, capsys.readouterr().err
    output = capsys.readouterr().out
    assert "40 labels trained the model, 32 tested it" in output
    content = json.loads((out / "judge.json").read_text())
    first, *_, last = content["training"]["losses"]
    assert last < first
    assert content["training"]["dev_loss"] > 0
    assert (content["kind"], content["labels"]) == ("llm", ["wrong", "right"])
    assert {each.name for each in out.iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors", "card.md", "head", "judge.json",
    }  # fmt: skip
    assert {each.name for each in (out / "head").iterdir()} == {"card.md", "judge.json"}
    card = (out / "card.md").read_text()
    assert "on q_proj and v_proj" in card
    assert "of the head on 32 answers" in card
    judge, second_judge = (load_lora_judge(out, model_digest) for _ in range(2))
    messages = ACCURACY_JUDGE.messages(
        JudgeInput("What does item 3 cost?", (("3 euros",),), "It costs 3 euros.").sample
    )
    assert judge.shares(messages) == second_judge.shares(messages)
    reply = json.loads(llm_reply(judge, ACCURACY_JUDGE)(messages))
    assert reply["label"] == judge.labels[0 if judge.shares(messages)[0] >= 0.5 else 1]
    with pytest.raises(SettingError, match="is not the prompt of the judge"):
        llm_reply(judge, ACCURACY_JUDGE)([{"role": "system", "content": "Hello"}, {"role": "user", "content": "you"}])
    assert_refused(capsys, [*train, *labels, "--out", "judge"], "already exists; give --force to replace the judge")
    assert_refused(capsys, [*train[:-2], *labels, "--out", "other"], "--kind llm needs a model")
    assert_refused(capsys, [*train[:-4], *train[-2:], *labels, "--out", "other"], "add --kind llm, or leave it out")
    assert_refused(capsys, [*train[:-1], str(out), *labels, "--out", "other"], "cannot be loaded")
    assert main(["judge", "eval", "judge", "sheet.csv", *labels, "--json"]) == 0, capsys.readouterr().err
    report = json.loads(capsys.readouterr().out)
    assert (report["judge"], report["labels"], report["not_judged"]) == (content["checksum"], 80, 0)
    assert report["of_training"] == 40
    shares = [judge.shares(ACCURACY_JUDGE.messages(JudgeInput(row[2], ((row[3],),), row[4]).sample)) for row in rows()]
    right = sum((one[1] >= 0.5) == (row[5] == "right") for one, row in zip(shares, rows(), strict=True))
    assert report["figures"]["agreement"]["accuracy"]["value"] == pytest.approx(right / 80)
    with pytest.raises(SettingError, match="of kind 'llm', wanted 'head'; serve it with rageval judge serve, or name"):
        load_judge(out, "judge", lambda: None)
    serve = ["judge", "serve", str(out)]
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir(out)
        assert_refused(capsys, serve, "judge/judge.json: the base 'base' was a folder, which is missing here; start in")
    for path in (tmp_path / "base" / "config.json", out / "adapter_config.json", out / "adapter_model.safetensors"):
        before = path.read_bytes()
        path.write_bytes(before[:-1] + b"0")
        assert_refused(capsys, serve, "was changed after the training; train the judge again")
        path.write_bytes(before)
    assert main([*train[:-4], *labels, "--out", "judge", "--force"]) == 0
    assert {each.name for each in out.iterdir()} == {"card.md", "judge.json"}
    assert not Path("other").exists()
    assert no_socket == []


def test_the_order_of_keys_and_modules_does_not_change_the_adapter_configuration() -> None:
    texts = [b'{"r": 8, "target_modules": ["v_proj", "q_proj"]}', b'{"target_modules": ["q_proj", "v_proj"], "r": 8}']
    assert stable_config(texts[0]) == stable_config(texts[1])


def assert_refused(capsys: pytest.CaptureFixture[str], command: list[str], message: str) -> None:
    assert main(command) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1, error


class WordTokenizer:
    """A tokenizer with one token per word."""

    eos_token_id, pad_token_id = 9, None

    def apply_chat_template(self, messages: list[dict[str, str]], **more: Any) -> str:
        return " ".join(each["content"] for each in messages)

    def __call__(self, text: str, **more: Any) -> dict[str, list[int]]:
        return {"input_ids": [len(word) for word in text.split()]}


class ModelOfSixTokens:
    device = "cpu"

    class config:  # noqa: N801
        max_position_embeddings = 6


def test_only_the_tokens_of_the_reply_are_labels_in_training() -> None:
    model = LoraModel(ModelOfSixTokens(), WordTokenizer())
    pairs = [model.tokens_of([{"role": "user", "content": "a bb"}], "ccc"), ([1], [2])]
    assert pairs[0] == ([1, 2], [3, 9])
    batch = {name: rows.tolist() for name, rows in model.batch_of(pairs).items()}
    assert batch["input_ids"] == [[1, 2, 3, 9], [1, 2, 9, 9]]
    assert batch["labels"] == [[-100, -100, 3, 9], [-100, 2, -100, -100]]
    assert batch["attention_mask"] == [[1, 1, 1, 1], [1, 1, 0, 0]]
    with pytest.raises(SettingError, match="an answer with its prompt has 7 tokens, and the model reads 6"):
        model.tokens_of([{"role": "user", "content": "a b c d e"}], "f")


def test_the_error_of_a_missing_library_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    missing: Callable[[str], None] = lambda name: None  # noqa: E731
    monkeypatch.setattr(lora_model, "find_spec", missing)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pytest-rageval\[judge-llm\]'"):
        require_libraries("--kind llm")


def prediction_of(at: int, right: bool, question: str = "") -> Prediction:
    judge_input = JudgeInput(question or f"q{at}", (("a",),), "a")
    return Prediction(Example(judge_input, "s", 1.0, "right"), (0.9 if right else 0.1,))


@pytest.mark.parametrize(
    ("head", "llm", "better"),
    [((10, 40), (38, 40), "llm"), ((38, 40), (10, 40), "head"), ((28, 40), (30, 40), "")],
)
def test_a_kind_is_better_only_if_the_interval_of_the_difference_excludes_0(
    head: tuple[int, int], llm: tuple[int, int], better: str
) -> None:
    by_head, by_llm = ([prediction_of(at, at < n) for at in range(total)] for n, total in (head, llm))
    comparison = compare_kinds(by_head, by_llm, (0.0, 1.0))
    assert (comparison.head, comparison.llm) == (head[0] / head[1], llm[0] / llm[1])
    assert comparison.better == better


def test_the_card_advises_the_head_if_the_kinds_are_not_separable() -> None:
    assert advice(KindComparison(40, 0.7, 0.75, (-0.1, 0.2))) == (
        "not separable: accuracy 0.75 against 0.70 of the head on 40 answers, +0.05 [-0.10, +0.20]; use "
        "the head, which is cheaper"
    )
    assert advice(KindComparison(40, 0.25, 0.95, (0.5, 0.9))).startswith("use the model: accuracy 0.95 against 0.25")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be loaded"):
        load_base(str(tmp_path), "--base")
