"""Detect the roles of columns by fixed rules; roles named by a user take precedence.

1. A column with a known name of a role has that role (``column_names.NAMES``). 2. A table with a
column of models and one of scores is long: one row per score. 3. One with a column of models in
which each model occurs once, and without items, holds accuracies. 4. One with a column of
annotators holds labels only. So does any other table for which columns of labels are named and no
column is a score. 5. Any other is wide: one row per item. Its item column has a known name,
otherwise it is the first without repeated values. Every other column with mostly scores is a model,
except names of other quantities (latency, tokens, confidence). A stratum has few values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.items import CONTEXTS
from proofstone.records.scores import Coded, FileColumns
from proofstone.results.audit.cells import (
    is_flag,
    is_grades,
    is_letters,
    is_missing,
    is_percent,
    is_scores,
    number_of,
    read_numbers,
)
from proofstone.results.audit.column_names import (
    Kind,
    Layout,
    Metric,
    Quantity,
    Rule,
    first_named,
    is_named,
    metrics_of,
    plain,
    quantity_of,
)
from proofstone.wording.messages import listed

_NOTHING = Coded(np.empty(0, dtype=np.int32), ())


# Up to _FEW values may be groups in a table of any length; above _MOST_GROUPS they never are.
_FEW, _MOST_GROUPS = 20, 300


# Names of items that may also number the rows of a leaderboard.
_NUMBERING = frozenset({"id", "idx", "index", "no", "nr"})


# Names of an answer key in a table of letters, in addition to those of the role.
_KEYS = frozenset({"answer", "answers", "correct", "right", "right_answer", "solution", "truth"})


# Context settings of exported responses, under a column name that clusters may also have.
_CONTEXTS = frozenset(CONTEXTS)


_FACTS = ("parameters", "active", "family")


_ROLES: Mapping[Kind, tuple[str, ...]] = {
    "wide": ("item", "answer_key", "options"),
    "long": (
        "item", "model", "score", "prompt_method", "sample", "outcome", "answer", "answer_key",
        "options",
        "simulated", "certainty", "tokens", "parameters", "active", "family",
    ),
    "accuracies": ("model", "overall"),
    "labels": ("item", "model", "sample"),
    "models": (),
}  # fmt: skip


def guess_layout(table: FileColumns, named: Layout) -> Layout:
    """Return the layout of a table, with everything that ``named`` states unchanged.

    Raises BadUsage if a named column does not exist, or if the rules leave a required role open.
    The message shows the columns and the options that name them.
    """
    _check_named(table, named)
    _check_labels(named)
    kind = named.kind or ("models" if _describes_models(table, named) else _kind(table, named))
    if kind == "models":
        return _models(table, structs.replace(named, kind=kind))
    if kind == "accuracies":
        return _accuracies(table, structs.replace(named, kind=kind))
    found = _by_name(table, structs.replace(named, kind=kind), _ROLES[kind])
    if kind == "wide":
        found = _wide(table, found)
    elif kind == "long":
        found = _with_grader(table, _long_letters(table, found))
    if found.labels and kind == "wide" and not found.models and not named.kind:
        found = structs.replace(found, kind="labels")
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
    found = structs.replace(found, strata=strata, clusters=clusters)
    found = _by_name(table, found, ("question",))
    _check_whole(table, found)
    return _finished(table, found, _score_columns(table, found))


def _by_name(table: FileColumns, found: Layout, roles: Iterable[str]) -> Layout:
    """Fill in the column of each role without a user's choice, if one has a known name."""
    for role in roles:
        if not getattr(found, role):
            named = first_named(found.free(table.columns), role)
            found = structs.replace(found, **{role: named})
    return found


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
        return "long"  # several rows per model: the score is missing
    return "wide" if item and not named.model and not score else "accuracies"


