"""How each respondent's replies ended: right, partly right, wrong, or without an answer."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from proofstone.engines.stats import outcome_code
from proofstone.records.results import Outcome
from proofstone.report.sheet import Sheet

__all__ = ["Endings", "endings_of"]


class Endings(Struct, frozen=True, kw_only=True):
    """Of ``n`` replies, how many ended how; ``failed`` calls brought none and are not among them.
    Right, partly right and wrong are answers, by the scorer's value of 1, between, and 0."""

    n: int
    right: int
    partly: int
    wrong: int
    refused: int
    unparsed: int
    truncated: int
    failed: int

    def share(self, kind: str) -> float:
        """The share of the replies that ended so; NaN where there is none."""
        return float(getattr(self, kind)) / self.n if self.n else float("nan")


def endings_of(sheet: Sheet, respondent: int) -> Endings:
    """How the replies of a respondent (by its place in the table) ended."""
    table = sheet.table
    own = (table.respondent == respondent) & (table.outcome == outcome_code("answered"))
    values = table.value[own]

    def counted(outcome: Outcome) -> int:
        return int(sheet.outcomes[respondent, outcome_code(outcome)])

    return Endings(
        n=sheet.n_replies(respondent),
        right=int((values >= 1.0).sum()),
        partly=int(((values > 0.0) & (values < 1.0)).sum()),
        wrong=int((values <= 0.0).sum()) + int(np.isnan(values).sum()),
        failed=sheet.n_failed(respondent),
        refused=counted("refused"),
        unparsed=counted("unparsed"),
        truncated=counted("truncated"),
    )
