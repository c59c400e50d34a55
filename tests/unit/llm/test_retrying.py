from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Sequence

import pytest
from support.samples.virtual_time import run_virtually

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RETRYABLE, RetryPolicy, Tries

FINAL = ("auth", "not_found", "bad_request", "context_length", "content_filter", "not_recorded", "cancelled", "budget")


class Backend:
    """Raise the given failures, then reply; record the time of each call."""

    def __init__(self, failures: Sequence[BaseException] = (), delay_s: float = 0.0) -> None:
        self.failures, self.delay_s = list(failures), delay_s
        self.call_times: list[float] = []

    async def __call__(self) -> str:
        self.call_times.append(asyncio.get_running_loop().time())
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.failures:
            raise self.failures.pop(0)
        return "yes"


def error(kind: str, **more: float) -> ModelError:
    return ModelError(kind, f"the provider says {kind}", retry_after=more.get("retry_after"))


def run_until_failure(backend: Backend, policy: RetryPolicy) -> tuple[ModelError, float]:
    """Return the error that ends a call, and the time of that error."""

    async def call() -> ModelError:
        with pytest.raises(ModelError) as raised:
            await Tries(policy, limiter).run(backend)
        return raised.value

    limiter = Limiter(4)
    result = run_virtually(call())
    assert limiter.in_flight == 0
    return result


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
def test_a_temporary_fault_is_retried(kind: str) -> None:
    backend, tries = Backend([error(kind), error(kind)]), Tries(RetryPolicy(), Limiter(1))
    reply, _ = run_virtually(tries.run(backend))
    assert (reply, tries.sent, tries.pending) == ("yes", 3, False)


@pytest.mark.parametrize("kind", FINAL)
def test_a_permanent_fault_is_raised_at_once(kind: str) -> None:
    cause = error(kind)
    backend = Backend([cause])
    raised, at = run_until_failure(backend, RetryPolicy())
    assert raised is cause
    assert (raised.attempts, at, len(backend.call_times)) == (1, 0.0, 1)


def test_every_documented_kind_of_failure_is_either_retryable_or_final() -> None:
    assert RETRYABLE.isdisjoint(FINAL)
    assert all(kind in (ModelError.__doc__ or "") for kind in (*RETRYABLE, *FINAL))


def test_the_last_failure_is_raised_with_the_number_of_attempts() -> None:
    raised, _ = run_until_failure(
        Backend([error("timeout"), error("connection"), error("server_error")]), RetryPolicy(attempts=3)
    )
    assert (raised.kind, raised.attempts) == ("server_error", 3)
    assert str(raised) == "the provider says server_error (tried 3 times)"


def test_a_permanent_fault_after_a_retry_reports_the_number_of_attempts() -> None:
    raised, _ = run_until_failure(Backend([error("timeout"), error("auth")]), RetryPolicy())
    assert (raised.kind, raised.attempts, str(raised)) == ("auth", 2, "the provider says auth (tried twice)")


def test_a_policy_of_one_attempt_never_retries() -> None:
    backend = Backend([error("server_error")])
    raised, _ = run_until_failure(backend, RetryPolicy(attempts=1))
    assert (str(raised), len(backend.call_times)) == ("the provider says server_error", 1)


