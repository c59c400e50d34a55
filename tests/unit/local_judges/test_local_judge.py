"""A trained judge: its probabilities by hand, its file, and what it refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.samples.local_judges import judge_folder, made_judge, weights

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.people.local_use import LabelMatches, local_uses_of
from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.local_judges.features import RULES, JudgeInput
from pytest_rageval.local_judges.head import Head, Scaling, Threshold, class_shares, likeliest_class
from pytest_rageval.local_judges.judge_file import FILE, feature_versions, read_content
from pytest_rageval.local_judges.judge_model import TrainedJudge
from pytest_rageval.local_judges.local_judge import LocalJudge, load_judge
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.verdict import Verdict, Vote
from pytest_rageval.report.sections.local_judges import unlike_training

N = len(RULES)
PLAIN = Scaling((0.0,) * N, (1.0,) * N)
HEAD = Head({"en": PLAIN}, (Threshold(-1.0, weights(contains=2.0, refuses=-3.0)),))


def trained(**changes: Any) -> TrainedJudge:
    return made_judge(**{"head": HEAD, **changes})


def loaded(folder: Path) -> LocalJudge:
    return load_judge(folder, "rag_judges", lambda: None)


def logistic(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def test_a_judge_is_a_weighted_sum_of_its_features(tmp_path: Path) -> None:
    judge = loaded(judge_folder(tmp_path, trained()))
    right = judge.judge("What does it cost?", (("9 euros",),), "It costs 9 euros.")
    assert right.label == "right"
    assert right.probability == pytest.approx(logistic(1.0))
    assert right.confidence == right.probability
    wrong = judge.judge("What does it cost?", (("9 euros",),), "It is blue.")
    assert wrong.label == "wrong"
    assert wrong.probability == pytest.approx(logistic(-1.0))
    assert wrong.confidence == pytest.approx(1 - logistic(-1.0))


def test_three_classes_have_shares_of_falling_probabilities() -> None:
    head = Head({"en": PLAIN}, (Threshold(0.0, weights()), Threshold(1.0, weights())))
    above = head.above((0.0,) * N, "en")
    assert above == (0.5, 0.5)  # the second is cut to the first
    assert class_shares(above) == [0.5, 0.0, 0.5]
    assert likeliest_class(above) == (2, 0.5)  # of equal ones the higher
    assert class_shares((0.75, 0.25)) == [0.25, 0.5, 0.25]


def test_a_judge_read_back_gives_equal_probabilities(tmp_path: Path) -> None:
    judge = trained(head=Head({"en": Scaling((0.1 + 0.2,) * N, (1 / 3,) * N)}, (Threshold(math.pi, (1e-7,) * N),)))
    values = [each / 7 for each in range(N)]
    assert read(judge_folder(tmp_path, judge)).head.above(values, "en") == judge.head.above(values, "en")
    assert read(tmp_path) == judge


def read(folder: Path) -> TrainedJudge:
    return loaded(folder).trained


def test_a_judge_says_nothing_of_a_language_that_it_was_not_trained_on(tmp_path: Path) -> None:
    judge = loaded(judge_folder(tmp_path, trained()))
    with pytest.raises(CaseError, match="the judge was trained on en, not on zh") as caught:
        judge.judge("门票多少钱？", (("9元",),), "9元")
    assert caught.value.kind == "judge_error"


def test_a_feature_that_is_no_number_leaves_the_answer_without_a_label(tmp_path: Path) -> None:
    class NoDirection:
        name, files_digest = "made-up", "d"

        def vectors(self, texts: Sequence[str]) -> Any:
            import numpy as np

            return np.zeros((len(texts), 2), np.float32)

    cosines = feature_versions(cosines=True)
    plain = Scaling((0.0,) * len(cosines), (1.0,) * len(cosines))
    head = Head({"en": plain}, (Threshold(0.0, (0.0,) * len(cosines)),))
    judge = LocalJudge(trained(features=cosines, head=head), "d", NoDirection(), None)
    (judgement,) = judge.judge_batch([JudgeInput("Q?", (("a",),), "b")])
    assert judgement.problem == "judge_error: the feature cos_question_answer is not a finite number"


def changed(content: dict[str, Any], **values: Any) -> str:
    return json.dumps({**content, **values})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "holds no judge.json; name a folder that rageval judge train wrote"),
        ("{", "judge.json cannot be read"),
        ("[]", "has the format None, and this version reads 1; train it again"),
        ('{"format": 2}', "has the format 2, and this version reads 1; train it again"),
        ("changed", "was changed after the training: its checksum differs; train it again"),
    ],
)
def test_a_folder_without_a_valid_judge_is_refused(tmp_path: Path, text: str | None, problem: str) -> None:
    judge_folder(tmp_path, trained())
    if text is None:
        (tmp_path / FILE).unlink()
    elif text == "changed":
        content = read_content(tmp_path, "x")
        (tmp_path / FILE).write_text(changed(content, furthest=0.5))
    else:
        (tmp_path / FILE).write_text(text)
    with pytest.raises(SettingError) as caught:
        loaded(tmp_path)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("rag_judges: ")


def test_another_version_of_a_feature_is_refused(tmp_path: Path) -> None:
    judge_folder(tmp_path, trained(features={**feature_versions(cosines=False), "rouge_l": 7}))
    with pytest.raises(SettingError, match=r"feature rouge_l in version 7, .* has version 1; train it again"):
        loaded(tmp_path)


def test_an_answer_far_from_all_training_answers_is_unlike_them(tmp_path: Path) -> None:
    means = tuple(math.log(100.0) if name == "length" else 0.0 for name in RULES)
    sds = tuple(0.1 if name == "length" else 10.0 for name in RULES)
    head = Head({"en": Scaling(means, sds)}, trained().head.thresholds)
    judge = loaded(judge_folder(tmp_path, trained(head=head)))
    near, far = judge.judge_batch([JudgeInput("Q?", (("a",),), "b" * 99), JudgeInput("Q?", (("a",),), "b" * 999)])
    assert (near.unlike, far.unlike) == (False, True)


def test_answers_that_a_local_judge_only_votes_on_can_be_unlike_its_training_data() -> None:
    def outcome(at: int) -> Outcome:
        local = Verdict("right", by="local", confidence=0.9, unlike=at < 3)
        panel = Verdict("right", votes=(Vote("local:judge", local), Vote("openai/m", Verdict("right"))))
        scores = {"right": Score(1.0, verdict=panel)}
        return Outcome(f"t[{at}]", str(at), "t", {}, "desk", "scored", Answer("b"), scores)

    (use,) = local_uses_of({"right": MetricInfo(judge="right")}, [], [outcome(at) for at in range(4)])
    assert (use.unlike, use.unlike_by_system) == (0.75, {"desk": 0.75})
    assert (use.decided, use.escalated, use.no_label, use.local) == (0, 0, 0, LabelMatches())
    assert unlike_training([use])[0].startswith("right: 75% of the answers that its local judge read are unlike its")


def test_the_stored_judge_is_small(tmp_path: Path) -> None:
    assert (judge_folder(tmp_path, trained()) / FILE).stat().st_size < 20_000
