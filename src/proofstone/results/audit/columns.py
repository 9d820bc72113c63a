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

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.scores import Coded, FileColumns
from proofstone.results.audit.accuracies import (
    accuracy_columns,
    choose_score,
    quoted,
    score_columns,
)
from proofstone.results.audit.column_names import (
    Kind,
    Layout,
    first_named,
    is_named,
    metrics_of,
    plain,
    quantity_of,
)
from proofstone.results.audit.score_texts import (
    MISSING,
    is_flag,
    is_grades,
    is_letters,
    is_percent,
    is_scores,
    number_of,
    read_numbers,
)
from proofstone.wording.messages import listed

_NOTHING = Coded(np.empty(0, dtype=np.int32), ())


# So many values may be groups in a table of any length; more than so many are none by their name.
_FEW, _MOST_GROUPS = 20, 300


# Names of items that number the rows of a leaderboard as well.
_NUMBERING = frozenset({"id", "idx", "index", "no", "nr"})


# Names of an answer key in a table of letters, beside those of the role.
_KEYS = frozenset({"answer", "answers", "correct", "right", "right_answer", "solution", "truth"})


# How a question was asked, under the name of what items share: exported responses say it.
_CONTEXTS = frozenset({"none", "evidence", "retrieved"})


_FACTS = ("parameters", "active", "family")


_ROLES: Mapping[Kind, tuple[str, ...]] = {
    "wide": ("item", "gold", "options"),
    "long": (
        "item", "model", "score", "way", "sample", "outcome", "answer", "gold", "options",
        "simulated", "certainty", "tokens", "parameters", "active", "family",
    ),
    "accuracies": ("model", "overall"),
    "labels": ("item", "model", "sample"),
    "models": (),
}  # fmt: skip


def guess_layout(table: FileColumns, named: Layout) -> Layout:
    """The layout of a table, with everything that ``named`` says as it says it.

    Raises BadUsage where a named column is none, or where the rules leave a needed role open; the
    message shows the columns and the options that name them.
    """
    _check_named(table, named)
    _check_labels(named)
    kind = named.kind or ("models" if _describes_models(table, named) else _kind(table, named))
    if kind == "models":
        return _models(table, structs.replace(named, kind=kind))
    if kind == "accuracies":
        return _accuracies(table, structs.replace(named, kind=kind))
    found = structs.replace(named, kind=kind)
    for role in _ROLES[kind]:
        if not getattr(found, role):
            free = found.free(table.columns)
            found = structs.replace(found, **{role: first_named(free, role)})
    if kind == "wide":
        found = _wide(table, found)
    elif kind == "long":
        found = _with_grader(table, _long_letters(table, found))
    if found.labels and kind == "wide" and not found.models and not named.kind:
        found = structs.replace(found, kind="labels")
    found = _grouped(table, found)
    _check_whole(table, found)
    return _finished(table, found, _score_columns(table, found))


def _kind(table: FileColumns, named: Layout) -> Kind:
    names = list(table.columns)
    if named.annotator:
        return "labels"
    model = named.model or first_named(names, "model")
    item = named.item or first_named(names, "item")
    if named.models:
        return "accuracies" if model and not item and _is_once(table, model) else "wide"
    if not model:
        return "wide" if item or not _is_leaderboard(table) else "accuracies"
    score = named.score or first_named([name for name in names if name != item], "score")
    if item and score:
        is_numbering = not named.item and plain(item) in _NUMBERING
        is_numbering = is_numbering and _is_once(table, model) and _is_once(table, item)
        return "accuracies" if is_numbering and len(table) > 1 else "long"
    if len(table.columns.get(model, _NOTHING).names) < len(table) and item:
        return "long"  # a model in each of several rows: what is missing is the score
    return "wide" if item and not named.model and not score else "accuracies"


def _describes_models(table: FileColumns, named: Layout) -> bool:
    """Whether a table says what models are and holds no score: one row a model, its parameters or
    its family."""
    model = named.model or first_named(table.columns, "model")
    names = [name for name in table.columns if name != model]
    described = [name for role in _FACTS if (name := first_named(names, role))]
    if not model or not described or not _is_once(table, model):
        return False
    is_named = bool(named.score or named.overall or named.models or named.labels)
    others = [name for name in names if name not in described and quantity_of(name) is None]
    return not is_named and not any(is_scores(table.columns[name]) for name in others)


def _models(table: FileColumns, found: Layout) -> Layout:
    """The layout of a table that says what models are."""
    for role in ("model", *_FACTS):
        named = getattr(found, role) or first_named(found.free(table.columns), role)
        found = structs.replace(found, **{role: named})
    return structs.replace(found, unused=(*found.free(table.columns), *table.unread))


def _is_once(table: FileColumns, name: str) -> bool:
    """Whether no value of a column comes twice."""
    column = table.columns.get(name, _NOTHING)
    return len(column.names) == int((column.codes >= 0).sum())