def _describes_models(table: FileColumns, named: Layout) -> bool:
    """Return True if a table has one row per model with parameters or family, and no score."""
    model = named.model or first_named(table.columns, "model")
    names = [name for name in table.columns if name != model]
    described = [name for role in _FACTS if (name := first_named(names, role))]
    if not model or not described or not _is_once(table, model):
        return False
    is_named = bool(named.score or named.overall or named.models or named.labels)
    others = [name for name in names if name not in described and quantity_of(name) is None]
    return not is_named and not any(is_scores(table.columns[name]) for name in others)


def _models(table: FileColumns, found: Layout) -> Layout:
    found = _by_name(table, found, ("model", *_FACTS))
    return structs.replace(found, unused=(*found.free(table.columns), *table.unread))


def _is_once(table: FileColumns, name: str) -> bool:
    column = table.columns.get(name, _NOTHING)
    return len(column.names) == int((column.codes >= 0).sum())


def _is_leaderboard(table: FileColumns) -> bool:
    """Return True if a table without known names of items and models has one row per model.

    The first column has distinct texts and does not name a group. All scores have names of metrics,
    one of them with values other than 0 and 1.
    """
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
        is_key = found.answer_key and all(is_letters(table.columns[name]) for name in found.models)
        return structs.replace(found, graded="answer_key" if is_key else "")
    free = [name for name in found.free(table.columns) if not _is_group(name)]
    scores = [name for name in free if is_scores(table.columns[name])]
    lettered = _lettered(table, found)
    if len(lettered.models) > len(scores):
        return lettered
    return structs.replace(found, models=_one_scale(table, _no_metrics(table, found, scores)))


def _lettered(table: FileColumns, found: Layout) -> Layout:
    """Detect models whose cells are letters: answers next to an answer key, or grades A, B and
    C."""
    free = [
        name
        for name in structs.replace(found, answer_key="").free(table.columns)
        if not _is_group(name) and is_letters(table.columns[name])
    ]
    answer_key = found.answer_key or next((name for name in free if plain(name) in _KEYS), "")
    models = tuple(name for name in free if name != answer_key)
    if answer_key and answer_key in free:
        return structs.replace(found, answer_key=answer_key, models=models, graded="answer_key")
    is_graded = models and all(is_grades(table.columns[name]) for name in models)
    return structs.replace(found, models=models, graded="grades") if is_graded else found


def _long_letters(table: FileColumns, found: Layout) -> Layout:
    """Detect a long table with letters next to answer keys, or with grades as scores."""
    if found.score:
        is_graded = is_grades(table.columns[found.score])
        return structs.replace(found, graded="grades") if is_graded else found
    answers = [table.columns[name] for name in (found.answer, found.answer_key) if name]
    if len(answers) == 2 and all(map(is_letters, answers)):
        return structs.replace(found, score=found.answer, graded="answer_key")
    return found


def _with_grader(table: FileColumns, found: Layout) -> Layout:
    """Detect the column that names who graded each score.

    It has one name for all scores of a model, or several for scores of the same item. Another
    column with such a name holds labels.
    """
    name = first_named(found.free(table.columns), "grader")
    if not name or is_scores(table.columns[name]) or is_letters(table.columns[name]):
        return found
    own = [table.columns[role].codes for role in (found.model, found.prompt_method) if role]
    record = [table.columns[role].codes for role in (found.item, found.sample) if role]
    judge = table.columns[name].codes
    is_one_each = _n_rows(own) == _n_rows([*own, judge])
    is_again = _n_rows([*own, *record]) < len(table) == _n_rows([*own, *record, judge])
    return structs.replace(found, grader=name) if is_one_each or is_again else found


def _n_rows(columns: Sequence[NDArray[np.int32]]) -> int:
    return len(np.unique(np.stack(columns, axis=1), axis=0))


