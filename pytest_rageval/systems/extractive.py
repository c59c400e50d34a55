"""The embedded reader: answers with sentences of the passages, and abstains when none speaks of the question.

It needs no model and no network, is deterministic, and reads the texts and titles of the passages alone: neither
their ids nor their order (but for ties) nor anything of the record tells it where the answer is.
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
from pytest_rageval.text.sentences import sentences

__all__ = ["build", "extractive"]

K1, B = 1.5, 0.75
"""BM25's usual constants."""

PASSAGE_WEIGHT = 0.5
"""A sentence's score is its own BM25 plus this much of its passage's."""

NUMBER_WEIGHT = 1.5
"""Where a number is asked for, a sentence with one that the question does not hold counts this much more."""

EVIDENCE = 0.5
"""Evidence is a sentence that, with its title, holds more than this share of the question's content terms.

A sentence that holds exactly this share is evidence if its passage holds all of them: "It opens at 9:00." answers "When
does the museum open?" in a passage about the museum.
"""

KEPT = 0.5
"""Sentences are kept down to this share of the best one's score ..."""

LONGEST_ANSWER = 100
"""... as long as the answer has at most this many words (the best sentence is always kept) ..."""

NEWS = 0.3
"""... and at least this share of a sentence's words is not in the answer yet."""

FREE = Usage(prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
"""What an answer of a reader without a model costs: nothing, and that is known."""

_PIECE = re.compile(r".{1,300}(?!\S)|.{1,300}", re.DOTALL)
"""A sentence of more than 300 characters is read in pieces, cut at white space where there is any."""


def build(parts: SystemParts) -> System:
    """Return the reader as a system of its own: it retrieves where a case supplies no passages."""
    return naive(SystemParts(parts.retriever, extractive, parts.top_k))


def extractive(query: Query) -> Answer:
    """Answer from the passages of ``query``; the instructions and the history are not read.

    The answer is the best sentences, evidence before others. It is RGB's rejection sentence, with ``abstained``, when
    there is no evidence, and RGB's error sentence goes first when passages contradict each other (see `contradict`).

    Raises:
        CaseError: the query has no passages to read ("no_passages"); an empty tuple of passages is read, and rejected.
    """
    if query.passages is None:
        raise no_passages()
    asked = content_terms(query.question)
    read = _read(query.passages)
    titles = [terms(passage.title) for passage in query.passages]
    number = _has_number(query.question, read)
    evidence = _is_evidence(asked, titles, read, number)
    if not any(evidence):
        return Answer(_said(REJECTION_SENTENCE, query.language), abstained=True, usage=FREE)
    scores = _scores(asked, titles, read, number)
    order = sorted(range(len(read)), key=lambda i: (not evidence[i], -scores[i], i))
    answer = " ".join(read[i].text for i in _kept(order, scores, read))
    if contradict([read[i] for i in order if evidence[i]], asked, number=asks_for_number(query.question)):
        answer = f"{_said(ERROR_SENTENCE, query.language)} {answer}"
    return Answer(answer, abstained=False, usage=FREE)


def _read(passages: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences of the passages, those without a word left out."""
    found: list[Sentence] = []
    for position, passage in enumerate(passages):
        for sentence in sentences(passage.text):
            pieces = (piece.strip() for piece in _PIECE.findall(sentence))
            found += [Sentence(position, piece, said) for piece in pieces if (said := terms(piece))]
    return found


def _has_number(question: str, read: Sequence[Sentence]) -> list[bool]:
    """Return for each sentence whether it has a number that the question does not hold; True if none is asked for."""
    if not asks_for_number(question):
        return [True] * len(read)
    known = numbers(question)
    return [not numbers(sentence.text) <= known for sentence in read]


def _is_evidence(
    asked: Sequence[str], titles: Sequence[Sequence[str]], read: Sequence[Sentence], number: Sequence[bool]
) -> list[bool]:
    """Return for each sentence whether it covers the question (see `EVIDENCE`), and has a number where one is asked."""
    wanted = set(asked)
    shared = [wanted.intersection(title) for title in titles]
    whole = [set(found) for found in shared]
    for sentence in read:
        whole[sentence.passage] |= wanted.intersection(sentence.terms)
    half = EVIDENCE * len(wanted)
    covered = []
    for sentence in read:
        share = len(wanted.intersection(sentence.terms) | shared[sentence.passage])
        covered.append(share > half or (0 < share == half and whole[sentence.passage] == wanted))
    return [covers and has for covers, has in zip(covered, number, strict=True)]


def _scores(
    asked: Sequence[str], titles: Sequence[Sequence[str]], read: Sequence[Sentence], number: Sequence[bool]
) -> list[float]:
    """Return a score for each sentence: its BM25 and its passage's, raised where it has the number asked for."""
    wanted = set(asked)
    told = [[term if term in wanted else "" for term in s.terms] for s in read]  # one index entry for all other terms
    whole = [list(title) for title in titles]
    for sentence, said in zip(read, told, strict=True):
        whole[sentence.passage] += said
    passages = Bm25Index(whole, K1, B).scores(asked).tolist()
    own = Bm25Index(told, K1, B).scores(asked).tolist()
    return [
        (score + PASSAGE_WEIGHT * passages[sentence.passage]) * (NUMBER_WEIGHT if has else 1.0)
        for sentence, score, has in zip(read, own, number, strict=True)
    ]


def _kept(order: Sequence[int], scores: Sequence[float], read: Sequence[Sentence]) -> list[int]:
    """Return the positions of the sentences that make the answer, best first."""
    best, *others = order
    kept, length, told = [best], len(read[best].terms), set(read[best].terms)
    for i in others:
        distinct = set(read[i].terms)
        fits = length + len(read[i].terms) <= LONGEST_ANSWER
        if fits and scores[i] >= KEPT * scores[best] and len(distinct - told) >= NEWS * len(distinct):
            kept.append(i)
            length += len(read[i].terms)
            told |= distinct
    return kept


def _said(phrases: Mapping[str, str], language: str) -> str:
    return phrases.get(language, phrases["en"])
