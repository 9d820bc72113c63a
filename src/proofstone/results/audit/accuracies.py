"""Read a table of accuracies (models by strata) as ``Accuracies``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records.runs import Estimate
from proofstone.records.scores import Accuracies, Coded, FileColumns, PrintedColumn
from proofstone.results.audit.cells import (
    UNCERTAINTY,
    is_percent,
    number_of,
    place,
    problem_at,
    read_scores,
    refused,
)
from proofstone.results.audit.column_names import (
    Layout,
    Metric,
    is_named,
    metrics_of,
    plain,
    quantity_of,
)
from proofstone.results.audit.columns import count_records, quoted
from proofstone.results.audit.consistency import (
    CheckedRoles,
    Consistency,
    Printed,
    PrintedTable,
    check_table,
    printed_column,
)
from proofstone.results.board import BoardRow, Breakdown, BreakdownGroup, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.stats.ranks import rank_shares, share_estimate, stated_estimate, tied_runs
from proofstone.wording.messages import joined, listed, say

# Leaderboard of accuracies without items.


def accuracy_board(found: Accuracies, *, confidence: float = 0.95) -> Leaderboard:
    """Return the models of a table of accuracies, best first.

    Intervals, ranks and ties need the numbers of items. A model without an overall accuracy is
    omitted.
    """
    overall = overall_accuracies(found)
    known = np.flatnonzero(~np.isnan(overall))
    order = sorted(known.tolist(), key=lambda place: (-overall[place], found.models[place]))
    sizes = _sizes(found)
    n = found.n_items if found.is_mean else 0
    errors = None if found.stderr is None else found.stderr[order]
    is_ranked = errors is not None or bool((sizes[order] > 0).all())
    ranking = rank_shares(overall[order], sizes[order], confidence=confidence, stderr=errors)
    ties = tied_runs(ranking.better) if is_ranked else ()
    is_sure = sizes[order] > 0 if errors is None else ~np.isnan(errors)
    tested = tuple(
        pair for pair in ranking.comparisons if is_sure[pair.first] and is_sure[pair.second]
    )
    rows = []
    for place_of, model in enumerate(order):
        value, own = float(overall[model]), int(sizes[model])
        error = None if found.stderr is None else float(found.stderr[model])
        estimate = _estimate(value, error, own, confidence)
        rows.append(
            BoardRow(
                name=found.models[model],
                prompt_method="",
                settings="",
                simulated=False,
                runs=(),
                estimate=estimate,
                bank=estimate,
                knowledge=estimate,
                rank=ranking.intervals[place_of] if is_ranked else None,
                ties=tuple(i for i, (low, high) in enumerate(ties) if low <= place_of <= high),
                card=found.cards.get(found.models[model]),
                judge=found.judge,
            )
        )
    group = Standings(
        simulated=False,
        n_items=n,
        is_common=True,
        is_paired=False,
        ranked=tuple(rows),
        incomplete=(),
        compared=tested if is_ranked else (),
        ties=ties,
        chance=float("nan"),
        chance_sentence="",
        breakdowns=tuple(_breakdown(found, order, confidence)),
    )
    return Leaderboard(
        measure=found.score,
        denominator="all items" if is_ranked else "a number of items that is not known",
        counts=(),
        population=rows[0].estimate.population if rows else "",
        level="sample",
        confidence=confidence,
        n_items=n,
        forms=(found.name,),
        standings=(group,) if rows else (),
    )


def overall_accuracies(found: Accuracies) -> NDArray[np.float64]:
    """Return overall accuracies as stated, otherwise the means of strata (weighted by items if
    known)."""
    if not len(found.strata):
        return found.overall
    if (found.counts > 0).all():
        means = found.value @ (found.counts / found.counts.sum())
    else:
        means = found.value.mean(axis=1)
    return np.where(np.isnan(found.overall), means, found.overall)


def _sizes(found: Accuracies) -> NDArray[np.int64]:
    """Return the number of items behind each model's score; 0 if unknown.

    Also 0 for a score that is not a mean over items, because n does not determine its variance.
    """
    if not found.is_mean:
        return np.zeros(len(found.models), dtype=np.int64)
    if found.n_of is not None:
        return found.n_of
    return np.full(len(found.models), found.n_items, dtype=np.int64)


def _estimate(value: float, error: float | None, n: int, confidence: float) -> Estimate:
    """Return the estimate from the stated standard error, otherwise from the number of items."""
    if error is not None:
        return stated_estimate(value, error, n, confidence)
    return share_estimate(value, n, confidence)


def _breakdown(found: Accuracies, order: Sequence[int], confidence: float) -> Iterator[Breakdown]:
    if not len(found.strata):
        return
    counts = found.counts.tolist() if found.is_mean else [0] * len(found.strata)
    groups = [
        BreakdownGroup(
            name=name,
            n=n,
            estimates=tuple(_on_stratum(found, m, place, n, confidence) for m in order),
        )
        for place, (name, n) in enumerate(zip(found.strata, counts, strict=True))
    ]
    yield Breakdown(by=found.by, groups=tuple(groups))


def _on_stratum(found: Accuracies, model: int, stratum: int, n: int, confidence: float) -> Estimate:
    error = None if found.errors is None else float(found.errors[model, stratum])
    known = None if error is None or math.isnan(error) else error
    return _estimate(float(found.value[model, stratum]), known, n, confidence)


def accuracy_notes(found: Accuracies) -> Iterator[str]:
    """Yield the limitations of accuracies without items."""
    n = found.n_items
    yield say(
        "The file has accuracies but no scores by item. Paired "
        "comparisons, ranking stability and item statistics are not "
        "computed."
    )
    if found.stderr is not None:
        yield say("Intervals and ranks come from the standard errors as stated in the file.")
        unsure = np.isnan(found.stderr) & ~np.isnan(overall_accuracies(found))
        if unsure.any():
            yield say(
                "{models}: no interval, because the standard error is missing or "
                "0. A standard error of 0 says nothing about sampling error. Pairs "
                "with these models are not tested.",
                models=joined([found.models[m] for m in np.flatnonzero(unsure)], 5),
            )
    elif not found.is_mean:
        yield say(
            "{score} is treated as a corpus metric. The number of items does "
            "not give its sampling error, so there is no interval and no rank. "
            "Add standard errors in a column called stderr.",
            score=found.score,
        )
    elif n or (found.n_of is not None and (found.n_of > 0).all()):
        yield say(
            "Intervals assume one response per item and independent items. "
            "With several samples per item they are too wide, and with items "
            "that share a source too narrow."
        )
    elif found.n_of is not None and (found.n_of > 0).any():
        yield say(
            "The number of items is not known for {models}. They have no "
            "interval, and their ranks are not tested.",
            models=joined([found.models[m] for m in np.flatnonzero(found.n_of <= 0)], 5),
        )
    elif _has_zero_errors(found):
        yield say(
            "All standard errors in the file are 0, which says nothing about "
            "sampling error, and the numbers of items are not known. There are "
            "no intervals, and ranks are not tested. Give the numbers of items "
            "in a row called n, or with --items."
        )
    else:
        yield say(
            "The numbers of items are not known. There are no intervals, and "
            "ranks are not tested. Give the numbers in a row called n, or with "
            "--items."
        )
    unnamed = [each.name for each in found.metrics if each.name.endswith(f" {UNCERTAINTY}")]
    if unnamed:
        yield say(
            "Cells hold a score and a second number, shown as {columns}. Whether it is a standard "
            "error, a standard deviation or half an interval is not stated, so no interval comes "
            "from it. If it is a standard error of the score: --stderr-col {option}.",
            columns=listed(unnamed[:4]),
            option=quoted(unnamed[0]),
        )
    if np.isnan(found.overall).all() and len(found.strata):
        yield say(
            "No overall accuracy is given: it is the mean of the groups, weighted by their items."
            if n
            else "No overall accuracy is given: it is the mean of the groups, each counted the "
            "same."
        )


def _has_zero_errors(found: Accuracies) -> bool:
    """Return True if the file states standard errors, and all are 0."""
    cells = [
        number_of(cell)
        for column in found.metrics
        if quantity_of(column.name) == "stderr"
        for cell in column.cells
        if cell
    ]
    return bool(cells) and not any(cells)


# A standard error below this share cannot be that of scores in percent, if those are percentages.
_LEAST_ERROR = 0.0005


_BENCHMARKS = frozenset({"benchmark", "dataset", "task", "test", "suite"})


# Columns that share a scale: all are shares of the same answers.
_ATTEMPTS = frozenset({"correct", "not attempted", "incorrect", "correct given attempted"})


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Stated numbers of items, by column (0 if not stated) and in total."""

    of: Mapping[str, int]
    total: int


