"""The system ``extractive``: answer with sentences from the passages, without a model.

It is deterministic and reads only the texts and titles of the passages. It never uses their ids, their order (except
for ties) or the gold record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.model.protocols import System
from pytest_rageval.retrieval.bm25_index import Bm25Index
from pytest_rageval.systems.conflict import Sentence, contradict
from pytest_rageval.systems.naive import naive
from pytest_rageval.systems.parts import SystemParts, no_passages
from pytest_rageval.systems.question import asks_for_number, content_terms, numbers, terms
from pytest_rageval.systems.workflow import NO_CALLS, Workflow, no_options
from pytest_rageval.text.sentences import sentences

__all__ = ["EXTRACTIVE", "build", "extractive"]

K1, B = 1.5, 0.75
"""BM25's usual constants."""

PASSAGE_WEIGHT = 0.5
"""Weight of the passage's BM25 score in a sentence's score."""

NUMBER_WEIGHT = 1.5
"""Factor for a sentence with a new number, if the question asks for a number."""

EVIDENCE = 0.5
"""A sentence is evidence if it contains, with its passage's title, more than this share of the question's terms.

A sentence with exactly this share is evidence if its passage contains all terms: "It opens at 9:00." answers "When does
the museum open?" in a passage about the museum.
"""

MIN_SCORE = 0.5
"""Lowest score of a sentence in the answer, relative to the best sentence."""

LONGEST_ANSWER = 100
"""Largest number of words in the answer; the best sentence is always in it."""

MIN_NOVELTY = 0.3
"""Smallest share of a sentence's terms that the answer does not contain yet."""

FREE = Usage(prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
"""The usage of an answer without a model: known to be zero."""

_PIECE = re.compile(r".{1,300}(?!\S)|.{1,300}", re.DOTALL)
"""Splits a sentence of more than 300 characters, at white space if possible."""


def build(parts: SystemParts, options: None = None) -> System:
    """Return `extractive` as a system that retrieves if a case supplies no passages."""
    return naive(SystemParts(parts.retriever, extractive, parts.top_k))


def extractive(query: Query) -> Answer:
    """Answer from the passages of ``query``; ignore instructions and history.

    The answer is the best sentences, evidence first. Without evidence it is RGB's rejection sentence, with
    ``abstained``. If passages contradict each other (see `contradict`), RGB's error sentence comes first.

    Raises:
        CaseError: the passages are None ("no_passages"); an empty tuple is valid and leads to a rejection.
    """
    if query.passages is None:
        raise no_passages()
    question_terms = content_terms(query.question)
    candidates = _sentences_of(query.passages)
    titles = [terms(passage.title) for passage in query.passages]
    number = _has_number(query.question, candidates)
    evidence = _is_evidence(question_terms, titles, candidates, number)
    if not any(evidence):
        return Answer(_phrase(REJECTION_SENTENCE, query.language), abstained=True, usage=FREE)
    scores = _scores(question_terms, titles, candidates, number)
    order = sorted(range(len(candidates)), key=lambda i: (not evidence[i], -scores[i], i))
    answer = " ".join(candidates[i].text for i in _choose(order, scores, candidates))
    best_evidence = [candidates[i] for i in order if evidence[i]]
    if contradict(best_evidence, question_terms, number=asks_for_number(query.question)):
        answer = f"{_phrase(ERROR_SENTENCE, query.language)} {answer}"
    return Answer(answer, abstained=False, usage=FREE)


def _sentences_of(passages: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences of the passages, without those that have no word."""
    result: list[Sentence] = []
    for position, passage in enumerate(passages):
        for sentence in sentences(passage.text):
            pieces = (piece.strip() for piece in _PIECE.findall(sentence))
            result += [Sentence(position, piece, words) for piece in pieces if (words := terms(piece))]
    return result


def _has_number(question: str, candidates: Sequence[Sentence]) -> list[bool]:
    """Return for each sentence whether it has a number that is not in the question.

    True for all sentences if the question does not ask for a number.
    """
    if not asks_for_number(question):
        return [True] * len(candidates)
    question_numbers = numbers(question)
    return [not numbers(sentence.text) <= question_numbers for sentence in candidates]


def _is_evidence(
    question_terms: Sequence[str],
    titles: Sequence[Sequence[str]],
    candidates: Sequence[Sentence],
    number: Sequence[bool],
) -> list[bool]:
    """Return for each sentence whether it covers the question (see `EVIDENCE`) and has a number if one is needed."""
    query_terms = set(question_terms)
    title_terms = [query_terms.intersection(title) for title in titles]
    passage_terms = [set(matches) for matches in title_terms]
    for sentence in candidates:
        passage_terms[sentence.passage] |= query_terms.intersection(sentence.terms)
    half = EVIDENCE * len(query_terms)
    covers_question = []
    for sentence in candidates:
        share = len(query_terms.intersection(sentence.terms) | title_terms[sentence.passage])
        covers_question.append(share > half or (0 < share == half and passage_terms[sentence.passage] == query_terms))
    return [covers and has for covers, has in zip(covers_question, number, strict=True)]


def _scores(
    question_terms: Sequence[str],
    titles: Sequence[Sequence[str]],
    candidates: Sequence[Sentence],
    number: Sequence[bool],
) -> list[float]:
    """Return a score for each sentence: its BM25 score and its passage's, raised if it has a needed number."""
    query_terms = set(question_terms)
    # the empty term stands for all other terms
    matching_terms = [[term if term in query_terms else "" for term in s.terms] for s in candidates]
    passage_terms = [list(title) for title in titles]
    for sentence, words in zip(candidates, matching_terms, strict=True):
        passage_terms[sentence.passage] += words
    passage_scores = Bm25Index(passage_terms, K1, B).scores(question_terms).tolist()
    sentence_scores = Bm25Index(matching_terms, K1, B).scores(question_terms).tolist()
    return [
        (score + PASSAGE_WEIGHT * passage_scores[sentence.passage]) * (NUMBER_WEIGHT if has else 1.0)
        for sentence, score, has in zip(candidates, sentence_scores, number, strict=True)
    ]


def _choose(order: Sequence[int], scores: Sequence[float], candidates: Sequence[Sentence]) -> list[int]:
    """Return the positions of the sentences of the answer, best first."""
    best, *others = order
    positions, length, used_terms = [best], len(candidates[best].terms), set(candidates[best].terms)
    for i in others:
        distinct = set(candidates[i].terms)
        fits = length + len(candidates[i].terms) <= LONGEST_ANSWER
        if fits and scores[i] >= MIN_SCORE * scores[best] and len(distinct - used_terms) >= MIN_NOVELTY * len(distinct):
            positions.append(i)
            length += len(candidates[i].terms)
            used_terms |= distinct
    return positions


def _phrase(phrases: Mapping[str, str], language: str) -> str:
    return phrases.get(language, phrases["en"])


EXTRACTIVE = Workflow(no_options, build, lambda options, query, parts: NO_CALLS)
