"""Data quality and provenance of items, scores and runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from proofstone.page.section import points, shown_share
from proofstone.page.text import counted_sources
from proofstone.records.reviews import CheckedRate
from proofstone.records.runs import Estimate, Outcome, Spent, usd
from proofstone.results.board import BoardRow
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.agreement import judged_confusion
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sentences import deeds
from proofstone.stats.estimates import estimates_of, measure_spread, outcome_code
from proofstone.stats.intervals import equal_weights
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, say_of


class DataQualityLine(Struct, frozen=True, kw_only=True):
    """One aspect of data quality: ``name`` for programs, ``about`` for readers.

    ``says`` is what is known; if ``known`` is false, it says what is not recorded. ``share`` is its
    number, if it is an estimate.
    """

    name: str
    about: str
    says: str
    known: bool = True
    share: Estimate | None = None


class _Said(NamedTuple):
    """The text of an aspect, if it is unknown or has an estimate."""

    says: str
    known: bool = True
    share: Estimate | None = None


def _unknown(says: str) -> _Said:
    return _Said(says, known=False)


# Models that data quality refers to: real ones, or the simulated ones if there are no
# others.


def meant_rows(evidence: Evidence) -> tuple[BoardRow, ...]:
    """Return the rows of these models on the leaderboard."""
    board = evidence.board
    return tuple(
        row
        for group in board.standings
        if board.is_simulated_only or not group.simulated
        for row in group.rows
    )


def meant_places(evidence: Evidence, sheet: Sheet) -> tuple[int, ...]:
    """Return the indices of these models in the score table."""
    only = evidence.board.is_simulated_only
    return tuple(
        place for place, who in enumerate(sheet.table.respondents) if only or not who.simulated
    )


# From responses to scores: judge, overrides, unparsed responses.

# With fewer effective clusters, the interval of a share covers much of its range.
FEWEST_GROUPS = 10


def _judge(evidence: Evidence) -> _Said | str:
    """Return the agreement of judge and people on records that both labeled."""
    judged, upkeep = evidence.judged, evidence.upkeep
    if judged is not None and ((judged.people >= 0) & (judged.judge >= 0)).any():
        level = evidence.board.confidence
        share = judged_confusion(judged, evidence.population, level).accuracy
        said = say(
            "They agree on {share} of {records}.",
            share=_shown(share, share.effective_n),
            records=counted(share.n, "record"),
        )
        return _Said(said, share=share)
    if upkeep is not None and not upkeep.judges:
        return say("No judge: answers are parsed and scored by fixed rules.")
    if upkeep is not None:
        return _unknown(
            say(
                "Judged by {judges}; no human labels for comparison.",
                judges=joined(upkeep.judges),
            )
        )
    return _unknown(say("No column of human labels was named (--human-col)."))


def _overrides(evidence: Evidence) -> _Said | str:
    """Return the number of overridden responses and the effect on scores."""
    if evidence.upkeep is None:
        return _unknown(say("The files do not record overrides."))
    if evidence.board.ignore_corrections:
        return say("Not applied: scores are as first computed.")
    rows = meant_rows(evidence)
    n_responses = sum(row.n_responses + row.corrections.invalidated for row in rows)
    n = sum(row.corrections.total for row in rows)
    if not n_responses:
        return say("No response has a score yet.")
    if not n:
        return say(
            "None of {responses}.",
            responses=counted(n_responses, "response", "responses"),
        )
    return say(
        "{n:,} of {responses}: {raised} raised, {lowered} lowered, {upheld} upheld, {invalidated} "
        "invalidated.",
        n=n,
        responses=counted(n_responses, "response", "responses"),
        **{
            kind: sum(getattr(row.corrections, kind) for row in rows)
            for kind in ("raised", "lowered", "upheld", "invalidated")
        },
    )


def _ended(evidence: Evidence, outcome: Outcome) -> _Said | str:
    """Return the share of responses with an outcome, and the model with the largest share."""
    sheet = evidence.sheet
    is_told = sheet is not None and sheet.table.tells_outcomes
    if sheet is None or not is_told or outcome in sheet.table.unknown_outcomes:
        return _unknown(say("The files do not record outcomes of responses."))
    share, groups = _share(sheet, outcome, evidence)
    if share is None:
        return _unknown(say("No response was received."))
    places = list(meant_places(evidence, sheet))
    n = int(sheet.outcomes[places, outcome_code(outcome)].sum())
    said = say(
        "{n:,} of {responses}, {share}.",
        n=n,
        responses=counted(sum(map(sheet.n_responses, places)), "response", "responses"),
        share=_shown(share, groups),
    )
    rows = meant_rows(evidence)
    worst = max(rows, key=lambda row: row.rate(outcome).count / max(row.n_responses, 1))
    rate = worst.rate(outcome)
    if rate.count and len(rows) > 1:
        said = paragraph(
            said,
            say("Highest rate: {model} ({share}).", model=worst.label,
                share=shown_share(rate.share)),
        )  # fmt: skip
    return _Said(said, share=share)


def _share(sheet: Sheet, outcome: Outcome, evidence: Evidence) -> tuple[Estimate | None, float]:
    """Return the share and its number of effective clusters.

    The interval is that of a ratio of sums over items, which may be clustered. Each item enters as
    the share plus its linearized residual (Taylor; Cochran 1977, 6.3).
    """
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
    spread = measure_spread(values, weights, sheet.keys.among(units), evidence.population)
    (estimate,) = estimates_of(
        spread, values, weights, confidence=evidence.board.confidence, n_parts=int(of.sum())
    )
    return estimate, spread.groups


def _shown(share: Estimate, groups: float) -> str:
    """Return ``2.7% [0.8, 8.2]``; without an interval if there are too few ``groups``."""
    if round(groups) < FEWEST_GROUPS:
        return say(
            "{share} (no interval: {groups} independent groups, at least {fewest} are needed)",
            share=shown_share(share.value),
            groups=round(groups),
            fewest=FEWEST_GROUPS,
        )
    return f"{shown_share(share.value)} [{points(share.low)}, {points(share.high)}]"


# Runs: completeness, cost, preregistration.


def _complete(evidence: Evidence) -> _Said | str:
    """Return the share of expected responses, or of a file's scores, that exist."""
    sheet = evidence.sheet
    if sheet is None:
        return _unknown(say("Accuracies do not show missing scores."))
    table = sheet.table
    places = list(meant_places(evidence, sheet))
    came = sum(map(sheet.n_responses, places)) + sum(map(sheet.n_unscored, places))
    if table.item_names:
        samples = int(table.sample.max(initial=0)) + 1
        full = len(table.items) * samples * len(places)
        return say(
            "{came:,} of {all} ({share}).",
            came=came,
            all=counted(full, "score"),
            share=shown_share(came / full if full else 0.0),
        )
    lacking = int(sheet.missing[places].sum()) - sum(map(sheet.n_unscored, places))
    full = came + lacking - sum(table.respondents[place].not_asked for place in places)
    n_whole = int(sheet.is_complete[places].sum())
    said = say(
        "{whole} of {models} complete; {came:,} of {all} received ({share}).",
        whole=n_whole,
        models=counted(len(places), "configuration"),
        came=came,
        all=counted(full, "response", "responses"),
        share=shown_share(came / full if full else 0.0),
    )
    failed = sum(map(sheet.n_failed, places))
    if failed:
        said = paragraph(said, say("{calls} failed.", calls=counted(failed, "call")))
    return said