def read_accuracies(
    table: FileColumns,
    layout: Layout,
    counts: Mapping[str, int] | None = None,
    *,
    runs: int = 1,
) -> Accuracies:
    """Read accuracies with one row per model and one column per stratum, or one row per model and
    stratum.

    ``counts`` are the items of each stratum, or of all under the empty name. Without it they are
    read from a row whose model is called n, items or similar, or from the column ``layout.count``.
    ``runs`` is the number of runs averaged in each value. It is used by consistency checks only and
    does not increase n.

    Raises BadInput with all cells that are not an accuracy and all repeated models; BadUsage for
    counts of unknown strata.
    """
    given = dict(counts or {})
    read = _long(table, layout, given, runs) if layout.score else _wide(table, layout, given, runs)
    _check_strata(read, given.keys() - {"", *_columns_of(layout)})
    judges = table.columns[layout.grader].names if layout.grader else ()
    return replace(read, judge=judges[0] if len(judges) == 1 else "")


def _check_strata(found: Accuracies, named: Set[str]) -> None:
    unknown = sorted(named - set(found.strata))
    if unknown:
        raise BadUsage(
            f"{found.name} has no stratum {', '.join(unknown)}",
            hint=f"its strata: {', '.join(found.strata)}",
        )


def _columns_of(layout: Layout) -> list[str]:
    return [name for name in (layout.overall, *layout.models, *layout.metrics) if name]


