"""Score tables become leaderboards; leaderboards become text, JSON and pages."""

from proofstone.report.board import (
    Advice,
    BoardRow,
    Breakdown,
    BreakdownGroup,
    Leaderboard,
    LeftOut,
    NamedEstimate,
    Rate,
    RowGroup,
    Standings,
)
from proofstone.report.breakdowns import render_breakdowns
from proofstone.report.leaderboard import leaderboard
from proofstone.report.page import render_page
from proofstone.report.page_data import (
    Asked,
    Control,
    FormShown,
    PageData,
    Provenance,
    QuestionShown,
)
from proofstone.report.sentences import answer_sentences, chance_sentence
from proofstone.report.terminal import render_terminal, to_json

__all__ = [
    "Advice",
    "Asked",
    "BoardRow",
    "Breakdown",
    "BreakdownGroup",
    "Control",
    "FormShown",
    "Leaderboard",
    "LeftOut",
    "NamedEstimate",
    "PageData",
    "Provenance",
    "QuestionShown",
    "Rate",
    "RowGroup",
    "Standings",
    "answer_sentences",
    "chance_sentence",
    "leaderboard",
    "render_breakdowns",
    "render_page",
    "render_terminal",
    "to_json",
]
