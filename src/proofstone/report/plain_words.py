"""The half page for someone without statistics, and what nobody can conclude from these data."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.report.page_data import Asked, PageData
from proofstone.wording import joined, say, say_of

__all__ = ["open_questions", "plain_sentences"]


def plain_sentences(data: PageData) -> list[str]:
    """What each section means in everyday words, then what the answers cost and how long they
    took, where that is known."""
    said = [section.plain for section in data.sections if section.plain]
    return said if data.board.is_simulated_only else [*said, *_cost(data.asked)]


def _cost(asked: tuple[Asked, ...]) -> Iterator[str]:
    priced = [each for each in asked if each.cost_usd is not None and each.calls]
    if len(priced) > 1:
        rates = sorted((1000 * (each.cost_usd or 0.0) / each.calls, each.label) for each in priced)
        (low, cheap), (high, dear) = rates[0], rates[-1]
        if high > 0:
            yield say(
                "A thousand questions cost from {low:.2f} USD ({cheap}) to {high:.2f} USD "
                "({dear}).",
                low=low,
                cheap=cheap,
                high=high,
                dear=dear,
            )
    timed = [each for each in asked if each.median_latency_s is not None]
    if len(timed) > 1:
        times = sorted((each.median_latency_s or 0.0, each.label) for each in timed)
        (fast, first), (slow, last) = times[0], times[-1]
        yield say(
            "Half of the replies came within {fast:.1f} s ({first}) to {slow:.1f} s ({last}).",
            fast=fast,
            first=first,
            slow=slow,
            last=last,
        )


def open_questions(data: PageData) -> list[str]:
    """What these data leave open: of each section, of those who are not ranked, of the evidence."""
    said = [section.cannot for section in data.sections if section.cannot]
    short = [
        row.label for group in data.board.standings for row in group.incomplete if group.ranked
    ]
    if short:
        said.append(
            say_of(
                len(short),
                "{models} is not ranked: too many scores are missing to say where it belongs.",
                "{models} are not ranked: too many scores are missing to say where they belong.",
                models=joined(short),
            )
        )
    if data.files:
        said.append(
            say(
                "Nothing here is known of how the models were asked, how replies were read, or "
                "whether the right answers are right: only the scores were given."
            )
        )
    return said