def _wide(table: FileColumns, layout: Layout, given: Mapping[str, int], runs: int) -> Accuracies:
    problems = [] if layout.prompt_method else _repeats(table, layout.model)
    counting = count_records(table, layout.model)
    names = _texts(table, layout.model)
    if layout.prompt_method:  # distinguishes rows of one model
        names = [
            f"{name} ({how})" if name and how else name
            for name, how in zip(names, _texts(table, layout.prompt_method), strict=True)
        ]
    rows = [record for record, name in enumerate(names) if name and record not in counting]
    scores = [*layout.models, *([layout.overall] if layout.overall else [])]
    columns = [_cells(table, name, rows, layout, problems) for name in scores]
    sizes = _accuracy_tables_sizes(table, layout, counting, given, problems)
    n_of = None
    if layout.count:
        counted = [_count(table, layout.count, record, problems) for record in rows]
        n_of = np.array(counted, dtype=np.int64)
    stderr = _errors(table, layout, rows, problems)
    if problems:
        raise refused(table, problems)
    if not rows:
        raise BadInput(f"{table.name} names no model", hint=f"as read: {layout.told()}")
    overall = columns.pop() if layout.overall else np.full(len(rows), np.nan)
    value = np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))
    shown = tuple(names[record] for record in rows)
    metric = _metrics(layout).get(layout.overall)
    strata_sizes = [sizes.of.get(name, 0) for name in layout.models]
    found = _checked(table, layout, rows, shown, sizes, n_of, runs)
    return Accuracies(
        name=table.name,
        models=shown,
        strata=layout.models,
        value=value,
        overall=overall,
        counts=np.array(strata_sizes, dtype=np.int64),
        score=layout.overall if metric is not None else "accuracy",
        is_mean=metric is None or metric.is_mean,
        total=sizes.total,
        n_of=n_of,
        stderr=stderr,
        metrics=tuple(
            PrintedColumn(name=name, cells=tuple(texts[record] for record in rows))
            for name in _beside(table, layout)
            for texts in [_texts(table, name)]
        ),
        checks=found.checks,
        misprints=found.misprints,
    )


