"""What a leaderboard holds, as frozen records: terminal, JSON and page all show the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from proofstone.records.knowledge import RoleName
from proofstone.records.models import Card
from proofstone.records.runs import Estimate, FormPart, Pace, Scale, Spent
from proofstone.records.scores import Columns, Corrections, arrow_table, pandas_frame, polars_frame
from proofstone.stats.intervals import Bounds
from proofstone.stats.power import AverageAtK
from proofstone.stats.ranks import Comparison, RankInterval

# More than this share truncated or unparsed puts a warning on the row.
WARN_ABOVE = 0.02


class Rate(Struct, frozen=True, kw_only=True):
    """``count`` of ``n`` replies had the outcome; ``share`` is NaN where there is no reply."""

    outcome: str
    count: int
    n: int
    share: float


class NamedEstimate(Struct, frozen=True, kw_only=True):
    """An estimate with the level or measure that it is of, and its denominator in words."""

    name: str
    denominator: str = ""
    label: str = ""
    estimate: Estimate


class Advice(Struct, frozen=True, kw_only=True):
    """Something to know about a row before trusting it, and what to try."""

    what: str
    try_next: str


class HandRole(Struct, frozen=True, kw_only=True):
    """A role that ``model`` had in ``n_items`` of the row's items; ``is_itself``: it is the row's
    own model, else one of its family."""

    role: RoleName
    model: str
    is_itself: bool
    n_items: int


class Hand(Struct, frozen=True, kw_only=True):
    """What a row's model or its family did to the ``n_self_evaluated`` of its items that rest on
    it, and the row without those: its estimate on the others, and its rank there among the ranked
    rows (None where there is none, or nothing is left)."""

    roles: tuple[HandRole, ...]
    n_self_evaluated: int
    untouched: Estimate
    rank: RankInterval | None = None


class BoardRow(Struct, frozen=True, kw_only=True):
    """One respondent: who, how asked, and what it scored.

    ``estimate`` is the one of ``bank`` and ``knowledge`` that the leaderboard was asked for, over
    the ``estimate.n`` items common to all complete respondents; an incomplete one has its own
    items, sample-wise, ``bounds``, and no rank. ``levels`` are the same at each level of averaging,
    ``others`` the method's other measures over the respondent's own items. ``n_responses`` counts
    replies that came, ``failed`` calls that brought none, ``missing`` all that is short of
    complete. ``ties`` number the groups of neighbours (from 0) that the data cannot tell apart.
    ``hand`` is None where neither the model nor its family had one in the items; ``corrections``
    count the row's scores that people ruled on. ``card`` is what is known of the
    model; None where nothing is. ``spent`` is what its calls took when they were asked, also those
    that were billed and of no use; ``pace`` how many questions it answered and how fast.
    ``judge`` names the judges whose verdicts its scores are. ``part`` is what of the form a limit
    let it be asked; of the rest nothing is missing.
    """

    name: str
    prompt_method: str
    settings: str
    simulated: bool
    runs: tuple[str, ...]
    estimate: Estimate
    bank: Estimate
    knowledge: Estimate
    levels: tuple[NamedEstimate, ...] = ()
    others: tuple[NamedEstimate, ...] = ()
    rank: RankInterval | None = None
    ties: tuple[int, ...] = ()
    rates: tuple[Rate, ...] = ()
    n_responses: int = 0
    failed: int = 0
    missing: int = 0
    bounds: Bounds | None = None
    average: AverageAtK | None = None
    warnings: tuple[Advice, ...] = ()
    hand: Hand | None = None
    corrections: Corrections = Corrections()
    card: Card | None = None
    spent: Spent = Spent()
    pace: Pace = Pace()
    judge: str = ""
    part: FormPart | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every reply that was expected came."""
        return self.bounds is None

    @property
    def label(self) -> str:
        """The respondent as a sentence names it."""
        return " ".join(part for part in (self.name, self.prompt_method, self.settings) if part)

    def rate(self, outcome: str) -> Rate:
        """The rate of an outcome, or of "miss" (refused, unparsed or truncated); of 0 replies where
        it is not known how any ended."""
        nothing = Rate(outcome=outcome, count=0, n=0, share=float("nan"))
        return next((rate for rate in self.rates if rate.outcome == outcome), nothing)


class GroupMeasure(Struct, frozen=True, kw_only=True):
    """Another measure in one group of items: one estimate a ranked row, in order."""

    name: str
    label: str
    estimates: tuple[Estimate, ...]


