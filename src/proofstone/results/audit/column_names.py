"""Known column names: of roles, of metrics, and of quantities other than scores."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib import resources
from typing import Literal

from msgspec import Struct, convert

from proofstone.records.runs import Outcome
from proofstone.wording.messages import listed, noted, say, word

# Roles of columns, named by a user or detected.

Kind = Literal["wide", "long", "accuracies", "labels", "models"]


# Why a column is the score. "" means named by a user, the only column of scores, or the mean of
# groups with known numbers of items. Others: the overall, the only metric, the metric called score,
# the one that combines the others, or the one that the ranks or the order of rows follow.
Rule = Literal["", "overall", "only", "generic", "combines", "ranks", "sorted"]


# How letters are scored: by a column of answer keys, or as the grades A, B and C.
Graded = Literal["", "answer_key", "grades"]


_RULES: Mapping[Rule, str] = {
    "only": noted("the only metric"),
    "generic": noted("called the score"),
    "combines": noted("combines the other metrics"),
    "ranks": noted("the rank column follows it"),
    "sorted": noted("the rows are sorted by it"),
}


# Roles with one column, in the order in which they are listed.
ONES = (
    "item", "model", "prompt_method", "score", "sample", "outcome", "answer", "answer_key",
    "options", "simulated",
    "certainty", "tokens", "order", "count", "overall", "stderr", "rank", "low", "high", "human",
    "judge", "annotator", "parameters", "active", "family", "grader", "question",
)  # fmt: skip


_MOST_SHOWN = 4


_GRADED: Mapping[Graded, str] = {
    "answer_key": noted("correct where they equal the answer key"),
    "grades": noted(
        "grades: A correct, B incorrect, C not attempted (B and C score 0; if these are answers, "
        "name the answer key with --answer-key-col)"
    ),
}


class Layout(Struct, frozen=True, kw_only=True):
    """Role of each column; empty if there is none, or for a user's layout if not named.

    ``wide``: one row per item; ``models`` are columns of scores. ``long``: one row per score, under
    ``model`` and ``score``. ``accuracies``: one row per model, or one per model and stratum with
    ``score`` and ``count``. With one row per model, ``models`` are columns of strata and
    ``overall`` is the score that models are ranked by. ``metrics`` are columns shown next to the
    score and never averaged with it. ``rule`` says why that column is the score. ``graded``: how
    letters are scored, by the ``answer_key`` column or as grades.

    ``models``: facts about models without scores: ``parameters``, ``active`` and ``family``.
    ``labels``: labels of several annotators, one column each, or one row per label with
    ``annotator``. Labels may accompany scores, as may ``human`` and ``judge`` (labels of the same
    records). ``order`` is the order in which options were shown. None of these is detected
    automatically.

    In tables of scores, ``parameters``, ``active`` and ``family`` describe a record's model.
    ``grader`` names the judge that gave a score. ``question`` holds the texts of items.
    ``percent``: scores are from 0 to 100; None means detect. ``unused`` are columns that are not
    read. ``unknown_outcomes`` are those that the column ``outcome`` does not record. ``missing``
    are the spellings of missing scores that occur.
    """

    kind: Kind | None = None
    item: str = ""
    model: str = ""
    prompt_method: str = ""
    score: str = ""
    sample: str = ""
    outcome: str = ""
    answer: str = ""
    answer_key: str = ""
    options: str = ""
    simulated: str = ""
    certainty: str = ""
    tokens: str = ""
    count: str = ""
    overall: str = ""
    human: str = ""
    judge: str = ""
    annotator: str = ""
    order: str = ""
    parameters: str = ""
    active: str = ""
    family: str = ""
    grader: str = ""
    question: str = ""
    stderr: str = ""
    rank: str = ""
    low: str = ""
    high: str = ""
    rule: Rule = ""
    graded: Graded = ""
    metrics: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    percent: bool | None = None
    unused: tuple[str, ...] = ()
    unknown_outcomes: tuple[Outcome, ...] = ()
    missing: tuple[str, ...] = ()

    def taken(self) -> set[str]:
        """Return the columns that have a role, and the empty name if a role has none."""
        ones = {getattr(self, role) for role in ONES}
        return {
            *ones, *self.models, *self.strata, *self.clusters, *self.labels, *self.metrics
        }  # fmt: skip

    def free(self, names: Iterable[str]) -> list[str]:
        """Return those of the columns that have no role."""
        taken = self.taken()
        return [name for name in names if name not in taken]

    def told(self) -> str:
        """Return the roles in one line, as a user would name them."""
        return say("; ").join(self._parts())

    def _parts(self) -> Iterator[str]:
        for role in ONES:
            if column := getattr(self, role):
                why = _RULES.get(self.rule, "") if role == "overall" else ""
                shown = say("{column} ({why})", column=column, why=word(why)) if why else column
                yield say("{role}: {columns}", role=word(role), columns=shown)
        groups = {
            "other metrics, shown and not averaged": _named(self.metrics),
            "strata" if self.kind == "accuracies" else "models": _named(self.models),
            "by" if self.kind == "accuracies" else "strata": listed(self.strata),
            "clusters": listed(self.clusters),
            "labels": listed(self.labels),
            "scores": say("percent, divided by 100") if self.percent else "",
            "letters": word(_GRADED[self.graded]) if self.graded else "",
            "missing": say("empty or {spellings}", spellings=listed(self.missing))
            if self.missing
            else "",
            "not used": _named(self.unused),
        }
        for what, names in groups.items():
            if names:
                yield say("{role}: {columns}", role=word(what), columns=names)


def _named(names: tuple[str, ...]) -> str:
    if len(names) <= _MOST_SHOWN:
        return listed(names)
    return say(
        "{n} columns ({first}, ... {last})",
        n=len(names),
        first=listed(names[: _MOST_SHOWN - 1]),
        last=names[-1],
    )


# Quantities other than scores, recognized by column name and never by values.
Quantity = Literal["rank", "count", "stderr", "spread", "low", "high", "difference", "statistic",
                   "measured", "flag"]  # fmt: skip


class Metric(Struct, frozen=True):
    """A metric that a column is named after.

    ``kind`` is the metric (``f1``), ``qualifier`` the rest of the name (``macro``). ``is_share``:
    values are shares k/n of the items. ``is_mean``: it is a mean over items, unlike corpus F1 and
    BLEU. ``is_unbounded``: values may exceed 1 or 100 or be negative.
    """

    kind: str
    qualifier: str = ""
    is_share: bool = True
    is_mean: bool = True
    is_unbounded: bool = False


class _Known(Struct, frozen=True):
    """Contents of ``column_names.toml``."""

    names: dict[str, tuple[str, ...]]
    words: dict[Quantity, frozenset[str]]
    whole: dict[Quantity, frozenset[str]]
    signs: dict[str, Quantity]
    metrics: dict[str, dict[str, tuple[str, ...]]]
    flags: frozenset[str]
    beside: frozenset[str]
    whole_only: frozenset[str]


_FILE = resources.files(__package__) / "column_names.toml"


_KNOWN = convert(tomllib.loads(_FILE.read_text(encoding="utf-8")), _Known)


NAMES: Mapping[str, tuple[str, ...]] = _KNOWN.names


def plain(name: str) -> str:
    """Return a column's name in lower case with underscores: ``Question ID`` as ``question_id``."""
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")


