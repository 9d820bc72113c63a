"""What an audit says of the files that it read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import structs

from proofstone.records.models import shown_names
from proofstone.records.scores import Accuracies, FileColumns
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.scores import ScoresIn
from proofstone.results.items_made import FileRead
from proofstone.wording.messages import counted, listed, say, word


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file's records, how they are understood, what kind of file it is, and the values by which
    they were chosen. ``whole`` are all records of a log with several filters."""

    table: FileColumns
    layout: Layout
    kind: str
    where: Mapping[str, str]
    whole: FileColumns | None = None


def tell_file(read: ReadFile, part: ScoresIn) -> FileRead:
    """What a file of scores is, and what it holds."""
    n_items = len(read.table.columns[read.layout.item].names)
    n_models = len(part.model.names)
    holds = [
        counted(n_items, "item"),
        counted(n_models, "model"),
        counted(len(part.value), "score"),
    ]
    full = len(read.table) * n_models if read.layout.kind == "wide" else len(read.table)
    if full > len(part.value):
        holds.append(say("{n:,} missing", n=full - len(part.value)))
    return FileRead(
        name=read.table.name,
        kind=_kind(read),
        columns=_told(read.layout),
        holds=listed(holds),
    )


def _kind(read: ReadFile) -> str:
    """What kind of file it is, and which of its records count."""
    return listed([word(read.kind), *(f"{column} {value}" for column, value in read.where.items())])


def _told(layout: Layout) -> str:
    shown = shown_names(layout.models)
    return structs.replace(layout, models=tuple(shown[name] for name in layout.models)).told()


def tell_models(read: ReadFile) -> FileRead:
    """The same of a table that says what models are."""
    n = len(read.table.columns[read.layout.model].names)
    return FileRead(
        name=read.table.name,
        kind=_kind(read),
        columns=_told(read.layout),
        holds=counted(n, "model"),
    )


def tell_labels(read: ReadFile) -> FileRead:
    """The same of a table of labels alone."""
    layout, columns = read.layout, read.table.columns
    n_annotators = len(layout.labels)
    if layout.annotator:
        n_annotators = len(columns[layout.annotator].names)
    holds = [
        counted(len(columns[layout.item].names), "item"),
        counted(n_annotators, "annotator"),
        counted(sum(int((columns[name].codes >= 0).sum()) for name in layout.labels), "label"),
    ]
    return FileRead(
        name=read.table.name,
        kind=_kind(read),
        columns=_told(layout),
        holds=listed(holds),
    )


def tell_accuracies(read: ReadFile, found: Accuracies) -> FileRead:
    """The same of a table of accuracies alone."""
    sizes = set() if found.n_of is None else {int(n) for n in found.n_of}
    n = found.n_items or int(found.counts.sum())
    items = counted(n, "item") if n else say("numbers of items not known")
    if sizes - {0, n}:
        items = say(
            "{low:,} to {high:,} items for each model", low=min(sizes - {0}), high=max(sizes)
        )
    holds = [counted(len(found.models), "model"), counted(len(found.strata), "group"), items]
    return FileRead(
        name=read.table.name,
        kind=_kind(read),
        columns=_told(read.layout),
        holds=listed(holds),
    )