def _no_metrics(table: FileColumns, found: Layout, scores: Sequence[str]) -> list[str]:
    """Return the columns that are models, without metrics and averages next to them.

    Raises BadUsage if several metrics of one model are possible, or if rows may not be items.
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
        "--model-cols COLUMN,... or --as accuracies --model-col COLUMN --score-col COLUMN",
    )


def _one_scale(table: FileColumns, scores: Sequence[str]) -> tuple[str, ...]:
    """Return the columns on the most frequent scale.

    A count from 0 to 40 next to scores of 0 and 1 is not a model, nor is a flag next to
    percentages. Raises BadUsage if both scales are equally frequent.
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
            hint="name the models' columns: --model-cols COLUMN,...",
        )
    dropped = set(flags if len(above) > len(shares) else above)
    return tuple(name for name in scores if name not in dropped)


def _usual(column: Coded) -> float:
    """Return the median of the nonzero numbers of a column; 100 with percent signs."""
    if any("%" in name for name in column.names):
        return 100.0
    values = read_numbers(column)
    values = values[values > 0]
    return float(np.median(values)) if len(values) else 0.0


def _is_group(name: str) -> bool:
    is_measured = quantity_of(name) is not None and not re.search(r"\d", name)
    return is_measured or any(is_named(name, role) for role in ("strata", "clusters", "sample"))


def _groups(table: FileColumns, name: str) -> bool:
    """Return True if a column groups items, rather than identifying items or measuring a
    quantity."""
    n_values = len(table.columns[name].names)
    return n_values <= _FEW or (n_values <= _MOST_GROUPS and 2 * n_values <= len(table))


def _accuracies(table: FileColumns, found: Layout) -> Layout:
    names = list(table.columns)
    model = found.model or first_named(names, "model") or _first_texts(table)
    found = structs.replace(found, model=model)
    found = _by_name(table, found, (*_FACTS, "grader"))
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
        prompt_method = (
            found.prompt_method
            if found.prompt_method or not repeats
            else _prompt_method(table, model, free)
        )
        overall = found.overall or found.score
        found = accuracy_columns(
            table, structs.replace(found, prompt_method=prompt_method, overall=overall, score="")
        )
    _check_whole(table, found)
    return _finished(table, found, _score_columns(table, found))


def _check_graders(table: FileColumns, found: Layout) -> None:
    """Raise BadUsage if different judges graded the rows of a leaderboard."""
    judges = table.columns[found.grader].names if found.grader else ()
    if len(judges) > 1:
        raise BadUsage(
            f"{table.name}: {len(judges):,} judges graded these rows (column {found.grader}), and "
            "scores by different judges do not compare",
            hint="audit the rows of one judge at a time: "
            + " or ".join(f"--where {quoted(f'{found.grader}={name}')}" for name in judges[:5]),
        )


def _prompt_method(table: FileColumns, model: str, free: Sequence[str]) -> str:
    """Return the column of texts that distinguishes rows of one model; empty without any."""
    known = first_named(free, "prompt_method")
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
    for name, column in table.columns.items():
        if column.names and all(number_of(text) is None for text in column.names):
            return name
    return ""


def _score_columns(table: FileColumns, found: Layout) -> list[Coded]:
    names = [*found.models, *([found.score] if found.score else [])]
    names += [found.overall] if found.overall else []
    return [table.columns[name] for name in names]


