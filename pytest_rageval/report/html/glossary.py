"""Explain the column heads of the page's tables in plain words."""

from __future__ import annotations

__all__ = ["TERMS"]

TERMS = {
    "baseline": "the mean in the committed baseline, over the same cases",
    "was": "the mean in the committed baseline, over the same cases",
    "now": "the mean of this run",
    "mean": "the mean of the metric over all cases of the system",
    "from the best": "its mean minus that of the best system, over the cases that both scored, with the 95 % interval",
    "difference": "now minus baseline, over the same cases",
    "95 % interval": "where the true value lies with 95 % confidence; few cases make it wide",
    "n": "number of values behind the mean",
    "p (Holm)": "how often chance alone would give such a change, corrected for the number of comparisons",
    "smallest detectable drop": "a smaller drop than this cannot be distinguished from chance with these cases",
    "broken": "cases whose value is lower than in the baseline",
    "fixed": "cases whose value is higher than in the baseline",
    "bias [95 %]": "the judge's mean minus people's over the same answers, with its interval; 0 is no bias",
    "causes": "where the broken cases lost their answers: retrieval, generation, both or unknown",
}
"""Column head -> its explanation."""
