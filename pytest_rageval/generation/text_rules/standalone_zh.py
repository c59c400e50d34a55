"""Recognize Chinese sentences that are clear without the sentences before them."""

from __future__ import annotations

import re
from collections.abc import Set

__all__ = ["is_standalone"]

_OPENINGS = (
    "他|她|它|该|此|这|那|其|本|我|你|您|咱|上述|以上|以下|以此|对(?!外)|为此|因此|因而|所以|但|而|并|也|还|又|且|则|同时|另外|另|此外",
    "随后|之后|然后|最后|接着|其中|其他|其余|与此|除此|除了|不过|然而|如果|若|当|随着|由于|尽管|虽然|即使|无论|如|例如|比如|再|更|就",
    "至此|至于|截至|截止|据|根据|按照|按|有|从|到|在[这此该那]|双方|两者|两人|两国|两地|大家|记者|编辑|来源|责任|文|图|摄",
    r"（|\(|\[|【|“|‘|\"|《[^》]*》(?:讯|报道|记者)|首先|其次|第[一二三四五六七八九十]|[一二三四五]是|[一另]方面|总体|总的|很快",
    r"[年月日]\d|[\d一两三四五六七八九十半数几]+多?个?(?:年|月|天|日|周|小时|分钟)(?:之后|以后|过后|后|前|来)",
    "近[日期年来几]|日前|目前|今|昨|明[天年日]|前[一两三不几期]|上[午周月半一次]|下[午周月半一次]|后来|最|全[市省区县村国镇]|各|几",
    "支持|推[动进]|加强|落实|深入|提[高升]|完善|优化|强化|开展|组织|建设|实施|健全|加快|鼓励|相比|粗略|事发|即将|谈及|活动|排名|.{1,2}里",
    "[一两三四五六七八九十][个名位人项家只次条种批类支座方国地天年月些]|数[十百千万据]|多[个家名年位次]|许多|不少|部分|有些|某|每",
)
_UNCLEAR_START = re.compile(f"(?:{'|'.join(_OPENINGS)})")
"""Beginnings that refer to an earlier sentence or do not name a subject."""

_NEAR_TIMES = (
    "[年月天周][来前]|入夏|暑[运期]以来|连日|上一年|今年|去年|前年|明年|今天|昨天|明天|昨日|今日|明日|本月|上月|下月|当月|本周|上周|下周",
    "当日|当天|当晚|当年|同日|同年|次日|日前|近日|近期|近年|过去|未来|目前|现在|如今|眼下|此前|此后|此次|本次|这次|今晚|凌晨|刚刚|最近",
    "同比|环比|同期|上年|截至|预计|将于|将在|前\\d|上半年|下半年|第[一二三四1-4]季|季度|期间|上期|本期|一期|期开|期|本届|本赛季|本轮",
)
_POINTERS = (
    "《(?:行动计划|意见|通知|办法|方案|规定|条例|报告|规划|协议)》|[省市区县]内|村里|当地|该|此|他|她|它|这|那|本[报网市省县区]|我们|我国|我市|我省",
    "(?:^|[，；、])(?:主办方|承办方|组委会)|(?:^|[，；年月日])[市区县](?![场域块值民长])(?:委|政府|[\u4e00-\u9fff]{2,5}[委局])",
    "我区|全市|全省|全区|全县|全村|记者|如下|以下|上述|前者|后者|分别|共计|其中|双方|两人|两国|号码|[×xX]+某|某",
)
_RELATIVE = re.compile("|".join(_NEAR_TIMES + _POINTERS))
"""Words that depend on the date of writing or on another sentence."""

_MARKUP = re.compile(
    r"[`|<>{}\[\]\\_*#@=~]|https?:|…|\ufffd|u003|[▲■●◆△★↓↑→※]|：.*：|摄|供图|简历|\d+\s*[/∶:]\s*\d{3,}"
    r"|\s{2}|讣告|[\u4e00-\u9fff]\s+[\u4e00-\u9fff]|\([^)]*\d[^)]*,[^)]*\d"
)
_LABEL = re.compile(r"[\[\s]*\d{1,4}[-/.、\s]\s*\S|.{1,12}：")
"""Beginnings that are not part of the sentence: a time stamp, a list number, a label."""

_CHANGING = re.compile(
    "增长|下降|上涨|下跌|回升|降幅|涨幅|增速|净[流买]|收盘|开盘|报价|短线|多头|空头|市盈率|失业率|日内|走[低高]|现报|雨强|毫米|水位|气温|降雨|降水|风力|流量|溢价率"
)
"""Topics whose values change daily or yearly, such as prices; a sentence about them must name its year or day."""

_DATED = re.compile(r"\d{4}年|\d月\d{1,2}日")
_AFTER_DATE = r"在|于|经|被|由|因|从|自|至(?!\d)|至\d|挂职|免去|首次|正式|开始|参加|任|获|荣获|成为|当选|担任|赴"
_NO_SUBJECT = re.compile(
    rf"[^，]{{0,10}}\d[年月日]?(?:初|底|末|起|至今|以来)?[，\s]?(?:{_AFTER_DATE})"
    r"|\d{1,2}(?:时|点|:|：)|\d+(?:\.\d+)?[万亿]?(?!\d|年|月)|周[一二三四五六日天](?![至到])|[^，]{2,10}(?:之后|以后|过后)，"
    r"|受益|发放|参加|舞台上|会上|大会现场|现场|通过|走进|来到"
)
"""Beginnings without a subject: no name follows the date."""

_BARE_DAY = re.compile(r"(?<![月\d])\d{1,2}[日号]")
_NAMES = frozenset({"nr", "ns", "nt", "nz", "nrt", "nrfg", "eng"})
_SUBJECT = 24
"""Number of characters at the start of a sentence that must contain its subject."""


def is_standalone(sentence: str, context: str, common: Set[str] = frozenset()) -> bool:
    """Return whether a sentence is clear without the sentences before it.

    It must be complete, contain no markup, and refer neither to another sentence nor to the date of writing. Near its
    start it must name its subject: a proper name by jieba's tags, or a word of the heading or title.

    Args:
        sentence: the sentence.
        context: the heading and the title above it.
        common: ignored for Chinese.
    """
    if not 8 <= len(sentence) <= 100 or sentence[-1] not in "。！":
        return False
    if _UNCLEAR_START.match(sentence) or _RELATIVE.search(sentence) or _MARKUP.search(sentence):
        return False
    if _LABEL.match(sentence) or _NO_SUBJECT.match(sentence) or _BARE_DAY.search(sentence):
        return False
    if _CHANGING.search(sentence) and not _DATED.search(sentence):
        return False
    if any(sentence.count(one) != sentence.count(other) for one, other in ("“”", "（）", "《》", "()", "‘’", "【】")):
        return False
    return _has_clear_subject(sentence[:_SUBJECT], context)


def _has_clear_subject(start: str, context: str) -> bool:
    import rjieba

    tagged = rjieba.tag(start)
    if any(tag in _NAMES and len(word) > 1 for word, tag in tagged):
        return True
    return any(len(word) > 1 and word in context for word, tag in tagged if tag != "m")
