"""Thirds of popularity, and the trend by how much Wikidata says of an entity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.errors import BadUsage
from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Column, Section, Table
from proofstone.report.triples.experiments.cells import (
    config_column,
    config_of,
    measured_columns,
    model_name,
    resolved,
)
from proofstone.report.triples.experiments.evidence import Asked, Experiment
from proofstone.report.triples.experiments.gaps import incomplete_notes
from proofstone.report.triples.experiments.places import Placed, place_entities, placed_figure
from proofstone.report.triples.experiments.ranking import usually_asked
from proofstone.report.triples.experiments.tallies import Cell, DrawnCells
from proofstone.wording import counted, say, word

__all__ = ["popularity_section"]


def popularity_section(found: Experiment) -> Section:
    """F1, precision and recall by third, from the least known on; and by how many points precision
    and recall rise with every doubling of an entity's statements. Raises BadUsage where the list
    has neither thirds nor counts."""
    rows = [asked for asked in usually_asked(found) if asked.is_verified]
    tiers = _tiers(found)
    risen = _risen(found, rows, tiers) if rows else []
    if not rows or (len(tiers) < 2 and not any(any(each.trends) for each in risen)):
        raise BadUsage(
            "these runs were not asked about entities of several thirds of popularity",
            hint="build entities WIKI --known COUNTS --thirds, or a list with a column tier; then "
            + found.ask.format(models="MODEL", preset="popularity"),
        )
    by_tier = [
        place_entities(found, asked, "popularity", tiers) for asked in rows if len(tiers) > 1
    ]
    tables = [_table(by_tier)] if by_tier else []
    figure = placed_figure(
        "f1-by-popularity", say("F1 by popularity"), word("popularity"), found, by_tier, tiers
    )
    return Section(
        name="popularity",
        title=say("Popularity"),
        finding=_finding(risen, tiers),
        how=say(
            "Thirds hold other entities, so they are not paired. The trend is the least-squares "
            "slope over triples by the binary logarithm of statements. Entities are drawn again; "
            "{level:g}% for all models in one column of it together.",
            level=100 * found.board.confidence,
        ),
        tables=(*tables, _trends(risen, tiers)),
        figures=() if figure is None else (figure,),
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
                place.triples,
            )
            for each in placed
            for place in each.places
        ),
        sorts=False,
    )


@dataclass(frozen=True, slots=True)
class _Risen:
    """How a row's measures move with popularity: F1 of the best known third less that of the least
    known, and the trends of precision and recall."""

    name: str
    apart: Estimate | None
    trends: tuple[Estimate | None, Estimate | None]


def _risen(found: Experiment, rows: Sequence[Asked], tiers: Sequence[str]) -> list[_Risen]:
    """Of each row, those of all rows drawn together."""
    tallies, n = found.tallies, len(rows)
    mine = [tallies.shared([asked.group]) for asked in rows]
    ends = [tiers[-1], tiers[0]] if len(tiers) > 1 else []
    cells = [Cell(asked.group, chosen) for asked, chosen in zip(rows, mine, strict=True)]
    cells += [
        Cell(asked.group, chosen & tallies.where("popularity", end))
        for end in ends
        for asked, chosen in zip(rows, mine, strict=True)
    ]
    drawn = DrawnCells(tallies, cells, confidence=found.board.confidence, seed=found.board.seed)
    pairs = [(n + place, 2 * n + place) for place in range(n)] if ends else []
    apart = drawn.less(pairs, "f1") if ends else (None,) * n
    trends = [drawn.trend(range(n), measure) for measure in ("precision", "recall")]
    return [
        _Risen(model_name(asked.row), apart[place], (trends[0][place], trends[1][place]))
        for place, asked in enumerate(rows)
    ]


def _trends(risen: Sequence[_Risen], tiers: Sequence[str]) -> Table:
    per = say("of a doubling of statements, in points; over triples")
    several = len(tiers) > 1
    return Table(
        title=say("Trend by statements of Wikidata"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="precision", name=say("precision, a doubling"), unit="points", help=per),
            Column(key="recall", name=say("recall, a doubling"), unit="points", help=per),
            *(
                [
                    Column(
                        key="f1", unit="points",
                        name=say("F1, {last} less {first}", last=tiers[-1], first=tiers[0]),
                    )
                ]
                if several
                else []
            ),
        ),
        rows=tuple(
            (each.name, *each.trends, *([each.apart] if several else [])) for each in risen
        ),
    )  # fmt: skip


def _finding(risen: Sequence[_Risen], tiers: Sequence[str]) -> str:
    parts = []
    apart = [each.apart for each in risen if each.apart is not None]
    if apart:
        above, below = resolved(apart)
        parts.append(
            say(
                "F1 of {last} is significantly above that of {first} for {above} of {models}, "
                "and significantly below it for {below}.",
                last=tiers[-1],
                first=tiers[0],
                above=above,
                below=below,
                models=counted(len(apart), "model"),
            )
        )
    for measure, place in (("precision", 0), ("recall", 1)):
        known = [(trend, each.name) for each in risen if (trend := each.trends[place]) is not None]
        if known:
            trend, name = max(known, key=lambda one: abs(one[0].value))
            parts.append(
                say(
                    "{measure} moves most with statements for {model}: by {change} points a "
                    "doubling.",
                    measure=word(measure).capitalize(),
                    change=shown_estimate(trend),
                    model=name,
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
