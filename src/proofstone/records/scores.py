"""The score table: input to statistics and reports, as columns of codes and arrays."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from proofstone.errors import needed
from proofstone.records.knowledge import RoleName
from proofstone.records.models import Card
from proofstone.records.runs import OUTCOMES, FormPart, Outcome, Pace, Scale, Spent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Export of columns to pyarrow, pandas and polars, each imported only when used.


class Coded(NamedTuple):
    """A column of few distinct texts: each row's index in ``names``."""

    codes: Any
    names: tuple[str, ...]


Columns = Mapping[str, Any]  # Coded, or a sequence or array of values


def arrow_table(columns: Columns) -> Any:
    """Return a ``pyarrow.Table``; coded columns are dictionary-encoded. Raises ExtraMissing."""
    arrow = _module("pyarrow", "parquet")
    arrays = {
        name: arrow.DictionaryArray.from_arrays(column.codes, list(column.names))
        if isinstance(column, Coded)
        else arrow.array(column)
        for name, column in columns.items()
    }
    return arrow.table(arrays)


def pandas_frame(columns: Columns) -> Any:
    """Return a ``pandas.DataFrame``; coded columns are categorical. Raises ExtraMissing."""
    _module("pandas", "pandas")
    _module("pyarrow", "pandas")
    return arrow_table(columns).to_pandas()


def polars_frame(columns: Columns) -> Any:
    """Return a ``polars.DataFrame``; coded columns are categorical. Raises ExtraMissing."""
    polars = _module("polars", "polars")
    _module("pyarrow", "polars")
    return polars.from_arrow(arrow_table(columns))


def _module(name: str, extra: str) -> Any:
    with needed(f"{name} is not installed", f"pip install 'proofstone[{extra}]'"):
        return importlib.import_module(name)


@dataclass(frozen=True, slots=True)
class Respondent:
    """One leaderboard row: a model with one prompting method and one group of settings.

    ``forms`` are the forms of each of its ``runs``, in order. ``reported`` are the model versions
    reported by its endpoint, with response counts; usually one. ``roles_held`` index the table's
    ``roles``, each with whether the model itself or another of its family had it. ``card`` is None
    if nothing is known. ``scale`` is set if its scores are not comparable with those of other
    prompting methods. ``spent`` is the cost of its calls, ``pace`` how many questions it answered
    and how fast. ``judge`` names the judges that scored it, empty if none. ``part`` is set if a
    limit left the rest of its forms unasked. An ``experiment`` has other settings than the model's
    one ranked row. ``received`` counts stored responses, scored or not (0: those with scores).
    ``not_asked`` counts the responses of forms that the model was not asked.
    """

    name: str
    prompt_method: str
    settings: str = ""
    simulated: bool = False
    runs: tuple[bytes, ...] = ()
    reported: tuple[tuple[str, int], ...] = ()
    roles_held: tuple[tuple[int, bool], ...] = ()
    card: Card | None = None
    scale: Scale | None = None
    spent: Spent = field(default_factory=Spent)
    pace: Pace = field(default_factory=Pace)
    forms: tuple[str, ...] = ()
    judge: str = ""
    part: FormPart | None = None
    experiment: bool = False
    received: int = 0
    not_asked: int = 0


@dataclass(frozen=True, slots=True)
class HeldRole:
    """A model's role in some of the material. ``units`` (codes, ascending) use it."""

    role: RoleName
    model: str
    units: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Corrections:
    """How many of a model's scores people overrode, by the effect on their value."""

    raised: int = 0
    lowered: int = 0
    upheld: int = 0
    invalidated: int = 0

    @property
    def total(self) -> int:
        """Return the number of overridden scores."""
        return self.raised + self.lowered + self.upheld + self.invalidated


