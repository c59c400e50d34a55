"""Line numbers of keys in a suite file, for error messages."""

from __future__ import annotations

import pytest

from pytest_rageval.toml_files import line_of

SUITE = """\
# limit = comment
[[testbed]]
name = "a"
limit = 3
limits.x = 1

[[testbed]]
"name" = "b"
 "my-limit" = 2
[testbed.facet]
x = 1
[testbed . "quoted key"]
  [[inner]]
testbed = [{ name = "c", datset = "d" }]
"""


@pytest.mark.parametrize(
    ("key", "start", "line"),
    [
        ("name", 0, 3), ("name", 1, 3), ("limit", 0, 4), ("limits", 0, 5), ("name", 6, 8), ("my-limit", 6, 9),
        ("limit", 6, 7), ("facet", 6, 10), ("quoted key", 6, 12), ("inner", 0, 13), ("datset", 0, 14),
        ("testbed", 0, 2), ("nowhere", 3, 4), ("a.*b(", 0, 1),
    ],
)  # fmt: skip
def test_line_of_returns_the_line_that_sets_a_key(key: str, start: int, line: int) -> None:
    assert line_of(SUITE.splitlines(), key, start, "testbed") == line
