"""Audit result files: from files to a score table, and from that to an audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from msgspec import UNSET, Struct, UnsetType, structs
from numpy.typing import NDArray

from proofstone import __version__
from proofstone.errors import BadInput, BadUsage
from proofstone.method import Method
from proofstone.page.section import Section
from proofstone.page.text import labelled_lines
from proofstone.records.items import shown_name
from proofstone.records.models import Card, family_of, shown_names
from proofstone.records.runs import Measure, Outcome, Population, Worth, population_name
from proofstone.records.scores import Accuracies, ScoreTable
from proofstone.records.tables import Audience
from proofstone.results.audit.accuracies import (
    accuracy_board,
    accuracy_notes,
    joined_accuracies,
    overall_accuracies,
    read_accuracies,
    with_counts,
)
from proofstone.results.audit.assembly import assemble
from proofstone.results.audit.result_files import (
    FileSkipped,
    ReadFile,
    Reading,
    as_benchmarks,
    filter_notes,
    read_files,
    skipped_notes,
    tell_accuracies,
    tell_file,
    tell_labels,
    tell_models,
)
from proofstone.results.audit.scores import (
    NamedRole,
    ScoresIn,
    annotator_labels,
    judged_labels,
    model_facts,
    no_scores,
    scores_in,
)
from proofstone.results.board_text import (
    Leaderboard,
    long_names,
    render_terminal,
    with_short_names,
)
from proofstone.results.brief import Brief, make_brief
from proofstone.results.item_browser import ItemBrowser, item_browser
from proofstone.results.measured_scores import Sheet
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page_parts import FileRead, PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence, annotated_for, judged_for, table_for
from proofstone.results.sections.items import FlaggedItem, flagged_items, work_rows
from proofstone.results.sections.parts import Part, parts_together
from proofstone.results.summary import Opening, make_opening
from proofstone.results.table import with_roles_of
from proofstone.results.trust import DataQualityLine, data_quality_lines
from proofstone.run.forms import Selection
from proofstone.session.terminal import minute
from proofstone.session.written_files import write_flagged_items_file
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, say_of, word

# Records of an audit, shared by the terminal, JSON and the page.


class Audit(Struct, frozen=True, kw_only=True):
    """Result of an audit: files, leaderboard and sections.

    ``skipped`` are files of a folder that were not read. ``opening`` is the summary, ``trust``
    describes data quality, ``notes`` are general limitations. ``flagged_items`` are sorted by
    severity. ``items`` are for the page only. ``seed`` is the random seed of all resampling.
    ``version`` is that of the program. ``methods`` are paragraphs of the methods text. With the
    ``audience`` "public" it holds no texts of items or responses.
    """

    audience: Audience = "internal"
    title: str
    files: tuple[FileRead, ...]
    skipped: tuple[FileSkipped, ...] = ()
    board: Leaderboard
    opening: Opening = Opening()
    trust: tuple[DataQualityLine, ...] = ()
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...]
    seed: int
    version: str
    flagged_items: tuple[FlaggedItem, ...] = ()
    items: ItemBrowser | UnsetType | None = UNSET
    methods: tuple[str, ...] = ()
    brief: Brief | None = None


def _made(
    evidence: Evidence,
    title: str,
    files: Sequence[FileRead],
    audience: Audience,
    notes: Iterable[str] = (),
) -> Audit:
    """Return the audit; each section takes what it needs from ``evidence``."""
    return Audit(
        audience=audience,
        title=title,
        files=tuple(files),
        board=evidence.board,
        opening=make_opening(evidence),
        trust=data_quality_lines(evidence),
        notes=tuple(notes),
        sections=make_sections(evidence),
        seed=evidence.seed,
        version=__version__,
        flagged_items=flagged_items(evidence),
        items=item_browser(evidence, audience=audience),
        brief=make_brief(evidence, title),
    )


# Labels without scores: inter-annotator agreement without a ranking.


def audit_labels(read: Sequence[ReadFile], asked: Asked, title: str) -> Audit:
    """Return the audit of files with labels only.

    Raises BadUsage if one of them also holds scores, BadInput if there are no labels, and as
    reading labels does.
    """
    mixed = [part.table.name for part in read if part.layout.kind != "labels"]
    if mixed:
        raise BadUsage(
            f"{', '.join(mixed)} holds scores, and other files hold labels alone",
            hint="audit them separately",
        )
    found = annotator_labels([no_scores(part.table, part.layout) for part in read])
    if found is None or not len(found.ratings):
        raise BadInput(f"{title} holds no label", hint=f"as read: {read[0].layout.told()}")
    nobody = Leaderboard(
        measure="",
        denominator="",
        counts=(),
        population=population_name(asked.population),
        level=asked.level,
        confidence=asked.confidence,
        n_items=0,
        forms=(),
        standings=(),
    )
    shown = annotated_for(found, asked.audience)
    evidence = Evidence(board=nobody, annotated=shown, seed=asked.seed, population=asked.population)
    return _made(evidence, title, [tell_labels(part) for part in read], asked.audience)


# With fewer clusters, intervals that generalize to new clusters are very wide.
_FEW_CLUSTERS = 20


@dataclass(frozen=True)
class Asked(Reading):
    """Request for an audit, in addition to how files are read.

    ``items`` is the number of items of each stratum, or of all under the empty name, and ``runs``
    the number of runs averaged in each value; both are for accuracies only. ``complete_from`` is
    the share of items from which a model is ranked. ``audience`` is that of the audit. ``roles``
    are those of models in the items. ``benchmarks``: each file is a separate benchmark, even if
    item names are equal.
    """

    items: Mapping[str, int] = field(default_factory=dict)
    runs: int = 1
    complete_from: float = 0.95
    population: Population = "domain"
    level: str = "sample"
    confidence: float = 0.95
    seed: int = 0
    audience: Audience = "internal"
    roles: tuple[NamedRole, ...] = ()
    benchmarks: bool = False


def audit_files(paths: Sequence[Path], asked: Asked) -> Audit:
    """Return the audit of one or several files that form one set of results.

    Raises as reading does: BadInput with every problem of a file, BadUsage if a column's role is
    ambiguous or accuracies are mixed with items, NotFound, ExtraMissing.
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
            hint="add the file of scores: proofstone audit scores.csv models.csv",
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
    judged, annotated = judged_labels(parts), annotator_labels(parts)
    table, measure = table_for(table, asked.audience), _measure(table)
    evidence = Evidence(
        board=leaderboard(
            table,
            [measure],
            measure.name,
            population=asked.population,
            level=asked.level,
            confidence=asked.confidence,
        ),
        sheet=Sheet.of(table, measure),
        judged=judged_for(judged, asked.audience),
        annotated=annotated_for(annotated, asked.audience),
        families=_families([*facts, *read], cards),
        seed=asked.seed,
        population=asked.population,
    )
    files = (*files, *map(tell_models, facts))
    return _made(evidence, title, files, asked.audience, _notes(table, asked))


