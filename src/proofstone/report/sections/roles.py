"""Models that wrote, filtered or judged the items they compete on: their results without these, and
what a filter costs its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.engines.stats import FilterBias, filter_bias
from proofstone.report.board import BoardRow
from proofstone.report.hand_sentences import deeds
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import joined

__all__ = ["roles_section"]

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
        title="Models that had a hand in the items",
        finding=_finding(rows, filters),
        plain=_plain(rows, filters),
        cannot=_cannot(rows, filters),
        how="Without its own: the mean over the items that neither the model nor its family "
        "touched; ranks there are among the same models on the same items. Filter bias: the change "
        "from unfiltered to filtered items of the filter's models, less that of the others, with "
        "the clustered interval of two samples of items.",
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
    said = [f"{row.label} {deeds(row.hand)}" for row in rows[:3] if row.hand is not None]
    more = f"; {len(rows) - 3} more below" if len(rows) > 3 else ""
    text = f"{'; '.join(said)}{more}."
    for each in filters[:2]:
        bias = each.bias.bias
        text += (
            f" The filter by {each.model} changes {joined(each.own)} by {points(bias.value)} "
            f"points [{points(bias.low)}, {points(bias.high)}] more than the others."
        )
    return text


def _plain(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    names = joined([row.label for row in rows[:4]])
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    base = (
        f"{names}{more} had a hand in making these questions, so compare "
        f"{'it' if len(rows) == 1 else 'them'} by the figures without those."
    )
    if any(each.bias.bias.high < 0 for each in filters):
        base += " Questions were kept because a model failed them: that model is scored too low."
    return base


def _cannot(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    filtering = any(
        role.role == "filtered" for row in rows if row.hand is not None for role in row.hand.roles
    )
    if not filtering or filters:
        return ""
    return (
        "What the filter costs its own model: no sample of items that it did not see was asked of "
        "it and of others."
    )


def _table(rows: Sequence[BoardRow]) -> Table:
    return Table(
        title="With and without the items they had a hand in",
        columns=(
            Column(key="model", name="model"),
            Column(key="did", name="did"),
            Column(key="all", name="all items", unit="points"),
            Column(key="rank", name="rank"),
            Column(key="touched", name="touched", help="items that rest on it or its family"),
            Column(key="rest", name="without its own", unit="points"),
            Column(key="rank_rest", name="rank there"),
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
        title="What a filter costs its own model",
        columns=(
            Column(key="filter", name="filter by"),
            Column(key="models", name="its models here"),
            Column(key="filtered", name="filtered", help="items that it let through"),
            Column(key="unfiltered", name="unfiltered"),
            Column(key="own", name="change, own", unit="points"),
            Column(key="others", name="change, others", unit="points"),
            Column(key="bias", name="bias", unit="points", help="own less others"),
            Column(key="p", name="p", unit="probability"),
        ),
        rows=tuple(
            (
                each.model, joined(each.own), each.bias.n_filtered, each.bias.n_unfiltered,
                each.bias.own, each.bias.others, each.bias.bias, each.bias.p,
            )
            for each in filters
        ),
    )  # fmt: skip
