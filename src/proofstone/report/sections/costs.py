"""What quality costs: scores against US dollars for 1,000 questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.report.board import BoardRow, Standings
from proofstone.report.numbers import points
from proofstone.report.opening.costs import (
    bounded_cell,
    bounded_sentence,
    cost_of_thousand,
    least_cost,
)
from proofstone.report.sections.drawn import cost_figure
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import say, word

__all__ = ["costs_section"]

_DIGITS = 4


def costs_section(evidence: Evidence) -> Section | None:
    """The ranked models whose calls all have a price; None with fewer than two that cost anything.
    Nothing of simulated respondents, whom nobody pays."""
    groups = (g for g in evidence.board.standings if g.ranked and not g.experiment)
    group = next((g for g in groups if not g.simulated), None)
    if group is None:
        return None
    usd = {row.label: cost for row in group.ranked if (cost := cost_of_thousand(row)) is not None}
    figure = cost_figure(evidence.board, group.ranked, usd, table=1)
    if figure is None:
        return None
    priced = [row for row in group.ranked if row.label in usd]
    return Section(
        name="cost",
        title=say("What quality costs"),
        finding=_finding(priced, usd),
        cannot=" ".join(filter(None, [_cannot(group, usd), *bounded_sentence(group, priced)])),
        how=say(
            "What all calls of these questions cost when they were asked, also those that were "
            "billed and of no use, over the questions that were answered, times 1,000. Prices are "
            "those of then."
        ),
        tables=(_table(priced, usd),),
        figures=(figure,),
    )


def _finding(rows: Sequence[BoardRow], usd: Mapping[str, float]) -> str:
    """The cheapest and the dearest, with what they score."""
    cheap, dear = (pick(rows, key=lambda row: usd[row.label]) for pick in (min, max))
    least = {row.label: least_cost(row) or 0.0 for row in rows}
    is_known = all(
        usd[cheap.label] <= least[row.label] for row in rows if row is not cheap
    ) and all(usd[row.label] <= least[dear.label] for row in rows if row is not dear)
    if not is_known:
        return say(
            "The cheapest model is not known: endpoints did not report the usage of some calls."
        )
    return say(
        "{cheap} costs least, {low:.3g} USD for 1,000 questions at {low_score} points; {dear} "
        "most, {high:.3g} USD at {high_score}.",
        cheap=cheap.label,
        low=usd[cheap.label],
        low_score=points(cheap.estimate.value),
        dear=dear.label,
        high=usd[dear.label],
        high_score=points(dear.estimate.value),
    )


def _cannot(group: Standings, usd: Mapping[str, float]) -> str:
    n = sum(row.label not in usd for row in group.ranked)
    return (
        say(
            "The cost of {n} of {all} models is not known: they have no price.",
            n=n,
            all=len(group.ranked),
        )
        if n
        else ""
    )


def _table(rows: Sequence[BoardRow], usd: Mapping[str, float]) -> Table:
    return Table(
        title=say("Score and cost"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="score", name=word("score"), unit="points"),
            Column(key="usd_per_thousand", name=say("USD for 1,000 questions"), digits=_DIGITS),
            Column(key="calls", name=say("calls")),
        ),
        rows=tuple(
            (
                row.label,
                row.estimate,
                bounded_cell(row, usd[row.label], _DIGITS),
                row.spent.calls,
            )
            for row in rows
        ),
    )
