"""Compare groups of entities (non-existent ones, domains, popularity), and list the experiments."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.method import find_method
from proofstone.methods.bequ.experiments.comparisons import (
    effort_section,
    incomplete_notes,
    prompts_section,
    random_section,
    ranges_section,
    usually_asked,
)
from proofstone.methods.bequ.experiments.evidence import (
    Asked,
    Cell,
    Experiment,
    config_column,
    experiment_of,
    f1_strips,
    measured_cells,
    measured_columns,
    model_column,
    resolved,
    triples_column,
)
from proofstone.methods.bequ.report.board import triple_board
from proofstone.methods.bequ.verification.stored_verdicts import ranked_settings, read_verified
from proofstone.page.section import Column, Figure, Mark, Section, Table, shown_estimate
from proofstone.records.runs import Estimate, Population
from proofstone.results.request import View
from proofstone.results.sections.parts import Analysis
from proofstone.run.forms import Selection
from proofstone.session.session import Session
from proofstone.stats.ranks import share_estimate
from proofstone.wording.messages import counted, joined, say, word

# Non-existent entities, plausible and absurd: hallucination rate and number of triples per model.


class _Fiction(Struct, frozen=True):
    """Hold a model's results on the non-existent entities of one kind ("" for all).

    These are the number of entities, the share with triples (hallucination rate), and the number of
    triples.
    """

    name: str
    kind: str
    asked: int
    given: int
    share: Estimate
    triples: int

    @property
    def shown_kind(self) -> str:
        """Return the kind in words."""
        return word(self.kind or "all")


def _fictions_of(found: Experiment, rows: Sequence[Asked]) -> Iterator[_Fiction]:
    """Return each row's results on non-existent entities: all, then plausible and absurd."""
    tallies = found.tallies
    kinds = {each.fiction for each in tallies.entities if each.is_nonexistent}
    for asked in rows:
        own = ~tallies.is_real & (tallies.responses[:, asked.group] > 0)
        for kind in ("", *(each for each in ("plausible", "absurd") if each in kinds)):
            said = tallies.said[own & tallies.where("fiction", kind) if kind else own, asked.group]
            if n := len(said):
                given = int(np.count_nonzero(said))
                share = share_estimate(given / n, n, found.board.confidence, of="entities")
                yield _Fiction(asked.name, kind, n, given, share, int(said.sum()))


def _fictions_table(fictions: Sequence[_Fiction]) -> Table:
    """Build a table with one row per model and kind."""
    return Table(
        title=say("Non-existent entities"),
        columns=(
            model_column(),
            Column(key="kind", name=say("kind")),
            Column(key="asked", name=word("entities")),
            Column(key="given", name=say("with triples")),
            Column(key="share", name=say("share with triples"), unit="points"),
            Column(key="said", name=say("triples")),
        ),
        rows=tuple(
            (each.name, each.shown_kind, each.asked, each.given, each.share, each.triples)
            for each in fictions
        ),
        note=say("Every triple about a non-existent entity is a hallucination."),
        sorts=False,
    )


def _fictions_figure(fictions: Sequence[_Fiction], *, table: int) -> Figure:
    """Build a figure of triples per model, by kind if the lists have it; ``table`` has the data."""
    most = max(each.asked for each in fictions)
    return Figure(
        name="nonexistent-by-kind",
        kind="bars",
        title=say("Triples about non-existent entities"),
        subtitle=counted(most, "non-existent entity", "non-existent entities"),
        marks=tuple(
            Mark(row=each.name, column=each.shown_kind, value=float(each.triples), n=each.asked)
            for each in [each for each in fictions if each.kind] or fictions
        ),
        row_axis=word("model"),
        value_axis=say("triples"),
        value_unit="number",
        table=table,
    )


def _fictions_finding(fictions: Sequence[_Fiction]) -> str:
    """State how many models hallucinated, and which the most."""
    whole = [each for each in fictions if not each.kind]
    if not whole:
        return ""
    silent = sum(not each.given for each in whole)
    if silent == len(whole):
        return say("No model gave a triple about a non-existent entity.")
    most = max(whole, key=lambda each: (each.triples, each.given))
    return say(
        "Of {models}, {silent} gave no triples about non-existent entities; {model} gave the "
        "most: {triples} about {given} of {n} (in percent: {share}).",
        models=counted(len(whole), "model"),
        silent=silent,
        model=most.name,
        triples=counted(most.triples, "triple"),
        given=most.given,
        n=most.asked,
        share=shown_estimate(most.share),
    )


# The same models on parts of their entities: measures of each part, compared with the rest.


