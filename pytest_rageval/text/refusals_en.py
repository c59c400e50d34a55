"""Patterns of refusals in English, for lower-case text without contractions."""

from __future__ import annotations

import re

from pytest_rageval.text.refusal_wording import Wording
from pytest_rageval.text.sentences import sentences

__all__ = ["ENGLISH", "clauses"]

_CONTRACTIONS = (
    (re.compile(r"[’‘`]"), "'"),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(i|you|we|they|it|there|that|he|she|what)'(?:m|re|s)\b"), r"\1 is"),
    (re.compile(r"\b(i|you|we|they)'(?:ve)\b"), r"\1 have"),
    (re.compile(r"\b(i|you|we|they)'(?:d|ll)\b"), r"\1 would"),
    (re.compile(r"\s+"), " "),
    (
        re.compile(r"^([^,;:]{1,80}) (?:therefore|thus|hence),? (?=(?:not|impossible|unable|can|be)\b)"),
        r"therefore \1 ",
    ),
)
_SPLIT = re.compile(
    r"; | — | – |: |,? (?=but (?!for\b))|,? (?=(?:however|although|though|whereas|while|yet|nevertheless),? )"
    r"|, (?=(?:so|therefore|thus|hence|which means|making it)\b)|,? (?=and (?:so|therefore|thus|hence|consequently)\b)"
    r"|,? (?=\(?(?:because|due to|since (?:it|they|the|this|that|there|these|no|none|my|i)\b))|, (?=since\b)"
)
_REASON = re.compile(r"^\(?(?:because|due to|since)\b(?:[^,]*, |.*)")
_REPORTED = re.compile(
    r"\b(?!(?:i|we)\b)(\w+ (?:has |have |had |also )*(?:conclude[sd]|says|said|state[sd]|note[sd]|warn(?:s|ed)"
    r"|claim(?:s|ed)|repli(?:es|ed)|answer(?:s|ed)) that)\b.*"
)
_ADVICE = re.compile(r"\b(?:recommend|suggest|advise|please|consult|contact|check)\w*\b")
_IMPRESSION = re.compile(
    r"^(?:(?:but|however,?|unfortunately,?) )?it (?:appears|seems) (?:that |like )?(?=(?:the|this|these|there|your)\b)"
)
_CONCESSION = re.compile(r"^(?:although|though|while|whereas|despite|even though|even if)\b[^,]*, ")

_SOURCE = (
    r"(?:documents?|contexts?|texts?|passages?|excerpts?|filings?|sources?|articles?|reports?|information|data|details?"
    r"|materials?|references?|results?|statements?|contents?|paragraphs?|snippets?|pages?|10-[kq]s?|8-ks?|transcripts?"
    r"|releases?|sections?|tables?|records?|extracts?|chunks?|notes?|knowledge|input|prompt|files?)"
)
_NAMED = (
    r"(?:manual|contract|lease|agreement|treaty|leaflet|label|brochure|announcement|news|story|interview|press\ release"
    r"|law|statute|act|regulation|directive|clause|policy|guide|guideline|handbook|instruction|letter|e-?mail|memo"
    r"|minute|prospectus|book|chapter|novel|paper|essay|post|website|summary|abstract|profile|biography|entry|ruling"
    r"|judgment|judgement|opinion|schedule|catalogue|catalog|faq)s?"
)
"""Kinds of documents with a name. A statement about one is not an aside, because an answer may be about it."""

