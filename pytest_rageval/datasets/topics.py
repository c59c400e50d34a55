"""OmniEval's topics, in Chinese (as in its file trees) and in English."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TOPICS", "Topic"]


class Topic(NamedTuple):
    """A first-level and a second-level topic, in Chinese and in English."""

    zh_1: str
    zh: str
    en_1: str
    en: str


TOPICS = (
    Topic("银行业务", "零售银行", "Banking", "Retail banking"),
    Topic("银行业务", "商业银行", "Banking", "Commercial banking"),
    Topic("银行业务", "投资银行", "Banking", "Investment banking"),
    Topic("投资", "股票市场", "Investment", "Stock market"),
    Topic("投资", "债券市场", "Investment", "Bond market"),
    Topic("投资", "基金", "Investment", "Funds"),
    Topic("投资", "衍生品市场", "Investment", "Derivatives market"),
    Topic("保险", "人寿保险", "Insurance", "Life"),
    Topic("保险", "财产保险", "Insurance", "Property"),
    Topic("保险", "健康保险", "Insurance", "Health"),
    Topic("金融科技", "区块链", "Fintech", "Blockchain"),
    Topic("金融科技", "人工智能", "Fintech", "AI"),
    Topic("金融科技", "大数据", "Fintech", "Big data"),
    Topic("监管与合规", "反洗钱（AML）", "Regulation & compliance", "AML"),
    Topic("监管与合规", "合规审计", "Regulation & compliance", "Compliance audit"),
    Topic("监管与合规", "监管报告", "Regulation & compliance", "Regulatory reporting"),
)
"""The sixteen published topics; a tree may also have other topics."""
