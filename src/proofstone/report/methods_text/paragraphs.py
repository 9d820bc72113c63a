"""All paragraphs of the methods text, in the order of a paper."""

from __future__ import annotations

from proofstone.report.methods_text.computing import computing_sentences
from proofstone.report.methods_text.items import file_sentences, item_sentences
from proofstone.report.methods_text.respondents import respondent_sentences
from proofstone.report.methods_text.scoring import scoring_sentences
from proofstone.report.methods_text.unknown import unknown_sentences
from proofstone.report.page_data import PageData
from proofstone.wording import paragraph

__all__ = ["methods_text"]


def methods_text(data: PageData) -> tuple[str, ...]:
    """Paragraphs to paste into a paper: what was asked and of whom, how replies were read and
    scored, how the numbers were computed, and what is not known. Nothing stands there that the
    page's own data do not hold; empty where nobody was scored."""
    if not data.board.standings:
        return ()
    if data.manifest is None:
        asked = paragraph(*file_sentences(data))
    else:
        asked = paragraph(
            *item_sentences(data, data.manifest), *respondent_sentences(data.manifest)
        )
    told = (
        asked,
        paragraph(*scoring_sentences(data)),
        paragraph(*computing_sentences(data)),
        paragraph(*unknown_sentences(data)),
    )
    return tuple(filter(None, told))
