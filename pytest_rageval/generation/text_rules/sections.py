"""Long-form questions about sections with a noun phrase as heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.rule_draft import GENERATOR
from pytest_rageval.model.case import Passage
from pytest_rageval.text.headings import headings
from pytest_rageval.text.language import main_language
from pytest_rageval.text.sentences import sentences

__all__ = ["sections"]

_MIN_LENGTH_EN, _MIN_LENGTH_ZH, _MAX_LENGTH = 60, 20, 2_000
_MIN_SENTENCES = 2
_MARKUP = re.compile(r"^ {0,3}(?:```|~~~|\||!\[)|^\s*<", re.MULTILINE)
_PUNCTUATION = re.compile(r"[?!:;。？！：；`|<>{}\[\]*_#=]|\.\s*\Z|\A\d")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s|\s*\Z|\s*\[")
_GENERAL_HEADINGS = frozenset(
    re.findall(
        r"\S+",
        "about abstract acknowledgements appendix background"
        " bibliography changelog conclusion conclusions contact contents"
        " details discussion example examples explanation exploring faq general guides help history how-to index"
        " introduction license limits links miscellaneous more never next note notes other overview overviews preface"
        " reference references results see summary"
        " trivia tutorials usage 介绍 其他 前言 参考 参考资料 参考文献 备注 小结 总结"
        " 摘要 概述 概要 注意 注意事项 目录 相关链接 简介 背景 结论 结语 说明 附录 更多 示例 历史",
    )
)
"""Headings that are too general for a question."""

_NOT_IN_NAMES = frozenset(
    re.findall(
        r"\S+",
        "accept add allow answer apply are as ask avoid be"
        " become bring build buy call can carry change check choose clean"
        " close collect combine compare compute configure connect contact convert copy could count create cut decide"
        " declare define delete deploy describe did disable do"
        " does don't download draw drop edit enable export fetch fill"
        " find fix follow format generate get getting give go grow handle have help hide how if import improve include"
        " install is it judge keep know label learn leave let let's list live load log look lose make manage mark may"
        " measure merge migrate move multiply must name need"
        " never no not nothing obtain open order our pass pay pick plan"
        " play prepare prevent print protect publish put read"
        " record reduce register remove rename repeat replace replay"
        " reply require reset resume retrieve return reuse"
        " review run save say score search see select sell send set share"
        " should show skip something sort split start stop store survive take tell test they track train try turn"
        " understand update upgrade use using verify view visit"
        " wait was watch we were what when where which who why will"
        " work would write you your",
    )
)
"""Words that make a heading a sentence or a command instead of a name."""

_VERBS_ZH = re.compile("如何|怎么|怎样|什么|为什么|是否|能否|吗|呢|请|我们|你|您|不要")


def sections(chunks: Sequence[tuple[Passage, str]], language: str) -> Iterator[Draft]:
    """Yield a draft for each section of at least two sentences with a noun phrase as heading.

    Args:
        chunks: each chunk with its topic.
        language: ``en``, ``zh``, or ``auto`` for the language of each chunk.
    """
    for passage, topic in chunks:
        title = " ".join(passage.title.split())
        if not title:
            continue
        chunk_language = main_language(passage.text, "en") if language == "auto" else language
        headings_of_chunk = list(headings(passage.text))
        for at, heading in enumerate(headings_of_chunk):
            end = headings_of_chunk[at + 1].start if at + 1 < len(headings_of_chunk) else len(passage.text)
            body = passage.text[heading.end : end].strip()
            if (
                heading.title.casefold() != title.casefold()
                and _is_noun_phrase(heading.title, chunk_language)
                and _is_full(body, chunk_language)
            ):
                yield _draft(passage, topic, chunk_language, heading.title, title, body)


def _is_noun_phrase(heading: str, language: str) -> bool:
    """Return whether a heading probably is a specific noun phrase."""
    if _PUNCTUATION.search(heading) or heading.casefold() in _GENERAL_HEADINGS or not heading:
        return False
    if language == "zh":
        return len(heading) <= 16 and _VERBS_ZH.search(heading) is None
    words = re.split(r"[\s-]+", heading)
    return len(words) <= 6 and words[0][:1].isupper() and not any(word.casefold() in _NOT_IN_NAMES for word in words)


def _is_full(body: str, language: str) -> bool:
    """Return whether the text of a section is prose of a suitable length."""
    if all(map(_ITEM.match, body.splitlines())):
        return False
    if not (_MIN_LENGTH_ZH if language == "zh" else _MIN_LENGTH_EN) <= len(body) <= _MAX_LENGTH or _MARKUP.search(body):
        return False
    return len(sentences(body)) >= _MIN_SENTENCES


def _draft(passage: Passage, topic: str, language: str, heading: str, title: str, body: str) -> Draft:
    if language == "zh":
        question = f"《{title}》中关于“{heading}”说了什么？"
    else:
        question = f'What is said about "{heading}" in "{title}"?'
    return Draft(
        question=question,
        gold=((body,),),
        task="long_form_qa",
        topic=topic,
        generator=GENERATOR,
        origin="section",
        sources=(passage,),
        language=language,
        evidence=(body,),
        passages=(Passage(passage.id, passage.text, passage.title, "positive", page=passage.page, span=passage.span),),
    )