def _texts(table: FileColumns, name: str) -> list[str]:
    column = table.columns[name]
    return [column.names[code] if code >= 0 else "" for code in column.codes.tolist()]


def _cells(
    table: FileColumns, name: str, rows: list[int], layout: Layout, problems: list[Problem]
) -> NDArray[np.float64]:
    column = table.columns[name]
    kept = Coded(column.codes[rows], column.names)
    reading = read_scores(kept, percent=bool(layout.percent))
    for record, code in zip(rows, kept.codes.tolist(), strict=True):
        if code in reading.wrong:
            problems.append(problem_at(table, record, reading.wrong[code], name))
    return reading.values


def _accuracy_tables_sizes(
    table: FileColumns,
    layout: Layout,
    counting: Sequence[int],
    given: Mapping[str, int],
    problems: list[Problem],
) -> _Sizes:
    """Return the items of each column: as given, otherwise from the row that states them."""
    every = given.get("", 0)
    stated = {name: _count(table, name, record, problems) for record in counting[:1]
              for name in _columns_of(layout)}  # fmt: skip
    if given.keys() - {""}:
        stated = {}
    of = {
        name: given.get(name, stated.get(name, 0) or (0 if stated else every))
        for name in _columns_of(layout)
    }
    strata = [of[name] for name in layout.models]
    total = given.get(layout.overall, stated.get(layout.overall, 0) or every)
    return _Sizes(of, total or (sum(strata) if all(strata) else 0))


def _count(table: FileColumns, name: str, record: int, problems: list[Problem]) -> int:
    column = table.columns[name]
    code = int(column.codes[record])
    number = number_of(column.names[code]) if code >= 0 else 0.0
    if code < 0 or (number is not None and math.isnan(number)):
        return 0
    if number is None or not (number >= 1 and number.is_integer()):
        what = f"expected a number of items of at least 1, came {column.names[code]}"
        problems.append(problem_at(table, record, what, name))
        return 0
    return int(number)


def _errors(
    table: FileColumns, layout: Layout, rows: Sequence[int], problems: list[Problem]
) -> NDArray[np.float64] | None:
    """Return the standard errors of the overall score as shares.

    None if none is stated or if their scale differs from that of the scores. A standard error of 0
    becomes NaN: the formula gives 0 if all items have the same score, which says nothing about
    precision.
    """
    if not layout.stderr:
        return None
    top = 100.0 if layout.percent else 1.0
    cells = printed_column(table.columns[layout.stderr], rows)
    found = np.array([np.nan if cell is None else cell.value / top for cell in cells])
    for record, cell in zip(rows, cells, strict=True):
        if cell is not None and cell.value < 0:
            what = f"expected a standard error, came {cell.text}"
            problems.append(problem_at(table, record, what, layout.stderr))
    found[found <= 0] = np.nan
    known = found[~np.isnan(found)]
    if not len(known) or known.max() > 0.5 or np.median(known) < _LEAST_ERROR:
        return None
    return found


def _beside(table: FileColumns, layout: Layout) -> list[str]:
    """Return the columns shown as printed: metrics, spreads and differences."""
    quantities = {"spread", "difference", "stderr", "low", "high"}
    return [
        name
        for name in table.columns
        if name != layout.stderr or quantity_of(name) == "stderr"
        if name in layout.metrics or quantity_of(name) in quantities
    ]


def _repeats(table: FileColumns, column: str) -> list[Problem]:
    coded = table.columns[column]
    first: dict[int, int] = {}
    problems = []
    for record, code in enumerate(coded.codes.tolist()):
        if code >= 0 and code in first:
            at = place(table, first[code])
            what = f"model {coded.names[code]} came before, at {at}"
            problems.append(problem_at(table, record, what, column))
        first.setdefault(code, record)
    return problems


# Consistency.