def test_the_raised_error_has_the_cause_and_traceback_of_the_last_failure() -> None:
    last = error("server_error")
    last.__cause__ = OSError("the wire")
    raised, _ = run_until_failure(Backend([error("timeout"), last]), RetryPolicy(attempts=2))
    places, traceback = set(), raised.__traceback__
    while traceback:
        places.add(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert isinstance(raised.__cause__, OSError)
    assert raised.__suppress_context__
    assert "__call__" in places


def test_waits_are_random_up_to_a_bound_that_doubles() -> None:
    policy = RetryPolicy(attempts=6, base_s=1.0, cap_s=5.0, deadline_s=1000)
    longest, shortest = [0.0] * 5, [9.0] * 5
    for _ in range(200):
        backend = Backend([error("server_error")] * 5)
        run_virtually(Tries(policy, Limiter(1)).run(backend))
        waits = [later - earlier for earlier, later in zip(backend.call_times, backend.call_times[1:], strict=False)]
        longest = [max(pair) for pair in zip(longest, waits, strict=True)]
        shortest = [min(pair) for pair in zip(shortest, waits, strict=True)]
    for most, least_seen, most_seen in zip([1, 2, 4, 5, 5], shortest, longest, strict=True):
        assert 0 <= least_seen < 0.1 * most < 0.9 * most < most_seen <= most


def test_the_wait_after_many_failures_does_not_overflow() -> None:
    assert 0 <= RetryPolicy(cap_s=30).wait_s(100_000, None) <= 30


def test_retry_after_of_the_provider_is_respected() -> None:
    backend = Backend([error("rate_limited", retry_after=40.0), error("server_error", retry_after=0.0)])
    run_virtually(Tries(RetryPolicy(base_s=0.1, cap_s=1.0), Limiter(1)).run(backend))
    assert backend.call_times[1] == pytest.approx(40.0)
    assert backend.call_times[2] <= 40.2


def test_a_call_fails_at_once_when_the_next_wait_would_pass_the_deadline() -> None:
    backend = Backend([error("rate_limited", retry_after=0.0), error("rate_limited", retry_after=58.5)], delay_s=1.0)
    raised, at = run_until_failure(backend, RetryPolicy(deadline_s=60.0, base_s=0.0))
    assert (raised.kind, raised.attempts) == ("rate_limited", 2)
    assert raised.retry_after == 58.5
    assert at == pytest.approx(2.0)
    assert str(raised) == (
        "the provider says rate_limited (tried twice; another try would pass the deadline of 60 s, "
        "as the provider asks to be left alone for 58.5 s)"
    )


def test_no_request_is_retried_after_the_deadline() -> None:
    backend = Backend([error("connection")] * 100, delay_s=1.0)
    raised, at = run_until_failure(backend, RetryPolicy(attempts=100, deadline_s=10.0, base_s=2.0, cap_s=2.0))
    assert raised.kind in ("connection", "timeout")
    assert at <= 10.0
    assert raised.attempts == len(backend.call_times) < 11
    assert "the deadline of 10 s" in str(raised)


def test_a_request_in_flight_at_the_deadline_ends_with_a_timeout() -> None:
    backend = Backend([error("server_error")], delay_s=8.0)
    raised, at = run_until_failure(backend, RetryPolicy(deadline_s=10.0, base_s=0.0))
    assert (raised.kind, raised.attempts) == ("timeout", 2)
    assert at == pytest.approx(10.0)
    assert str(raised) == "there was no reply within the deadline of 10 s (tried twice)"


def test_a_call_that_is_queued_at_the_deadline_raises_its_last_failure() -> None:
    async def call() -> ModelError:
        async def blocking() -> str:
            await asyncio.sleep(60)
            return "late"

        tries = Tries(RetryPolicy(deadline_s=10.0), limiter)
        call = asyncio.create_task(tries.run(Backend([error("rate_limited", retry_after=5.0)])))
        await asyncio.sleep(1.0)
        other = asyncio.create_task(Tries(RetryPolicy(), limiter).run(blocking))
        with pytest.raises(ModelError) as raised:
            await call
        assert asyncio.get_running_loop().time() == pytest.approx(10.0)
        await other
        return raised.value

    limiter = Limiter(1)
    raised, _ = run_virtually(call())
    assert (raised.kind, raised.attempts) == ("rate_limited", 1)
    assert str(raised) == "the provider says rate_limited (tried once; the deadline of 10 s has passed)"


def test_the_deadline_counts_from_the_first_request_not_from_the_queue() -> None:
    async def many() -> list[str]:
        backend = Backend(delay_s=3.0)
        return await asyncio.gather(*(Tries(RetryPolicy(deadline_s=4.0), limiter).run(backend) for _ in range(10)))

    limiter = Limiter(1)
    replies, duration = run_virtually(many())
    assert len(replies) == 10
    assert duration == pytest.approx(30.0)


def test_a_finished_call_is_garbage_collected() -> None:
    async def finish_call() -> weakref.ref[Tries]:
        tries = Tries(RetryPolicy(), Limiter(1))
        await tries.run(Backend())
        return weakref.ref(tries)

    async def find_after_collection() -> Tries | None:
        tries = await finish_call()
        await asyncio.sleep(0.1)  # long before the deadline
        gc.collect()
        return tries()

    assert run_virtually(find_after_collection())[0] is None


def test_a_call_that_waits_for_a_retry_frees_its_slot() -> None:
    async def two() -> float:
        waits = asyncio.create_task(Tries(RetryPolicy(), limiter).run(Backend([error("timeout", retry_after=20.0)])))
        await asyncio.sleep(1.0)
        assert limiter.in_flight == 0
        await Tries(RetryPolicy(), limiter).run(Backend())
        finished_at = asyncio.get_running_loop().time()
        await waits
        return finished_at

    limiter = Limiter(1)
    assert run_virtually(two()) == pytest.approx((1.0, 20.0))


def test_an_exception_that_is_no_model_error_is_raised_unchanged() -> None:
    bug = KeyError("choices")

    async def call() -> BaseException:
        with pytest.raises(KeyError) as raised:
            await tries.run(Backend([bug]))
        return raised.value

    tries = Tries(RetryPolicy(), Limiter(1))
    assert run_virtually(call())[0] is bug
    assert (tries.sent, tries.pending) == (1, False)


@pytest.mark.parametrize(("at", "sent", "pending"), [(0.5, 1, True), (5.0, 1, False), (21.5, 2, True)])
def test_a_cancelled_call_ends_at_once_and_reports_whether_a_request_was_in_flight(
    at: float, sent: int, pending: bool
) -> None:
    async def cancel_call() -> float:
        call = asyncio.create_task(tries.run(Backend([error("timeout", retry_after=20.0)], delay_s=1.0)))
        await asyncio.sleep(at)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return asyncio.get_running_loop().time()

    limiter = Limiter(1)
    tries = Tries(RetryPolicy(), limiter)
    assert run_virtually(cancel_call())[0] == pytest.approx(at)
    assert (tries.sent, tries.pending, limiter.in_flight) == (sent, pending, 0)


def test_a_call_cancelled_after_its_reply_still_has_the_reply() -> None:
    async def cancel_call() -> None:
        call = asyncio.create_task(tries.run(Backend()))
        while tries.reply is None:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    tries = Tries(RetryPolicy(), Limiter(1))
    run_virtually(cancel_call())
    assert (tries.sent, tries.pending, tries.reply) == (1, False, "yes")


def test_a_call_that_is_cancelled_in_the_queue_was_never_sent() -> None:
    async def cancel_call() -> None:
        async with limiter.turn():
            call = asyncio.create_task(tries.run(Backend()))
            await asyncio.sleep(1.0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    limiter = Limiter(1)
    tries = Tries(RetryPolicy(), limiter)
    run_virtually(cancel_call())
    assert (tries.sent, tries.pending, limiter.in_flight) == (0, False, 0)


def test_a_backend_that_turns_its_cancellation_into_an_error_is_not_called_again() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise error("connection") from None
        return "late"

    async def cancel_call() -> None:
        call = asyncio.create_task(tries.run(stubborn))
        await asyncio.sleep(1.0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    tries = Tries(RetryPolicy(), Limiter(1))
    assert run_virtually(cancel_call())[1] == pytest.approx(1.0)
    assert tries.sent == 1
