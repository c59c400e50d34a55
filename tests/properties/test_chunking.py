"""Laws of chunks: their content, and the text that they leave out."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.corpora.chunking import Chunking
from pytest_rageval.text.sentences import sentences
from pytest_rageval.text.words import words

PROSE = st.text(
    st.sampled_from([*"aZé09_ .!?;:,\"'()%-\n\t\r\u2028\u3000#=`|", "中", "文", "。", "！", "“", "”", "市", "长"])
)
TEXTS = PROSE | st.text() | st.lists(PROSE, max_size=9).map("\n# ".join)
SIZES = st.integers(1, 6).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))
CHUNKINGS = st.builds(lambda unit, sizes: Chunking(unit, *sizes), st.sampled_from(["tokens", "sentences"]), SIZES)
ANY_CHUNKINGS = CHUNKINGS | st.sampled_from([Chunking("none"), Chunking("sections")])


@settings(deadline=None)  # the first Chinese text loads a dictionary
@given(TEXTS, ANY_CHUNKINGS)
def test_every_character_that_is_not_white_space_is_in_some_chunk(text: str, chunking: Chunking) -> None:
    spans = list(chunking.spans(text))
    covered = {at for begin, end in spans for at in range(begin, end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered
    for begin, end in spans:
        assert text[begin:end] == text[begin:end].strip() != ""
    assert spans == sorted(set(spans))


@given(TEXTS, CHUNKINGS)
def test_chunks_have_the_declared_size_and_overlap(text: str, chunking: Chunking) -> None:
    split = {"tokens": words, "sentences": sentences}[chunking.unit]
    units = split(text)
    edges, at = [], 0
    for unit in units:
        edges.append(text.index(unit, at))
        at = edges[-1] + len(unit)
    spans = list(chunking.spans(text))
    chunk_units = [{n for n, edge in enumerate(edges) if begin <= edge < end} for begin, end in spans] if units else []
    for earlier, later in pairwise(chunk_units):
        assert len(earlier) == chunking.size
        assert len(earlier & later) == chunking.overlap
    if chunk_units:
        assert chunking.overlap < len(chunk_units[-1]) <= chunking.size or len(chunk_units) == 1
        assert set().union(*chunk_units) == set(range(len(units)))