def _checked(
    table: FileColumns,
    layout: Layout,
    rows: Sequence[int],
    names: Sequence[str],
    sizes: _Sizes,
    n_of: NDArray[np.int64] | None,
    runs: int,
) -> Consistency:
    scores = [name for name in (layout.overall, *layout.models) if name]
    others = [name for name in table.columns if name in layout.metrics or quantity_of(name)]
    columns = {
        name: printed_column(table.columns[name], rows)
        for name in dict.fromkeys([*scores, *others])
    }
    stated = {**sizes.of, layout.overall: sizes.total}
    n = {name: [stated.get(name, 0) * runs] * len(rows) for name in columns}
    if n_of is not None:
        n |= {name: (n_of * runs).tolist() for name in (layout.overall, *layout.metrics) if name}
    roles = CheckedRoles(
        overall=layout.overall,
        strata=layout.models,
        counts=[sizes.of.get(name, 0) for name in layout.models],
        total=sizes.total,
        shares=[
            name
            for name in (*scores, *layout.metrics)
            if name not in _metrics(layout) or _metrics(layout)[name].is_share
        ],
        kinds=_kinds(table, layout),
        differences=[name for name in others if quantity_of(name) == "difference"],
        rank=layout.rank,
        low=layout.low,
        high=layout.high,
        stderr=layout.stderr,
        runs=runs,
    )
    return check_table(PrintedTable(names, columns, _tops(table, layout, list(columns)), n), roles)


def _metrics(layout: Layout) -> dict[str, Metric]:
    return metrics_of(_columns_of(layout))


def _kinds(table: FileColumns, layout: Layout) -> dict[str, str]:
    """Map each plainly named metric and each statistic to its column."""
    found: dict[str, str] = {}
    for name, metric in _metrics(layout).items():
        if not metric.qualifier:
            found.setdefault(metric.kind, name)
    for name in table.columns:
        known = plain(name)
        if known in {"cv", "min", "max"}:
            found.setdefault(known, name)
        elif quantity_of(name) == "spread":
            found.setdefault("sd", name)
        elif known == "range" or quantity_of(name) == "difference":
            found.setdefault("range", name)
    if layout.overall and "mean" in plain(layout.overall).split("_"):
        found["mean"] = layout.overall
    return found


def _tops(table: FileColumns, layout: Layout, columns: Sequence[str]) -> dict[str, float]:
    """Return 100 for columns of percentages, 1 for shares.

    Scores and groups are judged jointly, so are the shares of correct, incorrect and not attempted;
    any other column is judged separately.
    """
    scores = {layout.overall, *layout.models, layout.stderr, layout.low, layout.high}
    attempts = [name for name, each in _metrics(layout).items() if each.kind in _ATTEMPTS]
    pooled = is_percent([table.columns[name] for name in attempts])
    tops = {}
    for name in columns:
        percent = is_percent([table.columns[name]])
        if name in attempts:
            percent = pooled
        elif name in scores:
            percent = bool(layout.percent)
        tops[name] = 100.0 if percent else 1.0
    return tops


# One row per model and stratum.


