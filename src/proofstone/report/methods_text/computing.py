"""How the numbers were computed: intervals, comparisons, draws, the plan, the program."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.report.board import Leaderboard, Standings
from proofstone.report.page_data import PageData
from proofstone.report.section_cells import told_making
from proofstone.wording import counted, joined, noted, say, say_of, word

__all__ = ["computing_sentences"]

# The sections whose way of computing belongs into a paper that shows the ranking alone.
_TOLD = {"pairs": noted("Differences: {how}"), "stability": noted("Stability of ranks: {how}")}
_MOST_WAYS = 3
_UNITS = {"items": noted("the item"), "clusters": noted("the cluster of items")}


def computing_sentences(data: PageData) -> Iterator[str]:
    """The estimand and how intervals were made, multiplicity, resampling, seed, plan, version."""
    board = data.board
    for group in board.standings:
        if group.experiment:
            yield say(
                "{rows} with other settings are not ranked.",
                rows=counted(len(group.ranked) + len(group.incomplete), "respondent"),
            )
        elif group.ranked:
            yield from _intervals(board, group)
    for section in data.sections:
        if section.name in _TOLD and section.how:
            yield say(_TOLD[section.name], how=section.how)
    if data.seed is not None:
        yield say("Seed of all draws: {seed}.", seed=data.seed)
    yield from _plan(data)
    yield say("Computed with proofstone {version}.", version=data.provenance.version)


def _intervals(board: Leaderboard, group: Standings) -> Iterator[str]:
    made = list(dict.fromkeys(row.estimate.made_by for row in group.ranked if row.estimate.made_by))
    drawn = list(dict.fromkeys(row.estimate.resampled for row in group.ranked))
    shown = [told_making(each) for each in made[:_MOST_WAYS]]
    shown += [counted(len(made) - _MOST_WAYS, "other")] if len(made) > _MOST_WAYS else []
    yield say(
        "{who} are ranked on {items}. {confidence:g}% confidence intervals ({made}) are for "
        "{estimand}; the sampling unit is {drawn}.",
        who=counted(len(group.ranked), "simulated respondent" if group.simulated else "respondent"),
        items=counted(group.n_items, "item"),
        confidence=100 * board.confidence,
        estimand=word(board.estimand),
        made=joined(shown),
        drawn=joined([word(_UNITS.get(each, each)) for each in drawn if each]) or say("none"),
    )
    if board.level == "sample":
        yield say("Each item counts the same.")
    else:
        yield say("Each {level} counts the same.", level=word(board.level))
    if group.is_paired and group.has_ranks and len(group.compared) > 1:
        yield say(
            "Ranks come from paired comparisons on the same items, Holm-adjusted for all {n:,} "
            "pairs.",
            n=len(group.compared),
        )
    if group.incomplete:
        yield say_of(
            len(group.incomplete),
            "{n} that lacks scores is not ranked.",
            "{n} that lack scores are not ranked.",
            n=counted(len(group.incomplete), "respondent"),
        )


def _plan(data: PageData) -> Iterator[str]:
    for mark in data.board.plans:
        late = mark.n_after == mark.n_runs
        about = {
            "id": mark.id,
            "at": mark.made_at,
            "measure": word(mark.measure),
            "pairs": counted(len(mark.comparisons), "comparison"),
            "items": counted(mark.n_items, "item"),
        }
        if late:
            yield say(
                "The analysis was written down at {at} (plan {id}), after the first reply, so that "
                "all of it is exploratory.",
                id=mark.id,
                at=mark.made_at,
            )
        else:
            yield say(
                "The analysis was fixed at {at} (plan {id}), before the first reply: {measure}, "
                "{pairs}, {items}; everything else is exploratory.",
                **about,
            )
    if not data.board.plans and data.manifest is not None:
        yield say("Nothing of the analysis was fixed beforehand: all of it is exploratory.")