class BreakdownGroup(Struct, frozen=True, kw_only=True):
    """One group of items (a discipline, an answer key position): one estimate per ranked row, in
    order, of
    the headline and of each of the ``others`` that are shown by group."""

    name: str
    n: int
    estimates: tuple[Estimate, ...]
    others: tuple[GroupMeasure, ...] = ()


class Breakdown(Struct, frozen=True, kw_only=True):
    """The ranked respondents' means by group: ``by`` is a grouping that the method names, a stratum
    ``level`` by the method's name for it or its own, "answer key position", "truth" or
    "document"."""

    by: str
    groups: tuple[BreakdownGroup, ...]
    level: str = ""

    def is_named(self, name: str) -> bool:
        """Whether a person's ``name`` means this one: spaces may be written ``_`` or ``-``."""
        plain = name.replace("_", " ").replace("-", " ")
        return plain in (self.by, self.level)

    @property
    def other_measures(self) -> tuple[GroupMeasure, ...]:
        """The other measures, as the first group has them."""
        return self.groups[0].others if self.groups else ()


class RowGroup(Struct, frozen=True, kw_only=True):
    """Respondents whose cards say the same: ``ranked`` and ``incomplete`` are places in the
    standings. ``mean`` is the mean over the ranked ones on the items that they are ranked on, its
    interval for these respondents and other items; None where nobody is ranked."""

    name: str
    ranked: tuple[int, ...]
    incomplete: tuple[int, ...] = ()
    mean: Estimate | None = None


class LeftOut(Struct, frozen=True, kw_only=True):
    """A model that a filter left out of the leaderboard, and what its card says instead."""

    name: str
    why: str


class Standings(Struct, frozen=True, kw_only=True):
    """Respondents that may be ranked against each other: real ones, or simulated ones.

    ``ranked`` is in falling order of the estimate. ``incomplete`` ones stand below. ``compared``
    holds all pairs of ``ranked`` (by place). ``chance`` is NaN where guessing has no meaning.
    ``is_common``: whether the ranked rows rest on the same items; if they share none, each has its
    own and no ranks. ``is_paired``: whether ``compared`` was found item by item, which accuracies
    alone do not allow. ``groups`` holds every row once, where the leaderboard is grouped. ``scale``
    says what the scores are where they do not compare with those of other ways of asking. ``judge``
    names whose verdicts they are where other standings are by other judges (empty: no judge's), and
    is None where there are no others. ``part``: all of these were asked this part of the form, and
    other standings another part or the whole. ``experiment``: models with other settings than those
    that are ranked; they have no ranks and are not compared. ``documents`` are the means by
    document, those of most items first; an item counts in each document that it rests on. None
    where no document is known, or where they were not asked for.
    """

    simulated: bool
    n_items: int
    is_common: bool
    ranked: tuple[BoardRow, ...]
    incomplete: tuple[BoardRow, ...]
    compared: tuple[Comparison, ...]
    ties: tuple[tuple[int, int], ...]
    chance: float
    chance_sentence: str
    breakdowns: tuple[Breakdown, ...] = ()
    documents: Breakdown | None = None
    groups: tuple[RowGroup, ...] = ()
    scale: Scale | None = None
    is_paired: bool = True
    judge: str | None = None
    part: FormPart | None = None
    experiment: bool = False

    @property
    def rows(self) -> tuple[BoardRow, ...]:
        """All respondents, those that are ranked first."""
        return (*self.ranked, *self.incomplete)

    @property
    def all_breakdowns(self) -> tuple[Breakdown, ...]:
        """``breakdowns``, then ``documents``."""
        return (*self.breakdowns, *([] if self.documents is None else [self.documents]))

    @property
    def has_ranks(self) -> bool:
        """Whether two rows or more are ranked against each other."""
        return len(self.ranked) > 1 and all(row.rank is not None for row in self.ranked)


class PlanMark(Struct, frozen=True, kw_only=True):
    """A plan in force. ``n_runs`` runs stand under it, of ``n_after`` of them it was made after the
    first reply; ``n_unplanned`` others have no such plan. ``resolves`` is a share."""

    id: str
    made_at: str
    measure: str
    population: str
    level: str
    confidence: float
    comparisons: tuple[tuple[str, str], ...]
    exclusions: tuple[str, ...]
    n_items: int
    samples: int
    stopping: str
    resolves: float | None
    n_runs: int
    n_after: int = 0
    n_unplanned: int = 0


