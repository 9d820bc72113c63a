"""Thirds of popularity, and the trend by how much Wikidata says of an entity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from msgspec import structs

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
    DrawnCells,
    Experiment,
    config_column,
    config_of,
    experiment_of,
    measured_cells,
    measured_columns,
    model_name,
    resolved,
    strips,
    strips_subtitle,
)
from proofstone.methods.bequ.report.board import triple_board
from proofstone.methods.bequ.verification.stored_verdicts import ranked_settings, read_verified
from proofstone.page.section import Column, Figure, Mark, Section, Table, shown_estimate
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import Analysis
from proofstone.results.table import View
from proofstone.run.forms import Selection
from proofstone.session.session import Session
from proofstone.stats.flags import Estimand
from proofstone.stats.ranks import share_estimate
from proofstone.wording.messages import counted, joined, say, word

# Entities that do not exist, plausible and absurd: who says triples about them, and how many.


@dataclass(frozen=True, slots=True)
class Fiction:
    """A model on the fictional entities of one kind ("" for all): how many it was asked about, the
    share that got triples, and how many triples."""

    name: str
    kind: str
    asked: int
    given: int
    share: Estimate
    triples: int


def fictions_of(found: Experiment, rows: Sequence[Asked]) -> list[Fiction]:
    """Of each row that was asked about any: all fictional entities, then each kind where lists say
    it, plausible first."""
    kinds = {each.fiction for each in found.tallies.entities if each.is_fictional}
    stated = [kind for kind in ("plausible", "absurd") if kind in kinds]
    return [
        made
        for asked in rows
        for kind in ("", *stated)
        if (made := _fiction(found, asked, kind)) is not None
    ]


def _fiction(found: Experiment, asked: Asked, kind: str) -> Fiction | None:
    tallies = found.tallies
    chosen = ~tallies.is_real & (tallies.replies[:, asked.group] > 0)
    if kind:
        chosen &= tallies.where("fiction", kind)
    n = int(chosen.sum())
    if not n:
        return None
    said = tallies.said[chosen, asked.group]
    given = int(np.count_nonzero(said))
    share = share_estimate(given / n, n, found.board.confidence, of="entities")
    return Fiction(model_name(asked.row), kind, n, given, share, int(said.sum()))


def fictions_table(fictions: Sequence[Fiction]) -> Table:
    """A row a model and kind."""
    return Table(
        title=say("Fictional entities"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="kind", name=say("kind")),
            Column(key="asked", name=word("entities")),
            Column(key="given", name=say("with triples")),
            Column(key="share", name=say("share with triples"), unit="points"),
            Column(key="said", name=say("triples")),
        ),
        rows=tuple(
            (each.name, _kind(each), each.asked, each.given, each.share, each.triples)
            for each in fictions
        ),
        note=say("Whatever is said of an entity that does not exist is made up."),
        sorts=False,
    )


def fictions_figure(fictions: Sequence[Fiction], *, table: int) -> Figure:
    """How many triples each model said, by kind where lists say it; ``table`` holds them too."""
    by_kind = [each for each in fictions if each.kind] or list(fictions)
    return Figure(
        name="fictional-by-kind",
        kind="bars",
        title=say("Triples about entities that do not exist"),
        subtitle=counted(
            max(each.asked for each in fictions), "fictional entity", "fictional entities"
        ),
        marks=tuple(
            Mark(row=each.name, column=_kind(each), value=float(each.triples), n=each.asked)
            for each in by_kind
        ),
        row_axis=word("model"),
        value_axis=say("triples"),
        value_unit="number",
        table=table,
    )


def fictions_finding(fictions: Sequence[Fiction]) -> str:
    """How many models made something up, and who most."""
    whole = [each for each in fictions if not each.kind]
    if not whole:
        return ""
    silent = sum(not each.given for each in whole)
    if silent == len(whole):
        return say("No model said anything of an entity that does not exist.")
    most = max(whole, key=lambda each: (each.triples, each.given))
    return say(
        "Of {models}, {silent} said nothing of entities that do not exist; {model} said most: "
        "{triples} about {given} of {n}, {share} of 100.",
        models=counted(len(whole), "model"),
        silent=silent,
        model=most.name,
        triples=counted(most.triples, "triple"),
        given=most.given,
        n=most.asked,
        share=shown_estimate(most.share),
    )


def _kind(each: Fiction) -> str:
    return word(each.kind) if each.kind else word("all")


# The same models on parts of their entities: measures of each part, against the other parts.


@dataclass(frozen=True, slots=True)
class Place:
    """A model on the entities of one part: how many were asked about, and its measures."""

    value: str
    entities: int
    measures: tuple[Estimate | None, ...]
    triples: float | None


@dataclass(frozen=True, slots=True)
class Placed:
    """A row by the values of a field, and by how much F1 of each lies above that of all others
    together, all intervals of the row holding at once."""

    asked: Asked
    places: tuple[Place, ...]
    less: tuple[Estimate | None, ...]


def place_entities(found: Experiment, asked: Asked, field: str, values: Sequence[str]) -> Placed:
    """A row's measures on the entities of each of ``values``."""
    tallies = found.tallies
    mine = tallies.shared([asked.group])
    parts = [mine & tallies.where(field, value) for value in values]
    placed = np.logical_or.reduce([*parts, np.zeros(len(mine), dtype=bool)])
    cells = [Cell(asked.group, part) for part in parts]
    cells += [Cell(asked.group, placed & ~part) for part in parts]
    drawn = DrawnCells(tallies, cells, confidence=found.board.confidence, seed=found.board.seed)
    n = len(parts)
    less = drawn.less([(place, n + place) for place in range(n)], "f1")
    return Placed(
        asked=asked,
        places=tuple(
            Place(
                value=value,
                entities=int(parts[place].sum()),
                measures=measured_cells(partial(drawn.estimate, place)),
                triples=tallies.triples_each(asked.group, parts[place]),
            )
            for place, value in enumerate(values)
        ),
        less=tuple(less) if n > 1 else (None,) * n,
    )


