"""The score table: all that statistics and reports read, as columns of codes and arrays."""

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


# Columns as tables of pyarrow, pandas and polars, each imported only when it is asked for.


class Coded(NamedTuple):
    """A column of few different texts: each row's place among ``names``."""

    codes: Any
    names: tuple[str, ...]


Columns = Mapping[str, Any]  # Coded, or a sequence or array of values


def arrow_table(columns: Columns) -> Any:
    """A ``pyarrow.Table``; coded columns are dictionary-encoded. Raises ExtraMissing."""
    arrow = _module("pyarrow", "parquet")
    arrays = {
        name: arrow.DictionaryArray.from_arrays(column.codes, list(column.names))
        if isinstance(column, Coded)
        else arrow.array(column)
        for name, column in columns.items()
    }
    return arrow.table(arrays)


def pandas_frame(columns: Columns) -> Any:
    """A ``pandas.DataFrame``; coded columns are categorical. Raises ExtraMissing."""
    _module("pandas", "pandas")
    _module("pyarrow", "pandas")
    return arrow_table(columns).to_pandas()


def polars_frame(columns: Columns) -> Any:
    """A ``polars.DataFrame``; coded columns are categorical. Raises ExtraMissing."""
    polars = _module("polars", "polars")
    _module("pyarrow", "polars")
    return polars.from_arrow(arrow_table(columns))


def _module(name: str, extra: str) -> Any:
    with needed(f"this needs {name}, which is not installed", f"pip install 'proofstone[{extra}]'"):
        return importlib.import_module(name)


@dataclass(frozen=True, slots=True)
class Respondent:
    """One row of a leaderboard: a model asked in one way with one group of settings. ``forms`` are
    the names of those that each of its ``runs`` asked, in their order. ``reported``
    are the models that its endpoint said answered, with their replies; mostly one. ``hands`` are
    places in the table's ``roles``, each with whether the model itself held it or another of its
    family. ``card`` is what is known of the model, None where nothing is. ``scale`` is set where
    its scores do not compare with those of other ways of asking. ``spent`` is what its calls took
    when they were asked, ``pace`` how many questions it answered and how fast. ``judge`` names the
    judges whose verdicts its scores are, empty where no judge was asked. ``part`` is set where a
    limit left the rest of its forms unasked. An ``experiment`` is asked with other settings than
    the one row of its model that is ranked."""

    name: str
    prompt_method: str
    settings: str = ""
    simulated: bool = False
    runs: tuple[bytes, ...] = ()
    reported: tuple[tuple[str, int], ...] = ()
    hands: tuple[tuple[int, bool], ...] = ()
    card: Card | None = None
    scale: Scale | None = None
    spent: Spent = field(default_factory=Spent)
    pace: Pace = field(default_factory=Pace)
    forms: tuple[str, ...] = ()
    judge: str = ""
    part: FormPart | None = None
    experiment: bool = False


@dataclass(frozen=True, slots=True)
class HeldRole:
    """What one model did to some of the material. ``units`` (codes, ascending) rest on it."""

    role: RoleName
    model: str
    units: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Corrections:
    """How many of a respondent's scores people ruled on, by what that did to their worth."""

    raised: int = 0
    lowered: int = 0
    upheld: int = 0
    invalidated: int = 0

    @property
    def total(self) -> int:
        """All scores that a ruling speaks of."""
        return self.raised + self.lowered + self.upheld + self.invalidated


