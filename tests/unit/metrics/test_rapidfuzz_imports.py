"""Parts of rapidfuzz are imported on first use, which may happen in two threads at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, time
from pytest_rageval.environments.scholar.search import SearchedField
from pytest_rageval.metrics.answers.rouge import _lcs_score
from pytest_rageval.metrics.traces.route import _common_length

metric = threading.Thread(target={metric}, args=(["a", "b"], ["a"]))

class SecondThread:
    def find_spec(self, name, path=None, target=None):
        if name == "rapidfuzz" and metric.ident is None:
            metric.start()
            time.sleep(0.5)  # until the metric waits for rapidfuzz, which this thread is importing

sys.meta_path.insert(0, SecondThread())
print(SearchedField([["a paper"]]).matching("paper"))
metric.join()
"""


@pytest.mark.parametrize("metric", ["_lcs_score", "_common_length"])
def test_a_search_and_a_metric_may_import_rapidfuzz_at_once(metric: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(metric=metric)], capture_output=True, text=True, timeout=60
    )
    assert (run.stdout, run.stderr) == ("{0}\n", "")
