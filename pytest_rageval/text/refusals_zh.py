"""How Chinese answers refuse: the patterns of `refusals`."""

from __future__ import annotations

import re

from pytest_rageval.text.refusals import Wording

__all__ = ["CHINESE", "clauses"]

_STOP = re.compile(r"(?<=[？?])|[。！；!;\n：:，,]+|(?=但是?|不过|然而)")

_SOURCE = (
    r"(?:文档|文中|文本|文内|资料|材料|上下文|语境|段落|文件|文章|参考|报告|原文|所给|给定|给出的|提供的|内容|检索结果|搜索结果"
    r"|年报|财报|题目|书中|片段|知识库|现有信息|目前的信息|已知信息|背景)"
)
_SILENT = (
    r"(?:提及|提到|提供|说明|给出|包含|包括|涉及|指出|披露|找到|显示|列出|写|介绍|记载|交代|描述|明确|讨论|相关|谈到|透露|告诉"
    r"|直接|具体|含有|述及|阐述|体现|发现|有关|说|指明|标明|看到|记录)"
)
_FIND_OUT = (
    r"(?:确定|回答|判断|得知|提供|计算|给出|找到|获知|知道|确认|作答|得出|推断|访问|查到|了解|解答|答复|获取|判定|得到|评估|查询"
    r"|核实|推测|做出|作出|准确|查看|知晓|直接|告诉|说明|断定)"
)
_INFORMATION = r"(?:信息|数据|资料|内容|细节|依据|答案)"
_QUALIFIER = r"(?:任何|相关|具体|足够|这些|这方面|有关|明确|充足|直接|详细|该|此类)"

_REFUSAL = re.compile(
    rf"""
      (?:无法|不能|难以|很难|没法|没有办法|无从)[^，。]{{0,20}}?{_FIND_OUT}
    | {_SOURCE}.{{0,20}}?(?:没有|并未|未能|尚未|未|没|并没有|不){_SILENT}
    | (?:没有|并无|无|缺乏|缺少)(?:[^，。]{{0,20}}的)?{_QUALIFIER}*的?{_INFORMATION}
    | (?:没有|并无|无|缺乏|缺少)(?:[^，。]{{0,20}}的|{_QUALIFIER}+的?)(?:说明|记录|描述)
    | (?:没有|未能?|没能|并未)(?:[^，。]{{0,8}})?(?:找到|查到|检索到|发现)
    | 找不到 | 看不出 | 查不到 | 查无
    | 信息不足 | 资料不足 | 数据不足 | 不足以 | 信息不够 | 信息有限
    | ^(?:并未|没有|未)(?:被)?(?:明确|直接|具体)?(?:提及|提到|说明|提供|给出|披露|指出)
    | (?:并未|没有|未|没)(?:被)?(?:明确|直接|具体)?(?:提及|提到|说明|提供|给出|披露|指出)$
    | (?:我|我们|^)(?:并)?不(?:太)?(?:知道|清楚|确定|了解)
    | ^未知 | ^不详 | 尚不(?:清楚|明确) | 不得而知
    """,
    re.VERBOSE,
)
_ASIDE = re.compile(
    rf"""
      [？?]$ | 值得 | 抱歉 | 对不起 | 不好意思 | 很遗憾 | 遗憾的是 | 谢谢 | 感谢
    | 建议 | 请 | 您 | 你 | 可以(?:帮|提供|查|参考|咨询|联系|尝试) | 如果 | 如需 | 若 | 欢迎
    | 事实性错误 | 相互矛盾
    | 需要 | 须 | 通常 | 一般 | 公式 | 为了
    | ^(?:根据|基于|从|按照|依据|关于|对于|在).{{0,40}}$
    | (?:只|仅)(?:是|有|能)?(?:提到|介绍|说明|提及|描述|涉及|包含|提供|讲述|讨论|给出)
    | ^{_SOURCE}.{{0,12}}(?:提到了?|介绍了?|描述了?|讨论了?|涉及了?|讲述了?|主要)
    | ^(?:因此|所以|但是?|不过|然而|故)$
    | 作为(?:一个|一款)?(?:AI|人工智能|语言模型)
    """,
    re.VERBOSE,
)
_TURN = re.compile(
    r"^(?:但|不过|然而|却|因此|所以|故|那么|可见|总之)|据我所知|应该|应当是|可能|大约|大概|推测|表明|意味着|看来|可以(?:推断|计算|得出|看出)"
    r"|推断|估计|一般认为|其实|事实上|反而"
)
_VALUE = re.compile(
    r"(?<![\d.A-Za-z-])(?!(?:19|20)\d\d(?:年|财年|\D*(?:年度|财政)|[-—至到])|\d{1,2}月|\d{1,2}日|第)"
    r"[\d,.]*\d(?!\d|\s*(?:年|月|日|季度)|[A-Za-z])"
)


def clauses(text: str) -> list[str]:
    """Return the clauses of a Chinese text, without white space: what punctuation or a turning word parts.

    A clause that gives a reason is left out: "because the information is missing" may answer why something failed.
    """
    parts = (re.sub(r"[^\S\n]+", "", part) for part in _STOP.split(text))
    return [part for part in parts if part and not part.startswith(("因为", "由于"))]


CHINESE = Wording(
    clauses=clauses,
    refusal=_REFUSAL,
    verdict=re.compile(r"(?:是的?|不|不是|没有|有|会|不会|可以|不可以|否|对|需要|不需要|能|不能|没)$"),
    aside=_ASIDE,
    turn=_TURN,
    value=_VALUE,
)
