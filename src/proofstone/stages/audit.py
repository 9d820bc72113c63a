"""Anybody's results: from files to their score table, and from that to an audit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone import __version__
from proofstone.engines.stats import Estimand
from proofstone.engines.tables import (
    HandNamed,
    ScoresIn,
    annotator_labels,
    assemble,
    joined_accuracies,
    judged_labels,
    model_facts,
    read_accuracies,
    scores_in,
    with_counts,
)
from proofstone.errors import BadUsage
from proofstone.records import Annotated, Judged, Measure, Outcome, ScoreTable, Worth
from proofstone.records.accuracies import Accuracies
from proofstone.records.audience import Audience
from proofstone.records.cards import Card
from proofstone.records.families import family_of
from proofstone.records.model_names import shown_names
from proofstone.report.accuracy_board import accuracy_board, accuracy_notes
from proofstone.report.audience import annotated_for, judged_for, table_for
from proofstone.report.audited import Audit, FileRead
from proofstone.report.leaderboard import leaderboard
from proofstone.report.methods_text import methods_text
from proofstone.report.opening import make_opening
from proofstone.report.page_data import PageData, Provenance
from proofstone.report.sections import Evidence, make_sections
from proofstone.report.sections.item_work import WorkRow, work_list, work_rows
from proofstone.report.sheet import Sheet
from proofstone.report.trust import trust_lines
from proofstone.stages.audit_labels import audit_labels
from proofstone.stages.dates import minute
from proofstone.stages.files_read import ReadFile, tell_accuracies, tell_file, tell_models
from proofstone.stages.hands import with_hands_of
from proofstone.stages.result_files import (
    Reading,
    as_benchmarks,
    filter_notes,
    read_files,
    skipped_notes,
)
from proofstone.stages.work_files import write_work_file
from proofstone.wording import counted, joined, listed, noted, say, say_of

__all__ = [
    "Asked",
    "audit_files",
    "audit_page",
    "audit_table",
    "read_either",
    "read_results",
    "write_work_list",
]

# With fewer, intervals for other clusters hardly tell anybody apart.
_FEW_CLUSTERS = 20


@dataclass(frozen=True)
class Asked(Reading):
    """What a user asks of an audit, beside how files are read. ``items`` is the number of items of
    each stratum, or of all under the empty name, and ``runs`` the number of runs that each value is
    the mean of, for accuracies alone; ``complete_from`` the share of its items with which a model
    is ranked; ``audience`` whom the audit is for; ``roles`` what models did to the items;
    ``benchmarks``: each file is a benchmark, with items of its own whatever their names."""

    items: Mapping[str, int] = field(default_factory=dict)
    runs: int = 1
    complete_from: float = 0.95
    estimand: Estimand = "knowledge"
    level: str = "sample"
    confidence: float = 0.95
    seed: int = 0
    audience: Audience = "internal"
    roles: tuple[HandNamed, ...] = ()
    benchmarks: bool = False


def audit_files(paths: Sequence[Path], asked: Asked) -> Audit:
    """The audit of one or several files, together one set of results.

    Raises what reading does: BadInput with every problem of a file, BadUsage where a column's
    meaning is open or accuracies alone are mixed with items, NotFound, ExtraMissing.
    """
    found = read_files(paths, asked)
    audit = _audit(found.read, asked)
    notes = (
        *found.notes,
        *_unknown_models(found.read),
        *skipped_notes(found.skipped),
        *filter_notes(found.read, asked),
    )
    audit = structs.replace(audit, skipped=found.skipped, notes=(*audit.notes, *notes))
    return structs.replace(audit, methods=methods_text(audit_page(audit, now=0.0)))


def _audit(read: Sequence[ReadFile], asked: Asked) -> Audit:
    facts = [part for part in read if part.layout.kind == "models"]
    read = [part for part in read if part.layout.kind != "models"]
    if not read:
        raise BadUsage(
            f"{', '.join(part.table.name for part in facts)} says what models are, and holds no "
            "score",
            hint="name the file of scores too: proofstone audit scores.csv models.csv",
        )
    cards = _cards([*facts, *read])
    title = ", ".join(dict.fromkeys(part.table.name for part in read))
    if any(part.layout.kind == "accuracies" for part in read):
        return _audit_accuracies(read, asked, title, cards, facts)
    if any(part.layout.kind == "labels" for part in read):
        return audit_labels(read, asked, title)
    parts, table, files = _assembled(read, asked, cards)
    counted_by = [name for name, given in (("--items", asked.items), ("--runs", asked.runs != 1))
                  if given]  # fmt: skip
    if counted_by:
        raise BadUsage(
            f"{joined(counted_by)}: only for accuracies alone, and {title} has its items",
            hint=f"leave {joined(counted_by)} out",
        )
    measure = _measure(table)
    return audit_table(
        table,
        [measure],
        measure.name,
        asked=asked,
        title=title,
        files=(*files, *map(tell_models, facts)),
        judged=judged_labels(parts),
        annotated=annotator_labels(parts),
        families=_families([*facts, *read], cards),
    )


def read_results(paths: Sequence[Path], asked: Asked) -> tuple[ScoreTable, Measure]:
    """The scores of one or several files, together one set of results, and their measure.

    Raises what ``audit_files`` does, and BadUsage for accuracies alone, which have no items.
    """
    read = [part for part in read_files(paths, asked).read if part.layout.kind != "models"]
    alone = {kind: [part.table.name for part in read if part.layout.kind == kind]
             for kind in ("accuracies", "labels")}  # fmt: skip
    for kind, names in alone.items():
        if names:
            raise BadUsage(
                f"{', '.join(names)} holds {kind} alone, so there are no items to pair",
                hint="give scores by item: one row an item, or one row a score",
            )
    _parts, table, _told = _assembled(read, asked, _cards(read))
    return table, _measure(table)


def read_either(paths: Sequence[Path], asked: Asked) -> tuple[ScoreTable, Measure] | Accuracies:
    """The scores of files with their measure; of one file of accuracies alone, these.

    Raises what ``read_results`` does.
    """
    read = read_files(paths, asked).read
    if len(read) == 1 and read[0].layout.kind == "accuracies":
        return read_accuracies(read[0].table, read[0].layout, asked.items, runs=asked.runs)
    return read_results(paths, asked)


def _assembled(
    read: Sequence[ReadFile], asked: Asked, cards: Mapping[str, Card]
) -> tuple[list[ScoresIn], ScoreTable, tuple[FileRead, ...]]:
    read = as_benchmarks(read, always=asked.benchmarks)
    parts = _without_folders([scores_in(part.table, part.layout) for part in read])
    table = assemble(parts, complete_from=asked.complete_from, hands=asked.roles)
    respondents = tuple(replace(who, card=cards.get(who.name)) for who in table.respondents)
    table = with_hands_of(replace(table, respondents=respondents), family_of)
    return (
        parts,
        table,
        tuple(tell_file(each, part) for each, part in zip(read, parts, strict=True)),
    )


def _cards(read: Sequence[ReadFile]) -> dict[str, Card]:
    """What the files say of models, by their names as they are shown; the first file that says
    anything counts."""
    found: dict[str, Card] = {}
    for each in reversed(read):
        found |= model_facts(each.table, each.layout)
    shown = shown_names(found)
    return {shown[name]: card for name, card in found.items()}


def _families(read: Sequence[ReadFile], cards: Mapping[str, Card]) -> dict[str, str]:
    """The families of models, where a file has a column of them."""
    is_told = any(each.layout.family for each in read)
    return {name: card.family for name, card in cards.items()} if is_told else {}


def _unknown_models(read: Sequence[ReadFile]) -> Iterator[str]:
    """The models of a file of models of which no other file has scores."""
    known = {
        name
        for each in read
        if each.layout.kind not in ("models", "labels")
        for name in shown_names(_models_of(each)).values()
    }
    for each in read:
        if each.layout.kind == "models":
            names = shown_names(each.table.columns[each.layout.model].names).values()
            alone = [name for name in names if name not in known]
            if alone:
                yield say(
                    "{file} describes {models} without scores here: {names}.",
                    file=each.table.name,
                    models=counted(len(alone), "model"),
                    names=listed(alone[:5]),
                )


def _models_of(read: ReadFile) -> tuple[str, ...]:
    layout = read.layout
    return layout.models if layout.kind == "wide" else read.table.columns[layout.model].names


def _without_folders(parts: Sequence[ScoresIn]) -> list[ScoresIn]:
    """The scores with models that a log names by a path named by its end."""
    names = shown_names(name for part in parts for name in part.model.names)
    return [
        replace(part, model=part.model._replace(names=tuple(names[n] for n in part.model.names)))
        for part in parts
    ]


def audit_table(
    table: ScoreTable,
    measures: Sequence[Measure],
    headline: str,
    *,
    asked: Asked,
    title: str,
    files: tuple[FileRead, ...],
    judged: Judged | None = None,
    annotated: Annotated | None = None,
    families: Mapping[str, str] | None = None,
) -> Audit:
    """The audit of a score table under the measure ``headline``."""
    table, judged = table_for(table, asked.audience), judged_for(judged, asked.audience)
    board = leaderboard(
        table,
        measures,
        headline,
        estimand=asked.estimand,
        level=asked.level,
        confidence=asked.confidence,
    )
    measure = next(each for each in measures if each.name == headline)
    sheet = Sheet.of(table, measure)
    evidence = Evidence(
        board=board,
        sheet=sheet,
        judged=judged,
        annotated=annotated_for(annotated, asked.audience),
        families=families or {},
        seed=asked.seed,
        estimand=asked.estimand,
    )
    return Audit(
        audience=asked.audience,
        title=title,
        files=files,
        board=board,
        opening=make_opening(evidence),
        trust=trust_lines(evidence),
        notes=tuple(_notes(table, asked)),
        sections=make_sections(evidence),
        seed=asked.seed,
        version=__version__,
        work_list=work_list(evidence),
    )


def write_work_list(rows: Sequence[WorkRow], path: Path) -> int:
    """Writes all that is to be looked at, one row each; the suffix of ``path`` says in which form.
    Returns how many. Raises what ``write_rows`` does."""
    return write_work_file(path, work_rows(rows))


def audit_page(audit: Audit, *, now: float, command: str = "") -> PageData:
    """The page of an audit."""
    return PageData(
        title=audit.title,
        audience=audit.audience,
        board=audit.board,
        opening=audit.opening,
        trust=audit.trust,
        sections=audit.sections,
        seed=audit.seed,
        files=audit.files,
        notes=audit.notes,
        provenance=Provenance(version=audit.version, made_at=minute(now), command=command),
    )


def _measure(table: ScoreTable) -> Measure:
    """The one measure of other people's scores: their mean."""
    values = table.value[~np.isnan(table.value)]
    is_plain = bool(((values == 0.0) | (values == 1.0)).all())
    counts: dict[Outcome, Worth] = {"answered": "value"}
    if table.tells_outcomes:
        counts |= {"refused": 0.0, "unparsed": 0.0, "truncated": 0.0}
    return Measure(
        name="accuracy" if is_plain else "score",
        of="score",
        counts=counts,
        denominator=noted("items with a reply" if table.tells_outcomes else "items with a score"),
    )


