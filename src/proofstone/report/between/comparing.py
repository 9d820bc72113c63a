"""Two sides become a comparison, pair by pair on common items: one pure function."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Estimand,
    SharedKeys,
    SignFlip,
    compare_pair,
    disjoint_clusters,
    equal_weights,
    estimand_name,
    holm,
    mcnemar,
    mean_estimates,
    measure_spread,
    resolution_after,
    sign_flip,
)
from proofstone.errors import BadUsage
from proofstone.records.results import values_kind
from proofstone.report.between.changes import attribute, changes_between, is_same_run
from proofstone.report.between.compared import Compared, Difference, Moved, PairCompared, Party
from proofstone.report.between.side import Common, Side, common_items
from proofstone.wording import counted

__all__ = ["Ask", "Paired", "compare_sides", "pair_values"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ask:
    """How two sides are compared."""

    estimand: Estimand = "knowledge"
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Paired:
    """The two columns of values on the common units that both have scores of, what these units
    share, and their places among B's units."""

    first: Floats
    second: Floats
    keys: SharedKeys
    units: NDArray[np.int64]
    unscored: int


def compare_sides(before: Side, after: Side, ask: Ask) -> Compared:
    """Every pair of respondents that belong together: the only one of each side, else those of one
    name, way and settings.

    Raises BadUsage where no two belong together, or all that do are the same runs.
    """
    common = common_items(before, after)
    places, alone = _pairs(before, after)
    pairs = [_pair(before, after, a, b, common, ask) for a, b in places]
    if all(is_same_run(pair.before, pair.after, pair.changes) for pair in pairs):
        raise BadUsage(
            f"A and B are the same: {after.shown.name}; no difference is possible",
            hint="name another run, form or bank as one of the two",
        )
    return Compared(
        before=before.shown,
        after=after.shown,
        measure=after.measure.name,
        denominator=after.measure.denominator,
        estimand=estimand_name(ask.estimand),
        confidence=ask.confidence,
        pairs=tuple(_corrected(pairs)),
        unpaired=alone,
        seed=ask.seed,
    )


def pair_values(before: Side, after: Side, a: int, b: int, common: Common) -> Paired:
    """The values of two respondents on the common units, those without a score left out."""
    first, second = before.sheet.values[common.before, a], after.sheet.values[common.after, b]
    kept = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    return Paired(
        first=first[kept],
        second=second[kept],
        keys=common.keys.among(kept),
        units=common.after[kept],
        unscored=len(first) - len(kept),
    )


def _pairs(before: Side, after: Side) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    if len(before.parties) == len(after.parties) == 1:
        return [(0, 0)], ()
    places: dict[tuple[str, str, str], list[int]] = {}
    for at, party in enumerate(before.parties):
        places.setdefault((party.name, party.way, party.settings), []).append(at)
    keys = [(p.name, p.way, p.settings) for p in after.parties]
    found = [
        (_of_one_judge(before, places[key], after.parties[at]), at)
        for at, key in enumerate(keys)
        if key in places
    ]
    if not found:
        raise BadUsage(
            "no respondent of one stands on the other side, so there are no pairs",
            hint=f"name one run of each; {_listed('A', before)}; {_listed('B', after)}",
        )
    paired = {a for a, _b in found}
    alone = [f"{p.label} (only in A)" for at, p in enumerate(before.parties) if at not in paired]
    alone += [
        f"{p.label} (only in B)"
        for p, key in zip(after.parties, keys, strict=True)
        if key not in places
    ]
    return found, tuple(alone)


def _of_one_judge(before: Side, places: Sequence[int], party: Party) -> int:
    """Of several places of one respondent the one that the party's judge graded, else the first."""
    judge = party.made.get("judge", "")
    same = [at for at in places if before.parties[at].made.get("judge", "") == judge]
    return (same or places)[0]


def _listed(name: str, side: Side) -> str:
    labels = ", ".join(party.label for party in side.parties[:4])
    more = f" and {len(side.parties) - 4} more" if len(side.parties) > 4 else ""
    return f"{name} has {labels}{more}"


def _pair(before: Side, after: Side, a: int, b: int, common: Common, ask: Ask) -> PairCompared:
    first, second = before.parties[a], after.parties[b]
    changes = changes_between(first, second, common)
    paired = pair_values(before, after, a, b, common)
    pair = PairCompared(
        before=first,
        after=second,
        changes=changes,
        means=attribute(first, second, changes),
        cannot=tuple(_cannot(before, after, a, b, common, paired)),
        n_common=len(common.after),
        only_before=common.only_before,
        only_after=common.only_after,
        renewed=common.renewed,
        unscored=paired.unscored,
    )
    if (
        not len(paired.first)
        or not _means_the_same(before, after, a, b)
        or _has_other_judge(first, second)
    ):
        return structs.replace(pair, means="")
    if is_same_run(first, second, changes):
        return structs.replace(pair, means="", cannot=(pair.means, *pair.cannot))
    won, lost = _moved(before, after, a, b, common, paired)
    return structs.replace(pair, difference=_difference(paired, ask), won=won, lost=lost)


