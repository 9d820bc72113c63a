"""Which column means what, by stated rules; whatever a user named stands.

1. A column whose name is a known one of a role has that role (``column_names.NAMES``).
2. A table with a column of models and one of scores is long: one row a score.
3. One with a column of models in which each model stands once, and no items, holds accuracies.
4. One with a column of annotators holds labels alone, and so does any other for which columns of
   labels are named and in which nothing is a score.
5. Any other is wide: one row an item. Its item column is the known one, else the first in which no
   value comes twice. Every other column most of whose cells are scores is a model, but for names
   of other quantities (latency, tokens, confidence). A stratum has few values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import structs

from proofstone.engines.tables.column_names import first_named, is_named
from proofstone.engines.tables.layout import ONES, Kind, Layout
from proofstone.engines.tables.score_texts import MISSING, is_percent, number_of
from proofstone.errors import BadUsage
from proofstone.records import Coded, FileColumns

__all__ = ["guess_layout"]

_NOTHING = Coded(np.empty(0, dtype=np.int32), ())

# So many values may be groups in a table of any length; more than so many are none by their name.
_FEW, _MOST_GROUPS = 20, 300

_ROLES: Mapping[Kind, tuple[str, ...]] = {
    "wide": ("item", "gold", "options"),
    "long": (
        "item", "model", "score", "way", "sample", "outcome", "answer", "gold", "options",
        "simulated", "certainty", "tokens", "parameters", "active", "family",
    ),
    "accuracies": ("model", "overall"),
    "labels": ("item", "model", "sample"),
}  # fmt: skip


def guess_layout(table: FileColumns, named: Layout) -> Layout:
    """The layout of a table, with everything that ``named`` says as it says it.

    Raises BadUsage where a named column is none, or where the rules leave a needed role open; the
    message shows the columns and the options that name them.
    """
    _check_named(table, named)
    _check_labels(named)
    kind = named.kind or _kind(table, named)
    if kind == "accuracies":
        return _accuracies(table, structs.replace(named, kind=kind))
    found = structs.replace(named, kind=kind)
    for role in _ROLES[kind]:
        if not getattr(found, role):
            free = [name for name in table.columns if name not in _taken(found)]
            found = structs.replace(found, **{role: first_named(free, role)})
    if kind == "wide":
        found = _wide(table, found)
    if found.labels and kind == "wide" and not found.models and not named.kind:
        found = structs.replace(found, kind="labels")
    found = _grouped(table, found)
    _check_whole(table, found)
    return _finished(table, found, _score_columns(table, found))


def _kind(table: FileColumns, named: Layout) -> Kind:
    names = list(table.columns)
    if named.annotator:
        return "labels"
    if named.models:
        return "wide"
    model = named.model or first_named(names, "model")
    if not model:
        return "wide"
    item = named.item or first_named(names, "item")
    score = named.score or first_named([name for name in names if name != item], "score")
    if item and score:
        return "long"
    if len(table.columns.get(model, _NOTHING).names) < len(table) and item:
        return "long"  # a model in each of several rows: what is missing is the score
    return "wide" if item and not named.model and not score else "accuracies"


def _wide(table: FileColumns, found: Layout) -> Layout:
    """The item column and the models of a wide table."""
    item = found.item or next(
        (
            name
            for name, column in table.columns.items()
            if name not in _taken(found) and len(column.names) == len(table)
        ),
        "",
    )
    found = structs.replace(found, item=item)
    if item and not found.sample and len(table.columns[item].names) < len(table):
        free = [name for name in table.columns if name not in _taken(found)]
        found = structs.replace(found, sample=first_named(free, "sample"))
    if found.models:
        return found
    free = [name for name in table.columns if name not in _taken(found) and not _is_group(name)]
    models = tuple(name for name in free if _is_scores(table.columns[name]))
    return structs.replace(found, models=models)


def _is_group(name: str) -> bool:
    return any(is_named(name, role) for role in ("strata", "clusters", "sample", "measured"))


def _is_scores(column: Coded) -> bool:
    """Whether half of the filled cells or more are numbers from 0 to 100, or words for right and
    wrong: then the others are problems, each with its line."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
    numbers = [number_of(name) for name in column.names]
    good = sum(
        int(n)
        for n, number in zip(counts, numbers, strict=True)
        if number is not None and not math.isnan(number) and 0 <= number <= 100
    )
    return good > 0 and 2 * good >= int(counts.sum())


def _grouped(table: FileColumns, found: Layout) -> Layout:
    """Strata and clusters by their names, unless a user named either."""
    free = [name for name in table.columns if name not in _taken(found)]
    strata = found.strata or tuple(
        name for name in free if is_named(name, "strata") and _groups(table, name)
    )
    clusters = found.clusters or tuple(
        name for name in free if is_named(name, "clusters") and name not in strata
    )
    return structs.replace(found, strata=strata, clusters=clusters)


