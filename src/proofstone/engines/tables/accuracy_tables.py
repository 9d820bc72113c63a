"""A table of accuracies, models by strata, as ``Accuracies``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.tables.column_names import is_named, plain
from proofstone.engines.tables.layout import Layout
from proofstone.engines.tables.problems import place, refused
from proofstone.engines.tables.score_texts import number_of, read_scores
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records import Accuracies, Coded, FileColumns

_BENCHMARKS = frozenset({"benchmark", "dataset", "task", "test", "suite"})

__all__ = ["joined_accuracies", "read_accuracies", "with_counts"]


def read_accuracies(
    table: FileColumns, layout: Layout, counts: Mapping[str, int] | None = None
) -> Accuracies:
    """The accuracies of a table with one row a model and one column a stratum, or one row a model
    and stratum. ``counts`` are the items of each stratum; without it they stand in a row whose
    model is called n, items or the like, or in the column ``layout.count``.

    Raises BadInput with all cells that are no accuracy and all models that come twice; BadUsage for
    counts of strata that there are not.
    """
    read = _long(table, layout) if layout.score else _wide(table, layout)
    return with_counts(read, counts) if counts else read


def with_counts(found: Accuracies, counts: Mapping[str, int]) -> Accuracies:
    """The same with these numbers of items by stratum; BadUsage for strata that there are not."""
    unknown = sorted(counts.keys() - set(found.strata))
    if unknown:
        raise BadUsage(
            f"{found.name} has no stratum {', '.join(unknown)}",
            hint=f"its strata: {', '.join(found.strata)}",
        )
    given = np.array([counts.get(name, 0) for name in found.strata], dtype=np.int64)
    return replace(found, counts=given)


def _wide(table: FileColumns, layout: Layout) -> Accuracies:
    model = table.columns[layout.model]
    problems = _repeats(table, layout.model)
    names = [model.names[code] if code >= 0 else "" for code in model.codes.tolist()]
    counting = [place_of for place_of, name in enumerate(names) if is_named(name, "count")]
    rows = [place_of for place_of, name in enumerate(names) if name and place_of not in counting]
    columns = [
        _cells(table, name, rows, layout, problems)
        for name in (*layout.models, *([layout.overall] if layout.overall else []))
    ]
    counts = np.zeros(len(layout.models), dtype=np.int64)
    for record in counting[:1]:
        counts = np.array(
            [_count(table, name, record, problems) for name in layout.models], dtype=np.int64
        )
    if problems:
        raise refused(table, problems)
    if not rows:
        raise BadInput(f"{table.name} names no model", hint=f"as read: {layout.told()}")
    overall = columns.pop() if layout.overall else np.full(len(rows), np.nan)
    value = np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))
    shown = tuple(names[place_of] for place_of in rows)
    return Accuracies(table.name, shown, layout.models, value, overall, counts)


def _cells(
    table: FileColumns, name: str, rows: list[int], layout: Layout, problems: list[Problem]
) -> NDArray[np.float64]:
    column = table.columns[name]
    kept = Coded(column.codes[rows], column.names)
    reading = read_scores(kept, percent=bool(layout.percent))
    for place_of, code in zip(rows, kept.codes.tolist(), strict=True):
        if code in reading.wrong:
            where = f"{place(table, place_of)}, column {name}"
            problems.append(Problem(where, reading.wrong[code]))
    return reading.values


def _count(table: FileColumns, name: str, record: int, problems: list[Problem]) -> int:
    column = table.columns[name]
    code = int(column.codes[record])
    number = number_of(column.names[code]) if code >= 0 else 0.0
    if number is None or not (number >= 0 and number.is_integer()):
        where = f"{place(table, record)}, column {name}"
        problems.append(Problem(where, "expected a number of items"))
        return 0
    return int(number)


def _repeats(table: FileColumns, column: str) -> list[Problem]:
    coded = table.columns[column]
    first: dict[int, int] = {}
    problems = []
    for record, code in enumerate(coded.codes.tolist()):
        if code >= 0 and code in first:
            at = place(table, first[code])
            what = f"model {coded.names[code]} came before, at {at}"
            problems.append(Problem(f"{place(table, record)}, column {column}", what))
        first.setdefault(code, record)
    return problems


def _long(table: FileColumns, layout: Layout) -> Accuracies:
    """One row a model and stratum. A stratum called all, overall or the like is the overall."""
    model, score = table.columns[layout.model], table.columns[layout.score]
    by = layout.strata[0] if layout.strata else ""
    stratum = table.columns[by] if by else Coded(np.zeros(len(table), dtype=np.int32), ("all",))
    reading = read_scores(score, percent=bool(layout.percent))
    problems = [
        Problem(f"{place(table, record)}, column {layout.score}", reading.wrong[int(code)])
        for record, code in enumerate(score.codes.tolist())
        if code in reading.wrong
    ]
    cells = np.full((len(model.names), len(stratum.names)), np.nan)
    first: dict[tuple[int, int], int] = {}
    for record in np.flatnonzero((model.codes >= 0) & (stratum.codes >= 0)).tolist():
        cell = int(model.codes[record]), int(stratum.codes[record])
        if cell in first:
            what = f"the same model and {by or 'table'} came before, at {place(table, first[cell])}"
            problems.append(Problem(place(table, record), what))
        first[cell] = record
        cells[cell] = reading.values[record]
    if problems:
        raise refused(table, problems)
    is_all = [is_named(name, "overall") for name in stratum.names]
    kept = [code for code, overall in enumerate(is_all) if not overall]
    overall = cells[:, is_all.index(True)] if any(is_all) else np.full(len(cells), np.nan)
    counts = _counts_of(table, layout, stratum)[kept]
    strata = tuple(stratum.names[code] for code in kept)
    return Accuracies(
        table.name, model.names, strata, cells[:, kept], overall, counts, plain(by) or "stratum"
    )


def _counts_of(table: FileColumns, layout: Layout, stratum: Coded) -> NDArray[np.int64]:
    """The items of each stratum, of the first record that gives their number."""
    counts = np.zeros(len(stratum.names), dtype=np.int64)
    if not layout.count:
        return counts
    column = table.columns[layout.count]
    for record, code in reversed(list(enumerate(stratum.codes.tolist()))):
        told = int(column.codes[record])
        number = number_of(column.names[told]) if told >= 0 else None
        if code >= 0 and number is not None and number >= 0:
            counts[code] = int(number)
    return counts


def joined_accuracies(found: Sequence[Accuracies]) -> Accuracies:
    """Several files of accuracies as one.

    Where no model and stratum comes twice, and all files group by the same column or hold different
    models, they are parts of one table: its strata are those of all. Else each file is a benchmark,
    which is then the stratum, with the overall accuracy that the file states or that its strata
    give. A model or a stratum of which a file says nothing is NaN there; a stratum of which files
    count different numbers of items has none (0).
    """
    if len(found) == 1:
        return found[0]
    if not _are_parts(found):
        found = [_as_benchmark(each) for each in found]
    models = tuple(dict.fromkeys(model for each in found for model in each.models))
    strata = tuple(dict.fromkeys(name for each in found for name in each.strata))
    value = np.full((len(models), len(strata)), np.nan)
    overall = np.full(len(models), np.nan)
    counts = np.zeros(len(strata), dtype=np.int64)
    unlike = np.zeros(len(strata), dtype=bool)
    for each in found:
        rows = [models.index(model) for model in each.models]
        columns = [strata.index(name) for name in each.strata]
        block = value[np.ix_(rows, columns)]
        value[np.ix_(rows, columns)] = np.where(np.isnan(each.value), block, each.value)
        overall[rows] = np.where(np.isnan(each.overall), overall[rows], each.overall)
        known = counts[columns]
        unlike[columns] |= (known > 0) & (each.counts != known)
        counts[columns] = np.where(each.counts > 0, each.counts, known)
    names = ", ".join(each.name for each in found)
    return Accuracies(
        names, models, strata, value, overall, np.where(unlike, 0, counts), found[0].by
    )


def _are_parts(found: Sequence[Accuracies]) -> bool:
    """Return True if the files are parts of one table, and not benchmarks of their own."""
    cells = [
        (each.models[m], each.strata[s])
        for each in found
        for m, s in np.argwhere(~np.isnan(each.value)).tolist()
    ]
    models = [model for each in found for model in each.models]
    has_one_grouping = len({each.by for each in found}) == 1 and all(len(x.strata) for x in found)
    if len(set(models)) == len(models):
        return has_one_grouping
    # A wide table's groups are its own; a column of tasks names them for all files.
    is_named = has_one_grouping and found[0].by in _BENCHMARKS
    return is_named and len(set(cells)) == len(cells)


def _as_benchmark(found: Accuracies) -> Accuracies:
    """A file as one stratum, named after the file."""
    name = found.name.rpartition("/")[2].partition(".")[0] or found.name
    known = np.isnan(found.overall)
    overall = np.where(known, _means(found), found.overall)
    return Accuracies(
        found.name,
        found.models,
        (name,),
        overall[:, None],
        np.full(len(found.models), np.nan),
        np.array([found.n_items], dtype=np.int64),
        "benchmark",
    )


def _means(found: Accuracies) -> NDArray[np.float64]:
    """The mean of the strata, weighted by items where all are known."""
    if not len(found.strata):
        return np.full(len(found.models), np.nan)
    weights = found.counts if (found.counts > 0).all() else np.ones(len(found.strata))
    return np.asarray(found.value @ (weights / weights.sum()))
