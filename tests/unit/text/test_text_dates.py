"""Dates and times of day in a text, with their positions."""

from __future__ import annotations

from pytest_rageval.text.dates import located_dates, located_times


def test_a_date_is_located_without_the_word_before_it() -> None:
    text = "In 1998 the bridge opened; it closed on 5 March 2021, not on 05/06/2021. 2019年3月5日通车。"
    dates = [(text[start:end], date) for start, end, date in located_dates(text)]
    assert dates == [
        ("1998", (1998, 0, 0)),
        ("5 March 2021", (2021, 3, 5)),
        ("05/06/2021", None),
        ("2019年3月5日", (2019, 3, 5)),
    ]


def test_a_year_may_be_followed_by_chinese() -> None:
    text = "从1 January 1000到1000 km, 于May 2010完工"
    assert [text[start:end] for start, end, _ in located_dates(text)] == ["1 January 1000", "May 2010"]


def test_times_of_day_are_located_but_plain_numbers_are_not() -> None:
    text = "Open from 9:00 to 5 p.m., with 12 rooms. 下午3点半闭馆。"
    assert [(text[start:end], minutes) for start, end, minutes in located_times(text)] == [
        ("9:00", 540),
        ("5 p.m.", 1020),
        ("下午3点半", 930),
    ]
