"""Replay the replies to requests of listed hosts, or send the requests and record them."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_rageval.llm.client.running_cases import is_running
from pytest_rageval.llm.client.session_calls import is_session_call
from pytest_rageval.llm.client.usage_meter import Meter, Scope, current
from pytest_rageval.llm.http.exchange import Exchange
from pytest_rageval.llm.http.hosts import Hosts
from pytest_rageval.llm.http.http_messages import HttpRequest
from pytest_rageval.llm.http.in_flight import InFlight
from pytest_rageval.llm.http.price_table import PriceTable
from pytest_rageval.llm.http.spending import Spending
from pytest_rageval.trace.collector import current_collector

if TYPE_CHECKING:
    from pytest_rageval.llm.client.running_cases import RunningCase
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["HttpRecorder"]


class HttpRecorder:
    """Records, replays and charges the requests to listed hosts; threads and event loops may share it.

    Args:
        hosts: the listed hosts.
        cassettes: the recordings; None if requests are only charged.
        spending: prices and budget.
        outside: meter of the requests outside of any case.

    Attributes:
        n_requests: the number of requests to listed hosts.
        unlisted_hosts: host and port -> number of requests that running systems sent to a host that is not listed.
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
        self._ignored_address = ""
        self._lock = threading.Lock()
        self.n_requests = 0
        self.unlisted_hosts: Counter[str] = Counter()

    def handles(self, url: str) -> bool:
        """Return whether an address belongs to a listed host; always False for calls of the session's models."""
        if is_session_call():
            return False
        if self._host(url) is not None:
            return True
        self._count_unlisted(url)
        return False

    def exchange(self, http_request: HttpRequest) -> Exchange:
        """Return the exchange of a request that `handles` accepts, for the case of the current context."""
        return self.exchange_for((current(self._outside), current_collector()), http_request, "")

    def exchange_for(self, case: RunningCase | None, http_request: HttpRequest, host: str) -> Exchange:
        """Return the exchange of a request.

        Args:
            case: the case that sends it; None if that is unknown.
            http_request: the request.
            host: the name of its host in recordings, if the host is not listed.
        """
        with self._lock:
            self.n_requests += 1
        scope, collector = case or (Scope(self._outside), None)
        host = self._host(http_request.url) or host
        exchange = Exchange(http_request, host, scope, collector, self._cassettes, self._spending, self._in_flight)
        exchange.has_case = scope.meter is not self._outside
        return exchange

    def ignore_address(self, address: str) -> None:
        """Ignore the requests to an address, because the proxy at this address records them."""
        self._ignored_address = urlsplit(address).netloc

    def _count_unlisted(self, url: str) -> None:
        """Count a request to a host that is not listed, if a running system sends it."""
        parts = urlsplit(url)
        if parts.netloc != self._ignored_address and is_running(current(self._outside)):
            with self._lock:
                self.unlisted_hosts[parts.netloc.rpartition("@")[2]] += 1

    def _host(self, url: str) -> str | None:
        try:
            parts = urlsplit(url)
            if parts.netloc == self._ignored_address:
                return None
            return self._hosts.name(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        except ValueError:
            return None