class DocumentPages(NamedTuple):
    """A document that an item rests on, and the pages in it; no pages where none is known."""

    name: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents that units rest on, as E edges ``unit[e]`` -> ``names[document[e]]``, each on
    ``pages[e]`` (empty where the page is not known). A unit may have several, or none. Documents
    of one title have different names. ``keys`` are what units share, by its name as in the table's
    ``key_names``: a fact's documents as indexes of ``names``, each with the page."""

    unit: NDArray[np.int32]
    document: NDArray[np.int32]
    pages: tuple[str, ...]
    names: tuple[str, ...]
    keys: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)

    def of_unit(self, unit: int) -> tuple[DocumentPages, ...]:
        """The documents of a unit with their pages, in the order of its facts."""
        edges = (self.unit == unit).nonzero()[0].tolist()
        return self._gathered((int(self.document[edge]), self.pages[edge]) for edge in edges)

    def of_key(self, name: str) -> tuple[DocumentPages, ...]:
        """The documents of what units share, with their pages; none where none is known."""
        return self._gathered(self.keys.get(name, ()))

    def _gathered(self, places: Iterable[tuple[int, str]]) -> tuple[DocumentPages, ...]:
        found: dict[str, dict[str, None]] = {}
        for document, page in places:
            pages = found.setdefault(self.names[document], {})
            pages |= {page: None} if page else {}
        return tuple(DocumentPages(name, tuple(pages)) for name, pages in found.items())


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of one measure as parallel arrays of length N (one row a unit, respondent, sample).

    ``unit`` indexes the U units, ``respondent`` the respondents, ``outcome`` the tuple OUTCOMES of
    records.results; ``value`` is NaN where the outcome carries none. ``answer`` codes into
    ``answers``. Per unit: ``item`` ids (U), ``strata`` level name -> code array (U) with
    ``stratum_names`` level name -> names, ``answer_key`` label code (U) into ``answer_keys``,
    ``n_options`` (U, 0 where the unit has none), ``form`` code (U) into ``forms``. ``cluster_unit``
    and ``cluster_key`` are the E edges from units to integer cluster keys, some of which have names
    (``key_names``): a fact's id as commands take it, or a cell of a file, of the columns
    ``key_columns``, of which items of our own have none. ``expected``
    (respondents) is how many rows each would have if complete; ``failed`` (respondents), how many
    of those short of it were tried and brought no reply. Such a one has no row: it is no score.
    ``roles`` say who
    had a hand in which units. ``corrections`` (respondents, or empty) count rulings that are
    applied here; ``n_excluded`` items of the sets were left out, and have no units here.
    ``item_names`` (U) are what a file of other people's results calls its items; empty for items of
    our own; ``item_texts`` (U) are their questions, where a column has them.
    ``tells_outcomes``: whether it is known how each reply ended; else all count as
    answered, and no rate of other outcomes is shown; ``unknown_outcomes`` are those that are not
    told even so (a log tells what was unparsed and not what was truncated). ``confidence``
    (N, in [0, 1]) is what was stated with each answer, ``tokens`` (N) how long each reply was; NaN
    where that is not known, None where it is known of none. ``order`` (N) codes into ``orders``, in
    which options were shown (-1 where it is not told); None where all items have one order. Where
    ``orders_spelled`` each is the letters of the original as shown (``CADB``), and answers and
    golds are letters of the original. ``groups`` and ``group_names`` are, as strata are, codes and
    names of other groups of units that scores are shown by, and ``level_names`` what their method
    calls strata. ``called`` says by which id the file of an imported form calls an item.
    ``documents`` are None where no unit rests on a known one.
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

    def of_parts(self) -> ScoreTable:
        """The table with nothing expected of what a limit left unasked."""
        unasked = [who.part.unasked if who.part else 0 for who in self.respondents]
        return replace(self, expected=self.expected - unasked) if any(unasked) else self

    def columns(self) -> Columns:
        """The scores by columns, one row each, in the table's order: who, which item and sample,
        outcome, value (NaN where the outcome carries none), what was read and what was right."""
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
        """``columns`` as a ``pyarrow.Table``."""
        return arrow_table(self.columns())

    def to_pandas(self) -> Any:
        """``columns`` as a ``pandas.DataFrame``."""
        return pandas_frame(self.columns())

    def to_polars(self) -> Any:
        """``columns`` as a ``polars.DataFrame``."""
        return polars_frame(self.columns())


def _coded(codes: NDArray[Any], names: Sequence[str]) -> Coded:
    """A coded column, each name once."""
    import numpy as np  # noqa: PLC0415

    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    again = np.array([places[name] for name in names], dtype=np.int32)
    return Coded(again[codes] if len(again) else codes, tuple(places))


# Labels of the same records by people and by a judge.


@dataclass(frozen=True, slots=True)
class Judged:
    """N records: ``people`` and ``judge`` (N) are codes into ``labels``, -1 where there is none;
    ``item`` (N) says which records are of one item, ``model`` (N) whose they are, into ``models``
    (-1 everywhere where that is not told). ``values`` (labels) are the labels as numbers,
    ascending; None where they are words. ``cluster_item`` and ``cluster_key`` are the edges from
    items to the keys that they share."""

    labels: tuple[str, ...]
    people: NDArray[np.int64]
    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    model: NDArray[np.int64]
    models: tuple[str, ...]
    values: NDArray[np.float64] | None
    cluster_item: NDArray[np.int64] | None = None
    cluster_key: NDArray[np.int64] | None = None