def placed_figure(
    name: str,
    title: str,
    axis: str,
    found: Experiment,
    placed: Sequence[Placed],
    values: Sequence[str],
) -> Figure | None:
    """F1 at each of ``values``, a mark a model; None where there is none."""
    return strips(
        name,
        title,
        strips_subtitle(found.board),
        axis,
        (
            (value, model_name(each.asked.row), each.places[place].measures[0])
            for place, value in enumerate(values)
            for each in placed
        ),
    )


# Domains, each against all others, and the probe with entities that do not exist.

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
    tables = [_popularity_table(by_tier)] if by_tier else []
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
        notes=(*_popularity_notes(found), *incomplete_notes(found, usually_asked(found))),
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


def _popularity_table(placed: Sequence[Placed]) -> Table:
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


def _popularity_notes(found: Experiment) -> tuple[str, ...]:
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


# The six experiments by name; each makes a section of verified runs.

EXPERIMENTS: Mapping[str, Callable[[Experiment], Section]] = {
    "random": random_section,
    "effort": effort_section,
    "domains": domains_section,
    "prompts": prompts_section,
    "ranges": ranges_section,
    "popularity": popularity_section,
}


def experiment_sections(found: Experiment) -> tuple[Section, ...]:
    """Every experiment that these runs can carry, in the order of the paper."""
    return tuple(made for make in EXPERIMENTS.values() if (made := _made(make, found)) is not None)


def _made(make: Callable[[Experiment], Section], found: Experiment) -> Section | None:
    try:
        return make(found)
    except BadUsage:
        return None


# BeQu's experiments as studies: the sections that pages show, with the marks of their figures.


def make_study(
    session: Session,
    name: str,
    selection: Selection,
    view: View,
    *,
    estimand: Estimand,
    confidence: float,
) -> Analysis:
    """The study of one experiment on verified runs. Raises NotFound where none is verified, what
    the experiment refuses, and BadUsage for other runs, or another estimand or confidence than the
    board's."""
    method = find_method(selection.method)
    if method.verifying is None:
        raise BadUsage(f"runs of {method.name} hold no triples to verify")
    verified = read_verified(session.store, method, selection, view)
    by_id = {run.id: run for _key, run in selection.runs}
    ranked = ranked_settings([by_id[runs[0]] for runs in verified.runs])
    board = triple_board(verified, by=(), ranked=ranked)
    found = experiment_of(session.store, method, selection, verified, board)
    if estimand != "knowledge":
        raise BadUsage(f"the study {name} speaks of other entities like these, of no bank")
    if confidence != found.board.confidence:
        raise BadUsage(f"these intervals are at {found.board.confidence}, not {confidence}")
    return analysis_of(EXPERIMENTS[name](found), found)


def analysis_of(section: Section, found: Experiment) -> Analysis:
    """A section with the marks of its first figure as a file of data, and what judged its triples
    among its notes."""
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
