"""Two runs whose triples were verified alike: by how much their F1, precision and recall differ."""

from __future__ import annotations

from proofstone.engines.stats import compare_spread
from proofstone.engines.store import Store
from proofstone.errors import BadUsage, NotFound
from proofstone.methods.bequ.verification import (
    held_elsewhere,
    measure_all,
    rankable,
    spreads_of,
)
from proofstone.ports import Method, Verifies
from proofstone.records.triples import VerifiedRuns
from proofstone.report.between import RateCompared, TriplesCompared
from proofstone.stages.corrected import View
from proofstone.stages.summarise import Selection
from proofstone.stages.triple_boards import count_verified
from proofstone.stages.verified_runs import read_verified

__all__ = ["compare_triples"]

_NAMES = {"f1": "F1", "precision": "precision", "recall": "recall"}


def compare_triples(
    store: Store,
    method: Method,
    selection: Selection,
    before: bytes,
    after: bytes,
    view: View,
    *,
    confidence: float,
    seed: int,
) -> TriplesCompared | None:
    """The run ``after`` against the run ``before``, both of ``selection``. None where neither is
    verified, or replies hold nothing to verify; where they cannot be compared it says why."""
    if not isinstance(method, Verifies):
        return None
    try:
        verified = read_verified(store, method, selection, view)
    except NotFound:
        return None
    except BadUsage as problem:
        return TriplesCompared(cannot=str(problem))
    places = [_group_of(verified, run) for run in (before, after)]
    if places[0] == places[1]:
        return TriplesCompared(cannot="both were asked of the same model in the same way")
    return _compared(verified, places, confidence, seed)


def _group_of(verified: VerifiedRuns, run: bytes) -> int:
    return next(place for place, runs in enumerate(verified.runs) if run in runs)


def _compared(
    verified: VerifiedRuns, places: list[int], confidence: float, seed: int
) -> TriplesCompared:
    counted = count_verified(verified)
    able = rankable(counted, len(verified.groups))
    lacking = [name for name, place in zip("AB", places, strict=True) if place not in able]
    if lacking:
        return TriplesCompared(cannot=f"{' and '.join(lacking)}: not verified both ways")
    differ = held_elsewhere(counted, places)
    if differ:
        n = max(differ.values())
        return TriplesCompared(cannot=f"they were held against other entities: {n:,} differ")
    spreads = spreads_of(counted, places)
    measured = measure_all(counted, verified.groups, seed=seed, confidence=confidence)
    found = []
    for name, label in _NAMES.items():
        sides = [measured[place].estimates[name] for place in places]
        estimate, p = compare_spread(spreads[name], clusters="entities", confidence=confidence)
        found.append(
            RateCompared(
                name=label,
                before=sides[0],
                after=sides[1],
                estimate=estimate,
                p=p,
            )
        )
    return TriplesCompared(
        rates=tuple(found),
        judges=verified.judges,
        reference=verified.reference,
        sampling=verified.sampling,
        entities=spreads["f1"].n_units,
        unparsed=tuple(
            (estimates["unparsed"].value, estimates["recall_unparsed"].value)
            for estimates in (measured[place].estimates for place in places)
        ),
    )
