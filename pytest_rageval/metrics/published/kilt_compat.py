"""Answer metrics with the values of KILT's published code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.answers.squad import published_normal, references, shared
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.words import cached_per_text

__all__ = [
    "KILT_EM_COMPAT",
    "KILT_F1_COMPAT",
    "KILT_HAS_ANSWER_COMPAT",
    "KILT_ROUGE_L_COMPAT",
    "kilt_em_compat",
    "kilt_f1_compat",
    "kilt_has_answer_compat",
    "kilt_rouge_l_compat",
]

EPSILON = 1e-8
"""Added to a denominator as in the package ``rouge``; a perfect match is therefore 0.999999995."""


def kilt_em_compat(sample: Sample) -> Score:
    """Score whether the answer equals a reference, by KILT's code.

    Formula: 1 if answer and reference are equal in lower case without ASCII punctuation, English articles and runs of
    white space, else 0. It differs from `exact_match` in three cases: an empty answer scores 0 even if a reference
    normalises to nothing; empty references are left out; and Unicode's punctuation and widths count.
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: KILT's evaluation script (Petroni et al., NAACL 2021), em.
    """
    return _nearest(sample, lambda answer, gold: float(published_normal(answer) == published_normal(gold)))


def kilt_f1_compat(sample: Sample) -> Score:
    """Score the overlap of tokens between the answer and the nearest reference, by KILT's code.

    Formula: max over the references of 2PR / (P + R) over the tokens between spaces, normalised as in `kilt_em_compat`;
    0 without a common token. It differs from `token_f1` as `kilt_em_compat` does from `exact_match`, and two texts
    without tokens ("the" and "a") score 0, although `kilt_em_compat` is 1.
    Range: 0..1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: KILT's evaluation script (Petroni et al., NAACL 2021), f1.
    """
    return _nearest(sample, _f1)


def kilt_rouge_l_compat(sample: Sample) -> Score:
    """Score the distinct words that answer and reference share in order, sentence by sentence, by KILT's code.

    Formula: max over the references of 2PR / (P + R + 1e-8). Both texts are cut into sentences at every full stop, also
    at that of 12.5, and into words at white space. Each sentence of the reference has a longest common subsequence with
    each sentence of the answer. P and R are the distinct words in any of these, divided by the distinct words of the
    answer and of the reference. It differs from `rouge_l`, which has one subsequence of the whole texts and counts
    repeated words: distinct words are fewer, so a long answer scores higher here.
    Range: 0..1, higher is better. Empty input: an empty answer, or one of full stops only, scores 0; no gold is not
    applicable.
    Source: KILT's evaluation script (Petroni et al., NAACL 2021), rougel: the package ``rouge`` 1.0.
    """
    return _nearest(sample, _rouge_l)


def kilt_has_answer_compat(sample: Sample) -> Score:
    """Score whether the answer contains an alias of any slot, by KILT's code.

    Formula: 1 if an alias is a substring of the answer, both normalised as in `kilt_em_compat`, else 0: "no" is in
    "know", and an alias that normalises to nothing is in every answer.
    Range: 0 or 1, higher is better. Empty input: an empty answer is not applicable, because the published mean leaves
    it out; no gold is not applicable.
    Source: KILT's evaluation in the extension of RaLLe (Hoshi et al., EMNLP 2023), has_answer.
    """
    gold, answer = sample.case.instance.gold, sample.answer.text
    if not gold:
        return NO_GOLD
    if not answer.strip():
        return Score.not_applicable("empty_answer")
    normal = published_normal(answer)
    return Score(float(any(published_normal(alias) in normal for slot in gold for alias in slot)))


def _nearest(sample: Sample, score: Callable[[str, str], float]) -> Score:
    golds = [gold for gold in map(str.strip, references(sample)) if gold]
    if not golds:
        return NO_GOLD
    answer = sample.answer.text.strip()
    return Score(max(score(answer, gold) for gold in golds) if answer else 0.0)


def _f1(answer: str, gold: str) -> float:
    ours, theirs = Counter(published_normal(answer).split()), Counter(published_normal(gold).split())
    both = shared(ours, theirs)
    if not both:
        return 0.0
    precision, recall = both / ours.total(), both / theirs.total()
    return 2 * precision * recall / (precision + recall)


def _rouge_l(answer: str, gold: str) -> float:
    ours, theirs = _sentences(answer), _sentences(gold)
    if not ours or not theirs:
        return 0.0
    both = {word for reference in theirs for sentence in ours for word in _in_order(reference, sentence)}
    precision, recall = len(both) / len(set().union(*ours)), len(both) / len(set().union(*theirs))
    return 2.0 * precision * recall / (precision + recall + EPSILON)


@cached_per_text
def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each distinct sentence; a sentence of white space has one word, which is empty."""
    return tuple(dict.fromkeys(tuple(" ".join(part.split()).split(" ")) for part in text.split(".") if part))


def _in_order(reference: Sequence[str], answer: Sequence[str]) -> list[str]:
    """Return a longest common subsequence of two sentences, last word first.

    If there are several, it is the one that a search from the ends finds when it drops the last word of ``answer``
    whenever the length stays the same. Bit i of a row is 0 if the subsequence grows with word i of ``reference`` (Hyyrö
    2004); this takes ``len(answer)`` additions of integers of ``len(reference)`` bits.
    """
    at: dict[str, int] = defaultdict(int)
    for position, word in enumerate(reference):
        at[word] |= 1 << position
    full = (1 << len(reference)) - 1
    rows = [full]
    for word in answer:
        row = rows[-1]
        hits = row & at.get(word, 0)
        rows.append(((row + hits) | (row - hits)) & full)
    return _path(reference, answer, rows)


def _path(reference: Sequence[str], answer: Sequence[str], rows: Sequence[int]) -> list[str]:
    words = []
    i, j = len(reference), len(answer)
    while i and j:
        if reference[i - 1] == answer[j - 1]:
            i, j = i - 1, j - 1
            words.append(reference[i])
        elif _length(rows[j], i - 1) > _length(rows[j - 1], i):
            i -= 1
        else:
            j -= 1
    return words


def _length(row: int, i: int) -> int:
    """Return the length of the longest common subsequence with the first ``i`` words."""
    return i - (row & ((1 << i) - 1)).bit_count()


KILT_EM_COMPAT = Metric("kilt_em_compat", kilt_em_compat, binary=True)
KILT_F1_COMPAT = Metric("kilt_f1_compat", kilt_f1_compat)
KILT_ROUGE_L_COMPAT = Metric("kilt_rouge_l_compat", kilt_rouge_l_compat)
KILT_HAS_ANSWER_COMPAT = Metric("kilt_has_answer_compat", kilt_has_answer_compat, binary=True)
