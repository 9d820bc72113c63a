"""What was spent, and what a killed command may have been billed for, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from proofstone.records.runs import Spent, usd
from proofstone.session.terminal import say

if TYPE_CHECKING:
    from proofstone.models.budget import Budget, Spending
    from proofstone.session.session import Session
    from proofstone.store.calls import Expense


def spent_text(spent: Spent) -> str:
    """``0.0493 USD (up to 0.0012 of it estimated: 3 calls without a count), 12,345 tokens``; money
    only where something was paid, and how many calls had no price."""
    tokens = f"{spent.tokens:,} tokens"
    if not spent.cost_usd:
        return tokens + _estimated(spent, f"{spent.estimated_tokens:,}")
    if not spent.estimated_usd:  # what is estimated has no price
        tokens += _estimated(spent, f"{spent.estimated_tokens:,}")
    estimated = _estimated(spent, usd(spent.estimated_usd)) if spent.estimated_usd else ""
    paid = f"{usd(spent.cost_usd)} USD{estimated}"
    unpriced = f"{_calls(spent.unpriced)} without a price, " if spent.unpriced else ""
    return f"{paid}, {unpriced}{tokens}"


def beside_text(name: str, spent: Spent) -> str:
    """What a search took (``brave: 3 searches, 0.015 USD``), or a model that embeds texts."""
    if "/" in name:
        n = "1 embedding request" if spent.calls == 1 else f"{spent.calls:,} embedding requests"
        return f"{name}: {n}, {spent_text(spent)}"
    n = "1 search" if spent.calls == 1 else f"{spent.calls:,} searches"
    if spent.unpriced:
        return f"{name}: {n} without a price"
    unsure = (
        f", {spent.estimated_calls:,} of them without an answer" if spent.estimated_calls else ""
    )
    return f"{name}: {n}{unsure}, {usd(spent.cost_usd)} USD"


def tell_beside(
    beside: Mapping[str, Spent], what: str = "spent besides", *, quiet: bool = False
) -> None:
    """Says what searches and embeddings took, which is in no figure of a run or build."""
    for name, spent in sorted(beside.items()):
        say(f"{what}: {beside_text(name, spent)}", quiet=quiet)


@contextmanager
def beside_told(spending: Spending, what: str = "spent besides", *, quiet: bool) -> Iterator[None]:
    """Says behind a command's work what its searches and embeddings took, however it ended."""
    try:
        yield
    finally:
        tell_beside(spending.beside, what, quiet=quiet)


def lost_text(lost: Expense) -> str:
    """What a command that died may have been billed for besides what is stored."""
    from proofstone.models.budget import shown  # noqa: PLC0415

    runs = f" ({lost.runs})" if lost.runs else ""
    calls = f"up to {_calls(lost.exposed_calls)} of a command that died{runs}"
    if lost.exposed is None:
        why = "it had no budget, so what they cost is not bounded"
        return f"{calls} may have been billed, in flight or not stored yet; {why}"
    amount = shown("USD" if lost.unit == "USD" else "tokens", lost.exposed)
    return f"up to {amount} may have been billed for {calls}, in flight or not stored yet"


def tell_lost(session: Session, *, quiet: bool = False) -> None:
    """Says what commands that died since the last time may have been billed for."""
    for lost in newly_lost(session):
        say(f"note: {lost_text(lost)}; they are asked again", quiet=quiet)


def _estimated(spent: Spent, part: str) -> str:
    if not spent.estimated_calls:
        return ""
    return f" (up to {part} of it estimated: {_calls(spent.estimated_calls)} without a count)"


def _calls(n: int) -> str:
    return "1 call" if n == 1 else f"{n:,} calls"


def newly_lost(session: Session) -> list[Expense]:
    """What commands that died since the last time may have been billed for besides what is
    stored; each is told once."""
    return session.store.expenses.find_dead(session.clock.now())


def start_spending(session: Session, budget: Budget | str | Spending | None) -> Spending:
    """What is spent under a budget, or without one, for calls that are to share it. One that is
    shared already is returned."""
    from proofstone.models.budget import Spending, read_budget  # noqa: PLC0415

    if isinstance(budget, Spending):
        return budget
    return Spending(read_budget(budget) if isinstance(budget, str) else budget)