class _Place(Struct, frozen=True):
    """Hold a model's results on the entities of one part.

    These are the number of entities, its measures, and the F1 difference from all other parts
    together. All CIs of a row are simultaneous.
    """

    asked: Asked
    value: str
    entities: int
    measures: tuple[Estimate | None, ...]
    triples: float | None
    less: Estimate | None


def _places_of(
    found: Experiment, asked: Asked, field: str, values: Sequence[str]
) -> Iterator[_Place]:
    """Return a row's measures on the entities of each of ``values``."""
    tallies, n = found.tallies, len(values)
    mine = tallies.shared([asked.group])
    parts = [mine & tallies.where(field, value) for value in values]
    placed = np.logical_or.reduce(parts)
    cells = [Cell(asked.group, part) for part in (*parts, *(placed & ~part for part in parts))]
    drawn = found.draw(cells)
    less = drawn.less([(place, n + place) for place in range(n)], "f1")
    for place, (value, part) in enumerate(zip(values, parts, strict=True)):
        yield _Place(
            asked,
            value,
            int(part.sum()),
            measured_cells(partial(drawn.estimate, place)),
            tallies.triples_each(asked.group, part),
            less[place] if n > 1 else None,
        )


def _places_table(places: Sequence[_Place], title: str, column: Column, less: str = "") -> Table:
    """Build a table with one row per model and value, under ``column``.

    With a ``less`` heading, it includes the difference from the other values.
    """
    last = [Column(key="f1_less", name=less, unit="points")] if less else []
    return Table(
        title=title,
        columns=(
            model_column(),
            column,
            config_column(),
            Column(key="entities", name=word("entities")),
            *measured_columns(),
            triples_column(),
            *last,
        ),
        rows=tuple(
            (
                place.asked.name,
                place.value,
                place.asked.config,
                place.entities,
                *place.measures,
                place.triples,
                *([place.less] if less else []),
            )
            for place in places
        ),
        sorts=False,
    )


def _places_figure(
    found: Experiment, name: str, title: str, axis: str, places: Sequence[_Place]
) -> tuple[Figure, ...]:
    """Build a figure of F1 at each value, one mark per model; None without data."""
    values = dict.fromkeys(place.value for place in places)
    marks = (
        (value, place.asked.name, place.measures[0])
        for value in values
        for place in places
        if place.value == value
    )
    return f1_strips(found, name, title, axis, marks)


# Domains, each compared with all others, and non-existent entities.

_MOST_TOLD = 3


def domains_section(found: Experiment) -> Section:
    """Build the section on F1, precision and recall by domain, and the hallucination rate.

    Raises BadUsage if the list has neither two domains nor non-existent entities.
    """
    rows = usually_asked(found)
    real = [each for each in found.tallies.entities if not each.is_nonexistent]
    values = sorted({each.domain for each in real if each.domain})
    verified = [asked for asked in rows if asked.is_verified and len(values) > 1]
    placed = [list(_places_of(found, asked, "domain", values)) for asked in verified]
    fictions = list(_fictions_of(found, rows))
    if not placed and not fictions:
        raise BadUsage(
            "these runs have neither entities of two domains nor non-existent entities",
            hint="add a column domain to the list, or a column nonexistent: "
            + found.ask.format(models="MODEL", preset="domains"),
        )
    tables: list[Table] = []
    figures: tuple[Figure, ...] = ()
    if placed:
        places = [place for own in placed for place in own]
        domain = Column(key="domain", name=word("domain"))
        title = say("F1, precision and recall by domain")
        tables.append(_places_table(places, title, domain, say("F1 less other domains")))
        title = say("F1 by domain")
        figures = _places_figure(found, "f1-by-domains", title, word("domain"), places)
    if fictions:
        tables.append(_fictions_table(fictions))
        figures = (*figures, _fictions_figure(fictions, table=len(tables)))
    unnamed = sum(not each.domain for each in real)
    notes = [say("{n:,} entities have no domain and are left out.", n=unnamed)] if unnamed else []
    return Section(
        name="domains",
        title=say("Domains and non-existent entities"),
        finding=" ".join(filter(None, (*_domains_told(placed), _fictions_finding(fictions)))),
        how=say(
            "Each domain is compared with all other domains of the same model, with a joint "
            "confidence level of {level:g}% per model. Domains have different entities, so "
            "comparisons are not paired.",
            level=found.level,
        ),
        tables=tuple(tables),
        figures=figures,
        notes=(*notes, *incomplete_notes(found, rows)),
    )


