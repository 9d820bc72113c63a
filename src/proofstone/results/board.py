"""Frozen records of a leaderboard, shared by the terminal, JSON and the page."""

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
    """Share of ``n`` responses that had the outcome; ``share`` is NaN if ``n`` is 0."""

    outcome: str
    count: int
    n: int
    share: float


class NamedEstimate(Struct, frozen=True, kw_only=True):
    """An estimate with its level or measure, and its denominator in words.

    A measure with a ``label`` has a column in the terminal's leaderboard.
    """

    name: str
    denominator: str = ""
    label: str = ""
    estimate: Estimate

    @property
    def head(self) -> str:
        """Return the name for readers."""
        return self.label or self.name.replace("_", " ")


class Advice(Struct, frozen=True, kw_only=True):
    """A warning about a row and a suggested remedy."""

    what: str
    try_next: str


class SelfEvaluationRole(Struct, frozen=True, kw_only=True):
    """A role that ``model`` had in ``n_items`` of the row's items.

    ``is_itself``: ``model`` is the row's own model; otherwise it belongs to the same model family.
    """

    role: RoleName
    model: str
    is_itself: bool
    n_items: int


class SelfEvaluation(Struct, frozen=True, kw_only=True):
    """Self-evaluation: how the row's model or its family helped produce the row's items.

    ``n_self_evaluated`` counts these items. ``untouched`` is the estimate on the other items.
    ``rank`` is the rank on them among the ranked rows; None if unranked or if no item is left.
    """

    roles: tuple[SelfEvaluationRole, ...]
    n_self_evaluated: int
    untouched: Estimate
    rank: RankInterval | None = None


class BoardRow(Struct, frozen=True, kw_only=True):
    """One evaluated model with its settings and scores.

    ``estimate`` is either ``bank`` or ``knowledge``, as requested. For complete models it covers
    the ``estimate.n`` items that all of them share. An incomplete model is scored on its own items
    and samples, with ``bounds`` and without a rank. ``levels`` holds the same measure at each level
    of averaging. ``others`` holds the method's other measures over the model's own items.

    ``n_responses`` counts responses with a score, ``failed`` calls without a response, ``missing``
    all scores still expected. Of these ``unscored`` responses were received, and ``not_asked`` are
    of forms that the model was not asked. ``ties`` numbers (from 0) the groups of adjacent rows
    without significant differences. ``self_evaluation`` is None without any. ``corrections`` counts
    overridden scores. ``card`` is None if nothing is known about the model. ``spent`` is the usage
    of all billed calls, including unusable ones. ``pace`` is the number of questions answered and
    the speed. ``judge`` names the judges that graded the responses. ``part`` is the part of the
    form that a limit selected; items outside it are not missing. ``is_setting_shared``: all models
    of the leaderboard have this prompting method and these settings, and distinct names.
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
    unscored: int = 0
    not_asked: int = 0
    bounds: Bounds | None = None
    average: AverageAtK | None = None
    warnings: tuple[Advice, ...] = ()
    self_evaluation: SelfEvaluation | None = None
    corrections: Corrections = Corrections()
    card: Card | None = None
    spent: Spent = Spent()
    pace: Pace = Pace()
    judge: str = ""
    part: FormPart | None = None
    is_setting_shared: bool = False

    @property
    def is_complete(self) -> bool:
        """Return True if every expected response was received."""
        return self.bounds is None

    @property
    def label(self) -> str:
        """Return the name; with prompting method and settings unless all models share them."""
        return self.name if self.is_setting_shared else self.full_label

    @property
    def full_label(self) -> str:
        """Return the name, prompting method and settings, separated by spaces."""
        return " ".join(part for part in (self.name, self.prompt_method, self.settings) if part)

    def rate(self, outcome: str) -> Rate:
        """Return the rate of an outcome, or of "no answer" (refused, unparsed or truncated).

        Its ``n`` is 0 if outcomes were not recorded.
        """
        nothing = Rate(outcome=outcome, count=0, n=0, share=float("nan"))
        return next((rate for rate in self.rates if rate.outcome == outcome), nothing)


class GroupMeasure(Struct, frozen=True, kw_only=True):
    """Another measure in one group of items: one estimate per ranked row, in order."""

    name: str
    label: str
    estimates: tuple[Estimate, ...]


class BreakdownGroup(Struct, frozen=True, kw_only=True):
    """One group of items, such as a discipline or a position of the answer key.

    ``estimates`` holds the headline measure per ranked row, in order; ``others`` the other measures
    that are shown by group.
    """

    name: str
    n: int
    estimates: tuple[Estimate, ...]
    others: tuple[GroupMeasure, ...] = ()


class Breakdown(Struct, frozen=True, kw_only=True):
    """Means of the ranked models by group.

    ``by`` names the grouping: one of the method's, a stratum ``level`` under the method's name or
    its own, "gold position", "truth" or "document".
    """

    by: str
    groups: tuple[BreakdownGroup, ...]
    level: str = ""

    def is_named(self, name: str) -> bool:
        """Return True if ``name`` means this grouping; ``_`` and ``-`` match spaces."""
        plain = name.replace("_", " ").replace("-", " ")
        return plain in (self.by, self.level)

    @property
    def other_measures(self) -> tuple[GroupMeasure, ...]:
        """Return the other measures of the first group; all groups have the same ones."""
        return self.groups[0].others if self.groups else ()


class RowGroup(Struct, frozen=True, kw_only=True):
    """Models whose cards share a value.

    ``ranked`` and ``incomplete`` are indices into the standings. ``mean`` is the mean score of the
    ranked models on the items that they are ranked on. Its interval treats the models as fixed and
    the items as sampled. None if no model is ranked.
    """

    name: str
    ranked: tuple[int, ...]
    incomplete: tuple[int, ...] = ()
    mean: Estimate | None = None


class LeftOut(Struct, frozen=True, kw_only=True):
    """A model that a filter excluded from the leaderboard, and the value on its card."""

    name: str
    why: str


class Standings(Struct, frozen=True, kw_only=True):
    """Models that may be ranked against each other, either real or simulated ones.

    ``ranked`` is sorted by descending estimate; ``incomplete`` rows follow. ``compared`` holds all
    pairs of ``ranked`` by index. ``chance`` is NaN if guessing has no meaning. ``is_common``: all
    ranked rows are scored on the same items. If they share no item, each is scored on its own items
    and has no rank. ``is_paired``: ``compared`` is paired by item, which accuracies alone do not
    allow. ``groups`` holds every row once if the leaderboard is grouped.

    ``scale`` describes the scores if they are not comparable with those of other prompting methods.
    ``judge`` names the judge if other standings have other judges (empty: no judge); None if there
    is one set of judges. ``part``: these models were asked this part of the form, others another
    part or all of it. ``experiment``: models with settings that differ from the ranked ones; they
    have no ranks and are not compared. ``documents`` holds means by document, largest first; an
    item counts in each document that it comes from. None if documents are unknown or were not
    requested. ``people`` are results of people with the documents on the same items, not ranked;
    ``people_note`` says where they come from.
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
    people: tuple[NamedEstimate, ...] = ()
    people_note: str = ""

    @property
    def rows(self) -> tuple[BoardRow, ...]:
        """Return all rows, ranked ones first."""
        return (*self.ranked, *self.incomplete)

    @property
    def all_breakdowns(self) -> tuple[Breakdown, ...]:
        """Return ``breakdowns``, then ``documents``."""
        return (*self.breakdowns, *([] if self.documents is None else [self.documents]))

    @property
    def has_ranks(self) -> bool:
        """Return True if at least two rows are ranked against each other."""
        return len(self.ranked) > 1 and all(row.rank is not None for row in self.ranked)


