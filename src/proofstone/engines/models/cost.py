"""What a call cost, as far as that can be known."""

from __future__ import annotations

from proofstone.records import Price, Usage

__all__ = ["cost_usd"]

_PER = 1_000_000


def cost_usd(price: Price | None, usage: Usage, status: int) -> float | None:
    """US dollars for a call's tokens, cached ones and those of hidden thought at their own prices
    (endpoints count the latter among the completion's); a reply that cannot be read costs the same.

    None where no price is known, or where the endpoint did not say what it counted and may have
    billed (a 200, a dropped connection). A refusal (status 300 and above) without usage costs 0.
    """
    if price is None:
        return None
    if usage.prompt is None and usage.completion is None:
        return 0.0 if status >= 300 else None
    prompt, completion = usage.prompt or 0, usage.completion or 0
    cached = min(usage.cached or 0, prompt)
    cached_price = price.input if price.cached is None else price.cached
    reasoning = min(usage.reasoning or 0, completion)
    reasoning_price = price.output if price.reasoning is None else price.reasoning
    for_prompt = (prompt - cached) * price.input + cached * cached_price
    for_reply = (completion - reasoning) * price.output + reasoning * reasoning_price
    return (for_prompt + for_reply) / _PER