def read_results(paths: Sequence[Path], asked: Asked) -> tuple[ScoreTable, Measure]:
    """Return the scores of one or several files that form one set of results, and their measure.

    Raises as ``audit_files`` does, and BadUsage for accuracies, which have no items.
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
    """Return scores with their measure, or the accuracies of one file without items.

    Raises as ``read_results`` does.
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
    table = assemble(parts, complete_from=asked.complete_from, roles_held=asked.roles)
    respondents = tuple(replace(who, card=cards.get(who.name)) for who in table.respondents)
    table = with_roles_of(replace(table, respondents=respondents), family_of)
    return (
        parts,
        table,
        tuple(tell_file(each, part) for each, part in zip(read, parts, strict=True)),
    )


def _cards(read: Sequence[ReadFile]) -> dict[str, Card]:
    """Return the model facts in the files by display name; the first file with facts takes
    precedence."""
    found: dict[str, Card] = {}
    for each in reversed(read):
        found |= model_facts(each.table, each.layout)
    shown = shown_names(found)
    return {shown[name]: card for name, card in found.items()}


def _families(read: Sequence[ReadFile], cards: Mapping[str, Card]) -> dict[str, str]:
    is_told = any(each.layout.family for each in read)
    return {name: card.family for name, card in cards.items()} if is_told else {}