def _means_the_same(before: Side, after: Side, a: int, b: int) -> bool:
    kinds = {values_kind(side.scale(at)) for side, at in ((before, a), (after, b))}
    return len(kinds) == 1 and not _other_method(before, after)


def _has_other_judge(first: Party, second: Party) -> bool:
    """Return True if different judges graded the two. Of the same runs it is the judges that are
    compared, on the same responses."""
    judges = [party.made.get("judge", "") for party in (first, second)]
    is_same = bool(first.runs) and first.runs == second.runs
    return all(judges) and judges[0] != judges[1] and not is_same


def _other_method(before: Side, after: Side) -> bool:
    return bool(before.method and after.method) and before.method != after.method


def _cannot(
    before: Side, after: Side, a: int, b: int, common: Common, paired: Paired
) -> Iterator[str]:
    """What of the two cannot be compared, and why."""
    if _other_method(before, after):
        yield f"A was scored by {before.method}, B by {after.method}: their scores do not compare."
    elif not _means_the_same(before, after, a, b):
        names = [
            values_kind(side.scale(at)) or "the items' own scale"
            for side, at in ((before, a), (after, b))
        ]
        yield (
            f"Their scores are on different scales (A: {names[0]}; B: {names[1]}), so a difference "
            "has no meaning."
        )
    parties = before.parties[a], after.parties[b]
    if _has_other_judge(*parties):
        judges = [party.made["judge"] for party in parties]
        yield (
            f"Different judges graded them (A: {judges[0]}; B: {judges[1]}). Their verdicts are "
            "not comparable, so a difference in scores has no meaning: grade both with the same "
            "judge."
        )
    if not len(common.after):
        yield "They have no item in common, so nothing can be paired."
    elif not len(paired.first):
        yield "No item that both have has a score on both sides."
    for name, party in (("A", before.parties[a]), ("B", after.parties[b])):
        if not party.is_complete:
            short = counted(party.missing, "reply", "replies")
            yield (
                f"{name} is incomplete, {short} short: what is missing may be the hard part, so "
                "the difference holds only for the items that have scores."
            )


def _difference(paired: Paired, ask: Ask) -> Difference:
    both = np.column_stack([paired.first, paired.second])
    weights, keys = equal_weights(len(both)), paired.keys
    found = compare_pair(
        paired.first, paired.second, keys, estimand=ask.estimand, confidence=ask.confidence
    )
    before, after = mean_estimates(
        both, weights, keys, estimand=ask.estimand, confidence=ask.confidence
    )
    spread = measure_spread(both, weights, keys, ask.estimand)
    return Difference(
        before=before,
        after=after,
        estimate=found.estimate,
        p=found.p,
        p_holm=found.p,
        mcnemar=mcnemar(paired.second, paired.first),
        permutation=_permutation(paired, ask),
        resolves=resolution_after(spread, confidence=ask.confidence),
        rises=found.rises,
        falls=found.falls,
        level=found.level,
    )


def _permutation(paired: Paired, ask: Ask) -> SignFlip | None:
    if ask.estimand == "bank" or not len(paired.keys.unit):
        return sign_flip(paired.second, paired.first, seed=ask.seed)
    clusters = disjoint_clusters(paired.keys)
    if clusters is None:
        return None
    return sign_flip(paired.second, paired.first, clusters, seed=ask.seed)


def _moved(
    before: Side, after: Side, a: int, b: int, common: Common, paired: Paired
) -> tuple[tuple[Moved, ...], tuple[Moved, ...]]:
    """The units that rose and those that fell, the largest moves first, then in B's order."""
    rise = paired.second - paired.first
    order = np.argsort(-np.abs(rise), kind="stable").tolist()
    was = dict(zip(common.after.tolist(), common.before.tolist(), strict=True))
    moved = [
        (
            rise[at] > 0,
            Moved(
                item=after.item_names[int(paired.units[at])],
                before=float(paired.first[at]),
                after=float(paired.second[at]),
                before_ended=before.ended(was[int(paired.units[at])], a),
                after_ended=after.ended(int(paired.units[at]), b),
            ),
        )
        for at in order
        if rise[at] != 0
    ]
    won = tuple(item for up, item in moved if up)
    return won, tuple(item for up, item in moved if not up)


def _corrected(pairs: Sequence[PairCompared]) -> Iterator[PairCompared]:
    """The pairs with their p-values corrected for all that could be compared (Holm)."""
    p = np.array([pair.difference.p for pair in pairs if pair.difference is not None])
    adjusted = iter(holm(p).tolist() if len(p) else [])
    for pair in pairs:
        if pair.difference is None:
            yield pair
            continue
        p_holm = next(adjusted, math.nan)
        yield structs.replace(pair, difference=structs.replace(pair.difference, p_holm=p_holm))