def _notes(table: ScoreTable, asked: Asked) -> Iterator[str]:
    n_clusters = len(np.unique(table.cluster_key))
    if 0 < n_clusters < _FEW_CLUSTERS and asked.estimand == "knowledge":
        yield say(
            "The items fall into only {clusters}: intervals speak of other such clusters too, and "
            "are wide. For these alone, with other items: --estimand bank.",
            clusters=counted(n_clusters, "cluster"),
        )
    full = len(table.items)
    there = np.bincount(table.respondent, minlength=len(table.respondents))
    samples = int(table.sample.max(initial=0)) + 1
    if len(there) and (there < table.expected).all():
        yield _none_ranked(table, there, asked.complete_from)
    short = int(((there < full * samples) & (table.expected == there)).sum())
    if short:
        yield say_of(
            short,
            "{models} lacks some scores, at most {share:g}% of them: all are ranked on the items "
            "that all ranked models have.",
            "{models} lack some scores, at most {share:g}% of them: all are ranked on the items "
            "that all ranked models have.",
            models=counted(short, "model"),
            share=100 * (1 - asked.complete_from),
        )


def _none_ranked(table: ScoreTable, there: NDArray[np.int64], complete_from: float) -> str:
    """Why no model is ranked, and the share from which all would be, where they share items."""
    shares = there / np.maximum(table.expected, 1)
    pairs = np.unique(table.unit.astype(np.int64) * len(there) + table.respondent)
    common = int((np.bincount(pairs // len(there)) == len(there)).sum())
    told = {"share": 100 * complete_from, "most": 100 * float(shares.max())}
    if not common:
        return say(
            "No model has scores of {share:g}% of the items (the most is {most:.0f}%), so none is "
            "ranked. No item has scores of all models.",
            **told,
        )
    return say(
        "No model has scores of {share:g}% of the items (the most is {most:.0f}%), so none is "
        "ranked. To rank on the {items} of which all models have scores: "
        "--complete-from {option:g}.",
        items=counted(common, "item"),
        option=math.floor(100 * float(shares.min())) / 100,
        **told,
    )


def _audit_accuracies(
    read: Sequence[ReadFile],
    asked: Asked,
    title: str,
    cards: Mapping[str, Card],
    facts: Sequence[ReadFile],
) -> Audit:
    others = [each.table.name for each in read if each.layout.kind != "accuracies"]
    if others:
        raise BadUsage(
            "files of accuracies alone and files with items cannot be one set of results",
            hint=f"audit these apart: {', '.join(others)}",
        )
    counts = asked.items if len(read) == 1 else {}
    parts = [read_accuracies(each.table, each.layout, counts, runs=asked.runs) for each in read]
    found = joined_accuracies(parts)
    if len(read) > 1 and asked.items:
        found = with_counts(found, asked.items)
    shown = shown_names(found.models)
    models = tuple(shown[name] for name in found.models)
    found = replace(found, models=models, cards=cards)
    board = accuracy_board(found, confidence=asked.confidence)
    evidence = Evidence(
        board=board, accuracies=found, families=_families([*facts, *read], cards), seed=asked.seed
    )
    return Audit(
        audience=asked.audience,
        title=title,
        files=(
            *(tell_accuracies(*each) for each in zip(read, parts, strict=True)),
            *map(tell_models, facts),
        ),
        board=board,
        opening=make_opening(evidence),
        trust=trust_lines(evidence),
        notes=tuple(accuracy_notes(found)),
        sections=make_sections(evidence),
        seed=asked.seed,
        version=__version__,
    )
