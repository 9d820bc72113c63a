"""What is known about a selection: its value, the most possible, and what it leaves uncovered."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.selection.bounds import PROGRAM_SECONDS, upper_bound
from proofstone.selection.choose import Selection
from proofstone.selection.objective import Coverage, Floats

DIGITS = 4  # of the ratio
NEXT = 10  # references that the next item should be about


@dataclass(frozen=True, slots=True)
class Pick:
    """A chosen item, its marginal gain, and F of it and the items before it."""

    item: str
    gain: float
    value: float


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference: its weight mu, its coverage max c in [0, 1], and mu * (1 - max c).

    ``best`` is the candidate outside the selection that covers it best, and ``best_score`` its c;
    "" and 0 if none covers it better than the selection.
    """

    reference: str
    weight: float
    covered: float
    uncovered_weight: float
    best: str
    best_score: float


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of the experts and its coverage over its references.

    ``weight`` is the sum of their weights, ``covered`` their mean coverage by weight (equal
    weights if all are 0), ``n_uncovered`` those below the threshold, ``items`` the chosen items
    said to be about it.
    """

    concept: str
    n_references: int
    n_uncovered: int
    weight: float
    covered: float
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A selection of one group (a discipline), and the proof of how good it is.

    ``upper_bound`` bounds every choice of as many items, so ``ratio`` (in [0, 1], rounded down)
    of the best possible value is reached at least. ``bound_by`` is "greedy" or "linear program".
    ``share`` is ``value`` of ``total_weight``, which full coverage would have.
    """

    group: str
    how: str
    n_candidates: int
    n_references: int
    value: float
    total_weight: float
    share: float
    upper_bound: float
    bound_by: str
    ratio: float
    picks: tuple[Pick, ...]
    threshold: float
    uncovered: tuple[Reference, ...]
    next: tuple[Reference, ...]
    concepts: tuple[Concept, ...]


def certify(
    coverage: Coverage,
    selection: Selection,
    *,
    group: str = "",
    threshold: float = 0.5,
    concepts: Mapping[str, Collection[str]] | None = None,
    items_about: Mapping[str, Collection[str]] | None = None,
    seconds: float = PROGRAM_SECONDS,
) -> Certificate:
    """Return the certificate of a selection under its objective.

    A reference counts as uncovered if its coverage is below ``threshold`` in [0, 1]. ``concepts``
    maps a concept to its references, ``items_about`` to the items about it; a concept of either
    has a row. ``seconds`` limits the linear program; the certificate depends on it only if the
    program does not end in time. Raises BadInput for unknown items and references.
    """
    if not 0 <= threshold <= 1:
        raise BadUsage(f"The threshold {threshold} is not within 0 and 1.", hint="Use 0.5.")
    concepts, items_about = concepts or {}, items_about or {}
    _known(coverage, concepts, items_about)
    rows = coverage.rows(selection.items).tolist()
    bound = upper_bound(coverage, len(rows), rows, seconds)
    total = math.fsum(coverage.weights)
    value = coverage.value(rows)
    share = _shares(coverage.covered(rows), coverage.weights)
    table = _references(coverage, share, rows)
    worst = sorted(table, key=lambda one: (-one.uncovered_weight, one.reference))
    return Certificate(
        group=group,
        how=selection.how,
        n_candidates=len(coverage.items),
        n_references=len(coverage.references),
        value=value,
        total_weight=total,
        share=value / total if total else 0.0,
        upper_bound=bound.value,
        bound_by=bound.by,
        ratio=rounded_down(value, bound.value),
        picks=_picks(selection),
        threshold=threshold,
        uncovered=tuple(one for one in table if one.weight > 0 and one.covered < threshold),
        next=tuple(one for one in worst if one.uncovered_weight > 0)[:NEXT],
        concepts=_concepts(coverage, share, threshold, selection, concepts, items_about),
    )


def rounded_down(value: float, bound: float) -> float:
    """Return value / bound with four digits, never more than the quotient; 1 if the bound is 0."""
    if bound <= 0:
        return 1.0
    whole: int = math.floor(Fraction(value) / Fraction(bound) * 10**DIGITS)
    return min(1.0, whole / float(10**DIGITS))


def _shares(covered: Floats, weights: Floats) -> Floats:
    """Return max c by reference; 0 for a weight of 0, where it does not matter."""
    found: Floats = np.divide(covered, weights, out=np.zeros_like(covered), where=weights > 0)
    return np.minimum(found, 1)


def _picks(selection: Selection) -> tuple[Pick, ...]:
    return tuple(
        Pick(item, gain, math.fsum(selection.gains[: at + 1]))
        for at, (item, gain) in enumerate(zip(selection.items, selection.gains, strict=True))
    )


def _references(coverage: Coverage, share: Floats, rows: list[int]) -> list[Reference]:
    outside = np.setdiff1d(np.arange(len(coverage.items)), rows)
    best, at = _best_outside(coverage, outside)
    scores = _shares(best, coverage.weights)
    found = []
    for place, reference in enumerate(coverage.references):
        weight, covered = float(coverage.weights[place]), float(share[place])
        better = scores[place] > covered
        found.append(
            Reference(
                reference, weight, covered, weight * (1 - covered),
                coverage.items[at[place]] if better else "",
                float(scores[place]) if better else 0.0,
            )
        )  # fmt: skip
    return found


def _best_outside(coverage: Coverage, outside: np.ndarray) -> tuple[Floats, list[int]]:
    m = len(coverage.references)
    if not len(outside) or not m:
        return np.zeros(m), [0] * m
    if isinstance(coverage.weighted, np.ndarray):
        best = np.zeros(m)
        at = np.zeros(m, dtype=np.int64)
        for row in outside.tolist():
            better = coverage.weighted[row] > best
            best[better] = coverage.weighted[row][better]
            at[better] = row
        return best, at.tolist()
    part = coverage.weighted[outside].tocsc()
    best = part.max(axis=0).toarray().ravel()
    return best, outside[np.asarray(part.argmax(axis=0)).ravel()].tolist()


def _concepts(
    coverage: Coverage,
    share: Floats,
    threshold: float,
    selection: Selection,
    concepts: Mapping[str, Collection[str]],
    items_about: Mapping[str, Collection[str]],
) -> tuple[Concept, ...]:
    at = {reference: place for place, reference in enumerate(coverage.references)}
    found = []
    for concept in sorted({*concepts, *items_about}):
        places = sorted({at[reference] for reference in concepts.get(concept, ())})
        weights, shares = coverage.weights[places], share[places]
        weight = math.fsum(weights)
        if weight > 0:
            mean = math.fsum(weights * shares) / weight
        else:
            mean = math.fsum(shares) / max(len(places), 1)
        about = set(items_about.get(concept, ()))
        found.append(
            Concept(
                concept, len(places), int((shares < threshold).sum()), weight, mean,
                tuple(item for item in selection.items if item in about),
            )
        )  # fmt: skip
    return tuple(found)


def _known(
    coverage: Coverage,
    concepts: Mapping[str, Collection[str]],
    items_about: Mapping[str, Collection[str]],
) -> None:
    problems = [
        Problem(f"concept {concept}", f"{one!r} is not a {kind}")
        for named, known, kind in (
            (concepts, set(coverage.references), "reference"),
            (items_about, set(coverage.items), "candidate"),
        )
        for concept, ones in sorted(named.items())
        for one in sorted(set(ones) - known)
    ]
    if problems:
        raise BadInput("Concepts name what the objective does not hold.", problems)
