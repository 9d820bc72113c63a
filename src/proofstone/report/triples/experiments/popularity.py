"""Thirds of popularity, and the trend by how much Wikidata says of an entity."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from proofstone.errors import BadUsage
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Column, Figure, Section, Table
from proofstone.report.triples.experiments.cells import (
    config_column,
    config_of,
    measured_columns,
    model_name,
    strips,
)
from proofstone.report.triples.experiments.evidence import Experiment
from proofstone.report.triples.experiments.gaps import incomplete_notes
from proofstone.report.triples.experiments.places import Placed, place_entities
from proofstone.report.triples.experiments.ranking import usually_asked
from proofstone.wording import counted, say, word

__all__ = ["popularity_section"]


def popularity_section(found: Experiment) -> Section:
    """F1, precision and recall by third, from the least known on; and by how many points precision
    and recall rise with every doubling of an entity's statements. Raises BadUsage where the list
    has neither thirds nor counts."""
    rows = [asked for asked in usually_asked(found) if asked.is_verified]
    tiers = _tiers(found)
    placed = [place_entities(found, asked, "popularity", tiers) for asked in rows]
    trends = [each for each in placed if any(each.trends)]
    if not rows or (len(tiers) < 2 and not trends):
        raise BadUsage(
            "these runs were not asked about entities of several thirds of popularity",
            hint="build entities WIKI --known COUNTS --thirds, or a list with a column tier; then "
            + found.ask.format(models="MODEL", preset="popularity"),
        )
    by_tier = placed if len(tiers) > 1 else []
    tables = [_table(by_tier)] if by_tier else []
    figures = [_figure(found, by_tier, tiers)] if by_tier else []
    return Section(
        name="popularity",
        title=say("Popularity"),
        finding=_finding(by_tier, trends, tiers),
        how=say(
            "Thirds hold other entities, so they are not paired. The trend is the least-squares "
            "slope over triples by the binary logarithm of statements; entities are drawn again."
        ),
        tables=(*tables, _trends(placed, tiers)),
        figures=tuple(figure for figure in figures if figure is not None),
        notes=(*_notes(found), *incomplete_notes(found, usually_asked(found))),
    )


def _tiers(found: Experiment) -> list[str]:
    """From the least known on: by the median of statements where these are known, else by the first
    number of their names."""
    by_tier: dict[str, list[float]] = {}
    for facts in found.tallies.entities:
        if facts.popularity and not facts.is_fictional:
            known = float("nan") if facts.statements is None else float(facts.statements)
            by_tier.setdefault(facts.popularity, []).append(known)
    if all(np.isfinite(counts).any() for counts in map(np.array, by_tier.values())):
        return sorted(by_tier, key=lambda tier: (float(np.nanmedian(by_tier[tier])), tier))
    return sorted(by_tier, key=lambda tier: (_first_number(tier), tier))


def _first_number(tier: str) -> float:
    number = re.search(r"\d+", tier)
    return float(number[0]) if number else float("inf")


def _table(placed: Sequence[Placed]) -> Table:
    return Table(
        title=say("F1, precision and recall by third"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="third", name=word("popularity")),
            config_column(),
            Column(key="entities", name=word("entities")),
            *measured_columns(),
            Column(key="triples", name=say("triples an entity"), digits=1),
        ),
        rows=tuple(
            (
                model_name(each.asked.row),
                place.value,
                config_of(each.asked),
                place.entities,
                *place.measures,
                None if place.triples is None else place.triples.value,
            )
            for each in placed
            for place in each.places
        ),
        sorts=False,
    )


def _trends(placed: Sequence[Placed], tiers: Sequence[str]) -> Table:
    per = say("of a doubling of statements, in points; over triples")
    return Table(
        title=say("Trend by statements of Wikidata"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="precision", name=say("precision, a doubling"), unit="points", help=per),
            Column(key="recall", name=say("recall, a doubling"), unit="points", help=per),
            Column(
                key="f1", unit="points",
                name=say("F1, {last} less {first}", last=tiers[-1], first=tiers[0])
                if len(tiers) > 1 else "F1",
            ),
        ),
        rows=tuple(
            (model_name(each.asked.row), *each.trends, each.apart if len(tiers) > 1 else None)
            for each in placed
        ),
    )  # fmt: skip


def _figure(found: Experiment, placed: Sequence[Placed], tiers: Sequence[str]) -> Figure | None:
    return strips(
        "f1-by-popularity",
        say("F1 by popularity"),
        say("{level:g}% intervals, by entities", level=100 * found.board.confidence),
        word("popularity"),
        (
            (value, model_name(each.asked.row), each.places[place].measures[0])
            for place, value in enumerate(tiers)
            for each in placed
        ),
    )


def _finding(placed: Sequence[Placed], trends: Sequence[Placed], tiers: Sequence[str]) -> str:
    parts = []
    apart = [each.apart for each in placed if each.apart is not None]
    if apart:
        parts.append(
            say(
                "F1 of {last} is above that of {first} beyond chance for {above} of {models}, "
                "below it for {below}.",
                last=tiers[-1],
                first=tiers[0],
                above=sum(each.low > 0.0 for each in apart),
                below=sum(each.high < 0.0 for each in apart),
                models=counted(len(apart), "model"),
            )
        )
    for measure, place in (("precision", 0), ("recall", 1)):
        known = [(trend, each) for each in trends if (trend := each.trends[place]) is not None]
        if known:
            trend, each = max(known, key=lambda one: abs(one[0].value))
            parts.append(
                say(
                    "A doubling of statements changes {measure} by {change} points at most "
                    "({model}).",
                    measure=word(measure),
                    change=shown_estimate(trend),
                    model=model_name(each.asked.row),
                )
            )
    return " ".join(parts)


def _notes(found: Experiment) -> tuple[str, ...]:
    real = [each for each in found.tallies.entities if not each.is_fictional]
    unknown = sum(not each.statements for each in real)
    if not unknown:
        return ()
    return (
        say(
            "Of {n:,} of {all:,} entities the number of statements is not known; they are not in "
            "the trend.",
            n=unknown,
            all=len(real),
        ),
    )