# A leaderboard of accuracies alone: models by strata, without the items behind them.

# What one printed number is checked by: a possible share k/n; a total of 100; a metric that follows
# from its parts; the overall from its groups; a difference of two columns; a rank; bounds.
Check = Literal["k/n", "count", "sum to 100", "CGA", "F", "F1", "overall", "CV", "range",
                "difference", "rank", "bounds", "standard error"]  # fmt: skip


class CheckDone(Struct, frozen=True, kw_only=True):
    """One check of one relation (``what``, as "F1 = 2PR / (P + R)"): how many printed numbers were
    checked, and how many do not fit. ``holds``: whether the relation holds in this table at all;
    where it does not, those that do not fit are no misprints."""

    check: Check
    what: str
    n: int
    off: int
    holds: bool = True


class Misprint(Struct, frozen=True, kw_only=True):
    """A printed number that cannot be right as the others stand: its ``row`` and ``cell`` (the
    column, or several of which one is wrong), what is ``printed`` there, what is ``recomputed``,
    and the ``allowed`` rounding."""

    row: str
    cell: str
    check: Check
    printed: str
    recomputed: str
    allowed: str


class PrintedColumn(Struct, frozen=True, kw_only=True):
    """A column that is shown as it is printed, a text for each model."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracies in [0, 1] of m models: ``value`` (m, s) in each of s strata, ``overall`` (m) as
    the source states it; NaN where it does not. ``counts`` (s) are the items of each stratum, 0
    where that is not known. ``by`` is what the strata are ("discipline").

    ``score`` is what the overall is called; ``is_mean``: whether it is a mean over items, as F1 is
    not. ``total`` are all items, where that is stated beside the strata; ``n_of`` (m) those of
    each model, ``stderr`` (m) the standard error of its overall, as stated, ``errors`` (m, s) those
    of the strata. ``metrics`` are shown and never averaged. ``checks`` and ``misprints`` are what
    the consistency checks found. ``cards`` are what is known of models, by their names. ``judge``
    is who graded all of them, where that is stated."""

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
        """All items; 0 where the number of any stratum is not known, or models have other numbers
        of items."""
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
    """N records by R annotators: ``ratings`` (N, R) are codes into ``labels``, -1 where one gave
    none; ``annotators`` (R) are their names, ``item`` (N) says which records are of one item.
    ``values`` (labels) are the labels as numbers, ascending; None where they are words.
    ``cluster_item`` and ``cluster_key`` are the edges from items to the keys that they share.
    ``model`` (N) are codes into ``models``, whose answers the records are: -1 or empty where that
    is not known."""

    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    ratings: NDArray[np.int32]
    item: NDArray[np.int64]
    values: NDArray[np.float64] | None
    cluster_item: NDArray[np.int64]
    cluster_key: NDArray[np.int64]
    models: tuple[str, ...] = ()
    model: NDArray[np.int64] | None = None


# A file's records by columns, every value a text and every text held once.


class TextCodes(dict[str, int]):
    """Gives each text a code in the order of its first coming; the empty text is -1, missing."""

    def __init__(self) -> None:
        super().__init__({"": -1})
        self.characters = 0

    def __missing__(self, text: str) -> int:
        self.characters += len(text)
        code = self[text] = len(self) - 1
        return code

    def names(self) -> tuple[str, ...]:
        """The texts by their codes."""
        return tuple(text for text in self if text)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """N records of the file ``name``: columns by their names in the file's order.

    ``codes`` of a column (N) index its ``names``, -1 where the cell is empty. ``lines`` (N) say
    where each record begins, counted in ``unit`` ("line", "row"). ``unread`` are columns whose
    texts are too long to hold and no key of anything: replies, prompts.
    """

    name: str
    columns: Mapping[str, Coded]
    lines: NDArray[np.int64]
    unit: str = "line"
    unread: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)


def coded_texts(texts: Sequence[str]) -> Coded:
    """A sequence of texts as a column; empty ones are missing."""
    import numpy as np  # noqa: PLC0415

    codes = TextCodes()
    column = np.fromiter(map(codes.__getitem__, texts), dtype=np.int32, count=len(texts))
    return Coded(column, codes.names())
