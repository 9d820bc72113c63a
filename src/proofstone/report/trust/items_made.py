"""What is known of the items: who checked them, what was found, who made them, what they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofstone.records import CheckedRate
from proofstone.report.board import BoardRow
from proofstone.report.hand_sentences import deeds
from proofstone.report.key_words import counted_sources
from proofstone.report.numbers import points, shown_share
from proofstone.report.sections.section import Evidence
from proofstone.report.trust.respondents import meant_rows
from proofstone.report.trust.trust import TrustLine
from proofstone.wording import counted, joined, listed, noted, paragraph, say, say_of

__all__ = ["checked_line", "clusters_line", "faults_line", "roles_line"]

_MOST_NAMED = 4
_CHECKED = noted("Items that people checked")
_FAULTS = noted("Errors found in the items")
_ROLES = noted("Models that had a hand in the items")
_CLUSTERS = noted("What items share")


def checked_line(evidence: Evidence) -> TrustLine:
    """Reviews of items by people, and rulings, which show that people looked."""
    upkeep = evidence.upkeep
    is_known = upkeep is not None and bool(upkeep.n_read or upkeep.n_partly_read)
    if upkeep is None:
        said = say("Not known: the files hold no review of the items.")
    elif is_known:
        said = say_of(
            upkeep.n_readers,
            "One person has read all statements of {whole} of {items}, and some of {partly} more.",
            "{n} people have read all statements of {whole} of {items}, and some of {partly} more.",
            n=upkeep.n_readers,
            whole=upkeep.n_read,
            partly=upkeep.n_partly_read,
            items=counted(evidence.board.n_items + evidence.board.n_retired, "item"),
        )
    else:
        said = say("Not known: no review of these items is on record.")
    if upkeep is not None and upkeep.n_ruled:
        looked = say_of(
            upkeep.n_ruled,
            "People looked at {items}, when they ruled on a reply to it.",
            "People looked at {items}, when they ruled on a reply to one.",
            items=counted(upkeep.n_ruled, "item"),
        )
        said = paragraph(said, looked)
    return TrustLine(name="checked", about=say(_CHECKED), says=said, known=is_known)


def faults_line(evidence: Evidence) -> TrustLine:
    """What was retired or corrected: so many errors at least; and where people checked a sample of
    statements, how often they were wrong."""
    upkeep, n_retired = evidence.upkeep, evidence.board.n_retired
    about = say(_FAULTS)
    if upkeep is None:
        said = say("Not known: the files do not say which items turned out wrong.")
        return TrustLine(name="faults", about=about, says=said, known=False)
    n = evidence.board.n_items + n_retired
    if upkeep.checked or upkeep.n_purged:
        said = paragraph(*map(_rate_said, upkeep.checked), *_purged_said(upkeep.n_purged))
        if n_retired or upkeep.n_corrected:
            since = say(
                "Of {items}, {retired} retired and {corrected} corrected.",
                items=counted(n, "item"),
                retired=n_retired,
                corrected=upkeep.n_corrected,
            )
            said = paragraph(said, since)
        return TrustLine(name="faults", about=about, says=said)
    if not n_retired and not upkeep.n_corrected:
        said = say("Not known: nobody checked a sample, and no item was retired or corrected.")
        return TrustLine(name="faults", about=about, says=said, known=False)
    said = say(
        "Of {items}, {retired} retired and {corrected} corrected: so many were wrong at least. The "
        "rate is not known, since nobody checked a sample.",
        items=counted(n, "item"),
        retired=n_retired,
        corrected=upkeep.n_corrected,
    )
    return TrustLine(name="faults", about=about, says=said)


def _purged_said(n: int) -> tuple[str, ...]:
    """Nothing where all that was checked is still there."""
    if not n:
        return ()
    said = say_of(
        n,
        "{statements} that people checked was purged since, and counts in no rate.",
        "{statements} that people checked were purged since, and count in no rate.",
        statements=counted(n, "statement"),
    )
    return (said,)


def _rate_said(checked: CheckedRate) -> str:
    """``Of 100 statements that are meant to be true, people found 2 false: 2.0% [0.6, 7.0].``"""
    rate = checked.rate
    share = f"{shown_share(rate.value)} [{points(rate.low)}, {points(rate.high)}]"
    values = {"n": rate.n, "wrong": checked.wrong, "share": share}
    if checked.name == "true":
        return say("Of {n} statements that are meant to be true, people found {wrong} false: "
                   "{share}.", **values)  # fmt: skip
    if checked.name == "false":
        return say("Of {n} that were falsified, people found {wrong} true: {share}.", **values)
    return say("Of {n} reasons why a statement is false, {wrong} did not fit: {share}.", **values)


def roles_line(evidence: Evidence) -> TrustLine:
    """Who wrote, filtered or judged, and whether they compete here."""
    about = say(_ROLES)
    table = None if evidence.sheet is None else evidence.sheet.table
    if table is None or (evidence.upkeep is None and not table.roles):
        said = say("Not known: the files do not say who wrote, filtered or judged the items.")
        return TrustLine(name="roles", about=about, says=said, known=False)
    if not table.roles:
        said = say("Not known: no model's part in these items is on record.")
        return TrustLine(name="roles", about=about, says=said, known=False)
    rows = [row for row in meant_rows(evidence) if row.hand]
    if not rows:
        models = listed(sorted({held.model for held in table.roles}))
        said = say("{models}; neither these nor models of their families compete.", models=models)
        return TrustLine(name="roles", about=about, says=said)
    return TrustLine(name="roles", about=about, says=_competing(rows))


def _competing(rows: Sequence[BoardRow]) -> str:
    named = [
        say("{model} ({deeds})", model=row.label, deeds=deeds(row.hand))
        for row in rows[:_MOST_NAMED]
        if row.hand is not None
    ]
    more = len(rows) - len(named)
    named += [say("{n} more", n=more)] if more > 0 else []
    return paragraph(
        say("These compete on items that they or their family had a hand in: {models}.",
            models=joined(named)),
        say("Their scores without those items stand beside the leaderboard."),
    )  # fmt: skip


def clusters_line(evidence: Evidence) -> TrustLine:
    """Whether it is known which items rise and fall together."""
    about = say(_CLUSTERS)
    if evidence.sheet is None:
        said = say("Not known: accuracies alone have no items.")
        return TrustLine(name="clusters", about=about, says=said, known=False)
    table = evidence.sheet.table
    if not len(table.cluster_key):
        said = say(
            "Not known: nothing says which items rest on the same source or fact. Intervals take "
            "each as independent, and may be too narrow."
        )
        return TrustLine(name="clusters", about=about, says=said, known=False)
    said = say(
        "{items} rest on {sources}. Intervals here speak of these alone, not of others."
        if evidence.estimand == "bank"
        else "{items} rest on {sources}; those that share one are taken to rise and fall together.",
        items=counted(len(table.items), "item"),
        sources=counted_sources(len(np.unique(table.cluster_key)), table.key_columns),
    )
    return TrustLine(name="clusters", about=about, says=said)
