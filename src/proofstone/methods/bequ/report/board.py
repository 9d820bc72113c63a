"""The leaderboard of verified triples, as records that terminal, JSON, tables and page show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, structs

from proofstone.methods.bequ.verification.measures import (
    Counted,
    measure_all,
    measure_by,
    rank_by_f1,
    rankable,
)
from proofstone.methods.bequ.verification.people import PeopleSaid, checked_of, correct_by_people
from proofstone.methods.bequ.verification.records import (
    BREAKDOWNS,
    Breakdown,
    Group,
    Measured,
    VerifiedRuns,
    Volunteered,
)
from proofstone.records.models import Card
from proofstone.records.runs import Estimate
from proofstone.results.board import LeftOut
from proofstone.stats.ranks import RankInterval, share_estimate


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


# From verified triples to their leaderboard: measures, ranks that hold together, and ties.


def triple_board(
    verified: VerifiedRuns,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    by: Sequence[Breakdown] = BREAKDOWNS,
    cards: Mapping[str, Card] | None = None,
    people: Mapping[str, PeopleSaid] | None = None,
    ranked: Container[int] | None = None,
) -> TripleBoard:
    """The leaderboard of verified runs, its parts those ``by`` which it is asked for. Groups that
    are not among the ``ranked`` are experiments; without it, none is.

    Every triple is read once and counted, none is held. Models are ranked with models and simulated
    respondents with each other, each at ``confidence`` for all ranks together. What ``people`` said
    of some triples, by their ids, corrects the figures of the groups in which there are such; these
    are read again and held.
    """
    counted = count_verified(verified)
    parts = (
        part
        for name in by
        for part in measure_by(
            counted, verified.groups, verified.entities, name, seed=seed, confidence=confidence
        )
    )
    measured = measure_all(counted, verified.groups, seed=seed, confidence=confidence)
    groups = range(len(verified.groups))
    others = frozenset(n for n in groups if ranked is not None and n not in ranked)
    order = _ordered(verified, counted, measured, others, confidence=confidence, seed=seed)
    looked, elsewhere = _looked(verified, people or {}, seed)
    held = _Held(
        verified, measured, {} if cards is None else cards, looked, order, others, confidence
    )
    return TripleBoard(
        rows=tuple(held.row(group) for group in order.groups),
        parts=tuple(parts),
        ties=order.ties,
        entities=_number_of_entities(counted),
        judges=verified.judges,
        reference=verified.reference,
        sampling=verified.sampling,
        seed=seed,
        confidence=confidence,
        counts=_outcomes(measured),
        is_common=order.is_common,
        people_elsewhere=elsewhere,
    )


def count_verified(verified: VerifiedRuns) -> Counted:
    """All its triples as columns."""
    counted = Counted()
    for each in verified.read():
        counted.add(each)
    return counted


@dataclass(frozen=True, slots=True)
class _Order:
    """All groups in the order of rows, the ranks of those that have one, tied places, and in how
    many entities those differ that stand apart."""

    groups: tuple[int, ...]
    ranks: Mapping[int, RankInterval]
    ties: tuple[tuple[int, int], ...]
    elsewhere: Mapping[int, int]
    is_common: bool


def _ordered(
    verified: VerifiedRuns,
    counted: Counted,
    measured: Sequence[Measured],
    others: Container[int],
    *,
    confidence: float,
    seed: int,
) -> _Order:
    """All groups: models and then simulated ones, each in the order of their ranks; then those
    without a rank, by F1 and name."""
    able = rankable(counted, len(verified.groups))
    groups: list[int] = []
    ranks: dict[int, RankInterval] = {}
    ties: list[tuple[int, int]] = []
    elsewhere: dict[int, int] = {}
    is_common = True
    for simulated in (False, True):
        pool = [
            group
            for group in able
            if group not in others and _is_simulated(verified, group) == simulated
        ]
        ranked = rank_by_f1(counted, pool, confidence=confidence, seed=seed)
        ties += [(len(groups) + first, len(groups) + last) for first, last in ranked.ties]
        ranks |= dict(zip(ranked.groups, ranked.intervals, strict=ranked.is_common))
        groups += ranked.groups
        elsewhere |= ranked.elsewhere
        is_common &= ranked.is_common
    rest = [group for group in range(len(verified.groups)) if group not in groups]
    rest.sort(key=lambda group: (_is_simulated(verified, group), -_f1(measured[group])))
    return _Order((*groups, *rest), ranks, tuple(ties), elsewhere, is_common)


@dataclass(frozen=True, slots=True)
class _Held:
    """What rows are made from."""

    verified: VerifiedRuns
    measured: Sequence[Measured]
    cards: Mapping[str, Card]
    looked: Mapping[Group, PeopleLooked]
    order: _Order
    experiments: Container[int]
    confidence: float

    def row(self, group: int) -> TripleRow:
        """The row of a group."""
        who, said = self.verified.groups[group], self.verified.volunteered[group]
        place = self.order.groups.index(group)
        fictional = None
        if said.fictional:
            fictional = _share(said.fictional_given, said.fictional, self.confidence)
        return TripleRow(
            group=who,
            runs=tuple(run.hex() for run in self.verified.runs[group]),
            simulated=_is_simulated(self.verified, group),
            volunteered=said,
            measured=self.measured[group],
            abstention=_share(said.abstained, said.entities, self.confidence),
            fictional_given=fictional,
            rank=self.order.ranks.get(group),
            ties=tuple(
                tie for tie, (low, high) in enumerate(self.order.ties) if low <= place <= high
            ),
            waiting=sum(n.get("waiting", 0) for n in self.measured[group].counts.values()),
            other_entities=self.order.elsewhere.get(group, 0),
            experiment=group in self.experiments,
            card=self.cards.get(who.model),
            people=self.looked.get(who),
        )


def _looked(
    verified: VerifiedRuns, people: Mapping[str, PeopleSaid], seed: int
) -> tuple[dict[Group, PeopleLooked], int]:
    """What people's labels make of each group of which they saw something, and how many of them are
    on triples that are in none."""
    if not people:
        return {}, 0
    of = [(each.id, each.group) for each in verified.read() if each.id in people]
    seen = {group for _id, group in of}
    checked = (checked_of(each, people) for each in verified.read() if each.group in seen)
    corrected = correct_by_people(
        [each for each in checked if each is not None], verified.groups, seed=seed
    )
    found = {
        each.group: PeopleLooked(
            n=each.n_people, estimates=each.figures(), scattered=each.scattered
        )
        for each in corrected
    }
    return found, len(people) - len({identity for identity, _group in of})


def _is_simulated(verified: VerifiedRuns, group: int) -> bool:
    return verified.groups[group].model.startswith("sim/")


def _share(count: int, of: int, confidence: float) -> Estimate:
    """A share of entities, each of which was asked about once."""
    return share_estimate(count / of if of else float("nan"), of, confidence, of="entities")


def _f1(measured: Measured) -> float:
    found = measured.estimates.get("f1")
    return -1.0 if found is None else found.value


def _number_of_entities(counted: Counted) -> int:
    import numpy as np  # noqa: PLC0415

    return len(np.unique(counted.column("entity")))


def _outcomes(measured: Iterable[Measured]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in measured:
        for counts in each.counts.values():
            found.update(counts)
    return dict(sorted(found.items()))