class Board(Struct, frozen=True, kw_only=True):
    """All respondents of a score table under one measure, estimand and level of averaging.

    ``standings`` has the real respondents first; a group without respondents is left out.
    ``group_by`` is the field of the card that rows are grouped by,
    ``where`` the filter on it, ``left_out`` whom it left out, ``notes`` what to know of the cards.
    ``n_excluded`` items are left out of everything here; ``ignore_corrections``: nothing that
    people ruled or retired is applied. ``has_documents``: items rest on known documents, by which
    scores can be shown. ``plans`` are those that its runs were made under. As text it is the
    terminal's table.
    """

    measure: str
    denominator: str
    counts: tuple[tuple[str, str], ...]
    population: str
    level: str
    confidence: float
    n_items: int
    forms: tuple[str, ...]
    standings: tuple[Standings, ...]
    n_excluded: int = 0
    group_by: str = ""
    where: str = ""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    ignore_corrections: bool = False
    has_documents: bool = False
    plans: tuple[PlanMark, ...] = ()

    @property
    def rows(self) -> tuple[BoardRow, ...]:
        """All respondents in the order of their standings."""
        return tuple(row for group in self.standings for row in group.rows)

    @property
    def is_corrected(self) -> bool:
        """Whether some score here is as a person ruled, or some item was left out."""
        return bool(self.n_excluded) or any(row.corrections.total for row in self.rows)

    @property
    def is_of_labels(self) -> bool:
        """Whether there is no measure at all: labels alone were read, and nobody can be ranked."""
        return not self.measure

    @property
    def is_simulated_only(self) -> bool:
        """Whether no real respondent stands here at all."""
        return all(group.simulated for group in self.standings)

    def to_arrow(self) -> Any:
        """The leaderboard as a ``pyarrow.Table``, one row a respondent."""
        return arrow_table(self._columns())

    def to_pandas(self) -> Any:
        """The leaderboard as a ``pandas.DataFrame``, one row a respondent."""
        return pandas_frame(self._columns())

    def to_polars(self) -> Any:
        """The leaderboard as a ``polars.DataFrame``, one row a respondent."""
        return polars_frame(self._columns())

    def _columns(self) -> Columns:

        return board_columns(self)


# A leaderboard as one row a respondent: what is exported, and what becomes a data frame.


def board_rows(board: Board) -> list[dict[str, Any]]:
    """The rows of a leaderboard in its order: ranked, then incomplete, of each group.

    Shares are in [0, 1]; ranks are None for incomplete rows; what is undefined (NaN) is None.
    """
    return [
        {name: _known(value) for name, value in _row(board, group, row).items()}
        for group in board.standings
        for row in group.rows
    ]


def board_columns(board: Board) -> Columns:
    """The same by columns; every row has every name."""
    rows = board_rows(board)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _row(board: Board, group: Standings, row: BoardRow) -> dict[str, Any]:
    estimate = row.estimate
    return {
        "model": row.name,
        "prompt_method": row.prompt_method,
        "settings": row.settings,
        "judge": row.judge,
        "part": f"{row.part.n_asked} of {row.part.n_items}" if row.part else "",
        "simulated": row.simulated,
        "experiment": group.experiment,
        "complete": row.is_complete,
        "rank_low": row.rank.low if row.rank else None,
        "rank_high": row.rank.high if row.rank else None,
        "measure": board.measure,
        "level": board.level,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.level,
        "n": estimate.n,
        "effective_n": estimate.effective_n,
        "population": estimate.population,
        "chance": group.chance,
        "responses": row.n_responses,
        "missing": row.missing,
        "failed": row.failed,
        **{rate.outcome: _count(rate.count) for rate in row.rates},
        **dict(_others(row)),
        "runs": " ".join(f"run:{run}" for run in row.runs),
    }


def _others(row: BoardRow) -> Iterator[tuple[str, float]]:
    """The method's other measures, and the means at other levels, by name."""
    for other in row.others:
        yield other.name, other.estimate.value
    for level in row.levels:
        if level.name != "sample":
            yield f"mean by {level.name}", level.estimate.value


def _count(n: float) -> float:
    """A whole number as such; shares of items, where several units make one, stay as they are."""
    return int(n) if n == int(n) else n


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
