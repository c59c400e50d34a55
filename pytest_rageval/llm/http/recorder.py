"""Answer requests to the listed hosts from recordings, or let them out and record their replies."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_rageval.llm.client.running_cases import is_running
from pytest_rageval.llm.client.session_calls import is_session_call
from pytest_rageval.llm.client.usage_meter import Meter, Scope, current
from pytest_rageval.llm.http.exchange import Exchange
from pytest_rageval.llm.http.exchange_values import Call
from pytest_rageval.llm.http.hosts import Hosts
from pytest_rageval.llm.http.in_flight import InFlight
from pytest_rageval.llm.http.price_table import PriceTable
from pytest_rageval.llm.http.spending import Spending
from pytest_rageval.trace.collector import current_collector

if TYPE_CHECKING:
    from pytest_rageval.llm.client.running_cases import RunningCase
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["Recorder"]


class Recorder:
    """Takes the requests to some hosts; threads and event loops may share it.

    Args:
        hosts: whose requests it takes.
        cassettes: the recordings; None only meters.
        spending: prices and budget.
        outside: meter of the requests outside of any case.

    Attributes:
        taken: the number of requests that it took.
        elsewhere: host and port -> requests of running systems to a host that it leaves alone.
    """

    def __init__(
        self,
        hosts: Hosts,
        cassettes: Cassettes | None = None,
        spending: Spending | None = None,
        outside: Meter | None = None,
    ) -> None:
        self._hosts = hosts
        self._cassettes = cassettes
        self._spending = spending or Spending(PriceTable({}))
        self._outside = outside or Meter()
        self._in_flight = InFlight()
        self._left_out = ""
        self._lock = threading.Lock()
        self.taken = 0
        self.elsewhere: Counter[str] = Counter()

    def takes(self, url: str) -> bool:
        """Return whether it takes a request to an address; False for the calls of the session's own models."""
        if is_session_call():
            return False
        if self._host(url) is not None:
            return True
        self._note_elsewhere(url)
        return False

    def exchange(self, call: Call) -> Exchange:
        """Start a request that `takes` accepts, of the case of the current context."""
        return self.exchange_for((current(self._outside), current_collector()), call, "")

    def exchange_for(self, case: RunningCase | None, call: Call, host: str) -> Exchange:
        """Start a request of a case, or of none; ``host`` is its name in recordings if no setting lists it."""
        with self._lock:
            self.taken += 1
        scope, collector = case or (Scope(self._outside), None)
        host = self._host(call.url) or host
        exchange = Exchange(call, host, scope, collector, self._cassettes, self._spending, self._in_flight)
        exchange.has_case = scope.meter is not self._outside
        return exchange

    def leave_out(self, address: str) -> None:
        """Leave the requests to an address alone: the proxy there records them."""
        self._left_out = urlsplit(address).netloc

    def _note_elsewhere(self, url: str) -> None:
        """Count a request to a host that no setting names, if a running system sends it."""
        parts = urlsplit(url)
        if parts.netloc != self._left_out and is_running(current(self._outside)):
            with self._lock:
                self.elsewhere[parts.netloc.rpartition("@")[2]] += 1

    def _host(self, url: str) -> str | None:
        try:
            parts = urlsplit(url)
            if parts.netloc == self._left_out:
                return None
            return self._hosts.name(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        except ValueError:
            return None