def _cost(evidence: Evidence) -> _Said | str:
    """Return the cost of calls without reported usage, and the number of calls without a price."""
    if evidence.upkeep is None:
        return _unknown(say("The files hold no costs."))
    spent = sum((row.spent for row in meant_rows(evidence)), Spent())
    if not spent.calls:
        return say("No paid calls were made.")
    if spent.unpriced == spent.calls:
        return _unknown(say("No price is known for any call."))
    if spent.estimated_usd:
        said = say(
            "{all} USD, of which {part} USD ({share}) is estimated: endpoints did not "
            "report usage.",
            part=usd(spent.estimated_usd),
            all=usd(spent.cost_usd),
            share=shown_share(spent.estimated_usd / spent.cost_usd),
        )
    else:
        said = say(
            "{all} USD: endpoints reported the usage of every call.", all=usd(spent.cost_usd)
        )
    if spent.unpriced:
        said = paragraph(
            said,
            say("{calls} without a price are not included.", calls=counted(spent.unpriced, "call")),
        )
    return said


def _plan(evidence: Evidence) -> _Said | str:
    """Return whether the analysis was preregistered before the first response."""
    if evidence.upkeep is None:
        return _unknown(say("The files do not record an analysis plan."))
    plans = evidence.board.plans
    if not plans:
        return say("No plan, so all comparisons are exploratory.")
    n_runs = plans[0].n_runs + plans[0].n_unplanned
    before = sum(mark.n_runs - mark.n_after for mark in plans)
    return say(
        "{n:,} of {runs} have a plan made before their first response.",
        n=before,
        runs=counted(n_runs, "run"),
    )