def _groups(table: FileColumns, name: str) -> bool:
    """Whether a column tells groups of items apart, and not each item or a measured quantity."""
    n_values = len(table.columns[name].names)
    return n_values <= _FEW or (n_values <= _MOST_GROUPS and 2 * n_values <= len(table))


def _accuracies(table: FileColumns, found: Layout) -> Layout:
    names = list(table.columns)
    model = found.model or first_named(names, "model") or _first_texts(table)
    found = structs.replace(found, model=model)
    for role in ("parameters", "active", "family"):
        free = [name for name in names if name not in _taken(found)]
        named = getattr(found, role) or first_named(free, role)
        found = structs.replace(found, **{role: named})
    free = [name for name in names if name not in _taken(found)]
    score = found.score or first_named(free, "score")
    if model and score and len(table.columns[model].names) < len(table):
        strata = found.strata or tuple(name for name in free if is_named(name, "strata"))[:1]
        count = found.count or first_named(free, "count")
        found = structs.replace(found, score=score, strata=strata, count=count)
    elif not found.models:
        overall = found.overall or first_named(names, "overall")
        found = structs.replace(found, overall=overall)
        free = [name for name in names if name not in _taken(found)]
        if not overall and len(scores := [n for n in free if _is_scores(table.columns[n])]) == 1:
            found = structs.replace(found, overall=scores[0])
            free = []
        models = tuple(name for name in free if _is_scores(table.columns[name]))
        found = structs.replace(found, models=models)
    _check_whole(table, found)
    return _finished(table, found, _score_columns(table, found))


def _first_texts(table: FileColumns) -> str:
    """The first column without a number in it."""
    for name, column in table.columns.items():
        if column.names and all(number_of(text) is None for text in column.names):
            return name
    return ""


def _score_columns(table: FileColumns, found: Layout) -> list[Coded]:
    names = [*found.models, *([found.score] if found.score else [])]
    names += [found.overall] if found.overall else []
    return [table.columns[name] for name in names]


def _finished(table: FileColumns, found: Layout, scores: Sequence[Coded]) -> Layout:
    """With what the scores are, how missing ones are written, and what nothing reads."""
    texts = {text for column in scores for text in column.names}
    percent = is_percent(scores) if found.percent is None else found.percent
    unused = tuple(name for name in table.columns if name not in _taken(found))
    return structs.replace(
        found,
        percent=percent,
        missing=tuple(sorted(text for text in texts if text.strip().lower() in MISSING)),
        unused=(*unused, *table.unread),
    )


def _taken(found: Layout) -> set[str]:
    ones = {getattr(found, role) for role in ONES}
    return {*ones, *found.models, *found.strata, *found.clusters, *found.labels}


def _check_named(table: FileColumns, named: Layout) -> None:
    wrong = sorted(_taken(named) - {""} - set(table.columns))
    if wrong:
        raise BadUsage(
            f"{table.name} has no column {', '.join(map(repr, wrong))}",
            hint=f"its columns: {', '.join(table.columns)}",
        )


def _check_labels(named: Layout) -> None:
    if named.annotator and len(named.labels) > 1:
        raise BadUsage(
            f"column {named.annotator!r} names annotators, so labels stand in one column and not "
            f"in {len(named.labels)}",
            hint="name the one: --annotator COLUMN --labels COLUMN",
        )
    if len(named.labels) == 1 and not named.annotator:
        raise BadUsage(
            f"column {named.labels[0]!r} alone has no second annotator's labels beside it",
            hint="name all annotators' columns: --labels COLUMN,COLUMN; or say who gave each "
            "label: --annotator COLUMN",
        )


def _check_whole(table: FileColumns, found: Layout) -> None:
    lacking = list(_lacking(found))
    if not lacking:
        return
    lines = [f"    {name}: {_examples(column)}" for name, column in table.columns.items()]
    options = ", ".join(f"{option} COLUMN" for _, option in lacking)
    raise BadUsage(
        f"{table.name}: no column is known as {' or '.join(what for what, _ in lacking)}",
        hint="\n".join(
            [f"name what is missing: {options}; its columns, with some values:", *lines[:30]]
        ),
    )


def _lacking(found: Layout) -> Iterator[tuple[str, str]]:
    if found.kind != "accuracies" and not found.item:
        yield "the item", "--item"
    if found.kind not in ("wide", "labels") and not found.model:
        yield "the model", "--model"
    if found.kind == "long" and not found.score:
        yield "the score", "--score"
    if found.kind == "labels" and not found.labels:
        yield "the label", "--labels"
    if found.kind == "wide" and not found.models:
        yield "a model's scores", "--models"
    if found.kind == "accuracies" and not (found.models or found.score or found.overall):
        yield "an accuracy", "--score"


def _examples(column: Coded) -> str:
    shown = ", ".join(" ".join(name.split())[:24] for name in column.names[:3])
    return shown + (", ..." if len(column.names) > 3 else "") or "(empty)"
