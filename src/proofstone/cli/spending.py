"""What was spent, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proofstone.records import Spent

__all__ = ["spent_text", "usd"]


def spent_text(spent: Spent) -> str:
    """``0.0493 USD, up to 0.0012 of it estimated (3 calls), 12,345 tokens``; money only where a
    price is known, and how many calls had none."""
    parts = []
    priced = spent.calls - spent.unpriced
    if priced and spent.cost_usd:
        parts.append(f"{usd(spent.cost_usd)} USD{_estimated(spent, money=True)}")
        parts += [f"{spent.unpriced} calls without a price"] if spent.unpriced else []
        parts.append(f"{spent.tokens:,} tokens")
    else:
        parts.append(f"{spent.tokens:,} tokens{_estimated(spent, money=False)}")
    return ", ".join(parts)


def usd(amount: float) -> str:
    """US dollars with at least four places, more where that would leave fewer than three digits."""
    if amount >= 100:
        return f"{amount:,.2f}"
    return f"{amount:.4f}" if amount >= 0.01 or not amount else f"{amount:.3g}"


def _estimated(spent: Spent, *, money: bool) -> str:
    if not spent.estimated_calls:
        return ""
    part = usd(spent.estimated_usd) if money else f"{spent.estimated_tokens:,}"
    calls = "1 call" if spent.estimated_calls == 1 else f"{spent.estimated_calls} calls"
    return f" (up to {part} of it estimated: {calls} without a count)"