_MOST_NAMED = 4


def _checked(evidence: Evidence) -> _Said | str:
    """Return the reviews of items by people, and overrides, which also show human review."""
    upkeep = evidence.upkeep
    is_known = upkeep is not None and bool(upkeep.n_read or upkeep.n_partly_read)
    if upkeep is None:
        said = say("The files hold no review of the items.")
    elif is_known:
        said = say_of(
            upkeep.n_readers,
            "One reviewer read all statements of {whole} of {items}, and some of {partly} more.",
            "{n} reviewers read all statements of {whole} of {items}, and some of {partly} more.",
            n=upkeep.n_readers,
            whole=upkeep.n_read,
            partly=upkeep.n_partly_read,
            items=counted(evidence.board.n_items + evidence.board.n_excluded, "item"),
        )
    else:
        said = say("No review of these items is recorded.")
    if upkeep is not None and upkeep.n_overridden:
        looked = say_of(
            upkeep.n_overridden,
            "Reviewers saw {items} when they overrode a response.",
            "Reviewers saw {items} when they overrode responses.",
            items=counted(upkeep.n_overridden, "item"),
        )
        said = paragraph(said, looked)
    return _Said(said, known=is_known)


def _faults(evidence: Evidence) -> _Said | str:
    """Return excluded and corrected items (a lower bound of errors), and rates of fact checks."""
    upkeep, n_excluded = evidence.upkeep, evidence.board.n_excluded
    if upkeep is None:
        return _unknown(say("The files do not record errors in the items."))
    n = evidence.board.n_items + n_excluded
    if upkeep.checked or upkeep.n_purged:
        said = paragraph(*map(_rate_said, upkeep.checked))
        if upkeep.n_purged:
            purged = say_of(
                upkeep.n_purged,
                "{statements} with a review was purged and is in no rate.",
                "{statements} with a review were purged and are in no rate.",
                statements=counted(upkeep.n_purged, "statement"),
            )
            said = paragraph(said, purged)
        if n_excluded or upkeep.n_corrected:
            since = say(
                "Of {items}, {excluded} excluded and {corrected} corrected.",
                items=counted(n, "item"),
                excluded=n_excluded,
                corrected=upkeep.n_corrected,
            )
            said = paragraph(said, since)
        return said
    if not n_excluded and not upkeep.n_corrected:
        return _unknown(say("No sample was checked, and no item was excluded or corrected."))
    return say(
        "Of {items}, {excluded} excluded and {corrected} corrected. The error rate is "
        "unknown because no sample was checked.",
        items=counted(n, "item"),
        excluded=n_excluded,
        corrected=upkeep.n_corrected,
    )