def _long(table: FileColumns, layout: Layout, given: Mapping[str, int], runs: int) -> Accuracies:
    """Read one row per model and stratum. A stratum named all, overall or similar is the
    overall."""
    model, score = table.columns[layout.model], table.columns[layout.score]
    by = layout.strata[0] if layout.strata else ""
    stratum = table.columns[by] if by else Coded(np.zeros(len(table), dtype=np.int32), ("all",))
    problems: list[Problem] = []
    values = _cells(table, layout.score, list(range(len(table))), layout, problems)
    cells = np.full((len(model.names), len(stratum.names)), np.nan)
    first: dict[tuple[int, int], int] = {}
    for record in np.flatnonzero((model.codes >= 0) & (stratum.codes >= 0)).tolist():
        cell = int(model.codes[record]), int(stratum.codes[record])
        if cell in first:
            what = f"the same model and {by or 'table'} came before, at {place(table, first[cell])}"
            problems.append(problem_at(table, record, what))
        first[cell] = record
        cells[cell] = values[record]
    if problems:
        raise refused(table, problems)
    names = stratum.names
    kept = [code for code, name in enumerate(names) if not is_named(name, "overall")]
    whole = next((name for name in names if is_named(name, "overall")), "")
    strata = tuple(names[code] for code in kept)
    counts = _counts_of(table, layout, stratum).tolist()
    of = {name: given.get(name, 0 if given else n) for name, n in zip(names, counts, strict=True)}
    strata_counts = [of[name] for name in strata]
    total = given.get("", of.get(whole, 0)) or (sum(strata_counts) if all(strata_counts) else 0)
    metric = metrics_of([layout.score]).get(layout.score)
    texts = printed_column(score, range(len(table)))
    grid: dict[str, list[Printed | None]] = {}
    for code, name in enumerate(names):
        at = [first.get((m, code)) for m in range(len(model.names))]
        grid[name] = [None if record is None else texts[record] for record in at]
    sizes = of | ({whole: total} if whole else {})
    n = {name: [size * runs] * len(model.names) for name, size in sizes.items()}
    found = check_table(
        PrintedTable(model.names, grid, dict.fromkeys(grid, 100.0 if layout.percent else 1.0), n),
        CheckedRoles(
            overall=whole,
            strata=strata,
            counts=strata_counts,
            total=total,
            shares=list(grid) if metric is None or metric.is_share else [],
            runs=runs,
        ),
    )
    return Accuracies(
        name=table.name,
        models=model.names,
        strata=strata,
        value=cells[:, kept],
        overall=cells[:, names.index(whole)] if whole else np.full(len(cells), np.nan),
        counts=np.array(strata_counts, dtype=np.int64),
        by=plain(by) or "stratum",
        is_mean=metric is None or metric.is_mean,
        total=total,
        checks=found.checks,
        misprints=found.misprints,
    )


def _counts_of(table: FileColumns, layout: Layout, stratum: Coded) -> NDArray[np.int64]:
    """Return the items of each stratum, from the first record that states them."""
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


# Several files.


def with_counts(found: Accuracies, counts: Mapping[str, int]) -> Accuracies:
    """Return the table with these numbers of items by stratum; BadUsage for unknown strata."""
    _check_strata(found, counts.keys())
    given = np.array([counts.get(name, 0) for name in found.strata], dtype=np.int64)
    return replace(found, counts=given)


def joined_accuracies(found: Sequence[Accuracies]) -> Accuracies:
    """Combine several files of accuracies.

    Files are parts of one table if no model and stratum is repeated, and if all group by the same
    column or hold different models. The strata are then those of all files. Otherwise each file is
    a benchmark and becomes a stratum, with the overall accuracy that the file states or that its
    strata give. A model or stratum missing from a file is NaN there. A stratum with different
    numbers of items in different files gets 0. Raises BadUsage if different judges graded the
    models of one table.
    """
    if len(found) == 1:
        return found[0]
    if not _are_parts(found):
        found = [_as_benchmark(each) for each in found]
    judges = {each.name: each.judge for each in found if each.judge}
    if len(set(judges.values())) > 1 and found[0].by != "benchmark":
        listed = "; ".join(f"{name}: {judge}" for name, judge in judges.items())
        raise BadUsage(
            f"different judges graded these files, and their scores do not compare ({listed})",
            hint="audit the files of one judge at a time",
        )
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
    is_stated = any(each.errors is not None for each in found)
    return Accuracies(
        name=names,
        models=models,
        strata=strata,
        value=value,
        overall=overall,
        counts=np.where(unlike, 0, counts),
        by=found[0].by,
        score=found[0].score if len({each.score for each in found}) == 1 else "accuracy",
        is_mean=all(each.is_mean for each in found),
        n_of=None if strata else _joined(models, found, _sizes).astype(np.int64),
        stderr=_joined_errors(models, found, counts),
        errors=_stratum_errors(models, found) if is_stated else None,
        metrics=_joined_metrics(models, found),
        judge=found[0].judge if len({each.judge for each in found}) == 1 else "",
        checks=tuple(check for each in found for check in each.checks),
        misprints=tuple(misprint for each in found for misprint in each.misprints),
    )


