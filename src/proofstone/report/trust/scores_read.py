"""What is known of how replies became scores: the judge, people's corrections, unread replies."""

from __future__ import annotations

import numpy as np

from proofstone.engines.stats import equal_weights, estimates_of, measure_spread, outcome_code
from proofstone.records.results import Estimate, Outcome
from proofstone.report.numbers import points, shown_share
from proofstone.report.sections.judged import judged_confusion
from proofstone.report.sections.section import Evidence
from proofstone.report.sheet import Sheet
from proofstone.report.trust.respondents import meant_places, meant_rows
from proofstone.report.trust.trust import TrustLine
from proofstone.wording import counted, joined, noted, paragraph, say

__all__ = ["judge_line", "outcome_line", "rulings_line"]

# With fewer effective independent groups an interval of a share runs over much of its range.
FEWEST_GROUPS = 10
_JUDGE = noted("A judge's agreement with people")
_RULINGS = noted("Scores that people corrected")
_OUTCOMES: dict[Outcome, str] = {
    "truncated": noted("Replies that were cut off"),
    "unparsed": noted("Replies in which no answer could be read"),
}
_UNJUDGED = noted("Replies on which no judge gave a label")


def judge_line(evidence: Evidence) -> TrustLine:
    """How often judge and people agree, where both labelled the same records."""
    about, judged, upkeep = say(_JUDGE), evidence.judged, evidence.upkeep
    if judged is not None and ((judged.people >= 0) & (judged.judge >= 0)).any():
        level = evidence.board.confidence
        share = judged_confusion(judged, evidence.estimand, level).accuracy
        said = say(
            "They agree on {share} of {records}.",
            share=_shown(share, share.effective_n),
            records=counted(share.n, "record"),
        )
        return TrustLine(name="judge", about=about, says=said, share=share)
    if upkeep is not None and not upkeep.judges:
        said = say("No judge scored here: answers are read and compared by fixed rules.")
        return TrustLine(name="judge", about=about, says=said)
    if upkeep is not None:
        said = say(
            "Not known: {judges} scored here, and no labels by people stand beside.",
            judges=joined(upkeep.judges),
        )
    else:
        said = say("Not known: no column was named that holds labels by people (--human).")
    return TrustLine(name="judge", about=about, says=said, known=False)


def rulings_line(evidence: Evidence) -> TrustLine:
    """How many replies people ruled on, and what that did to their scores."""
    about = say(_RULINGS)
    if evidence.upkeep is None:
        said = say("Not known: the files do not say whether anybody looked at scores.")
        return TrustLine(name="rulings", about=about, says=said, known=False)
    if evidence.board.as_scored:
        said = say("None is applied here: scores stand as they were first read.")
        return TrustLine(name="rulings", about=about, says=said)
    rows = meant_rows(evidence)
    n_replies = sum(row.n_replies + row.corrections.void for row in rows)
    n = sum(row.corrections.total for row in rows)
    if not n:
        said = say("None: nobody ruled on any of {replies}.",
                   replies=counted(n_replies, "reply", "replies"))  # fmt: skip
        return TrustLine(name="rulings", about=about, says=said)
    said = say(
        "{n:,} of {replies}: {raised} raised, {lowered} lowered, {upheld} upheld, {void} void.",
        n=n,
        replies=counted(n_replies, "reply", "replies"),
        **{
            kind: sum(getattr(row.corrections, kind) for row in rows)
            for kind in ("raised", "lowered", "upheld", "void")
        },
    )
    return TrustLine(name="rulings", about=about, says=said)


def outcome_line(evidence: Evidence, outcome: Outcome) -> TrustLine:
    """The share of all replies with an outcome, and whose is the largest."""
    sheet = evidence.sheet
    is_judged = sheet is not None and sheet.judged and outcome == "unparsed"
    about = say(_UNJUDGED if is_judged else _OUTCOMES[outcome])
    is_told = sheet is not None and sheet.table.tells_outcomes
    if sheet is None or not is_told or outcome in sheet.table.unknown_outcomes:
        said = say("Not known: the files do not say how replies ended.")
        return TrustLine(name=outcome, about=about, says=said, known=False)
    share, groups = _share(sheet, outcome, evidence)
    if share is None:
        said = say("Not known: no reply came.")
        return TrustLine(name=outcome, about=about, says=said, known=False)
    places = list(meant_places(evidence, sheet))
    n = int(sheet.outcomes[places, outcome_code(outcome)].sum())
    said = say(
        "{n:,} of {replies}, {share}.",
        n=n,
        replies=counted(sum(map(sheet.n_replies, places)), "reply", "replies"),
        share=_shown(share, groups),
    )
    rows = meant_rows(evidence)
    worst = max(rows, key=lambda row: row.rate(outcome).count / max(row.n_replies, 1))
    rate = worst.rate(outcome)
    if rate.count and len(rows) > 1:
        said = paragraph(
            said,
            say("Most of them for {model}: {share}.", model=worst.label,
                share=shown_share(rate.share)),
        )  # fmt: skip
    return TrustLine(name=outcome, about=about, says=said, share=share)


def _share(sheet: Sheet, outcome: Outcome, evidence: Evidence) -> tuple[Estimate | None, float]:
    """The share, and of how many effective independent groups.

    The interval is that of a ratio of sums over items, which may share facts: each item
    enters as the share plus how far its count lies from it (Taylor; Cochran 1977, 6.3)."""
    table = sheet.table
    meant = np.isin(table.respondent, meant_places(evidence, sheet))
    came = meant & (table.outcome != outcome_code("failed"))
    hit = meant & (table.outcome == outcome_code(outcome))
    n = len(table.items)
    of = np.bincount(table.unit[came], minlength=n).astype(np.float64)
    counts = np.bincount(table.unit[hit], minlength=n).astype(np.float64)
    units = np.flatnonzero(of)
    if not len(units):
        return None, 0.0
    of, counts = of[units], counts[units]
    share = counts.sum() / of.sum()
    values, weights = (
        (share + (counts - share * of) / of.mean())[:, None],
        equal_weights(len(units)),
    )
    spread = measure_spread(values, weights, sheet.keys.among(units), evidence.estimand)
    (estimate,) = estimates_of(
        spread, values, weights, confidence=evidence.board.confidence, n_parts=int(of.sum())
    )
    return estimate, spread.groups


def _shown(share: Estimate, groups: float) -> str:
    """``2.7% [0.8, 8.2]``; no interval where the ``groups`` that are drawn are too few for one."""
    if round(groups) < FEWEST_GROUPS:
        return say(
            "{share} (no interval: it needs {fewest} independent groups, here are {groups})",
            share=shown_share(share.value),
            groups=round(groups),
            fewest=FEWEST_GROUPS,
        )
    return f"{shown_share(share.value)} [{points(share.low)}, {points(share.high)}]"