_SAY = (
    r"(?:mention|state|specify|say|disclose|discuss|indicate|tell|describe|identify|clarify|explain|address|reveal"
    r"|name|answer|elaborate|quantify)"
)
_SILENT = (
    r"(?:provide|contain|include|mention|state|specify|say|disclose|give|address|discuss|report|indicate|cover|offer|list"
    r"|tell|reveal|describe|identify|detail|refer|reference|show|present|break|clarify|explain|have|answer|outline|note"
    r"|supply|touch|speak|appear|seem|allow|confirm|establish|name|elaborate|quantify|talk|define|highlight|single)"
)
_FIND_OUT = (
    r"(?:answer|provide|determine|find|locate|calculate|compute|give|identify|access|confirm|verify|say|tell|ascertain"
    r"|assess|conclude|retrieve|see|know(?!\ of\b)|offer|extract|infer|establish|derive|evaluate|comment|help|assist"
    r"|fulfil+|quantify|search|browse|view|state|specify|respond|work\ out|make\ (?:a|an|this|that|any)|directly"
    r"|accurately|definitively|reliably|confidently|fully|generate|perform|complete|continue|discern|deduce|judge|draw"
    r"|be\ certain|be\ sure|analy[sz]e|compare)"
)
_WORK_OUT = (
    r"(?:answer|determine|calculate|compute|identify|confirm|verify|say|tell|ascertain|assess|conclude|know|infer"
    r"|establish|derive|evaluate|quantify|specify|state|respond|work\ out|deduce|discern|judge|be\ certain|be\ sure"
    r"|find|locate|extract|provide|give|analy[sz]e|compare|draw|estimate|comment|make\ (?:a|an|this|that|any)"
    r"|(?:perform|complete|do)\ (?:a|an|the|this|that|any))"
)
_CONCLUDE = (
    r"(?:answer|determine|calculate|compute|derive|establish|evaluate|quantify|assess|work\ out|respond|find|locate"
    r"|identify|estimate|compare|(?:provide|give|make|draw|reach|perform|complete)\ (?:you\ )?(?:a|an|the|any)"
    r"|(?:help|assist)\ (?:you\ )?with)"
)
_FOUND_OUT = (
    r"(?:determined|calculated|computed|answered|found|identified|established|verified|confirmed|ascertained|assessed"
    r"|inferred|derived|concluded|known|given|provided|located|extracted|evaluated|deduced|said|made|stated|specified"
    r"|discerned|judged|worked\ out)"
)
_OTHER = (
    r"^(?:\W*(?:and|but|however|while|whereas),?\ )*(?:(?:according\ to|per|in|from|by)\ )?(?:(?:the|a)\ )?"
    rf"(?:(?:(?:second|third|fourth|fifth|sixth|other|latter|last|final)|another)(?:\ (?:one|{_SOURCE}))?"
    rf"|{_SOURCE}\ [\[(\#]?(?:\d+|[b-h])\b[\])]?)"
)
_ADVERBS = r"(?:\w+ly\ |yet\ |even\ |at\ this\ time\ |seem\ to\ |appear\ to\ |be\ able\ to\ |able\ to\ )*"
_PUT_DOWN = (
    r"(?:provided|mentioned|given|included|specified|stated|disclosed|listed|described|discussed|reported|indicated"
    r"|addressed|available|present|contained|covered|found|identified|shown|revealed|detailed|clear|known|presented)"
)
_INFORMATION = r"(?:mention|information|data|indication|reference|details?|statement|record|discussion|answer|figures?)"
_ARE_NOT = r"(?:is|are|was|were|has|have)\ not\ (?:been\ )?(?:\w+ly\ )?"