class DocumentPages(NamedTuple):
    """A document behind an item, with the pages; no pages if unknown."""

    name: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents behind units, as E edges ``unit[e]`` -> ``names[document[e]]`` with ``pages[e]``.

    Pages are empty if unknown. A unit may have several documents, or none. Documents with equal
    titles have different names. ``keys`` maps shared keys, named as in the table's ``key_names``,
    to the documents of the fact, as indexes of ``names``, each with the page.
    """

    unit: NDArray[np.int32]
    document: NDArray[np.int32]
    pages: tuple[str, ...]
    names: tuple[str, ...]
    keys: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)

    def of_unit(self, unit: int) -> tuple[DocumentPages, ...]:
        """Return the documents of a unit with their pages, in the order of its facts."""
        edges = (self.unit == unit).nonzero()[0].tolist()
        return self._gathered((int(self.document[edge]), self.pages[edge]) for edge in edges)

    def of_key(self, name: str) -> tuple[DocumentPages, ...]:
        """Return the documents of a shared key, with their pages; empty if unknown."""
        return self._gathered(self.keys.get(name, ()))

    def _gathered(self, places: Iterable[tuple[int, str]]) -> tuple[DocumentPages, ...]:
        found: dict[str, dict[str, None]] = {}
        for document, page in places:
            pages = found.setdefault(self.names[document], {})
            pages |= {page: None} if page else {}
        return tuple(DocumentPages(name, tuple(pages)) for name, pages in found.items())


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of one measure as parallel arrays of length N (one row per unit, model and sample).

    ``unit`` indexes the U units, ``respondent`` the models, ``outcome`` the tuple OUTCOMES of
    records.results; ``value`` is NaN for outcomes without one. ``answer`` codes into ``answers``.

    Per unit: ``item`` ids (U), ``strata`` level name -> code array (U) with ``stratum_names`` level
    name -> names, ``answer_key`` label code (U) into ``answer_keys``, ``n_options`` (U, 0 if the
    unit has none), ``form`` code (U) into ``forms``. ``cluster_unit`` and ``cluster_key`` are the E
    edges from units to integer cluster keys. Some keys have names (``key_names``): a fact's id as
    commands accept it, or a cell of a file in the columns ``key_columns``, which own items do not
    have.

    ``expected`` (models) is the number of rows of a complete run; ``failed`` (models) is how many
    of the missing ones were tried without a response. These have no row, as they have no score.
    ``roles`` list the models that helped make units. ``corrections`` (models, or empty) count the
    overrides applied here; ``n_excluded`` items were excluded and have no units here.

    ``item_names`` (U) are the item names in an imported results file; empty for own items.
    ``item_texts`` (U) are their questions, if a column has them. ``tells_outcomes``: the outcome of
    each response is known. Otherwise all count as answered, and no rates of other outcomes are
    shown. ``unknown_outcomes`` are unknown even then (a log records unparsed but not truncated
    responses). ``confidence`` (N, in [0, 1]) is the stated confidence, ``tokens`` (N) the response
    length; NaN where unknown, None if always unknown.

    ``order`` (N) codes into ``orders``, the option order shown (-1 if unknown); None if all items
    have one order. With ``orders_spelled`` each order is the original letters as shown (``CADB``),
    and answers and golds are original letters. ``groups`` and ``group_names`` are codes and names
    of further groups of units, like strata. ``level_names`` are the method's names for strata.
    ``called`` maps an item to its id in an imported form's file. ``documents`` is None if no unit
    has a known one. ``people`` are results of people (U; NaN if unknown) by row, and
    ``people_note`` says where they come from. ``n_asked`` is the number of items of the forms named
    ``asked_forms``, each once, with or without scores (0 and empty for files).
    """

    respondents: tuple[Respondent, ...]
    unit: NDArray[np.int32]
    respondent: NDArray[np.int32]
    sample: NDArray[np.int32]
    outcome: NDArray[np.int8]
    value: NDArray[np.float64]
    answer: NDArray[np.int32]
    answers: tuple[str, ...]
    items: tuple[bytes, ...]
    strata: dict[str, NDArray[np.int32]]
    stratum_names: dict[str, tuple[str, ...]]
    answer_key: NDArray[np.int32]
    answer_keys: tuple[str, ...]
    n_options: NDArray[np.int32]
    form: NDArray[np.int32]
    forms: tuple[str, ...]
    cluster_unit: NDArray[np.int64]
    cluster_key: NDArray[np.int64]
    expected: NDArray[np.int64]
    failed: NDArray[np.int64] | None = None
    roles: tuple[HeldRole, ...] = ()
    corrections: tuple[Corrections, ...] = ()
    n_excluded: int = 0
    item_names: tuple[str, ...] = ()
    item_texts: tuple[str, ...] = ()
    tells_outcomes: bool = True
    unknown_outcomes: tuple[Outcome, ...] = ()
    confidence: NDArray[np.float64] | None = None
    tokens: NDArray[np.float64] | None = None
    key_names: Mapping[int, str] = field(default_factory=dict)
    key_columns: tuple[str, ...] = ()
    order: NDArray[np.int32] | None = None
    orders: tuple[str, ...] = ()
    orders_spelled: bool = False
    groups: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    group_names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    level_names: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[bytes, str] = field(default_factory=dict)
    documents: Documents | None = None
    people: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    people_note: str = ""
    n_asked: int = 0
    asked_forms: tuple[str, ...] = ()

    def of_parts(self) -> ScoreTable:
        """Return the table without expecting what a limit left unasked."""
        unasked = [who.part.unasked if who.part else 0 for who in self.respondents]
        return replace(self, expected=self.expected - unasked) if any(unasked) else self

    def columns(self) -> Columns:
        """Return the scores by columns, one row each, in the table's order.

        Model, item, sample, outcome, value (NaN for outcomes without one), extracted answer and
        answer key.
        """
        who, unit = self.respondent, self.unit
        return {
            "model": _coded(who, [each.name for each in self.respondents]),
            "prompt_method": _coded(who, [each.prompt_method for each in self.respondents]),
            "settings": _coded(who, [each.settings for each in self.respondents]),
            "simulated": [self.respondents[code].simulated for code in who.tolist()],
            "form": _coded(self.form[unit], self.forms),
            "item": _coded(unit, self.item_names or [item.hex() for item in self.items]),
            **{
                level: _coded(codes[unit], self.stratum_names[level])
                for level, codes in self.strata.items()
            },
            "sample": self.sample,
            "outcome": _coded(self.outcome, OUTCOMES),
            "value": self.value,
            "answer": _coded(self.answer, self.answers),
            "answer_key": _coded(self.answer_key[unit], self.answer_keys),
            "n_options": self.n_options[unit],
        }

    def to_arrow(self) -> Any:
        """Return ``columns`` as a ``pyarrow.Table``."""
        return arrow_table(self.columns())

    def to_pandas(self) -> Any:
        """Return ``columns`` as a ``pandas.DataFrame``."""
        return pandas_frame(self.columns())

    def to_polars(self) -> Any:
        """Return ``columns`` as a ``polars.DataFrame``."""
        return polars_frame(self.columns())


