"""Models that wrote, filtered or judged the items they compete on: their results without these, and
what a filter costs its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.page.numbers import points
from proofstone.page.section import Column, Section, Table
from proofstone.results.board import BoardRow
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sentences import deeds
from proofstone.stats.ppi import FilterBias, filter_bias
from proofstone.wording.messages import joined, paragraph, say, say_of

_FEWEST_ITEMS = 10


@dataclass(frozen=True, slots=True)
class _Filter:
    """The model that filtered, those here that are it or of its family, and the bias."""

    model: str
    own: tuple[str, ...]
    bias: FilterBias


def roles_section(evidence: Evidence) -> Section | None:
    """Every row whose model or family had a hand in its items, on the rest of them; and the bias of
    each filter where unfiltered items were asked too. None where nobody had one."""
    rows = [
        row
        for group in evidence.board.standings
        for row in (*group.ranked, *group.incomplete)
        if row.hand is not None
    ]
    if not rows:
        return None
    filters = list(_filters(evidence))
    return Section(
        name="roles",
        title=say("Models that had a hand in the items"),
        finding=_finding(rows, filters),
        plain=_plain(rows, filters),
        cannot=_cannot(rows, filters),
        how=say(
            "Without its own: the mean over the items that neither the model nor its family "
            "touched; ranks there are among the same models on the same items. Filter bias: "
            "the change from unfiltered to filtered items of the filter's models, less that of "
            "the others, with the clustered interval of two samples of items."
        ),
        tables=(_table(rows), *(_bias_table(filters) for _ in filters[:1])),
    )


def _filters(evidence: Evidence) -> Iterator[_Filter]:
    """The bias of every model that filtered some of the common items and not others."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None:
        return
    table = sheet.table
    filtered = [held for held in table.roles if held.role == "filtered"]
    touched = np.zeros(len(table.items), dtype=bool)
    for held in filtered:
        touched[held.units] = True
    is_unfiltered = ~touched[ranked.units]
    for model in dict.fromkeys(held.model for held in filtered):
        places = {
            k
            for k, held in enumerate(table.roles)
            if held.role == "filtered" and held.model == model
        }
        units = np.concatenate([table.roles[k].units for k in sorted(places)])
        is_filtered = np.isin(ranked.units, units)
        own = np.array(
            [
                any(place in places for place, _itself in table.respondents[who].hands)
                for who in ranked.respondents
            ]
        )
        enough = min(is_filtered.sum(), is_unfiltered.sum()) >= _FEWEST_ITEMS
        if enough and own.any() and not own.all():
            bias = filter_bias(
                ranked.values,
                is_filtered,
                is_unfiltered,
                own,
                ranked.keys,
                estimand=evidence.estimand,
                confidence=evidence.board.confidence,
            )
            labels = tuple(
                label for label, is_own in zip(ranked.labels, own, strict=True) if is_own
            )
            yield _Filter(model, labels, bias)


def _finding(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    said = [
        say("{model} {did}", model=row.label, did=deeds(row.hand))
        for row in rows[:3]
        if row.hand is not None
    ]
    if len(rows) > 3:
        said.append(say("{n} more below", n=len(rows) - 3))
    hands = say("{places}.", places=say("; ").join(said))
    return paragraph(hands, *(_bias(each) for each in filters[:2]))


def _bias(each: _Filter) -> str:
    bias = each.bias.bias
    return say(
        "The filter by {model} changes {own} by {points} points [{low}, {high}] more than the "
        "others.",
        model=each.model,
        own=joined(each.own),
        points=points(bias.value),
        low=points(bias.low),
        high=points(bias.high),
    )


def _plain(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    hands = say_of(
        len(rows),
        "{models} had a hand in making these questions, so compare it by the figures without "
        "those.",
        "{models} had a hand in making these questions, so compare them by the figures without "
        "those.",
        models=joined([row.label for row in rows], 4),
    )
    if any(each.bias.bias.high < 0 for each in filters):
        failed = say(
            "Questions were kept because a model failed them: that model is scored too low."
        )
        return paragraph(hands, failed)
    return hands


def _cannot(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    filtering = any(
        role.role == "filtered" for row in rows if row.hand is not None for role in row.hand.roles
    )
    if not filtering or filters:
        return ""
    return say(
        "The effect of filtering on the filter's own model is not known: no sample of items that "
        "it did not see was asked of it and of others."
    )


def _table(rows: Sequence[BoardRow]) -> Table:
    return Table(
        title=say("With and without the items they had a hand in"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="did", name=say("did")),
            Column(key="all", name=say("all items"), unit="points"),
            Column(key="rank", name=say("rank")),
            Column(key="touched", name=say("touched"),
                   help=say("items that rest on it or its family")),
            Column(key="rest", name=say("without its own"), unit="points"),
            Column(key="rank_rest", name=say("rank there")),
        ),
        rows=tuple(
            (
                row.label, deeds(row.hand), row.estimate, row.rank,
                row.hand.n_touched, row.hand.untouched if row.hand.untouched.n else None,
                row.hand.rank,
            )
            for row in rows
            if row.hand is not None
        ),
    )  # fmt: skip


def _bias_table(filters: Sequence[_Filter]) -> Table:
    return Table(
        title=say("What a filter costs its own model"),
        columns=(
            Column(key="filter", name=say("filter by")),
            Column(key="models", name=say("its models here")),
            Column(key="filtered", name=say("filtered"), help=say("items that it let through")),
            Column(key="unfiltered", name=say("unfiltered")),
            Column(key="own", name=say("change, own"), unit="points"),
            Column(key="others", name=say("change, others"), unit="points"),
            Column(key="bias", name=say("bias"), unit="points", help=say("own less others")),
            Column(key="p", name=say("p"), unit="probability"),
        ),
        rows=tuple(
            (
                each.model, joined(each.own), each.bias.n_filtered, each.bias.n_unfiltered,
                each.bias.own, each.bias.others, each.bias.bias, each.bias.p,
            )
            for each in filters
        ),
    )  # fmt: skip
