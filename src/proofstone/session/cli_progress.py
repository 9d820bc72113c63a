"""What a run has done so far: counters that the run loop raises and a display reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from proofstone.records.calls import CallRecord, Clock
from proofstone.records.runs import Spent


@dataclass(slots=True)
class RunProgress:
    """Counters of one run. ``done`` counts committed (item, sample) only, of ``total``.

    ``before`` were done when this process began, so that a rate counts only its own work.
    ``stopped`` says why the model's work ended early, where it did, and what to do; ``notes`` what
    there is to know before it begins.
    """

    label: str
    total: int
    notes: tuple[str, ...] = ()
    before: int = 0
    done: int = 0
    failed: int = 0
    cached: int = 0
    in_flight: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    estimated_calls: int = 0
    estimated_tokens: int = 0
    estimated_usd: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    stopped: str = ""
    started: float = 0.0
    ended: float | None = None

    def begin(self, clock: Clock) -> None:
        """Starts the clock."""
        self.started = clock.monotonic()

    def end(self, clock: Clock) -> None:
        """Stops the clock."""
        self.ended = clock.monotonic()

    def count(self, call: CallRecord) -> None:
        """Adds what a call took; one from the cache is never handed in, it costs nothing."""
        self.calls += 1
        self.prompt_tokens += call.usage.prompt or 0
        self.completion_tokens += call.usage.completion or 0
        self.reasoning_tokens += call.usage.reasoning or 0
        if call.estimated_tokens is not None:
            self.estimated_calls += 1
            counted = (call.usage.prompt or 0) + (call.usage.completion or 0)
            self.estimated_tokens += call.estimated_tokens - counted
            self.estimated_usd += call.cost_usd or 0.0
        if call.cost_usd is None:
            self.unpriced += call.state == "complete"
        else:
            self.cost_usd += call.cost_usd
        if call.error:
            self.errors[call.error] += 1

    def spent(self) -> Spent:
        """What the calls of this process took."""
        return Spent(**{name: getattr(self, name) for name in Spent.__struct_fields__})

    def rate(self, now: float) -> float:
        """Questions finished a second by this process."""
        elapsed = (self.ended if self.ended is not None else now) - self.started
        return (self.done - self.before) / elapsed if elapsed > 0 else 0.0

    def seconds_left(self, now: float) -> float | None:
        """The time left at the present rate; None before there is one."""
        rate = self.rate(now)
        return (self.total - self.done - self.failed) / rate if rate > 0 else None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to ask."""
        return self.done >= self.total