def is_named(name: str, role: str) -> bool:
    """Return True if this is a known name of a column with that role."""
    return plain(name) in NAMES[role]


def first_named(names: Iterable[str], role: str) -> str:
    """Return the column whose name has the highest priority for a role; empty without any."""
    found = {plain(name): name for name in reversed(list(names))}
    return next((found[known] for known in NAMES[role] if known in found), "")


def quantity_of(name: str) -> Quantity | None:
    """Return the quantity other than a score that a column's name states; None if it states
    none."""
    for sign, quantity in _KNOWN.signs.items():
        if name.strip().startswith(sign) and not plain(name):
            return quantity
    known = plain(name)
    words = known.split("_")
    for quantity, whole in _KNOWN.whole.items():
        if known in whole or (quantity == "count" and is_named(name, "count")):
            return quantity
    for quantity, some in _KNOWN.words.items():
        if some.intersection(words):
            return quantity
    if "ci" in words or "ci95" in words:
        return _bound(words)
    return (
        "flag"
        if words[0] in _KNOWN.flags and len(words) > 1 and known not in NAMES["score"]
        else None
    )


def _bound(words: list[str]) -> Quantity:
    if {"low", "lo", "min"}.intersection(words):
        return "low"
    return "high" if {"high", "hi", "max"}.intersection(words) else "spread"


def metrics_of(names: Iterable[str]) -> dict[str, Metric]:
    """Return the metric of each column that is named after one and not after another quantity.

    CO, NA, IN and F are metrics next to each other (F also next to precision and recall). Alone
    they are a country, a group or an option.
    """
    found = {
        name: metric
        for name in names
        if quantity_of(name) is None and (metric := _metric(name)) is not None
    }
    kinds = {metric.kind for metric in found.values()}
    shares = len(kinds & {"correct", "not attempted", "incorrect", "correct given attempted"})
    is_f = {"precision", "recall"} <= kinds or shares > 2
    return {
        name: metric
        for name, metric in found.items()
        if plain(name) not in _KNOWN.beside or (is_f if plain(name) == "f" else shares > 2)
    }


def _metric(name: str) -> Metric | None:
    known = plain(name)
    if match := re.fullmatch(r"(?:(.+)_)?(pass|avg|maj|cons|best)_(\d+)", known):
        is_mean = match[2] == "avg"
        return Metric(f"{match[2]}@{match[3]}", match[1] or "", is_share=is_mean)
    for group, kinds in _KNOWN.metrics.items():
        metric = partial(
            Metric,
            is_share=group == "shares",
            is_mean=group in ("shares", "means"),
            is_unbounded=group == "unbounded",
        )
        for kind, names in kinds.items():
            for each in names:
                if known == each:
                    return metric(kind)
                pattern = rf"(?:(.+)_)?{each}(?:_(.+))?"
                if each not in _KNOWN.whole_only and (match := re.fullmatch(pattern, known)):
                    qualifier = "_".join(part for part in match.groups() if part)
                    return metric(kind, qualifier)
    return None
