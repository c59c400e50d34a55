"""Answer metrics with the values of KILT's published code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.answers.squad import count_shared, published_normal, references
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
"""Added to the denominator, as the package ``rouge`` does; a perfect match is therefore 0.999999995."""


def kilt_em_compat(sample: Sample) -> Score:
    """Score whether the answer equals a reference, by KILT's code.

    Formula: 1 if answer and reference are equal in lower case without ASCII punctuation, English articles and runs of
    white space, else 0. It differs from `exact_match` in three cases: an empty answer scores 0 even if a reference
    normalises to nothing; empty references are left out; and non-ASCII punctuation and character widths must be equal.
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: KILT's evaluation script (Petroni et al., NAACL 2021), em.
    """
    return _best_score(sample, lambda answer, gold: float(published_normal(answer) == published_normal(gold)))


def kilt_f1_compat(sample: Sample) -> Score:
    """Score the overlap of tokens between the answer and the nearest reference, by KILT's code.

    Formula: max over the references of 2PR / (P + R) over the tokens between spaces, normalised as in `kilt_em_compat`;
    0 without a common token. It differs from `token_f1` in the same cases as `kilt_em_compat` from `exact_match`. Two
    texts without tokens ("the" and "a") score 0, although `kilt_em_compat` is 1.
    Range: 0..1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: KILT's evaluation script (Petroni et al., NAACL 2021), f1.
    """
    return _best_score(sample, _f1)


def kilt_rouge_l_compat(sample: Sample) -> Score:
    """Score the distinct words that answer and reference share in order, sentence by sentence, by KILT's code.

    Formula: max over the references of 2PR / (P + R + 1e-8). Both texts are cut into sentences at every full stop (even
    in 12.5), and into words at white space. For each sentence of the reference and each sentence of the answer there is
    a longest common subsequence of words. P and R are the distinct words of all these subsequences, divided by the
    distinct words of the answer and of the reference. Unlike this, `rouge_l` takes one subsequence of the whole texts
    and counts repeated words; a long answer therefore scores higher here.
    Range: 0..1, higher is better. Empty input: an empty answer, or one of full stops only, scores 0; no gold is not
    applicable.
    Source: KILT's evaluation script (Petroni et al., NAACL 2021), rougel: the package ``rouge`` 1.0.
    """
    return _best_score(sample, _rouge_l)


def kilt_has_answer_compat(sample: Sample) -> Score:
    """Score whether the answer contains an alias of any slot, by KILT's code.

    Formula: 1 if an alias is a substring of the answer, both normalised as in `kilt_em_compat`, else 0. So "no"
    is in "know", and an alias that normalises to nothing is in every answer.
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


def _best_score(sample: Sample, score: Callable[[str, str], float]) -> Score:
    golds = [gold for gold in map(str.strip, references(sample)) if gold]
    if not golds:
        return NO_GOLD
    answer = sample.answer.text.strip()
    return Score(max(score(answer, gold) for gold in golds) if answer else 0.0)


def _f1(answer: str, gold: str) -> float:
    answer_counts, gold_counts = Counter(published_normal(answer).split()), Counter(published_normal(gold).split())
    n_shared = count_shared(answer_counts, gold_counts)
    if not n_shared:
        return 0.0
    precision, recall = n_shared / answer_counts.total(), n_shared / gold_counts.total()
    return 2 * precision * recall / (precision + recall)


def _rouge_l(answer: str, gold: str) -> float:
    answer_sentences, gold_sentences = _sentences(answer), _sentences(gold)
    if not answer_sentences or not gold_sentences:
        return 0.0
    common = {
        word for reference in gold_sentences for sentence in answer_sentences for word in _common(reference, sentence)
    }
    precision = len(common) / len(set().union(*answer_sentences))
    recall = len(common) / len(set().union(*gold_sentences))
    return 2.0 * precision * recall / (precision + recall + EPSILON)


@cached_per_text
def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each distinct sentence; a sentence of white space has one word, which is empty."""
    return tuple(dict.fromkeys(tuple(" ".join(part.split()).split(" ")) for part in text.split(".") if part))


def _common(reference: Sequence[str], answer: Sequence[str]) -> list[str]:
    """Return a longest common subsequence of two sentences, last word first.

    There may be several of that length. To choose the same one as the package ``rouge``, `_path` searches from the ends
    and drops the last word of ``answer`` if that does not shorten the subsequence.

    Each row is one integer for a beginning of ``answer``: bit i is 0 if word i of ``reference`` makes the subsequence
    longer (Hyyrö 2004). The rows take ``len(answer)`` additions of integers with ``len(reference)`` bits.
    """
    positions: dict[str, int] = defaultdict(int)  # word -> one bit for each position
    for position, word in enumerate(reference):
        positions[word] |= 1 << position
    full = (1 << len(reference)) - 1
    rows = [full]
    for word in answer:
        row = rows[-1]
        hits = row & positions.get(word, 0)
        rows.append(((row + hits) | (row - hits)) & full)
    return _path(reference, answer, rows)


def _path(reference: Sequence[str], answer: Sequence[str], rows: Sequence[int]) -> list[str]:
    """Return the words of the subsequence, from the rows of `_common`."""
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
    """Return the length of the longest common subsequence with the first ``i`` words of the reference."""
    return i - (row & ((1 << i) - 1)).bit_count()


KILT_EM_COMPAT = Metric("kilt_em_compat", kilt_em_compat, binary=True)
KILT_F1_COMPAT = Metric("kilt_f1_compat", kilt_f1_compat)
KILT_ROUGE_L_COMPAT = Metric("kilt_rouge_l_compat", kilt_rouge_l_compat)
KILT_HAS_ANSWER_COMPAT = Metric("kilt_has_answer_compat", kilt_has_answer_compat, binary=True)
