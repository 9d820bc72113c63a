"""Warnings on a row, each with what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.report.board import WARN_ABOVE, Advice, Rate
from proofstone.report.numbers import shown_share

__all__ = ["advise", "advise_of_served"]

_TRY: Mapping[str, str] = {
    "truncated": "raise --max-tokens, or lower --reasoning-effort, and run again",
    "unparsed": "read some (proofstone show RUN --outcome unparsed -n 5), or try another --ask",
}


def advise(rates: Sequence[Rate]) -> tuple[Advice, ...]:
    """A warning for each of truncated and unparsed that more than 2% of the replies are."""
    return tuple(
        Advice(
            what=f"{shown_share(rate.share)} {rate.outcome} ({rate.count:,} of {rate.n:,})",
            try_next=_TRY[rate.outcome],
        )
        for rate in rates
        if rate.outcome in _TRY and rate.share > WARN_ABOVE
    )


def advise_of_served(served: Sequence[tuple[str, int]]) -> tuple[Advice, ...]:
    """A warning where more than one model answered under the respondent's name."""
    if len(served) < 2:
        return ()
    parts = ", ".join(f"{model} {replies:,}" for model, replies in served)
    return (
        Advice(
            what=f"answered by {len(served)} served models ({parts})",
            try_next="ask one alone: a dated model name, or all afresh with --replicate NAME",
        ),
    )
