"""Units in English and Chinese, and what they are converted to."""

from __future__ import annotations

__all__ = ["UNITS"]

UNITS: dict[str, tuple[str, str]] = {
    "%|percent|per cent|pct": ("%", "1"),
    "‰": ("%", "0.1"),
    "‱": ("%", "0.01"),
    "个?百分点|percentage points?|ppts?|pp": ("pp", "1"),
    "个?基点|basis points?|bps|bp": ("pp", "0.01"),
    "元人民币|人民币|元|块钱|yuan|rmb|cny|¥|￥": ("CNY", "1"),
    "美元|美金|us dollars?|dollars?|usd|us\\$|\\$": ("USD", "1"),
    "港元|港币|hkd|hk\\$": ("HKD", "1"),
    "欧元|euros?|eur|€": ("EUR", "1"),
    "日元|yen|jpy": ("JPY", "1"),
    "英镑|pounds? sterling|gbp|£": ("GBP", "1"),
    "公里|千米|kilomet(?:er|re)s?|kms?": ("m", "1000"),
    "厘米|centimet(?:er|re)s?|cm": ("m", "0.01"),
    "毫米|millimet(?:er|re)s?": ("m", "0.001"),
    "米|met(?:er|re)s?": ("m", "1"),
    "公斤|千克|kilograms?|kilos?|kgs?": ("g", "1000"),
    "吨|tonnes?|metric tons?": ("g", "1000000"),
    "克|grams?|g": ("g", "1"),
    "周年|年|周?岁|years?|yrs?": ("months", "12"),
    "个?季度|quarters": ("months", "3"),
    "个月|months?": ("months", "1"),
    "个?星期|周|weeks?": ("s", "604800"),
    "天|日|days?": ("s", "86400"),
    "个?小时|个?钟头|hours?|hrs?": ("s", "3600"),
    "分钟|minutes?|mins?": ("s", "60"),
    "秒钟?|seconds?|secs?": ("s", "1"),
    "摄氏度|度|°c|℃|degrees? celsius|degrees?": ("°", "1"),
    "人|名|位|people|persons?": ("people", "1"),
    "倍|times|x": ("times", "1"),
    "m": ("m or million", "1"),
    "mm": ("mm or million", "1"),
    "t|tons?": ("t", "1"),
    "股|shares?": ("shares", "1"),
    "家": ("家", "1"),
    "次": ("次", "1"),
    "户": ("户", "1"),
    "件": ("件", "1"),
    "台": ("台", "1"),
    "辆": ("辆", "1"),
    "项": ("项", "1"),
}
"""How a unit is written, as a regular expression -> the unit it is converted to, and the factor."""