def _unknown_models(read: Sequence[ReadFile]) -> Iterator[str]:
    """Yield the models of a file of models that have no scores in other files."""
    known = {
        name
        for each in read
        if each.layout.kind not in ("models", "labels")
        for name in shown_names(each.models).values()
    }
    for each in read:
        if each.layout.kind == "models":
            names = shown_names(each.models).values()
            alone = [name for name in names if name not in known]
            if alone:
                yield say(
                    "{file} describes {models} without scores here: {names}.",
                    file=each.table.name,
                    models=counted(len(alone), "model"),
                    names=listed(alone[:5]),
                )


def _without_folders(parts: Sequence[ScoresIn]) -> list[ScoresIn]:
    """Return the scores, with models that a log names by a path shortened to its last part."""
    names = shown_names(name for part in parts for name in part.model.names)
    return [
        replace(part, model=part.model._replace(names=tuple(names[n] for n in part.model.names)))
        for part in parts
    ]


def write_flagged_items(rows: Sequence[FlaggedItem], path: Path) -> int:
    """Write all flagged items, one row each; return their number.

    The suffix of ``path`` sets the format. Raises as ``write_rows`` does.
    """
    return write_flagged_items_file(path, work_rows(rows))


def audit_page(audit: Audit, *, now: float, command: str = "") -> PageData:
    """Return the page of an audit."""
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
        items=audit.items or None,
        brief=audit.brief,
        provenance=Provenance(version=audit.version, made_at=minute(now), command=command),
    )


def _measure(table: ScoreTable) -> Measure:
    """Return the measure of scores from files: their mean."""
    values = table.value[~np.isnan(table.value)]
    is_plain = bool(((values == 0.0) | (values == 1.0)).all())
    counts: dict[Outcome, Worth] = {"answered": "value"}
    if table.tells_outcomes:
        counts |= {"refused": 0.0, "unparsed": 0.0, "truncated": 0.0}
    return Measure(
        name="accuracy" if is_plain else "score",
        of="score",
        counts=counts,
        denominator=noted(
            "items with a response" if table.tells_outcomes else "items with a score"
        ),
    )


def _notes(table: ScoreTable, asked: Asked) -> Iterator[str]:
    n_clusters = len(np.unique(table.cluster_key))
    if 0 < n_clusters < _FEW_CLUSTERS and asked.population == "domain":
        yield say(
            "The items come from only {clusters}. Intervals also cover other "
            "such clusters, so they are wide. For new items from these "
            "clusters alone, use --population bank.",
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
            "{models} lacks at most {share:g}% of its scores. All models are "
            "ranked on the items that all ranked models have.",
            "{models} lack at most {share:g}% of their scores. All models are "
            "ranked on the items that all ranked models have.",
            models=counted(short, "model"),
            share=100 * (1 - asked.complete_from),
        )