def _coded(codes: NDArray[Any], names: Sequence[str]) -> Coded:
    """Return a coded column with distinct names."""
    import numpy as np  # noqa: PLC0415

    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    again = np.array([places[name] for name in names], dtype=np.int32)
    return Coded(again[codes] if len(again) else codes, tuple(places))


# Labels of the same records by people and by a judge.


@dataclass(frozen=True, slots=True)
class Judged:
    """N records labeled by people and by a judge.

    ``people`` and ``judge`` (N) are codes into ``labels``, -1 if missing. ``item`` (N) is each
    record's item, ``model`` (N) its model in ``models`` (-1 everywhere if unknown). ``values``
    (labels) are the labels as numbers, ascending; None if they are words. ``cluster_item`` and
    ``cluster_key`` are the edges from items to their shared keys.
    """

    labels: tuple[str, ...]
    people: NDArray[np.int64]
    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    model: NDArray[np.int64]
    models: tuple[str, ...]
    values: NDArray[np.float64] | None
    cluster_item: NDArray[np.int64] | None = None
    cluster_key: NDArray[np.int64] | None = None


# A leaderboard of accuracies only: models by strata, without items.

# Checks of a printed number: a possible share k/n, a total of 100, a metric computed from its
# parts, an overall from its groups, a difference of two columns, a rank, or bounds.
Check = Literal["k/n", "count", "sum to 100", "CGA", "F", "F1", "overall", "CV", "range",
                "difference", "rank", "bounds", "standard error"]  # fmt: skip


class CheckDone(Struct, frozen=True, kw_only=True):
    """One check of one relation (``what``, as "F1 = 2PR / (P + R)") over ``n`` printed numbers.

    ``off`` of them do not fit. ``holds``: the relation holds in this table in general; if it does
    not, the ones that do not fit are not misprints.
    """

    check: Check
    what: str
    n: int
    off: int
    holds: bool = True