_WRITER_CANNOT = rf"""
      \b(?:i|we|one)\ (?:can|could|am|is|are|do|did|was|will|would|have)\ (?:also\ )?not\ {_ADVERBS}{_FIND_OUT}\b
    | \b(?:i|we|one)\ (?:am|is|are|was|were|remain)\ (?:\w+ly\ )?unable\ to\b
    | ^(?:\W*(?:sorry|unfortunately|therefore|thus|so|hence)\W+)?
        (?:unable\ to|can\ not|could\ not|not\ able\ to)\ {_FIND_OUT}
    | \b(?:i|we)\ (?:do|did|would|currently\ do)\ not\ {_ADVERBS}(?:know(?!\ of\b)|recall|see|have)\b
    | \b(?:i|we)\ (?:have|had|see|found|find|can\ find|could\ find)\ (?:no|nothing|insufficient)\b
    | \b(?:i\ is|i\ am|we\ are)\ not\ (?:sure|certain|aware|familiar)\b
    | \b(?:i|we)\ (?:\w+\ )?(?:unsure|uncertain)\b | \bno\ idea\b | \bas\ an\ ai\b
    | \b(?:ai|model|assistant|and|but)\ do\ not\ {_ADVERBS}have\ (?:\w+[ -]){{0,3}}
        (?:access|ability|capability|information|data|knowledge)\b
    | \bi\ (?:have|is|was)\ not\ (?:been\ )?(?:given|provided|trained|told|designed|programmed)\b
    | \b(?:i|we)\ (?:would\ )?need\ (?:more|additional|further)\b
    | \b(?:outside|beyond|exceeds)\ (?:\w+\ ){{0,3}}(?:knowledge|scope|training|cutoff)\b
"""
_NOBODY_CAN = rf"""
      \bit\ (?:is|was|would\ be|remains|becomes)\ (?:\w+ly\ )?
        (?:not\ (?:\w+ly\ )?(?:clear|known|{_PUT_DOWN})|unclear|unknown)\b
    | \b(?:(?:not\ |im)(?:possible|feasible)|difficult|hard|challenging)\ (?:for\ \w+\ )?to\ {_ADVERBS}{_WORK_OUT}\b
    | \bcan\ not\ (?:\w+ly\ )?be\ (?:\w+ly\ )?{_FOUND_OUT}\b
    | \bcould\ not\ (?:\w+ly\ )?be\ (?:\w+ly\ )?
        (?:(?:determined|calculated|computed|answered|inferred|derived|concluded)\b|{_FOUND_OUT}\b[^.]{{0,60}}\b{_SOURCE}\b)
    | \b{_INFORMATION}\b[^.]{{0,60}}\bcould\ not\ be\ {_FOUND_OUT}\b
    | \b(?:is|are)\ not\ (?:calculable|computable|determinable|answerable)\b
    | \b(?:i|we)\ (?:is|am|are|was|were)\ not\ (?:told|informed)\b
    | ^\W*(?:unknown|unclear|unanswerable|n/a
        |not\ (?:stated|mentioned|specified|provided|given|available|known|found|answerable))
        (?:\W*$|\ ?[-–—,.:;(]|\ (?:from|based|according|given|as|due|whether|how|here|anywhere)\b
        |\ [^.]{{0,40}}\b{_SOURCE}\b)
"""
_SOURCES_DO_NOT_SAY = rf"""
      \b{_SOURCE}\b[^.?!]{{0,80}}?\b(?:do|does|did|has|have|had)\ not\ {_ADVERBS}(?:been\ )?{_SILENT}\w*\b
    | ^(?:it|they|these)\ (?:do|does|did|has|have)\ not\ {_ADVERBS}(?:been\ )?
        (?:mention|state|specify|say|disclose|discuss|indicate|tell|describe|identify|clarify|explain|address|provide)
    | ^(?:but|however,?|and|yet|though|although|while)\ (?:it\ |they\ |this\ |these\ )?
        (?:do|does|did|has|have)\ not\ {_ADVERBS}(?:been\ )?{_SILENT}\w*\b
    | \b{_SOURCE}\b[^.?!]{{0,60}}?\b(?:fails?\ to|without\ \w+ing|says?\ nothing|(?:is|are)\ silent
        |(?:makes?|gives?|contains?|provides?|offers?|has|have|mentions?)\ no\b|includes?\ no(?:ne)?\b)
    | \b{_NAMED}\ (?:\w+\ ){{0,2}}?(?:do|does|did|has|have|had)\ not\ {_ADVERBS}(?:been\ )?{_SAY}\w*\b
    | \b{_NAMED}\ (?:\w+\ ){{0,2}}?(?:do|does)\ not\ {_ADVERBS}
        (?:give|provide|contain|include)\ (?:\w+\ ){{0,3}}{_INFORMATION}\b
    | \b{_NAMED}\ (?:\w+\ )?(?:says?|tells?|states?|reveals?|mentions?|discloses?)\ nothing\b
    | \bnothing\ (?:is|was|has\ been)\ (?:\w+ly\ )?(?:said|mentioned|stated|written|given|disclosed)\b
    | ^but\ not\ (?:what|when|who|whom|whose|where|how|why|whether|which)\b
    | \b{_NAMED}\ (?:makes?|gives?|contains?|provides?|has|have)\ no\ (?:\w+\ ){{0,2}}{_INFORMATION}\b
    | \b(?:do|does)\ not\ (?:\w+ly\ )?appear\ (?:anywhere\ )?(?:in|within|on)\ (?:\w+\ ){{0,4}}{_SOURCE}\b
    | (?:\b{_NAMED}|^(?:but|and|however,?|yet)(?:\ it|\ they)?)\ (?:is|are)\ silent\b
    | \b(?:neither|none|no)\ (?:of\ )?(?:\w+\ ){{0,3}}?{_SOURCE}\ (?:\w+\ ){{0,3}}?{_SILENT}\w*
    | \b(?:neither|none)\ (?:of\ (?:them|these|those)\ )?{_ADVERBS}(?:{_SAY}|give|provide|contain|include|cover)\w*
    | \bneither\ of\ (?:\w+\ ){{0,3}}(?:{_SAY}|give|provide|contain|include)\w*
    | \b{_SOURCE}\ (?:\w+\ ){{0,2}}(?:gives?|contains?|provides?|includes?|states?|mentions?|lists?)\ neither\b
    | \b(?:neither|nor|none)\b[^.]{{0,60}}\b(?:appears?|is|are)\b[^.]{{0,20}}\b{_SOURCE}\b
    | \bnothing\ (?:in|about|on|regarding)\b[^.]{{0,60}}\b(?:{_SILENT}\w*|{_SOURCE})\b
    | \bnot\ {_ADVERBS}(?:explicitly|directly|specifically|clearly|expressly)\ {_SILENT}\w*\b
    | \bnot\ {_SILENT}\w*\ (?:whether|any\ (?:\w+\ ){{0,2}}{_INFORMATION})\b
    | \bnever\ {_SILENT}s?\b
    | \b(?:cut\ off|truncated|ends?\ abruptly|ended\ abruptly)\b
"""
_IT_IS_MISSING = rf"""
      (?<!found\ )(?<!cited\ )(?<!for\ )(?<!of\ )\b(?:not|in)\ ?(?:enough|sufficient|adequate)\s
        (?:\w+\ ){{0,2}}(?:information|data|context|details?)\b
    | (?<!found\ )(?<!cited\ )(?<!for\ )(?<!of\ )\b(?:not|in)\ ?(?:enough|sufficient|adequate)\s
        (?:\w+\ ){{0,2}}evidence\b[^.]{{0,40}}?\b(?:{_SOURCE}|{_WORK_OUT})\b
    | \b{_SOURCE}\ (?:\w+\ ){{0,4}}(?:is|are|was|were)\s
        (?:not\ (?:enough|sufficient)|insufficient|inadequate|missing|incomplete)\b
    | \black(?:s|ing|\ of)?\ (?:\w+\ ){{0,3}}(?:{_INFORMATION}|access|context|knowledge)\b
    | \bthere\ (?:is|are|was|were|does\ not\ (?:seem|appear)\ to\ be)\ (?:no|not\ (?:any|an|a))\s
        (?:\w+,?\ ){{0,3}}(?:{_INFORMATION}|balance\ sheet|breakdown)\b
    | ^(?:\W*(?:sorry|unfortunately|based|according)\b[^.]*?\b)?no\ (?:\w+\ ){{0,3}}{_INFORMATION}\b
        (?!\ (?:is|are|was|were)\ (?!(?:\w+ly\ )?{_PUT_DOWN}|\w+ly\b|made\b))
    | \b(?:{_INFORMATION}|question|documents?)\b[^.]{{0,80}}?\b{_ARE_NOT}(?:{_PUT_DOWN}|in)\b
    | \b{_ARE_NOT}{_PUT_DOWN}\b[^.]{{0,40}}?\b(?:in|from|within|by)\b[^.]{{0,40}}\b{_SOURCE}\b
    | \b{_ARE_NOT}(?:mentioned|stated|specified|provided|disclosed|given)(?:\ (?:here|there|anywhere))?\W*$
    | \bnot\ {_PUT_DOWN}\ (?:in|by|within|from)\ (?:\w+\ ){{0,4}}{_SOURCE}\b
    | \bnot\ (?:been\ )?(?:mentioned|stated|specified|given|disclosed|addressed|explained|named|discussed|revealed)\s
        (?:in|by|within)\ (?:\w+\ ){{0,3}}{_NAMED}\b
    | \b(?:missing|absent|omitted|left\ out)\ (?:from|in)\ (?:\w+\ ){{0,4}}{_SOURCE}\b
    | ^(?:information|answer|data)\W+not\ {_PUT_DOWN}\b
    | \bno\ (?:\w+\ )?evidence\b[^.]{{0,60}}\b{_SOURCE}\b | \bnot\ (?:readily|publicly|directly|explicitly)\ available\b
    | \bno\ [^.,]{{1,50}}\ (?:is|are|was|were)\ (?:\w+ly\ )?{_PUT_DOWN}\ (?:in|by|within)\ (?:\w+\ ){{0,3}}{_SOURCE}\b
    | \b(?:more|additional|further)\ (?:information|context|data|details?)\ (?:is|are|would\ be)\s
        (?:needed|required|necessary)\b
"""
_ASIDE = rf"""
      \?\W*$ | ^\W*here\ (?:is|are)\b | \b(?:important|worth)\ (?:to\ (?:note|mention|consider)|noting)\b
    | \bi\ (?:can\ only|will|have\ (?:reviewed|searched|checked|read|analy[sz]ed|looked)
        |reviewed|searched|checked|read|analy[sz]ed|looked)\b
    | \b(?:investors?|users?|readers?|analysts?|one|it)\ (?:can|could|may|might)\ (?:also\ )?(?:be\ )?
        (?:look|review|use|check|find|refer|consult|helpful|useful|necessary)\w*\b
    | \b(?:is|are)\ (?:a|an|the)\ (?:\w+\ ){{0,3}}(?:measure|metric|ratio|indicator|term|concept)\b
    | \b(?:found|located|given|set\ out|available|disclosed|included|reported|outlined|detailed)\ in\b
    | \b(?:sorry|apologi[sz]e|apologies|unfortunately|thank\ you|i\ hope|any\ other\ questions)\b
    | ^\W*(?:sure|certainly|of\ course|ok|okay|great|hello|hi|dear|as\ of\ my)\b
    | \b(?:you|your|please|let\ me\ know|feel\ free|recommend|suggest\ (?!that\b)|advise|advisable|consult|refer\ to
        |best\ to|happy\ to|glad\ to|the\ question)\b
    | \b(?:would|need(?:s|ed)?|requires?|required|necessary|must|should)\b
    | ^\W*(?:if|once|when|unless|without|for\ (?:more|further|accurate)|(?:in\ order\ )?to\ (?:\w+ly\ )?
        (?:answer|calculate|determine|compute|find|assess|obtain|provide|get|make|analy[sz]e|do|evaluate))\b
    | \b(?:typically|usually|generally|often|normally|commonly)\b
    | \b(?:is|are|can\ be)\ (?:\w+ly\ )?
        (?:calculated|computed|defined|measured|determined|obtained|found|available)\b
    | \bformula\b | =\s*(?![\s$€£(~≈-]*\d)
    | ^\W*(?:based\ on|according\ to|from|given|in)\b[^,]{{0,80}},?\W*$
    | \b(?:is|are|follows|answer|response|output)\W*$
    | ^(?:\W*(?:and|but|however|instead|rather|also|while|though),?\ )*
        (?:the|this|these|those|all|both|each|its|your)?\ ?(?:\w+\ ){{0,4}}(?:{_SOURCE}|it|they)\ (?:\w+\ ){{0,4}}?
        (?:provides?|includes?|contains?|covers?|discuss(?:es)?|describes?|mentions?|talks?|focus(?:es)?|deals?|ends?
        |concerns?|relates?|pertains?|lists?|outlines?|(?:is|are)\ (?:about|a|an|only|from|limited|related)
        |appears?\ to|seems?\ to|refers?|consists?|offers?|presents?|gives?|details?)\b
    | ^\W*(?:document|passage|source|context|page|note)\ \[?\d
    | ^(?:\W*(?:and|but|however|instead|also|while|though|since),?\ )*(?:the|this|these|those|your|both|all)\s
        (?:\w+\ ){{0,2}}{_SOURCE}\b
        (?![^.]*\b(?:suggest|indicat|impl(?:y|ies)|state[sd]?|says?|shows?|note[sd]?|report(?:s|ed)|mean|reveal))
    | ^(?:although|though|while|whereas|even\ though|even\ if)\b
    | ^(?:the|this|these|those|your|both)\ (?:\w+\ ){{0,2}}{_NAMED}\ (?:\w+\ ){{0,2}}?
        (?:covers?|describes?|discuss(?:es)?|explains?|talks?|deals?|focus(?:es)?|mentions?|lists?|outlines?|address(?:es)?)\b
    | ^(?:the\ )?(?:first|second|third|fourth|fifth|other|last)\ (?:one\ )?(?:is\ about
        |covers?|describes?|discuss(?:es)?|lists?|mentions?|talks?|deals?|focus(?:es)?|concerns?|outlines?|explains?)\b
    | \b(?:errors?|contradictions?)\b[^.]{{0,40}}\b{_SOURCE}\b
"""
_TURN = re.compile(
    r"""
      ^\W*(?:but|however|nevertheless|nonetheless|that\ said|yet|although|though|while)\b
    | ^\W*(?:and\ )?(?:so|therefore|thus|hence|consequently|accordingly|in\ conclusion|as\ a\ result)\b
    | \b(?:which|this|that|it|they|these|trend|data|figures?)\ (?:\w+\ )?(?:suggests?|indicates?|impl(?:y|ies)|means)\b
    | \b(?:suggests?|indicates?|implies)\ that\b
    | \b(?:appears?|seems?)\ (?:to|that|like)\b
    | \b(?:likely|probably|perhaps|maybe|presumably|approximately|roughly|estimated?)\b
    | \b(?:can|could|may|might)\ (?:be\ )?(?:infer|assum|conclud|estimat|calculat|deduc|deriv|comput|not)\w*\b
    | \b(?:i\ (?:believe|think|assume)|general\ knowledge|my\ knowledge|the\ answer\ is|known\ to)\b
    """,
    re.VERBOSE,
)
_CLOSING = rf"""
    ^\W*(?:and\ |but\ )?(?:(?:so|therefore|thus|hence|consequently|accordingly|as\ a\ result|which\ means|making\ it
        |(?:without|in\ the\ absence\ of|for\ (?:this|that)\ reason)\b[^.]{{0,80}}?)\b,?\ )+
    (?!.*\b(?:more|further|additional|other|verify|confirm|exact|exactly|precise|precisely)\b)
    (?:[^.]{{0,160}}\b(?:can|could)\ not\ (?:\w+ly\ )?be\ (?:\w+ly\ )?{_FOUND_OUT}
    |[^.]{{0,80}}\b(?:i|we|one)\ (?:can|could|am|is|are)\ (?:not|unable\ to)\ {_ADVERBS}{_CONCLUDE}
    |[^.]{{0,80}}\b(?:not\ |im)(?:possible|feasible)\ (?:for\ \w+\ )?to\ {_ADVERBS}{_CONCLUDE}
    |[^.]{{0,120}}\b(?:is|remains)\ (?:unknown|unclear)|there\ is\ no\ way\ to\ {_ADVERBS}{_CONCLUDE})\b
"""
_VALUE = re.compile(
    r"""
      (?<![\w.,-])(?!(?:19|20)\d\d\b(?!\s*(?:million|billion|%)))
      (?!(?:100|365)\b)(?!\A\d{1,2}[.)])(?<!/\ )(?<!/)(?<!x\ )
      (?<!item\ )(?<!note\ )(?<!section\ )(?<!form\ )(?<!document\ )(?<!passage\ )(?<!page\ )(?<!part\ )(?<!table\ )
      (?<!step\ )(?<!january\ )(?<!february\ )(?<!march\ )(?<!april\ )(?<!may\ )(?<!june\ )(?<!july\ )(?<!august\ )
      (?<!september\ )(?<!october\ )(?<!november\ )(?<!december\ )(?<!exhibit\ )(?<!topic\ )(?<!gpt-)
      [$€£¥(~-]*\d[\d,]*(?:\.\d+)?(?!\d|[-.]?[a-z]|\)|-?(?:month|day|year))
    | \d\s?(?:%|percent\b|million\b|billion\b|thousand\b|bn\b|m\b)
    """,
    re.VERBOSE,
)