def _domains_told(placed: Sequence[Sequence[_Place]]) -> Iterator[str]:
    """State the domains with significant differences for each of the first models, or that none
    has.
    """
    level = []
    for places in placed[:_MOST_TOLD]:
        apart = [(place.value, place.less) for place in places if place.less is not None]
        higher = [f"{value} ({shown_estimate(less)})" for value, less in apart if less.low > 0.0]
        lower = [f"{value} ({shown_estimate(less)})" for value, less in apart if less.high < 0.0]
        parts = [
            say(("significantly above its other domains: {domains}"), domains=", ".join(higher))
            if higher
            else "",
            say("below them {domains}", domains=", ".join(lower)) if lower else "",
        ]
        model = places[0].asked.name
        if any(parts):
            yield say("F1 of {model}: {parts}.", model=model, parts="; ".join(filter(None, parts)))
        else:
            level.append(model)
    if level:
        yield say(
            "No domain of {model} differs significantly from its other domains.",
            model=joined(level),
        )


# Thirds of popularity, and the trend over Wikidata statement counts.


class _Risen(Struct, frozen=True):
    """Hold the change of a row's measures with popularity.

    These are F1 of the top third minus the bottom third, and the trends of precision and recall.
    """

    name: str
    apart: Estimate | None
    trends: tuple[Estimate | None, ...]


def popularity_section(found: Experiment) -> Section:
    """Build the section on F1, precision and recall by third of popularity, from the least known.

    Adds the change of precision and recall in points per doubling of the statement count. Raises
    BadUsage if the list has neither thirds nor counts.
    """
    usual = usually_asked(found)
    rows = [asked for asked in usual if asked.is_verified]
    real = [each for each in found.tallies.entities if not each.is_nonexistent]
    tiers = _tiers(found)
    several = len(tiers) > 1
    risen = _risen_of(found, rows, tiers) if rows else []
    has_trend = any(any(each.trends) for each in risen)
    if not rows or not (several or has_trend):
        raise BadUsage(
            "these runs have no entities of two thirds of popularity",
            hint=(
                "build entities WIKI --known COUNTS --thirds, or add a column tier to the list; "
                "then "
            )
            + found.ask.format(models="MODEL", preset="popularity"),
        )
    tables: list[Table] = []
    figures: tuple[Figure, ...] = ()
    if several:
        places = [
            place for asked in rows for place in _places_of(found, asked, "popularity", tiers)
        ]
        third = Column(key="third", name=word("popularity"))
        tables.append(_places_table(places, say("F1, precision and recall by third"), third))
        title = say("F1 by popularity")
        figures = _places_figure(found, "f1-by-popularity", title, word("popularity"), places)
    unknown = sum(not each.statements for each in real)
    note = say(
        "{n:,} of {all:,} entities have no statement count; they are not in the trend.",
        n=unknown,
        all=len(real),
    )
    return Section(
        name="popularity",
        title=say("Popularity"),
        finding=" ".join(_popularity_told(risen, tiers)),
        how=say(
            "Thirds have different entities, so they are not paired. The trend is the "
            "least-squares slope over triples by the binary logarithm of the statement count. "
            "Intervals are bootstrapped over entities, with a joint confidence level of "
            "{level:g}% per column.",
            level=found.level,
        ),
        tables=(*tables, _trends(risen, tiers)),
        figures=figures,
        notes=(*([note] if unknown else []), *incomplete_notes(found, usual)),
    )


def _tiers(found: Experiment) -> list[str]:
    """Order the tiers from the least known: by median statement count, or by the first number of
    the name.
    """
    by_tier: dict[str, list[float]] = defaultdict(list)
    for facts in found.tallies.entities:
        if facts.popularity and not facts.is_nonexistent:
            known = float("nan") if facts.statements is None else float(facts.statements)
            by_tier[facts.popularity].append(known)
    is_known = all(np.isfinite(counts).any() for counts in by_tier.values())

    def order(tier: str) -> tuple[float, str]:
        if is_known:
            return float(np.nanmedian(by_tier[tier])), tier
        number = re.search(r"\d+", tier)
        return float(number[0]) if number else float("inf"), tier

    return sorted(by_tier, key=order)


def _risen_of(found: Experiment, rows: Sequence[Asked], tiers: Sequence[str]) -> list[_Risen]:
    """Return the changes of all rows, resampled together."""
    tallies, n = found.tallies, len(rows)
    whole = [Cell(asked.group, tallies.shared([asked.group])) for asked in rows]
    ends = [tiers[-1], tiers[0]] if len(tiers) > 1 else []
    parts = [
        Cell(cell.group, cell.chosen & tallies.where("popularity", end))
        for end in ends
        for cell in whole
    ]
    drawn = found.draw([*whole, *parts])
    pairs = [(n + place, 2 * n + place) for place in range(n)] if ends else []
    apart = drawn.less(pairs, "f1") or (None,) * n
    trends = [drawn.trend(range(n), measure) for measure in ("precision", "recall")]
    return [
        _Risen(asked.name, less, both)
        for asked, less, both in zip(rows, apart, zip(*trends, strict=True), strict=True)
    ]


