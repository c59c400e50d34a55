"""What the desk knows by itself: the names of its network, and a short table of facts that it trusts."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NAMES", "Fact", "trusted_facts"]

NAMES = {
    "Heron Line": "苍鹭线", "Gull Line": "海鸥线", "Otter Line": "水獭线",
    "Castle Tram": "城堡线", "Orchard Tram": "果园线", "Mill Tram": "磨坊线",
    "single ticket": "单程票", "day pass": "日票", "week pass": "周票",
    "student pass": "学生票", "Harbour Card": "海港卡", "Transit House": "交通之家",
    "Quay Office": "码头办事处", "Mill Street Counter": "磨坊街窗口", "North Depot": "北库房",
    "Glass Island": "玻璃岛", "Reed Pier": "芦苇码头", "Pear Hill": "梨山", "Windmill Bridge": "风车桥",
}  # fmt: skip
TIME = r"\d{1,2}:\d{2}"
CROWNS = r"\d+ ?(?:crowns|克朗)"
MINUTES = r"\d+ ?(?:minutes|分钟)"
DAYS = r"\d+ ?(?:days|天)"


@dataclass(frozen=True)
class Fact:
    """One thing the desk is sure of: what it is about, the words that speak of it, its value in each language."""

    name: str
    cue: str
    en: str
    zh: str
    kind: str  # pattern of any value of the same kind, right or wrong


trusted_facts = (
    Fact("Heron Line", r"\blast\b|末班", "23:15", "23:15", TIME),
    Fact("Heron Line", r"passengers|人", "180 passengers", "180人", r"\d+ ?(?:passengers|人)"),
    Fact("Gull Line", r"\bstarts?\b|起点", "Castle Steps", "城堡台阶", r"Castle Steps|Salt Pier|城堡台阶|盐码头"),
    Fact("Gull Line", r"bicycles|自行车", "40 bicycles", "40辆", r"\d+ ?(?:bicycles|辆)"),
    Fact("Castle Tram", r"Sunday|周日", "18 minutes", "18分钟", MINUTES),
    Fact("Mill Tram", r"\bfirst\b|首班", "5:35", "5:35", TIME),
    Fact("Orchard Tram", r"\bopen|通车", "1931", "1931年", r"1\d{3}年?"),
    Fact("single ticket", r"\bvalid\b|有效", "75 minutes", "75分钟", MINUTES),
    Fact("week pass", r"\bvalid\b|有效", "7 days", "7天", DAYS),
    Fact("Harbour Card", r"deposit|押金", "5 crowns", "5克朗", CROWNS),
    Fact("Quay Office", r"umbrella|雨伞", "45 days", "45天", DAYS),
    Fact("Quay Office", r"phone|手机", "90 days", "90天", DAYS),
    Fact("North Depot", r"bicycle|自行车", "12 crowns", "12克朗", CROWNS),
)