def _rate_said(checked: CheckedRate) -> str:
    """Return a sentence on one rate of a fact check."""
    rate = checked.rate
    share = f"{shown_share(rate.value)} [{points(rate.low)}, {points(rate.high)}]"
    values = {"n": rate.n, "wrong": checked.wrong, "share": share}
    if checked.name == "true":
        return say("Reviewers found {wrong} of {n} true statements to be false: {share}.", **values)
    if checked.name == "false":
        return say("Reviewers found {wrong} of {n} false statements to be true: {share}.", **values)
    return say(
        "Reviewers rejected {wrong} of {n} reasons why a statement is false: {share}.", **values
    )


def _roles(evidence: Evidence) -> _Said | str:
    """Return the models that wrote, filtered or judged items, and whether they are evaluated
    here."""
    table = None if evidence.sheet is None else evidence.sheet.table
    if table is None or (evidence.upkeep is None and not table.roles):
        return _unknown(say("The files do not record who wrote, filtered or judged the items."))
    if not table.roles:
        return _unknown(say("No model's role in these items is recorded."))
    rows = [row for row in meant_rows(evidence) if row.self_evaluation]
    if not rows:
        models = listed(sorted({held.model for held in table.roles}))
        return say(
            "{models} helped to make the items; neither these nor models of their "
            "families are ranked.",
            models=models,
        )
    return _competing(rows)


def _competing(rows: Sequence[BoardRow]) -> str:
    named = [
        say("{model} ({deeds})", model=row.label, deeds=deeds(row.self_evaluation))
        for row in rows[:_MOST_NAMED]
        if row.self_evaluation is not None
    ]
    more = len(rows) - len(named)
    named += [say("{n} more", n=more)] if more > 0 else []
    return paragraph(
        say("Models ranked on items that they or their family helped to make: {models}.",
            models=joined(named)),
        say("The leaderboard section has their scores without those items."),
    )  # fmt: skip


def _clusters(evidence: Evidence) -> _Said | str:
    """Return whether clusters of items are known."""
    if evidence.sheet is None:
        return _unknown(say("Accuracies have no items."))
    table = evidence.sheet.table
    if not len(table.cluster_key):
        return _unknown(
            say(
                "Shared sources of items are not recorded. Intervals treat items as "
                "independent and may be too narrow."
            )
        )
    return say(
        "{items} come from {sources}. Intervals generalize to this item bank only."
        if evidence.population == "bank"
        else "{items} come from {sources}. Standard errors are clustered by source.",
        items=counted(len(table.items), "item"),
        sources=counted_sources(len(np.unique(table.cluster_key)), table.key_columns),
    )


# All aspects of data quality, in page order.

_GROUNDS: tuple[tuple[str, str, Callable[[Evidence], _Said | str]], ...] = (
    ("checked", noted("Item review"), _checked),
    ("faults", noted("Item error rate"), _faults),
    ("judge", noted("Judge-human agreement"), _judge),
    ("overrides", noted("Score overrides"), _overrides),
    ("roles", noted("Self-evaluation risk"), _roles),
    ("complete", noted("Completeness"), _complete),
    ("truncated", noted("Truncated responses"), partial(_ended, outcome="truncated")),
    (
        "unparsed",
        noted("Unparsed responses"),
        partial(_ended, outcome="unparsed"),
    ),
    ("cost", noted("Cost"), _cost),
    ("clusters", noted("Item clusters"), _clusters),
    ("plan", noted("Preregistration"), _plan),
)


_UNJUDGED = noted("Unparsed judge responses")


def data_quality_lines(evidence: Evidence) -> tuple[DataQualityLine, ...]:
    """Return one line per aspect, known or not; none without scores."""
    if not evidence.board.standings:
        return ()
    is_judged = evidence.sheet is not None and evidence.sheet.judged
    lines = []
    for name, what, find in _GROUNDS:
        about = say(_UNJUDGED if is_judged and name == "unparsed" else what)
        said = find(evidence)
        found = _Said(said) if isinstance(said, str) else said
        lines.append(DataQualityLine(name=name, about=about, **found._asdict()))
    return tuple(lines)