def _trends(risen: Sequence[_Risen], tiers: Sequence[str]) -> Table:
    per = say("points per doubling of the statement count; over triples")
    columns = [
        model_column(),
        Column(key="precision", name=say("precision, a doubling"), unit="points", help=per),
        Column(key="recall", name=say("recall, a doubling"), unit="points", help=per),
    ]
    several = len(tiers) > 1
    if several:
        name = say("F1, {last} less {first}", last=tiers[-1], first=tiers[0])
        columns.append(Column(key="f1", unit="points", name=name))
    return Table(
        title=say("Trend by Wikidata statements"),
        columns=tuple(columns),
        rows=tuple((each.name, *each.trends, *([each.apart] if several else [])) for each in risen),
    )


def _popularity_told(risen: Sequence[_Risen], tiers: Sequence[str]) -> Iterator[str]:
    apart = [each.apart for each in risen if each.apart is not None]
    if apart:
        above, below = resolved(apart)
        yield say(
            "F1 of {last} is significantly above that of {first} for {above} of {models}, "
            "and significantly below it for {below}.",
            last=tiers[-1],
            first=tiers[0],
            above=above,
            below=below,
            models=counted(len(apart), "model"),
        )
    for place, measure in enumerate(("precision", "recall")):
        known = [(trend, each.name) for each in risen if (trend := each.trends[place]) is not None]
        if known:
            trend, name = max(known, key=lambda one: abs(one[0].value))
            yield say(
                "{measure} changes most with the statement count for {model}: {change} points "
                "per doubling.",
                measure=word(measure).capitalize(),
                change=shown_estimate(trend),
                model=name,
            )


# The six experiments by name; each builds a section from verified runs.

EXPERIMENTS: Mapping[str, Callable[[Experiment], Section]] = {
    "random": random_section,
    "effort": effort_section,
    "domains": domains_section,
    "prompts": prompts_section,
    "ranges": ranges_section,
    "popularity": popularity_section,
}


def experiment_sections(found: Experiment) -> tuple[Section, ...]:
    """Return every experiment that these runs have data for, in the order of the paper."""
    sections = []
    for make in EXPERIMENTS.values():
        with suppress(BadUsage):
            sections.append(make(found))
    return tuple(sections)


# BeQu's experiments as analyses: sections of pages, with the data of their figures.


def make_analysis(
    session: Session,
    name: str,
    selection: Selection,
    view: View,
    *,
    population: Population,
    confidence: float,
) -> Analysis:
    """Return the analysis of one experiment on verified runs.

    Raises NotFound if no run is verified, and the experiment's errors. Raises BadUsage for other
    runs, or another population or confidence than the leaderboard's.
    """
    method = find_method(selection.method)
    if method.verifying is None:
        raise BadUsage(f"runs of {method.name} have no triples to verify")
    verified = read_verified(session.store, method, selection, view)
    by_id = {run.id: run for _key, run in selection.runs}
    ranked = ranked_settings([by_id[runs[0]] for runs in verified.runs])
    board = triple_board(verified, by=(), ranked=ranked)
    found = experiment_of(session.store, method, selection, verified, board)
    if population != "domain":
        raise BadUsage(f"the analysis {name} generalizes to similar entities, not to an item bank")
    if confidence != found.board.confidence:
        raise BadUsage(
            f"the leaderboard's confidence is {found.board.confidence}, not {confidence}"
        )
    return analysis_of(EXPERIMENTS[name](found), found)


def analysis_of(section: Section, found: Experiment) -> Analysis:
    """Return a section with the data of its first figure, and its judges in the notes."""
    board = found.board
    verified = say(
        "judged by {judges} against {reference}; {sampling}",
        judges=board.judges or say("nobody"),
        reference=board.reference,
        sampling=board.sampling,
    )
    figure = section.figures[0] if section.figures else None
    return Analysis(
        name=section.name,
        title=section.title,
        finding=section.finding,
        tables=section.tables,
        figures=section.figures,
        notes=tuple(filter(None, (verified, section.how, *section.notes))),
        data=Figure(
            name=section.name,
            kind="curves",
            title=section.title,
            subtitle="",
            x_axis="" if figure is None else figure.row_axis,
            value_axis="" if figure is None else figure.value_axis,
            marks=tuple(
                structs.replace(mark, row=mark.column or mark.row, column=mark.row)
                for mark in (figure.marks if figure else ())
            ),
        ),
    )
