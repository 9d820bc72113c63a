"""Which column of a table with one row a model is the score, and what the others are.

The score is, in this order: the column that a user names; the overall; the only metric; the one
called score; the metric that combines all the others (F1 of precision and recall, F of CO, NA, IN
and CGA); the one that the column of ranks follows; the one by which the rows are sorted. Else
nothing tells it, and the table is refused with the choices. Other metrics are shown and never
averaged. Columns of unknown names are groups of the score where it lies within their range, or
where a row tells how many items each has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.engines.tables.column_names import (
    Metric,
    Quantity,
    is_named,
    metrics_of,
    plain,
    quantity_of,
)
from proofstone.engines.tables.layout import Layout, Rule
from proofstone.engines.tables.score_texts import (
    is_flag,
    is_scores,
    number_of,
    read_numbers,
)
from proofstone.errors import BadUsage
from proofstone.records import FileColumns

__all__ = ["accuracy_columns", "choose_score", "count_records", "quoted", "score_columns"]

# So many rows in the order of a column are no accident: one in 120 orders of five.
_FEWEST_SORTED = 5
# A score lies between the least and the greatest of its groups, but for a misprint in ten rows.
_WITHIN = 0.9
# For a column called the overall half of the rows are enough.
_MOSTLY = 0.5
_SURELY_COUNTS = frozenset({"n", "n_items", "num_items", "n_questions"})
_PARTS = {
    "f1": (
        frozenset({"precision", "recall"}),
        frozenset({"correct", "not attempted", "incorrect", "correct given attempted"}),
    )
}


def accuracy_columns(table: FileColumns, found: Layout) -> Layout:
    """The layout of a table with one row a model, with the role of each column.

    Raises BadUsage where several columns could be the score and nothing tells which.
    """
    free = found.free(table.columns)
    found = structs.replace(
        found,
        count=found.count or _counts(table, free),
        rank=found.rank or _first(free, "rank"),
        low=found.low or _first(free, "low"),
        high=found.high or _first(free, "high"),
    )
    candidates = score_columns(table, found)
    if found.models:  # groups, as a user says
        metrics = tuple(metrics_of(candidates))
        return structs.replace(found, metrics=metrics)
    n_counted = len(count_records(table, found.model))
    score, rule = found.overall, found.rule
    if not score:
        score, rule = choose_score(table, found, candidates, n_counted)
    found = structs.replace(found, overall=score, rule=rule)
    others = [name for name in candidates if name != score]
    groups = _groups(table, found, others, is_counted=n_counted > 0)
    return structs.replace(
        found,
        models=tuple(groups),
        metrics=tuple(name for name in others if name not in groups),
        stderr=found.stderr or _stderr(free, score),
    )


def score_columns(table: FileColumns, found: Layout) -> list[str]:
    """The columns of numbers that may be scores: not taken, named as no other quantity, and neither
    flags of 0 and 1 nor the numbers from 1 to m in some order."""
    free = structs.replace(found, overall="").free(table.columns)
    # CV and max are statistics beside a standard deviation, and groups like any other alone.
    has_spread = any(quantity_of(name) == "spread" for name in table.columns)
    quantities: set[Quantity | None] = {None} if has_spread else {None, "statistic"}
    return [
        name
        for name in free
        if quantity_of(name) in quantities
        and is_scores(table.columns[name])
        and not is_flag(table.columns[name])
        and not _is_order(table, name)
    ]


def count_records(table: FileColumns, model: str) -> list[int]:
    """The records that are no model but tell the number of items of each column."""
    column = table.columns[model]
    named = {code for code, name in enumerate(column.names) if is_named(name, "count")}
    return [n for n, code in enumerate(column.codes.tolist()) if code in named]


def choose_score(
    table: FileColumns, found: Layout, candidates: Sequence[str], n_counted: int
) -> tuple[str, Rule]:
    """The score among ``candidates``, and the rule that says so; empty where the score is the mean
    of groups whose numbers of items are told. Raises BadUsage where no rule does."""
    overall = [name for name in candidates if is_named(name, "overall")]
    known = metrics_of(candidates)
    bounded = {name: metric for name, metric in known.items() if not metric.is_unbounded}
    unknown = [name for name in candidates if name not in known and name not in overall]
    open_to = overall or list(bounded) or unknown
    for rule, names in _rules(table, found, overall, bounded, unknown):
        if len(names) == 1:
            return names[0], rule
        if rule == "only" and not overall and not bounded and n_counted:
            return "", ""
    if len(open_to) > 1:
        raise _several(table, open_to)
    return "", ""


def _rules(
    table: FileColumns,
    found: Layout,
    overall: Sequence[str],
    bounded: Mapping[str, Metric],
    unknown: Sequence[str],
) -> Iterator[tuple[Rule, Sequence[str]]]:
    """The rules in their order, each with the columns that it would take for the score."""
    yield "overall", overall
    open_to = overall or list(bounded) or unknown
    bare = [name for name, metric in bounded.items() if not metric.qualifier]
    if not overall:
        one_kind = len({metric.kind for metric in bounded.values()}) == 1
        yield "only", bare if one_kind and len(bare) == 1 else open_to
        yield "generic", [name for name in bare if plain(name) == "score"]
        yield "combines", [name for name in bare if _combines(name, bounded)]
    yield "ranks", [name for name in open_to if _is_ranked(table, found, name)]
    yield "sorted", [name for name in open_to if _is_sorted(table, name)]


def _several(table: FileColumns, columns: Sequence[str]) -> BadUsage:
    choices = [f"    --score {quoted(name)}" for name in columns]
    if len(columns) <= 10 and not metrics_of(columns):
        choices.append(f"    --models {quoted(','.join(columns))}   (groups: their mean)")
    shown = ", ".join(columns[:10]) + (", ..." if len(columns) > 10 else "")
    return BadUsage(
        f"{table.name} has {len(columns):,} columns that could be the score: {shown}",
        hint="\n".join(["name the one that models are ranked by:", *choices[:20]]),
    )


def quoted(text: str) -> str:
    """A value as a shell takes it."""
    return f'"{text}"' if " " in text or "(" in text else text


def _combines(name: str, known: Mapping[str, Metric]) -> bool:
    """Whether all other metrics are parts of this one."""
    others = {metric.kind for other, metric in known.items() if other != name}
    return bool(others) and any(others <= parts for parts in _PARTS.get(known[name].kind, ()))


def _values(table: FileColumns, name: str, model: str = "") -> NDArray[np.float64]:
    values = read_numbers(table.columns[name])
    if model:
        kept = np.ones(len(table), dtype=bool)
        kept[count_records(table, model)] = False
        values = values[kept]
    return values


def _is_ranked(table: FileColumns, found: Layout, name: str) -> bool:
    """Whether a column falls as the column of ranks rises."""
    if not found.rank:
        return False
    rank = _values(table, found.rank, found.model)
    values = _values(table, name, found.model)
    known = ~(np.isnan(rank) | np.isnan(values))
    order = np.argsort(rank[known], kind="stable")
    return int(known.sum()) > 1 and bool((np.diff(values[known][order]) <= 0).all())


def _is_sorted(table: FileColumns, name: str) -> bool:
    """Whether enough rows stand in the order of a column, from the highest."""
    values = _values(table, name)
    values = values[~np.isnan(values)]
    return len(np.unique(values)) >= _FEWEST_SORTED and bool((np.diff(values) <= 0).all())


def _groups(
    table: FileColumns, found: Layout, others: Sequence[str], *, is_counted: bool
) -> list[str]:
    """The columns among ``others`` that are groups of the score."""
    known = metrics_of([*others, found.overall])
    own = known.pop(found.overall, None)
    kinds = {metric.kind for metric in known.values()}
    is_overall = bool(found.overall) and is_named(found.overall, "overall")
    kind = own.kind if own else next(iter(kinds), "") if is_overall and len(kinds) == 1 else ""
    groups = [
        name
        for name in others
        if (metric := known.get(name)) is None or (metric.qualifier and metric.kind == kind)
    ]
    if is_counted and (not found.overall or is_overall):
        return groups
    if not groups or (len(groups) == 1 and not is_overall):
        return []
    cells = np.stack([_values(table, name, found.model) for name in groups])
    score = _values(table, found.overall, found.model)
    whole = ~(np.isnan(cells).any(axis=0) | np.isnan(score))
    if not whole.any() or len(groups) == 1:
        return groups
    inside = (cells.min(axis=0) <= score) & (score <= cells.max(axis=0))
    return groups if inside[whole].mean() >= (_MOSTLY if is_overall else _WITHIN) else []


def _first(free: Sequence[str], quantity: Quantity) -> str:
    return next((name for name in free if quantity_of(name) == quantity), "")


def _counts(table: FileColumns, free: Sequence[str]) -> str:
    """The column of the number of items behind each row: whole numbers under a known name, or
    any numbers under the names that mean nothing else, so that a wrong one is told.
    ``size`` is more often a model's than a test's, so it is none."""
    for name in free:
        if plain(name) in _SURELY_COUNTS and _are_numbers(table, name):
            return name
    for name in free:
        if is_named(name, "count") and plain(name) != "size" and _is_whole(table, name):
            return name
    return ""


def _are_numbers(table: FileColumns, name: str) -> bool:
    names = table.columns[name].names
    return bool(names) and all(number_of(text) is not None or _is_float(text) for text in names)


def _is_float(text: str) -> bool:
    """Return True also for a number beyond all bounds (1e400), which is none of items."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_whole(table: FileColumns, name: str) -> bool:
    numbers = [number_of(text) for text in table.columns[name].names]
    return bool(numbers) and all(
        each is not None and (math.isnan(each) or (each > 0 and each.is_integer()))
        for each in numbers
    )


def _stderr(free: Sequence[str], score: str) -> str:
    """The column of the score's standard error: the one that has its name, or the only one."""
    found = [name for name in free if quantity_of(name) == "stderr"]
    own = [name for name in found if plain(score) and plain(name).startswith(plain(score))]
    return own[0] if own else found[0] if len(found) == 1 else ""


def _is_order(table: FileColumns, name: str) -> bool:
    """Whether the cells are the numbers from 1 to m, m at least 4, in some order."""
    if metrics_of([name]) or is_named(name, "overall"):
        return False
    values = read_numbers(table.columns[name])
    values = np.sort(values[~np.isnan(values)])
    return len(values) >= 4 and values.tolist() == list(range(1, len(values) + 1))
