"""The leaderboard of verified triples, as records that terminal, JSON, tables and page show."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, structs

from proofstone.engines.stats import RankInterval
from proofstone.records.cards import Card
from proofstone.records.results import Estimate
from proofstone.records.triples import Group, Measured, Volunteered
from proofstone.report.board import LeftOut

__all__ = ["PeopleLooked", "TripleBoard", "TripleRow", "without_shared_setting"]


class PeopleLooked(Struct, frozen=True, kw_only=True):
    """What people's labels make of a row: ``n`` of them by direction. ``estimates`` holds
    precision, recall and f1 corrected for the judge's errors, the judge's agreement with them and
    kappa, the recall of the corpus itself and true_share, as far as each could be made; those of
    a ``scattered`` direction rest on labels that are not on the triples drawn first."""

    n: Mapping[str, int]
    estimates: Mapping[str, Estimate]
    scattered: tuple[str, ...] = ()


class TripleRow(Struct, frozen=True, kw_only=True):
    """A model in one setting. ``measured`` holds F1, precision, recall and what stands beside them,
    ``abstention`` the share of entities of which it said that it knows nothing, and
    ``fictional_given`` the share of fictional entities that got triples (None where none was asked
    about). ``rank`` is None where it cannot be ranked: nothing of one direction was judged, some of
    its triples are ``waiting`` for a judge, or it was not held against the entities that most rows
    were held against, but against ``other_entities`` so many fewer or more. Simulated rows are
    ranked among themselves. ``ties`` are the numbers of those of the board that it is in;
    ``config`` is the hash of how it was asked. An ``experiment`` is asked otherwise than
    the setting that is ranked: it has no rank and stands below."""

    group: Group
    runs: tuple[str, ...]
    simulated: bool
    volunteered: Volunteered
    measured: Measured
    abstention: Estimate
    fictional_given: Estimate | None = None
    rank: RankInterval | None = None
    ties: tuple[int, ...] = ()
    waiting: int = 0
    other_entities: int = 0
    experiment: bool = False
    config: str = ""
    card: Card | None = None
    people: PeopleLooked | None = None

    @property
    def stands_apart(self) -> bool:
        """Whether it has no place among the rows of its kind, ranked or not."""
        return (
            bool(self.waiting or self.other_entities or self.experiment)
            or "f1" not in self.measured.estimates
        )

    @property
    def label(self) -> str:
        """The row as a sentence names it."""
        return " ".join(part for part in (self.group.model, self.group.setting) if part)


class TripleBoard(Struct, frozen=True, kw_only=True):
    """All rows in falling order of F1, over ``entities`` in the samples: those of models, then
    simulated ones, then those that cannot be ranked. ``parts`` are the measures of each group by
    domain, popularity, source and predicate family. ``ties`` are runs [first, last] of places in
    ``rows`` that the data cannot tell apart. ``counts`` are of all verified triples, by outcome.
    Without ``is_common`` no two rows were held against the same entities, and nobody is ranked.
    ``group_by``, ``where``, ``left_out`` and ``notes`` are of the models' cards, as on other
    leaderboards; ``people_elsewhere`` counts people's labels on triples that are in no row."""

    rows: tuple[TripleRow, ...]
    parts: tuple[Measured, ...]
    ties: tuple[tuple[int, int], ...]
    entities: int
    judges: str
    reference: str
    sampling: str
    seed: int
    confidence: float = 0.95
    counts: Mapping[str, int] = {}
    is_common: bool = True
    group_by: str = ""
    where: str = ""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    people_elsewhere: int = 0

    @property
    def setting(self) -> str:
        """The setting that all rows share; empty where they differ."""
        (setting, *others) = {row.group.setting for row in self.rows} or {""}
        return "" if others else setting

    def row_of(self, group: Group) -> TripleRow | None:
        """The row of a group."""
        return next((row for row in self.rows if row.group == group), None)


def without_shared_setting(board: TripleBoard) -> TripleBoard:
    """The board with rows named by their models alone, where all were asked in one setting."""
    if not board.setting:
        return board
    return structs.replace(
        board,
        rows=tuple(structs.replace(row, group=Group(row.group.model)) for row in board.rows),
        parts=tuple(structs.replace(part, group=Group(part.group.model)) for part in board.parts),
    )