class Misprint(Struct, frozen=True, kw_only=True):
    """A printed number that is inconsistent with the others.

    ``row`` and ``cell`` (the column, or several of which one is wrong), the ``printed`` and
    ``recomputed`` numbers, and the ``allowed`` rounding.
    """

    row: str
    cell: str
    check: Check
    printed: str
    recomputed: str
    allowed: str


class PrintedColumn(Struct, frozen=True, kw_only=True):
    """A column shown as printed, one text per model."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracies in [0, 1] of m models: ``value`` (m, s) by stratum, ``overall`` (m) as stated.

    NaN where not stated. ``counts`` (s) are the items of each stratum, 0 if unknown. ``by`` names
    the strata ("discipline"). ``score`` is the name of the overall; ``is_mean``: it is a mean over
    items, unlike F1. ``total`` counts all items, if stated separately; ``n_of`` (m) those of each
    model. ``stderr`` (m) is the stated standard error of the overall, ``errors`` (m, s) those of
    the strata. ``metrics`` are shown and never averaged. ``checks`` and ``misprints`` are the
    results of the consistency checks. ``cards`` holds model metadata by name. ``judge`` is the
    grader of all of them, if stated.
    """

    name: str
    models: tuple[str, ...]
    strata: tuple[str, ...]
    value: NDArray[np.float64]
    overall: NDArray[np.float64]
    counts: NDArray[np.int64]
    by: str = "stratum"
    score: str = "accuracy"
    is_mean: bool = True
    total: int = 0
    n_of: NDArray[np.int64] | None = None
    stderr: NDArray[np.float64] | None = None
    errors: NDArray[np.float64] | None = None
    metrics: Sequence[PrintedColumn] = ()
    checks: Sequence[CheckDone] = ()
    misprints: Sequence[Misprint] = ()
    cards: Mapping[str, Card] = field(default_factory=dict)
    judge: str = ""

    @property
    def n_items(self) -> int:
        """Return the number of items; 0 if a stratum's is unknown, or if models have different
        numbers.
        """
        if self.total:
            return self.total
        if len(self.counts):
            return int(self.counts.sum()) if (self.counts > 0).all() else 0
        if self.n_of is not None and len(set(self.n_of.tolist())) == 1:
            return int(self.n_of[0])
        return 0


# Labels of the same records by several annotators.


@dataclass(frozen=True, slots=True)
class Annotated:
    """N records labeled by R annotators: ``ratings`` (N, R) are codes into ``labels``, -1 if
    missing.

    ``annotators`` (R) are their names, ``item`` (N) is each record's item. ``values`` (labels) are
    the labels as numbers, ascending; None if they are words. ``cluster_item`` and ``cluster_key``
    are the edges from items to their shared keys. ``model`` (N) are codes into ``models``, whose
    answers the records are: -1 or empty if unknown.
    """

    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    ratings: NDArray[np.int32]
    item: NDArray[np.int64]
    values: NDArray[np.float64] | None
    cluster_item: NDArray[np.int64]
    cluster_key: NDArray[np.int64]
    models: tuple[str, ...] = ()
    model: NDArray[np.int64] | None = None


# A file's records by columns, as texts that are each stored once.


class TextCodes(dict[str, int]):
    """Assign codes to texts in order of first appearance; the empty text is -1, missing."""

    def __init__(self) -> None:
        super().__init__({"": -1})
        self.characters = 0

    def __missing__(self, text: str) -> int:
        self.characters += len(text)
        code = self[text] = len(self) - 1
        return code

    def names(self) -> tuple[str, ...]:
        """Return the texts by code."""
        return tuple(text for text in self if text)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """N records of the file ``name``: columns by name in file order.

    ``codes`` of a column (N) index its ``names``, -1 if the cell is empty. ``lines`` (N) is where
    each record begins, counted in ``unit`` ("line", "row"). ``unread`` are columns with texts too
    long to store that are not keys: responses, prompts.
    """

    name: str
    columns: Mapping[str, Coded]
    lines: NDArray[np.int64]
    unit: str = "line"
    unread: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)


def coded_texts(texts: Sequence[str]) -> Coded:
    """Return a sequence of texts as a column; empty ones are missing."""
    import numpy as np  # noqa: PLC0415

    codes = TextCodes()
    column = np.fromiter(map(codes.__getitem__, texts), dtype=np.int32, count=len(texts))
    return Coded(column, codes.names())
