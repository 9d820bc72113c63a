"""What nobody can conclude from these data."""

from __future__ import annotations

from proofstone.report.page_data import PageData
from proofstone.wording import joined, say, say_of

__all__ = ["open_questions"]


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