def _joined(
    models: Sequence[str],
    found: Sequence[Accuracies],
    values_of: Callable[[Accuracies], NDArray[np.int64] | NDArray[np.float64]],
    missing: float = 0.0,
) -> NDArray[np.float64]:
    """Return one value per model, in the order of all models."""
    joined = np.full(len(models), missing)
    for each in found:
        joined[[models.index(name) for name in each.models]] = values_of(each)
    return joined


def _joined_errors(
    models: Sequence[str], found: Sequence[Accuracies], counts: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the standard error of each model's score; None if no file states any.

    It is stated in the file, or that of the mean of benchmarks with independent items.
    """
    if found[0].by != "benchmark":
        if all(each.stderr is None for each in found):
            return None
        return _joined(models, found, _stated_errors, np.nan)
    if all(each.errors is None for each in found):
        return None
    variance = _stratum_errors(models, found) ** 2
    weights = counts if (counts > 0).all() else np.ones(len(counts))
    return np.asarray(np.sqrt(variance @ (weights / weights.sum()) ** 2))


def _stated_errors(found: Accuracies) -> NDArray[np.float64]:
    return np.full(len(found.models), np.nan) if found.stderr is None else found.stderr


def _stratum_errors(models: Sequence[str], found: Sequence[Accuracies]) -> NDArray[np.float64]:
    """Return the standard error of each model on each benchmark: stated, otherwise from its
    items."""
    return np.stack([_joined(models, [each], _own_errors, np.nan) for each in found], axis=1)


def _own_errors(found: Accuracies) -> NDArray[np.float64]:
    share, n = found.value[:, 0], int(found.counts[0])
    by_items = np.sqrt(share * (1 - share) / n) if n else np.full(len(share), np.nan)
    stated = by_items if found.errors is None else found.errors[:, 0]
    return np.where(np.isnan(stated), by_items, stated)


def _joined_metrics(
    models: Sequence[str], found: Sequence[Accuracies]
) -> tuple[PrintedColumn, ...]:
    cells: dict[str, list[str]] = {}
    for each in found:
        for column in each.metrics:
            row = cells.setdefault(column.name, [""] * len(models))
            for model, cell in zip(each.models, column.cells, strict=True):
                row[models.index(model)] = cell
    return tuple(PrintedColumn(name=name, cells=tuple(row)) for name, row in cells.items())


def _are_parts(found: Sequence[Accuracies]) -> bool:
    """Return True if the files are parts of one table rather than separate benchmarks."""
    cells = [
        (each.models[m], each.strata[s])
        for each in found
        for m, s in np.argwhere(~np.isnan(each.value)).tolist()
    ]
    models = [model for each in found for model in each.models]
    has_one_grouping = len({each.by for each in found}) == 1 and all(len(x.strata) for x in found)
    if len(set(models)) == len(models):
        is_one_score = not any(len(each.strata) for each in found) and len(
            {each.score for each in found}
        ) == 1  # fmt: skip
        return has_one_grouping or is_one_score
    # Groups of a wide table belong to that table; a column of tasks applies to all files.
    is_named = has_one_grouping and found[0].by in _BENCHMARKS
    return is_named and len(set(cells)) == len(cells)


def _as_benchmark(found: Accuracies) -> Accuracies:
    """Return a file as one stratum with the file's name."""
    name = found.name.rpartition("/")[2].partition(".")[0] or found.name
    overall = overall_accuracies(found)
    return Accuracies(
        name=found.name,
        models=found.models,
        strata=(name,),
        value=overall[:, None],
        overall=np.full(len(found.models), np.nan),
        counts=np.array([found.n_items if found.is_mean else 0], dtype=np.int64),
        by="benchmark",
        score=found.score,
        is_mean=found.is_mean,
        errors=None if found.stderr is None else found.stderr[:, None],
        metrics=tuple(structs.replace(each, name=f"{name}: {each.name}") for each in found.metrics),
        judge=found.judge,
        checks=found.checks,
        misprints=found.misprints,
    )
