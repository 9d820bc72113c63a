"""What is known of the runs: whether they are whole, what they cost, whether they were planned."""

from __future__ import annotations

from proofstone.records.spent import Spent, usd
from proofstone.report.numbers import shown_share
from proofstone.report.sections.section import Evidence
from proofstone.report.trust.respondents import meant_places, meant_rows
from proofstone.report.trust.trust import TrustLine
from proofstone.wording import counted, noted, paragraph, say

__all__ = ["complete_line", "cost_line", "plan_line"]

_COMPLETE = noted("Completeness of results")
_COST = noted("Cost that is only estimated")
_PLAN = noted("Planned before it was run")


def complete_line(evidence: Evidence) -> TrustLine:
    """The share of replies, or of a file's scores, that came."""
    about, sheet = say(_COMPLETE), evidence.sheet
    if sheet is None:
        said = say("Not known: accuracies alone do not say what is missing.")
        return TrustLine(name="complete", about=about, says=said, known=False)
    table = sheet.table
    places = list(meant_places(evidence, sheet))
    came = sum(map(sheet.n_replies, places))
    if table.item_names:
        samples = int(table.sample.max(initial=0)) + 1
        full = len(table.items) * samples * len(places)
        said = say("{came:,} of {all} are there, {share}.", came=came, all=counted(full, "score"),
                   share=shown_share(came / full if full else 0.0))  # fmt: skip
        return TrustLine(name="complete", about=about, says=said)
    full = came + int(sheet.missing[places].sum())
    n_whole = int(sheet.is_complete[places].sum())
    said = say(
        "{whole} of {models} answered everything; {came:,} of {all} came, {share}.",
        whole=n_whole,
        models=counted(len(places), "respondent"),
        came=came,
        all=counted(full, "reply", "replies"),
        share=shown_share(came / full if full else 0.0),
    )
    failed = sum(map(sheet.n_failed, places))
    if failed:
        said = paragraph(said, say("{calls} brought none.", calls=counted(failed, "call")))
    return TrustLine(name="complete", about=about, says=said)


def cost_line(evidence: Evidence) -> TrustLine:
    """The part of the cost for calls that endpoints did not count, and calls without a price."""
    about = say(_COST)
    if evidence.upkeep is None:
        said = say("Not known: the files hold no costs.")
        return TrustLine(name="cost", about=about, says=said, known=False)
    spent = sum((row.spent for row in meant_rows(evidence)), Spent())
    if not spent.calls:
        said = say("Nothing was paid: no model was asked over a line that costs.")
        return TrustLine(name="cost", about=about, says=said)
    if spent.unpriced == spent.calls:
        said = say("Not known: no price is known of any call.")
        return TrustLine(name="cost", about=about, says=said, known=False)
    if spent.estimated_usd:
        said = say(
            "{part} of {all} USD, {share}: endpoints did not say what they counted.",
            part=usd(spent.estimated_usd),
            all=usd(spent.cost_usd),
            share=shown_share(spent.estimated_usd / spent.cost_usd),
        )
    else:
        said = say("None of {all} USD: endpoints counted every call.", all=usd(spent.cost_usd))
    if spent.unpriced:
        said = paragraph(
            said,
            say("{calls} without a price are not in it.", calls=counted(spent.unpriced, "call")),
        )
    return TrustLine(name="cost", about=about, says=said)


def plan_line(evidence: Evidence) -> TrustLine:
    """Whether what is looked at was fixed before the first reply came."""
    about = say(_PLAN)
    if evidence.upkeep is None:
        said = say("Not known: the files do not say what was planned.")
        return TrustLine(name="plan", about=about, says=said, known=False)
    plans = evidence.board.plans
    if not plans:
        said = say("No: there is no plan, so everything here is exploratory.")
        return TrustLine(name="plan", about=about, says=said)
    n_runs = plans[0].n_runs + plans[0].n_unplanned
    before = sum(mark.n_runs - mark.n_after for mark in plans)
    said = say(
        "{n:,} of {runs} were made under a plan that was fixed before their first reply.",
        n=before,
        runs=counted(n_runs, "run"),
    )
    return TrustLine(name="plan", about=about, says=said)