class PlanMark(Struct, frozen=True, kw_only=True):
    """A preregistration in force.

    ``n_runs`` runs follow it; for ``n_after`` of them it was made after the first response.
    ``n_unplanned`` other runs have no such plan. ``resolves`` is the minimum detectable difference
    as a share.
    """

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
    """All models of a score table under one measure, target population and level of averaging.

    ``standings`` has real models first; empty groups are omitted. ``group_by`` is the card field
    that groups rows, ``where`` the filter, ``left_out`` the models that it excluded, ``notes``
    remarks about the cards. ``n_excluded`` items are excluded from all results.
    ``ignore_corrections``: overrides and exclusions are not applied. ``has_documents``: the
    documents of the items are known, so scores can be broken down by document. ``plans`` are the
    preregistrations of its runs. ``str()`` returns the terminal table.
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
        """Return all rows in the order of their standings."""
        return tuple(row for group in self.standings for row in group.rows)

    @property
    def is_corrected(self) -> bool:
        """Return True if a score was overridden or an item excluded."""
        return bool(self.n_excluded) or any(row.corrections.total for row in self.rows)

    @property
    def is_of_labels(self) -> bool:
        """Return True if only labels were read, so there is no measure and no ranking."""
        return not self.measure

    @property
    def is_simulated_only(self) -> bool:
        """Return True if all models are simulated."""
        return all(group.simulated for group in self.standings)

    def to_arrow(self) -> Any:
        """Return the leaderboard as a ``pyarrow.Table``, one row per model."""
        return arrow_table(self._columns())

    def to_pandas(self) -> Any:
        """Return the leaderboard as a ``pandas.DataFrame``, one row per model."""
        return pandas_frame(self._columns())

    def to_polars(self) -> Any:
        """Return the leaderboard as a ``polars.DataFrame``, one row per model."""
        return polars_frame(self._columns())

    def _columns(self) -> Columns:

        return board_columns(self)


# One row per model, for exports and data frames.


def board_rows(board: Board) -> list[dict[str, Any]]:
    """Return the rows of a leaderboard in order: ranked, then incomplete, for each group.

    Shares are in [0, 1]. Ranks are None for incomplete rows. Undefined values (NaN) are None.
    """
    return [
        {name: _known(value) for name, value in _row(board, group, row).items()}
        for group in board.standings
        for row in group.rows
    ]


def board_columns(board: Board) -> Columns:
    """Return ``board_rows`` as columns; missing values are None."""
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
        "unscored": row.unscored,
        "not_asked": row.not_asked,
        "failed": row.failed,
        **{rate.outcome: _count(rate.count) for rate in row.rates},
        **dict(_others(row)),
        "runs": " ".join(f"run:{run}" for run in row.runs),
    }


def _others(row: BoardRow) -> Iterator[tuple[str, float]]:
    """Yield the method's other measures and the means at other levels by name."""
    for other in row.others:
        yield other.name, other.estimate.value
    for level in row.levels:
        if level.name != "sample":
            yield f"mean by {level.name}", level.estimate.value


def _count(n: float) -> float:
    """Return a whole number as an int; fractional item counts stay floats."""
    return int(n) if n == int(n) else n


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
