"""What judging would take, as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofstone.page.text import aligned, printable
from proofstone.run.dry_run import price_notes, shown_range

if TYPE_CHECKING:
    from proofstone.run.judges import JudgingForecast


_SEVERAL = {"reply": "replies", "triple": "triples"}


def judging_lines(found: JudgingForecast, what: str = "reply") -> Iterator[str]:
    """How many replies (or triples) are for judges, a row a judge, and where the ranges come
    from."""
    replies = found.replies
    of = f"{found.of:,} {what if found.of == 1 else _SEVERAL[what]}"
    if not replies.high:
        yield f"judging  no judge is needed for {of}"
        return
    if replies.likely is not None:
        n = shown_range(replies, "amount")
        yield f"judging  {n} of {of} are for judges; rules settle the rest"
    else:
        yield f"judging  up to {replies.high:,.0f} of {of} are for judges; rules settle some"
    rows = [["", "requests", "tokens", "USD"]]
    rows += [
        [
            printable(each.judge),
            shown_range(each.amounts.requests, "amount"),
            shown_range(each.amounts.tokens, "amount"),
            shown_range(each.amounts.cost_usd, "usd"),
        ]
        for each in found.judges
    ]
    yield from aligned(rows, left=(0,))
    yield "from prompts alone to replies of max_tokens, no request made twice; nobody was asked"
    yield from price_notes(found.unpriced)
