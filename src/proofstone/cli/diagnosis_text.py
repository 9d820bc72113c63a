"""How ``doctor`` shows models step by step, and hosts with what went to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from proofstone.report.columns import aligned, printable
from proofstone.wording import counted

if TYPE_CHECKING:
    from proofstone.engines.models import Online
    from proofstone.stages.sent import BesideTotal, SentTo

__all__ = ["online_lines", "sent_lines"]

_STATES = {"ok": "ok", "failed": "FAILED", "open": "-"}
_SHOWN = 20
_TITLES = 5
_PLURALS = {"embedded": "requests", "searched": "queries", "fetched": "pages"}


def online_lines(found: Sequence[Online]) -> Iterator[str]:
    """A heading a model, a line a step; the remedy below the step that failed."""
    for online in found:
        took = f"  {online.latency_s:.2f} s" if online.latency_s else ""
        yield f"{online.name}{took}"
        for step in online.steps:
            yield f"  {_STATES[step.state]:<7} {step.name:<12} {printable(step.found)}".rstrip()
            if step.remedy:
                yield f"  {'':<7} {'':<12} {step.remedy}"


def sent_lines(sent: Sequence[SentTo]) -> Iterator[str]:
    """A heading a host, then what went there and from which sources."""
    if not any(not to.is_local for to in sent):
        yield "nothing was ever sent from this workspace to another machine"
    for to in sent:
        yield to.host
        if to.models:
            yield f"  models   {', '.join(to.models)}"
            yield f"  calls    {to.calls:,} in {to.attempts:,} attempts, {_amount(to)}"
        yield from map(_beside, to.beside)
        if to.checks:
            yield f"  checks   {to.checks:,} short questions, nothing of the workspace"
        if to.not_sent:
            yield f"  not sent {to.not_sent:,} calls did not reach it"
        if to.last_at:
            yield f"  dates    {_day(to.first_at)} to {_day(to.last_at)}"
        yield from _sources(to)


def _beside(total: BesideTotal) -> str:
    nouns = {"embedded": "request", "searched": "query", "fetched": "page"}
    noun = counted(total.requests, nouns[total.what], _PLURALS.get(total.what, ""))
    by = "" if total.what == "fetched" else f" by {total.by}"
    size = f", {total.n_bytes:,} bytes" if total.n_bytes else ""
    tokens = f", {total.tokens:,} tokens" if total.tokens else ""
    cost = f", {total.cost_usd:.4f} USD" if total.cost_usd else ""
    shown = ", ".join(printable(title) for title in total.sources[:_TITLES])
    more = f" and {len(total.sources) - _TITLES} more" if len(total.sources) > _TITLES else ""
    of = f", from {shown}{more}" if shown else ""
    return f"  {total.what:<8} {noun}{by}{size}{tokens}{cost}{of}"


def _amount(to: SentTo) -> str:
    purged = f", and {to.purged:,} whose text was purged" if to.purged else ""
    return f"{to.n_bytes:,} bytes of prompts{purged}"


def _sources(to: SentTo) -> Iterator[str]:
    rows = [
        (
            f"    {printable(source.title)}",
            _questions(source.n_items),
            source.licence or "no licence named",
        )
        for source in to.sources[:_SHOWN]
    ]
    if rows:
        yield "  sources"
        yield from aligned(rows, left=(0, 2))
    if len(to.sources) > _SHOWN:
        yield f"    and {len(to.sources) - _SHOWN} more; all with --json"


def _questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}" if count else "worked examples"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