def _is_leaderboard(table: FileColumns) -> bool:
    """Whether a table without known names of items and models has one row a model: a first column
    of texts that come once and name no group, and all its scores under names of metrics, one of
    them neither 0 nor 1."""
    first = _first_texts(table)
    if not first or not _is_once(table, first) or is_named(first, "strata"):
        return False
    scores = [name for name in table.columns if name != first and is_scores(table.columns[name])]
    metrics = metrics_of(scores)
    named = [name for name in scores if name in metrics or is_named(name, "overall")]
    others = [name for name in scores if name not in named and quantity_of(name) is None]
    return bool(named) and not others and any(_is_between(table.columns[name]) for name in named)


def _is_between(column: Coded) -> bool:
    return any(number_of(name) not in (None, 0.0, 1.0, 100.0) for name in column.names)


def _wide(table: FileColumns, found: Layout) -> Layout:
    """The item column and the models of a wide table."""
    item = found.item or next(
        (
            name
            for name in found.free(table.columns)
            if len(table.columns[name].names) == len(table)
        ),
        "",
    )
    found = structs.replace(found, item=item)
    if item and not found.sample and len(table.columns[item].names) < len(table):
        free = found.free(table.columns)
        found = structs.replace(found, sample=first_named(free, "sample"))
    if found.models:
        is_key = found.gold and all(is_letters(table.columns[name]) for name in found.models)
        return structs.replace(found, graded="gold" if is_key else "")
    free = [name for name in found.free(table.columns) if not _is_group(name)]
    scores = [name for name in free if is_scores(table.columns[name])]
    lettered = _lettered(table, found)
    if len(lettered.models) > len(scores):
        return lettered
    return structs.replace(found, models=_one_scale(table, _no_metrics(table, found, scores)))


def _lettered(table: FileColumns, found: Layout) -> Layout:
    """Models whose cells are letters: answers beside an answer key, or the grades A, B and C."""
    free = [
        name
        for name in structs.replace(found, gold="").free(table.columns)
        if not _is_group(name) and is_letters(table.columns[name])
    ]
    gold = found.gold or next((name for name in free if plain(name) in _KEYS), "")
    models = tuple(name for name in free if name != gold)
    if gold and gold in free:
        return structs.replace(found, gold=gold, models=models, graded="gold")
    is_graded = models and all(is_grades(table.columns[name]) for name in models)
    return structs.replace(found, models=models, graded="grades") if is_graded else found


def _long_letters(table: FileColumns, found: Layout) -> Layout:
    """A long table whose answers are letters beside the right ones, or whose scores are grades."""
    if found.score:
        is_graded = is_grades(table.columns[found.score])
        return structs.replace(found, graded="grades") if is_graded else found
    answers = [table.columns[name] for name in (found.answer, found.gold) if name]
    if len(answers) == 2 and all(map(is_letters, answers)):
        return structs.replace(found, score=found.answer, graded="gold")
    return found


def _with_grader(table: FileColumns, found: Layout) -> Layout:
    """With the column that names who graded each score: one name for all scores of a respondent,
    or several for scores of the same item. Another column of such a name holds labels."""
    name = first_named(found.free(table.columns), "grader")
    if not name or is_scores(table.columns[name]) or is_letters(table.columns[name]):
        return found
    own = [table.columns[role].codes for role in (found.model, found.way) if role]
    record = [table.columns[role].codes for role in (found.item, found.sample) if role]
    judge = table.columns[name].codes
    is_one_each = _n_rows(own) == _n_rows([*own, judge])
    is_again = _n_rows([*own, *record]) < len(table) == _n_rows([*own, *record, judge])
    return structs.replace(found, grader=name) if is_one_each or is_again else found


def _n_rows(columns: Sequence[NDArray[np.int32]]) -> int:
    """How many different rows these columns have."""
    return len(np.unique(np.stack(columns, axis=1), axis=0))


def _no_metrics(table: FileColumns, found: Layout, scores: Sequence[str]) -> list[str]:
    """The columns that are models: those named as a metric or an average are none beside others.

    Raises BadUsage where nothing tells which of several metrics of one model is meant, or whether
    the rows are items at all.
    """
    metrics = metrics_of(scores)
    named = [name for name in scores if name in metrics or is_named(name, "overall")]
    others = [name for name in scores if name not in named]
    if not named or len(others) > 1:
        return others
    is_one = len(scores) == 1 and (
        is_named(found.item, "item") or not _is_between(table.columns[scores[0]])
    )
    if is_one:
        return list(scores)
    raise BadUsage(
        f"{table.name}: {', '.join(scores)} cannot be told to be models: {', '.join(named)} "
        f"{'is' if len(named) == 1 else 'are'} named as a metric",
        hint="name the models' columns, or for one row a model the model and the score: "
        "--models COLUMN,... or --as accuracies --model COLUMN --score COLUMN",
    )


