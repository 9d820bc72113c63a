"""Domains, each against all others, and the probe with entities that do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.errors import BadUsage
from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Column, Section, Table
from proofstone.report.triples.experiments.cells import (
    config_column,
    config_of,
    measured_columns,
    model_name,
)
from proofstone.report.triples.experiments.evidence import Experiment
from proofstone.report.triples.experiments.fictions import (
    fictions_figure,
    fictions_finding,
    fictions_of,
    fictions_table,
)
from proofstone.report.triples.experiments.gaps import incomplete_notes
from proofstone.report.triples.experiments.places import (
    Place,
    Placed,
    place_entities,
    placed_figure,
)
from proofstone.report.triples.experiments.ranking import usually_asked
from proofstone.wording import joined, say, word

__all__ = ["domains_section"]

_MOST_TOLD = 3


def domains_section(found: Experiment) -> Section:
    """F1, precision and recall by domain, and how many fictional entities got triples. Raises
    BadUsage where neither is known: the list names no two domains and holds nothing fictional."""
    rows = usually_asked(found)
    values = sorted(
        {each.domain for each in found.tallies.entities if each.domain and not each.is_fictional}
    )
    values = values if len(values) > 1 else []
    placed = [
        place_entities(found, asked, "domain", values)
        for asked in rows
        if values and asked.is_verified
    ]
    fictions = fictions_of(found, rows)
    if not placed and not fictions:
        raise BadUsage(
            "these runs were not asked about entities of several domains, nor fictional ones",
            hint="give the list a column domain, or run one with a column fictional beside it: "
            + found.ask.format(models="MODEL", preset="domains"),
        )
    tables = [_table(placed)] if placed else []
    figures = (
        [placed_figure("f1-by-domains", say("F1 by domain"), word("domain"), found, placed, values)]
        if placed
        else []
    )
    if fictions:
        tables.append(fictions_table(fictions))
        figures.append(fictions_figure(fictions, table=len(tables)))
    return Section(
        name="domains",
        title=say("Domains, and entities that do not exist"),
        finding=" ".join(filter(None, (*_findings(placed), fictions_finding(fictions)))),
        how=say(
            "Each domain is compared with all others of the same model; {level:g}% for all of a "
            "model's domains together. Domains hold other entities, so they are not paired.",
            level=100 * found.board.confidence,
        ),
        tables=tuple(tables),
        figures=tuple(figure for figure in figures if figure is not None),
        notes=(*_notes(found), *incomplete_notes(found, rows)),
    )


def _table(placed: Sequence[Placed]) -> Table:
    return Table(
        title=say("F1, precision and recall by domain"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="domain", name=word("domain")),
            config_column(),
            Column(key="entities", name=word("entities")),
            *measured_columns(),
            Column(key="triples", name=say("triples an entity"), digits=1),
            Column(key="f1_less", name=say("F1 less other domains"), unit="points"),
        ),
        rows=tuple(
            (
                model_name(each.asked.row),
                place.value,
                config_of(each.asked),
                place.entities,
                *place.measures,
                place.triples,
                less,
            )
            for each in placed
            for place, less in zip(each.places, each.less, strict=True)
        ),
        sorts=False,
    )


def _findings(placed: Sequence[Placed]) -> Iterator[str]:
    """For each of the first models the domains that stand out; of several where none does, once."""
    first = placed[:_MOST_TOLD]
    level = [model_name(each.asked.row) for each in first if not any(_standing_out(each))]
    for each in first:
        higher, lower = _standing_out(each)
        parts = [
            say("above its others {domains}", domains=", ".join(higher)) if higher else "",
            say("below them {domains}", domains=", ".join(lower)) if lower else "",
        ]
        if any(parts):
            name = model_name(each.asked.row)
            yield say("F1 of {model}: {parts}.", model=name, parts="; ".join(filter(None, parts)))
    if level:
        yield say(
            "No domain of {model} differs significantly from its other domains.",
            model=joined(level),
        )


def _standing_out(each: Placed) -> tuple[list[str], list[str]]:
    """The domains above all others of a model and those below, each with how far."""
    apart = list(_apart(each))
    return (
        [_told(place.value, less) for place, less in apart if less.low > 0.0],
        [_told(place.value, less) for place, less in apart if less.high < 0.0],
    )


def _apart(each: Placed) -> Iterator[tuple[Place, Estimate]]:
    for place, less in zip(each.places, each.less, strict=True):
        if less is not None:
            yield place, less


def _told(value: str, less: Estimate) -> str:
    return f"{value} ({shown_estimate(less)})"


def _notes(found: Experiment) -> Iterator[str]:
    unnamed = sum(not each.domain and not each.is_fictional for each in found.tallies.entities)
    if unnamed:
        yield say("{n:,} entities have no domain and are in none.", n=unnamed)