def _none_ranked(table: ScoreTable, there: NDArray[np.int64], complete_from: float) -> str:
    """Return why no model is ranked, and the share from which all would be, if they share items."""
    shares = there / np.maximum(table.expected, 1)
    pairs = np.unique(table.unit.astype(np.int64) * len(there) + table.respondent)
    common = int((np.bincount(pairs // len(there)) == len(there)).sum())
    told = {"share": 100 * complete_from, "most": 100 * float(shares.max())}
    if not common:
        return say(
            "No model has scores for {share:g}% of the items (the most is "
            "{most:.0f}%), so none is ranked. No item has scores from all "
            "models.",
            **told,
        )
    return say(
        "No model has scores for {share:g}% of the items (the most is "
        "{most:.0f}%), so none is ranked. To rank on the {items} that all "
        "models have scores for, use --complete-from {option:g}.",
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
            "files with accuracies only and files with items cannot be combined",
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
    files = [tell_accuracies(*each) for each in zip(read, parts, strict=True)]
    files += map(tell_models, facts)
    return _made(evidence, title, files, asked.audience, accuracy_notes(found))


# The other benchmark of an analysis of rankings: a row of the workspace, or a file.


def benchmark_beside(
    store: Store,
    find_method: Callable[[str], Method],
    find: Callable[[str], Found],
    named: str,
    n_items: int = 0,
) -> Part | Accuracies:
    """Return the results that ``named`` refers to.

    It is a file as ``audit`` reads it (scores by item, or one score per model), otherwise a form,
    bank or run. ``n_items`` is the number of items of a file of scores that does not state it.
    Raises as reading does, and BadUsage for ``n_items`` of results with items.
    """
    path = Path(named)
    found = (
        _of_file(path) if path.is_file() else parts_together(store, find_method, [find(named)])[0]
    )
    alone = _overall_alone(found, n_items)
    if alone is not None:
        return alone
    if n_items:
        raise BadUsage(
            f"{named} has its items, so their number is known", hint="leave --other-items out"
        )
    return found


def _of_file(path: Path) -> Part | Accuracies:
    found = read_either([path], Asked())
    if not isinstance(found, tuple):
        return replace(found, name=path.name)
    table, measure = found
    return Part(name=path.name, kind="file", seed=None, recipe={}, table=table, measure=measure)


def _overall_alone(found: Part | Accuracies, n_items: int) -> Accuracies | None:
    """Return the overall scores without items, with the number of items if known.

    None for results with items.
    """
    if not isinstance(found, Accuracies):
        return None
    n = n_items or found.n_items
    return Accuracies(
        name=found.name,
        models=found.models,
        strata=(),
        value=np.empty((len(found.models), 0)),
        overall=overall_accuracies(found),
        counts=np.array([n] if n else [], dtype=np.int64),
    )


# Audit of runs of the workspace, with the same sections.


def audit_evidence(
    evidence: Evidence, selection: Selection, audience: Audience = "internal"
) -> Audit:
    """Return the audit of runs of the workspace, from evidence made for its audience."""
    names = listed([shown_name(item_set) for item_set in selection.item_sets])
    board = evidence.board
    rows = board.rows
    holds = listed([counted(board.n_items, "item"), counted(len(rows), "configuration")])
    kind = say("{runs} in this workspace", runs=counted(len(selection.runs), "run"))
    file = FileRead(name=names, kind=kind, columns="", holds=holds)
    return _made(evidence, names, [file], audience)


# An audit as a summary in the terminal.

_LABEL = 15


def render_audit(
    audit: Audit,
    *,
    next_steps: Sequence[tuple[str, str]] = (),
    width: int = 100,
    colour: bool = False,
) -> str:
    """Return files, leaderboard, one finding per section and next steps as text.

    The text ends in a newline. Lines other than the table are wrapped at ``width`` cells.
    """
    lines: list[str] = []
    alike: dict[tuple[str, str], list[FileRead]] = {}
    for file in audit.files:
        alike.setdefault((file.kind, file.columns), []).append(file)
    long = long_names(audit.board)
    for files in alike.values():
        lines += _files(files, width, long)
    lines.append("")
    lines += render_terminal(audit.board, width=width, colour=colour).splitlines()
    lines.append("")
    for note in audit.notes:
        lines += labelled_lines(say("note"), with_short_names(note, long), width - 1, _LABEL)
    for section in audit.sections:
        said = paragraph(section.finding, section.cannot)
        lines += labelled_lines(word(section.name), with_short_names(said, long), width - 1, _LABEL)
    for label, text in next_steps:
        lines += labelled_lines(word(label), text, width - 1, _LABEL)
    return "".join(f"{line}\n" for line in lines)


def page_step(path: Path | None) -> tuple[str, str]:
    """Return the next step that names the page, or how to get one."""
    hint = say("add -o report.html for tables, figures and items")
    return "page", str(path) if path else hint


def _files(files: Sequence[FileRead], width: int, long: Sequence[str]) -> Iterator[str]:
    """Yield files with the same layout and what each holds; their columns once."""
    for file in files:
        yield from labelled_lines(
            say("read"),
            say("{name}: {kind}; {holds}", name=file.name, kind=file.kind, holds=file.holds),
            width - 1,
            _LABEL,
        )
    if files[0].columns:
        columns = files[0].columns
        said = say("each {columns}", columns=columns) if len(files) > 1 else columns
        yield from labelled_lines("", with_short_names(said, long), width - 1, _LABEL)