def _one_scale(table: FileColumns, scores: Sequence[str]) -> tuple[str, ...]:
    """The columns on the scale of most: a count from 0 to 40 beside scores of 0 and 1 is no model,
    nor is a flag of 0 and 1 beside percentages.

    Raises BadUsage where as many are on one scale as on the other.
    """
    usual = {name: _usual(table.columns[name]) for name in scores}
    shares = [name for name in scores if usual[name] <= 1]
    above = [name for name in scores if usual[name] > 1]
    flags = [name for name in shares if is_flag(table.columns[name])]
    if not shares or not above or (len(above) > len(shares) and not flags):
        return tuple(scores)
    if len(above) == len(shares):
        raise BadUsage(
            f"{table.name}: {', '.join(shares[:5])} hold values from 0 to 1, "
            f"{', '.join(above[:5])} greater ones, so they are not scores on one scale",
            hint="name the models' columns: --models COLUMN,...",
        )
    dropped = set(flags if len(above) > len(shares) else above)
    return tuple(name for name in scores if name not in dropped)


def _usual(column: Coded) -> float:
    """The median of the numbers of a column that are no 0; 100 where percent signs stand there."""
    if any("%" in name for name in column.names):
        return 100.0
    values = read_numbers(column)
    values = values[values > 0]
    return float(np.median(values)) if len(values) else 0.0


def _is_group(name: str) -> bool:
    is_measured = quantity_of(name) is not None and not re.search(r"\d", name)
    return is_measured or any(is_named(name, role) for role in ("strata", "clusters", "sample"))


def _grouped(table: FileColumns, found: Layout) -> Layout:
    """Strata and clusters by their names, unless a user named either."""
    free = found.free(table.columns)
    strata = found.strata or tuple(
        name for name in free if is_named(name, "strata") and _groups(table, name)
    )
    clusters = found.clusters or tuple(
        name
        for name in free
        if is_named(name, "clusters")
        and name not in strata
        and not _CONTEXTS.issuperset(table.columns[name].names)
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
    for role in ("parameters", "active", "family", "grader"):
        free = found.free(names)
        named = getattr(found, role) or first_named(free, role)
        found = structs.replace(found, **{role: named})
    _check_graders(table, found)
    free = found.free(names)
    repeats = bool(model) and len(table.columns[model].names) < int(
        (table.columns[model].codes >= 0).sum()
    )
    strata = found.strata or tuple(name for name in free if is_named(name, "strata"))[:1]
    if repeats and (strata or found.score) and not found.models and not found.overall:
        score = found.score or choose_score(table, found, score_columns(table, found), 0)[0]
        count = found.count or first_named(free, "count")
        found = structs.replace(found, score=score, strata=strata, count=count)
    else:
        way = found.way if found.way or not repeats else _way(table, model, free)
        overall = found.overall or found.score
        found = accuracy_columns(table, structs.replace(found, way=way, overall=overall, score=""))
    _check_whole(table, found)
    return _finished(table, found, _score_columns(table, found))


def _check_graders(table: FileColumns, found: Layout) -> None:
    """Raises BadUsage where different judges graded the rows of a leaderboard."""
    judges = table.columns[found.grader].names if found.grader else ()
    if len(judges) > 1:
        raise BadUsage(
            f"{table.name}: {len(judges):,} judges graded these rows (column {found.grader}), and "
            "scores by different judges do not compare",
            hint="audit the rows of one judge at a time: "
            + " or ".join(f"--where {quoted(f'{found.grader}={name}')}" for name in judges[:5]),
        )


def _way(table: FileColumns, model: str, free: Sequence[str]) -> str:
    """The column of texts that tells rows of one model apart; empty where none does."""
    known = first_named(free, "way")
    for name in ([known] if known else []) + list(free):
        column, models = table.columns[name], table.columns[model]
        if any(_is_numeral(text) for text in column.names):
            continue
        pairs = set(zip(models.codes.tolist(), column.codes.tolist(), strict=True))
        if len(pairs) == len(table):
            return name
    return ""


def _is_numeral(text: str) -> bool:
    return text[:1].isdigit() and number_of(text) is not None


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
    unused = tuple(found.free(table.columns))
    return structs.replace(
        found,
        percent=percent,
        missing=tuple(sorted(text for text in texts if text.strip().lower() in MISSING)),
        unused=(*unused, *table.unread),
    )


def _check_named(table: FileColumns, named: Layout) -> None:
    wrong = sorted(named.taken() - {""} - set(table.columns))
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
    ratings = [name for name, metric in metrics_of(table.columns).items() if metric.kind == "elo"]
    ranked_by = found.overall or found.score
    is_rated = ranked_by in ratings if ranked_by else bool(ratings) and not found.models
    if found.kind == "accuracies" and is_rated:
        raise BadUsage(
            f"{table.name}: a rating such as Elo ({listed(ratings)}) is shown beside a score and "
            "is not ranked by, because no interval follows from it",
            hint="add a column of accuracies (0 to 1, or percent), or give scores by item",
        )
    if not lacking:
        return
    lines = [f"    {name}: {_examples(column)}" for name, column in table.columns.items()]
    options = ", ".join(f"{option} COLUMN" for _, option in lacking)
    lettered = [name for name, column in table.columns.items() if is_letters(column)]
    if found.kind == "wide" and not found.models and lettered:
        options += f", or of letters ({', '.join(lettered[:5])}) the answer key: --gold COLUMN"
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