def _finished(table: FileColumns, found: Layout, scores: Sequence[Coded]) -> Layout:
    """Add the scale of scores, spellings of missing ones, and unused columns."""
    texts = {text for column in scores for text in column.names}
    percent = is_percent(scores) if found.percent is None else found.percent
    unused = tuple(found.free(table.columns))
    return structs.replace(
        found,
        percent=percent,
        missing=tuple(sorted(text for text in texts if is_missing(text))),
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
            hint="name the one: --annotator-col COLUMN --label-col COLUMN",
        )
    if len(named.labels) == 1 and not named.annotator:
        raise BadUsage(
            f"column {named.labels[0]!r} alone has no second annotator's labels beside it",
            hint="name all annotators' columns: --label-col COLUMN,COLUMN; or say who gave each "
            "label: --annotator-col COLUMN",
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
    if len(table.columns) == 1:
        raise BadUsage(
            f"{table.name}: its one column, {next(iter(table.columns))!r}, does not say of which "
            "item or model a row is",
            hint="a row per item and model needs columns for both and the score (item,model,score),"
            "\na row per item a column of items and one per model (item,model-a,model-b),"
            "\na row per model a column of models (model,score)",
        )
    lines = [f"    {name}: {_examples(column)}" for name, column in table.columns.items()]
    options = ", ".join(f"{option} COLUMN" for _, option in lacking)
    lettered = [name for name, column in table.columns.items() if is_letters(column)]
    if found.kind == "wide" and not found.models and lettered:
        options += (
            f", or of letters ({', '.join(lettered[:5])}) the answer key: --answer-key-col COLUMN"
        )
    raise BadUsage(
        f"{table.name}: no column is known as {' or '.join(what for what, _ in lacking)}",
        hint="\n".join(
            [f"name what is missing: {options}; its columns, with some values:", *lines[:30]]
        ),
    )


def _lacking(found: Layout) -> Iterator[tuple[str, str]]:
    if found.kind != "accuracies" and not found.item:
        yield "the item", "--item-col"
    if found.kind not in ("wide", "labels") and not found.model:
        yield "the model", "--model-col"
    if found.kind == "long" and not found.score:
        yield "the score", "--score-col"
    if found.kind == "labels" and not found.labels:
        yield "the label", "--label-col"
    if found.kind == "wide" and not found.models:
        yield "a model's scores", "--model-cols"
    if found.kind == "accuracies" and not (found.models or found.score or found.overall):
        yield "an accuracy", "--score-col"


def _examples(column: Coded) -> str:
    shown = ", ".join(" ".join(name.split())[:24] for name in column.names[:3])
    return shown + (", ..." if len(column.names) > 3 else "") or "(empty)"


# Roles of columns in a table with one row per model.
#
# The score is, in this order: the column that a user names; the overall; the only metric; the one
# called score; the metric that combines all the others (F1 of precision and recall, F of CO, NA, IN
# and CGA); the one that the column of ranks follows; the one by which the rows are sorted.
# Otherwise the table is refused and the choices are listed. Other metrics are shown and never
# averaged. Columns with unknown names are groups of the score if it lies within their range, or if
# a row states how many items each has.

# Five rows are sorted by chance in one of 120 orders.
_FEWEST_SORTED = 5


# A score lies within the range of its groups in this share of rows, to allow for misprints.
_WITHIN = 0.9


# For a column called overall, half of the rows are enough.
_MOSTLY = 0.5


_SURELY_COUNTS = frozenset({"n", "n_items", "num_items", "n_questions"})


_PARTS = {
    "f1": (
        frozenset({"precision", "recall"}),
        frozenset({"correct", "not attempted", "incorrect", "correct given attempted"}),
    )
}


def accuracy_columns(table: FileColumns, found: Layout) -> Layout:
    """Return the layout of a table with one row per model.

    Raises BadUsage if several columns could be the score and no rule decides.
    """
    free = found.free(table.columns)
    found = structs.replace(
        found,
        count=found.count or _item_counts(table, free),
        rank=found.rank or _first(free, "rank"),
        low=found.low or _first(free, "low"),
        high=found.high or _first(free, "high"),
    )
    candidates = score_columns(table, found)
    if found.models:  # groups named by a user
        metrics = tuple(metrics_of(candidates))
        return structs.replace(found, metrics=metrics)
    n_counted = len(count_records(table, found.model))
    score, rule = found.overall, found.rule
    if not score:
        score, rule = choose_score(table, found, candidates, n_counted)
    found = structs.replace(found, overall=score, rule=rule)
    others = [name for name in candidates if name != score]
    groups = _groups_of_score(table, found, others, is_counted=n_counted > 0)
    return structs.replace(
        found,
        models=tuple(groups),
        metrics=tuple(name for name in others if name not in groups),
        stderr=found.stderr or _stderr(free, score),
    )


def score_columns(table: FileColumns, found: Layout) -> list[str]:
    """Return the numeric columns that may be scores.

    They have no role, no name of another quantity, and are neither flags (0 and 1) nor a
    permutation of 1 to m.
    """
    free = structs.replace(found, overall="").free(table.columns)
    # CV and max are statistics next to a standard deviation, otherwise they are groups.
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
    """Return the records that state the number of items of each column rather than a model."""
    column = table.columns[model]
    named = {code for code, name in enumerate(column.names) if is_named(name, "count")}
    return [n for n, code in enumerate(column.codes.tolist()) if code in named]


def choose_score(
    table: FileColumns, found: Layout, candidates: Sequence[str], n_counted: int
) -> tuple[str, Rule]:
    """Return the score among ``candidates`` and the rule that selects it.

    Empty if the score is the mean of groups with known numbers of items. Raises BadUsage if no rule
    decides.
    """
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
    """Yield the rules in order, each with the columns that it would select."""
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
    choices = [f"    --score-col {quoted(name)}" for name in columns]
    if len(columns) <= 10 and not metrics_of(columns):
        choices.append(f"    --model-cols {quoted(','.join(columns))}   (groups: their mean)")
    shown = ", ".join(columns[:10]) + (", ..." if len(columns) > 10 else "")
    return BadUsage(
        f"{table.name} has {len(columns):,} columns that could be the score: {shown}",
        hint="\n".join(["name the one that models are ranked by:", *choices[:20]]),
    )


def quoted(text: str) -> str:
    """Return a value quoted for a shell."""
    return f'"{text}"' if " " in text or "(" in text else text


def _combines(name: str, known: Mapping[str, Metric]) -> bool:
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
    """Return True if a column falls as the column of ranks rises."""
    if not found.rank:
        return False
    rank = _values(table, found.rank, found.model)
    values = _values(table, name, found.model)
    known = ~(np.isnan(rank) | np.isnan(values))
    order = np.argsort(rank[known], kind="stable")
    return int(known.sum()) > 1 and bool((np.diff(values[known][order]) <= 0).all())


def _is_sorted(table: FileColumns, name: str) -> bool:
    """Return True if enough rows are in descending order of a column."""
    values = _values(table, name)
    values = values[~np.isnan(values)]
    return len(np.unique(values)) >= _FEWEST_SORTED and bool((np.diff(values) <= 0).all())


def _groups_of_score(
    table: FileColumns, found: Layout, others: Sequence[str], *, is_counted: bool
) -> list[str]:
    """Return the columns among ``others`` that are groups of the score."""
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


def _item_counts(table: FileColumns, free: Sequence[str]) -> str:
    """Return the column with the number of items behind each row.

    It has whole numbers under a known name, or any numbers under an unambiguous one, so that
    invalid counts are reported. ``size`` usually refers to the model and is not used.
    """
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
    """Return True also for a number that overflows (1e400), which is not a number of items."""
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
    """Return the column of the score's standard error: the one with its name, or the only one."""
    found = [name for name in free if quantity_of(name) == "stderr"]
    own = [name for name in found if plain(score) and plain(name).startswith(plain(score))]
    return own[0] if own else found[0] if len(found) == 1 else ""


def _is_order(table: FileColumns, name: str) -> bool:
    """Return True if the cells are a permutation of 1 to m, m at least 4."""
    if metrics_of([name]) or is_named(name, "overall"):
        return False
    values = read_numbers(table.columns[name])
    values = np.sort(values[~np.isnan(values)])
    return len(values) >= 4 and values.tolist() == list(range(1, len(values) + 1))
