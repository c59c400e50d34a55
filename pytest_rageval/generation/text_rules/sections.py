"""Long-form questions: what a section says under a heading that is a noun phrase."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.drafting import GENERATOR
from pytest_rageval.model.case import Passage
from pytest_rageval.text.headings import headings
from pytest_rageval.text.language import main_language
from pytest_rageval.text.sentences import sentences

__all__ = ["sections"]

_LEAST_EN, _LEAST_ZH, _MOST = 60, 20, 2_000
_LEAST_SENTENCES = 2
_MARKUP = re.compile(r"^ {0,3}(?:```|~~~|\||!\[)|^\s*<", re.MULTILINE)
_PUNCTUATION = re.compile(r"[?!:;。？！：；`|<>{}\[\]*_#=]|\.\s*\Z|\A\d")
_GENERAL = frozenset(
    "about abstract acknowledgements appendix background bibliography changelog conclusion conclusions contents contact"
    " details discussion example examples faq general history index introduction license links miscellaneous more note"
    " notes other overview preface references results see summary trivia usage 介绍 其他 前言 参考 参考资料 参考文献 备注 小结 总结 摘要 概述"
    " 概要 注意 注意事项 目录 相关链接 简介 背景 结论 结语 说明 附录 更多 示例 历史".split()
)
_VERBS = re.compile(
    r"(?:is|are|was|were|be|do|does|did|can|could|will|would|should|must|may|how|what|why|when|where|who|which|if|let|let's"
    r"|add|build|change|check|choose|compare|configure|connect|contact|create|define|delete|edit|enable|find|fix|get|getting"
    r"|install|make|manage|open|read|remove|run|see|set|show|start|stop|try|turn|update|upgrade|use|using|view|work|write"
    r"|you|your|we|our|it|they|not|don't)\Z",
    re.IGNORECASE,
)
_VERBS_ZH = re.compile("如何|怎么|怎样|什么|为什么|是否|能否|吗|呢|请|我们|你|您|不要")


def sections(chunks: Sequence[tuple[Passage, str]], language: str) -> Iterator[Draft]:
    """Yield a draft for each section of two sentences or more under a heading that names a thing.

    Args:
        chunks: each chunk with its topic.
        language: ``en``, ``zh``, or ``auto``: that of each chunk.
    """
    for passage, topic in chunks:
        title = " ".join(passage.title.split())
        if not title:
            continue
        of = main_language(passage.text, "en") if language == "auto" else language
        found = list(headings(passage.text))
        for at, heading in enumerate(found):
            end = found[at + 1].start if at + 1 < len(found) else len(passage.text)
            body = passage.text[heading.end : end].strip()
            if heading.title.casefold() != title.casefold() and _is_noun_phrase(heading.title, of) and _is_full(body, of):
                yield _draft(passage, topic, of, heading.title, title, body)


def _is_noun_phrase(heading: str, language: str) -> bool:
    if _PUNCTUATION.search(heading) or heading.casefold() in _GENERAL or not heading:
        return False
    if language == "zh":
        return len(heading) <= 16 and _VERBS_ZH.search(heading) is None
    words = heading.split()
    return len(words) <= 6 and words[0][:1].isupper() and not any(map(_VERBS.match, words))


def _is_full(body: str, language: str) -> bool:
    if not (_LEAST_ZH if language == "zh" else _LEAST_EN) <= len(body) <= _MOST or _MARKUP.search(body):
        return False
    return len(sentences(body)) >= _LEAST_SENTENCES


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
