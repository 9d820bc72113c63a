"""The shortlist and the final set of a discipline, with its certificate (appendix B)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import QuotasConflict
from proofstone.methods.kina.centrality.labels import (
    Agreement,
    ItemLabel,
    PairLabel,
    expert_agreement,
)
from proofstone.methods.kina.centrality.settings import Settings, variants
from proofstone.methods.kina.centrality.support import Pool, Reliability, Support, support
from proofstone.selection.certificate import Certificate, certify
from proofstone.selection.choose import How, Selection, select
from proofstone.selection.limits import AtMost, Quota
from proofstone.selection.objective import Coverage, coverage
from proofstone.stats.calibration import calibrate

Ints = NDArray[np.int64]

ANCHOR, FOR_PEOPLE = "anchor", "left to people"
UNALIGNED, UNSUPPORTED, DIFFICULTY = "weak alignment", "weak support", "difficulty outside I"
NOT_CHOSEN = "not selected"
REASONS = (ANCHOR, FOR_PEOPLE, UNALIGNED, UNSUPPORTED, DIFFICULTY, NOT_CHOSEN)

UNCOVERED = 0.5  # of an anchor or reference, our choice
_BINS = 5


class Calibrated(Struct, frozen=True, kw_only=True):
    """How reliable a calibrator is, on labels that it did not see.

    ``brier`` is the mean squared difference of probability and label, ``brier_by_rate`` that of the
    share of positive labels; ``ece`` over five bins and ``ece_by_chance`` its mean if calibrated.
    """

    what: str
    n: int
    positive: float
    brier: float
    brier_by_rate: float
    ece: float
    ece_by_chance: float


class Variant(Struct, frozen=True, kw_only=True):
    """What one changed setting does: sizes, and how much of the selection stays.

    Choices are compared with the one that greedy makes without the change. ``shared`` is the share
    of its questions that are chosen here too; ``retained`` the value of this choice under the
    unchanged objective, relative to that one. None if no choice is possible, for the reason in
    ``trouble``.
    """

    setting: str
    value: str
    n_bank: int
    n_shortlist: int
    shared: float | None = None
    retained: float | None = None
    trouble: str = ""


class AnchorCover(Struct, frozen=True):
    """An anchor, and the largest S of a chosen question with it."""

    anchor: str
    covered: float


class Report(Struct, frozen=True, kw_only=True):
    """All that is stated of one discipline: sizes, agreement, calibration and certificate."""

    discipline: str
    settings: Settings
    n_pool: int
    n_aligned: int
    n_bank: int
    n_shortlist: int
    has_panel: bool
    prototype_agreement: dict[str, float]
    agreement: tuple[Agreement, ...]
    calibration: tuple[Calibrated, ...]
    anchors: tuple[AnchorCover, ...]
    certificate: dict[str, Any]
    sensitivity: tuple[Variant, ...]


class ForPeople(Struct, frozen=True):
    """A discipline whose questions nothing was computed of, and the reason."""

    discipline: str
    n: int
    why: str


class Discipline(Struct, frozen=True, kw_only=True):
    """A pool with what its experts labeled, and the number of questions to choose."""

    pool: Pool
    items: tuple[ItemLabel, ...]
    pairs: tuple[PairLabel, ...]
    size: int

    @property
    def name(self) -> str:
        """The discipline as its prototype spells it."""
        return self.pool.prototype.discipline


class Chosen(Struct, frozen=True, kw_only=True):
    """The choice within a discipline: places in the order of gains, and why others are not."""

    places: tuple[int, ...]
    gains: tuple[float, ...]
    dropped: dict[int, tuple[str, str]]
    found: Any  # Support
    report: Report | None


def represent(
    discipline: Discipline, settings: Settings, *, seed: int = 0, sensitivity: bool = True
) -> Chosen:
    """Choose the questions of a discipline. Raises QuotasConflict with the limits in conflict."""
    pool = discipline.pool
    found = support(pool, discipline.items, discipline.pairs, settings, seed=seed)
    dropped, shortlist = refused(found), shortlist_of(found)
    if found.empty:
        return Chosen(places=(), gains=(), dropped=dropped, found=found, report=None)
    objective = _objective(found, shortlist)
    try:
        chosen = _selected(found, objective, shortlist, discipline.size)
    except QuotasConflict as conflict:
        conflict.add_note(f"discipline {discipline.name}")
        raise
    at = {identity: place for place, identity in enumerate(pool.ids)}
    places = tuple(at[item] for item in chosen.items)
    value = f"not among the {len(places)} chosen"
    dropped |= {row: (NOT_CHOSEN, value) for row in shortlist.tolist() if row not in places}
    report = _report(discipline, found, objective, chosen, len(shortlist))
    if sensitivity:
        changed = tuple(_variants(discipline, found, settings, seed))
        report = msgspec.structs.replace(report, sensitivity=changed)
    return Chosen(places=places, gains=chosen.gains, dropped=dropped, found=found, report=report)


def refused(found: Support) -> dict[int, tuple[str, str]]:
    """Return why each question is not on the shortlist, by its place.

    Kept are non-anchors whose lower quantiles reach alpha_a and alpha_c, and whose difficulty is
    within I. Without a panel the last condition does not apply.
    """
    settings, difficulty = found.settings, found.difficulty()
    bars = settings.alpha_a, settings.alpha_c
    dropped, anchors = {}, found.pool.is_anchor
    for at in range(len(found.pool.ids)):
        a, c, d = found.alignment_low[at], found.centrality_low[at], difficulty[at]
        if found.empty:
            dropped[at] = (FOR_PEOPLE, found.empty)
        elif anchors[at]:
            dropped[at] = (ANCHOR, "a reference for comparisons, never a candidate")
        elif a < bars[0]:
            dropped[at] = (UNALIGNED, f"lower quantile of A {a:.3f}, below {bars[0]:g}")
        elif c < bars[1]:
            dropped[at] = (UNSUPPORTED, f"lower quantile of C {c:.3f}, below {bars[1]:g}")
        elif d < settings.least_wrong or d > settings.most_wrong:
            within = f"{settings.least_wrong:g} to {settings.most_wrong:g}"
            dropped[at] = (DIFFICULTY, f"{d:.0%} of the panel wrong, not within {within}")
    return dropped


def shortlist_of(found: Support) -> Ints:
    """Return the places of the shortlist, ascending; none if nothing was computed."""
    dropped = refused(found)
    return np.array([at for at in range(len(found.pool.ids)) if at not in dropped], dtype=np.int64)


def _objective(found: Support, rows: Ints) -> Coverage:
    ids = found.pool.ids
    return coverage(
        [ids[at] for at in rows.tolist()], [ids[at] for at in found.bank.tolist()],
        found.scores(rows), found.mu,
    )  # fmt: skip


def _selected(
    found: Support, objective: Coverage, rows: Ints, size: int, how: How = "auto"
) -> Selection:
    pool = found.pool
    strata = pool.strata(found.settings.stratum)
    groups = {pool.ids[at]: strata[at] for at in rows.tolist()}
    bounds = pool.prototype.quotas
    quotas = [Quota(found.settings.stratum, groups, bounds)] if bounds else []
    return select(objective, size, quotas=quotas, duplicates=near_duplicates(found, rows), how=how)


def near_duplicates(found: Support, rows: Ints) -> list[AtMost]:
    """Return the pairs of these questions whose U is above tau_dup."""
    limits: list[AtMost] = []
    for number, one in enumerate(rows.tolist()):
        others = rows[number + 1 :]
        pairs = np.column_stack([np.full(len(others), one), others])
        risk = found.duplicate(pairs)
        limits += [
            AtMost((found.pool.ids[one], found.pool.ids[other]))
            for other in others[risk > found.settings.tau_dup].tolist()
        ]
    return limits


def _report(
    discipline: Discipline,
    found: Support,
    objective: Coverage,
    chosen: Selection,
    n_shortlist: int,
) -> Report:
    pool = discipline.pool
    return Report(
        discipline=discipline.name,
        settings=found.settings,
        n_pool=len(pool.ids),
        n_aligned=found.n_aligned,
        n_bank=len(found.bank),
        n_shortlist=n_shortlist,
        has_panel=any(row.wrong is not None for row in pool.rows),
        prototype_agreement=dict(pool.prototype.agreement),
        agreement=_agreements(discipline),
        calibration=tuple(map(_calibrated, found.reliability)),
        anchors=_anchors(found, chosen.items),
        certificate=msgspec.to_builtins(_certificate(discipline, found, objective, chosen)),
        sensitivity=(),
    )


def _certificate(
    discipline: Discipline, found: Support, objective: Coverage, chosen: Selection
) -> Certificate:
    """Return the certificate; concepts are the principles and methods of the prototype."""
    pool = found.pool
    references = {pool.ids[at] for at in found.bank.tolist()}
    about: dict[str, list[str]] = {}
    for kind, names in (
        ("principle", pool.prototype.lists.principles),
        ("method", pool.prototype.lists.methods),
    ):
        for name in names:
            about[f"{kind}: {name}"] = [
                identity
                for identity, row in zip(pool.ids, pool.rows, strict=True)
                if getattr(row.signature, kind) == name
            ]
    return certify(
        objective,
        chosen,
        group=discipline.name,
        threshold=UNCOVERED,
        concepts=_among(about, references),
        items_about=_among(about, set(objective.items)),
    )


def _among(about: Mapping[str, Sequence[str]], ids: Collection[str]) -> dict[str, list[str]]:
    return {name: [each for each in named if each in ids] for name, named in about.items()}


def _agreements(discipline: Discipline) -> tuple[Agreement, ...]:
    pairs = discipline.pairs
    return (
        expert_agreement("aligned", [(e.id, e.expert, e.aligned) for e in discipline.items]),
        expert_agreement("support", [((e.id, e.other), e.expert, e.support) for e in pairs]),
        expert_agreement("duplicate", [((e.id, e.other), e.expert, e.duplicate) for e in pairs]),
    )


def _calibrated(found: Reliability) -> Calibrated:
    rate = float(found.labels.mean())
    seen = calibrate(found.values, found.labels, n_bins=_BINS, n_resamples=200)
    return Calibrated(
        what=found.what, n=len(found.labels), positive=rate,
        brier=float(((found.values - found.labels) ** 2).mean()), brier_by_rate=rate * (1 - rate),
        ece=seen.ece.value, ece_by_chance=seen.ece_by_chance,
    )  # fmt: skip


def _anchors(found: Support, items: Sequence[str]) -> tuple[AnchorCover, ...]:
    """Return the anchors, least covered first."""
    pool, chosen = found.pool, set(items)
    best = dict.fromkeys(pool.anchors.tolist(), 0.0)
    for (one, other), score in zip(found.pairs.tolist(), found.score.tolist(), strict=True):
        for anchor, item in ((one, other), (other, one)):
            if anchor in best and pool.ids[item] in chosen:
                best[anchor] = max(best[anchor], score)
    return tuple(
        AnchorCover(pool.ids[at], covered)
        for at, covered in sorted(best.items(), key=lambda each: (each[1], each[0]))
    )


def _variants(
    discipline: Discipline, base: Support, settings: Settings, seed: int
) -> Iterator[Variant]:
    places, _none = _greedy(base, shortlist_of(base), discipline.size)
    every = _objective(base, np.arange(len(base.pool.ids)))
    whole = every.value(places)
    has_panel = any(row.wrong is not None for row in base.pool.rows)
    for name, value, changed in variants(settings, panel=has_panel):
        other = support(base.pool, discipline.items, discipline.pairs, changed, seed=seed)
        rows = shortlist_of(other)
        kept, trouble = _greedy(other, rows, discipline.size)
        yield Variant(
            setting=name,
            value=value,
            n_bank=len(other.bank),
            n_shortlist=len(rows),
            shared=None if trouble else len(set(kept) & set(places)) / len(places),
            retained=None if trouble or not whole else every.value(kept) / whole,
            trouble=trouble,
        )


def _greedy(found: Support, rows: Ints, size: int) -> tuple[list[int], str]:
    """Return the places of greedy's choice, or why there is none."""
    if found.empty:
        return [], found.empty
    try:
        chosen = _selected(found, _objective(found, rows), rows, size, "greedy")
    except QuotasConflict as conflict:
        return [], " ".join(str(conflict).split())
    return [found.pool.ids.index(item) for item in chosen.items], ""