def clauses(text: str) -> list[str]:
    """Split an English text into clauses in lower case, without contractions.

    "Although the text does not say so, it is red" gives two clauses: the concession, and the main clause after "but".
    """
    result: list[str] = []
    for sentence in sentences(text):
        plain = sentence.lower()
        for pattern, replacement in _CONTRACTIONS:
            plain = pattern.sub(replacement, plain)
        plain = _IMPRESSION.sub("", plain)
        concession = _CONCESSION.match(plain)
        if concession:
            result.append(concession[0])
            plain = f"but {plain[concession.end() :]}"
        advice = _ADVICE.search(plain)
        parts = (_REPORTED.sub(r"\1", part) for part in _SPLIT.split(plain))
        result += [clause for part in parts if (clause := (part if advice else _REASON.sub("", part)).strip())]
    return result


ENGLISH = Wording(
    clauses=clauses,
    refusal=re.compile(f"{_WRITER_CANNOT}|{_NOBODY_CAN}|{_SOURCES_DO_NOT_SAY}|{_IT_IS_MISSING}", re.VERBOSE),
    verdict=re.compile(
        rf"\W*(?:yes|no|none(?!\ of\b))\b(?!\W*\b(?:information|mention|data|answer|relevant|idea|specific|details?))"
        rf"(?!\ (?:\w+\ ){{0,7}}?{_SOURCE}\b)",
        re.VERBOSE,
    ),
    aside=re.compile(_ASIDE, re.VERBOSE),
    turn=_TURN,
    value=_VALUE,
    elsewhere=re.compile(
        rf"""{_OTHER},?\ (?:also\ |\w+ly\ )?(?:(?:says?|states?|reports?|notes?|claims?|confirms?|specif(?:y|ies))\b
        (?!\ (?:only|no|nothing)\b)|(?<=\ )(?:it|he|she|they|the)\ .*\b(?:is|was|are|were|costs?|did|had|has)\b)""",
        re.VERBOSE,
    ),
    closing=re.compile(_CLOSING, re.VERBOSE),
)
