"""Compute precision, recall and related measures with CIs clustered by entity, and their tables."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proofstone.methods.bequ.records import (
    DIRECTIONS,
    Breakdown,
    EntityFacts,
    Group,
    Measured,
    Verdict,
    Verified,
    VerifiedRuns,
)
from proofstone.stats.estimates import Spread
from proofstone.stats.ranks import RankInterval, rank_jointly, tied_runs
from proofstone.stats.ratios import (
    bootstrap_ratios_each,
    harmonic_mean,
    harmonic_spread,
    more_for_half_width,
    ratio_spread,
)

# Verdicts as compact columns, so that millions are counted without keeping them in memory.

# Outcomes of a triple of either direction; the position is the code.
OUTCOMES = (
    "waiting", "unparsed", "entailment", "contradiction", "neutral", "no reference", "covered",
    "not covered",
)  # fmt: skip


_CODE = {name: code for code, name in enumerate(OUTCOMES)}


def outcome_of(verdict: Verdict) -> str:
    """Return the outcome of a triple: one of ``OUTCOMES``."""
    return verdict.basis if verdict.basis == "no reference" else verdict.label or verdict.basis


class Counted:
    """Hold columns of verified triples, one entry per triple: about 20 bytes each."""

    def __init__(self) -> None:
        # Numbered texts, in order of first appearance.
        self.families: dict[str, int] = {}
        self.sources: dict[str, int] = {}
        self._direction, self._outcome = array("b"), array("b")
        self._group, self._entity = array("i"), array("i")
        self._family, self._source = array("i"), array("i")

    def __len__(self) -> int:
        return len(self._outcome)

    def add(self, found: Verified) -> None:
        """Add a triple."""
        self._direction.append(DIRECTIONS.index(found.direction))
        self._outcome.append(_CODE[outcome_of(found.verdict)])
        self._group.append(found.group)
        self._entity.append(found.entity)
        self._family.append(self.families.setdefault(found.family, len(self.families)))
        self._source.append(self.sources.setdefault(found.source, len(self.sources)))

    def column(self, name: str) -> NDArray[np.integer]:
        """Return the direction, outcome, group, entity, family or source of each triple."""
        held: array[int] = getattr(self, f"_{name}")
        return np.frombuffer(held, dtype=np.int8 if held.typecode == "b" else np.intc)

    @property
    def n_entities(self) -> int:
        """Return the highest entity number with a triple, plus one."""
        return int(self.column("entity").max(initial=-1)) + 1


# Verdicts counted by entity, direction and outcome: all measures are sums of these.

_PRECISION = ("entailment", "contradiction", "neutral", "no reference", "unparsed")


_THREE = ("entailment", "contradiction", "neutral")


_RECALL = (*_THREE, "covered", "not covered", "unparsed")  # for either recall mode


# Each measure: its direction, numerator and denominator.
MEASURES: Mapping[str, tuple[Literal[0, 1], tuple[str, ...], tuple[str, ...]]] = {
    "precision": (0, ("entailment",), _PRECISION),
    "recall": (1, ("entailment", "covered"), _RECALL),
    "contradiction": (0, ("contradiction",), _PRECISION),
    "neutral": (0, ("neutral", "no reference"), _PRECISION),
    "unparsed": (0, ("unparsed",), _PRECISION),
    "without_reference": (0, ("no reference",), _PRECISION),
    "precision_judged": (0, ("entailment",), _PRECISION[:3]),
    "precision_decided": (0, ("entailment",), _PRECISION[:2]),
    "recall_judged": (1, ("entailment", "covered"), _RECALL[:-1]),
    "recall_contradiction": (1, ("contradiction",), _THREE),
    "recall_unparsed": (1, ("unparsed",), _RECALL),
}


def cells_of(
    counted: Counted, group: int, n_entities: int, part: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Return counts of a group's triples by part, entity, direction and outcome.

    ``part`` is the code of each triple of ``counted``, from 0 (default: all 0).
    """
    mine = np.flatnonzero(counted.column("group") == group)
    direction, outcome = (counted.column(name)[mine] for name in ("direction", "outcome"))
    cell = counted.column("entity")[mine].astype(np.int64)
    n_parts = 1
    if part is not None:
        own = part[mine]
        n_parts = int(own.max(initial=0)) + 1
        cell += own.astype(np.int64) * n_entities
    cell = (cell * 2 + direction) * len(OUTCOMES) + outcome
    shape = (n_parts, n_entities, 2, len(OUTCOMES))
    return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)


def sums_of(
    cells: NDArray[np.int64], names: Sequence[str] = tuple(MEASURES)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numerators and denominators of each measure, shape (entities, measures) each.

    ``cells`` are those of one part.
    """

    def summed(side: int, outcomes: Sequence[str]) -> NDArray[np.int64]:
        return np.asarray(cells[:, side, [_CODE[name] for name in outcomes]].sum(axis=1))

    found = [MEASURES[name] for name in names]
    tops = np.stack([summed(side, top) for side, top, _bottom in found], axis=1)
    bottoms = np.stack([summed(side, bottom) for side, _top, bottom in found], axis=1)
    return tops.astype(np.float64), bottoms.astype(np.float64)


# Joint ranks by F1 of groups verified on the same entities.


@dataclass(frozen=True, slots=True)
class RankedGroups:
    """Hold ``groups`` (their numbers) in descending order of F1.

    ``intervals`` are their rank ranges in that order. ``ties`` are runs of ranks without
    significant differences. ``elsewhere`` holds groups verified on other entities than most groups,
    with the number of differing entities. If ``is_common`` is false, no two groups share their
    entities: ``groups`` has all of them, unranked.
    """

    groups: tuple[int, ...]
    intervals: tuple[RankInterval, ...] = ()
    ties: tuple[tuple[int, int], ...] = ()
    elsewhere: Mapping[int, int] = field(default_factory=dict)
    is_common: bool = True


def rankable(counted: Counted, n_groups: int) -> list[int]:
    """Return the groups with verdicts in both directions and none waiting."""
    group, direction = counted.column("group").astype(np.int64), counted.column("direction")
    cell = (group * 2 + direction) * len(OUTCOMES) + counted.column("outcome")
    shape = (n_groups, 2, len(OUTCOMES))
    cells = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
    judged = cells[:, :, 1:].sum(axis=2).min(axis=1).tolist()
    waiting = cells[:, :, 0].sum(axis=1).tolist()
    return [group for group in range(n_groups) if judged[group] and not waiting[group]]


def rank_by_f1(
    counted: Counted, groups: Sequence[int], *, confidence: float = 0.95, seed: int = 0
) -> RankedGroups:
    """Return the ranks of ``groups``, all ``rankable``, at a simultaneous ``confidence``.

    Entities are resampled jointly for all groups and both directions (`harmonic_spread`), and all
    differences are tested together (`rank_jointly`). Groups without a response for some entity are
    not ranked: that entity may have been a hard one.
    """

    if not groups:
        return RankedGroups(())
    elsewhere = held_elsewhere(counted, groups)
    alike = [group for group in groups if group not in elsewhere]
    if len(alike) == 1 and elsewhere:
        alike = list(groups)
    spread = harmonic_spread(*group_sums(counted, alike))
    places = sorted(range(len(alike)), key=lambda place: -spread.means[place])
    ordered = tuple(alike[place] for place in places)
    if alike == list(groups) and elsewhere:
        return RankedGroups(ordered, is_common=False)
    ranking = rank_jointly(spread, confidence=confidence, seed=seed)
    return RankedGroups(
        ordered,
        tuple(ranking.intervals[place] for place in places),
        tied_runs(ranking.better[places][:, places]),
        elsewhere,
    )


def spreads_of(counted: Counted, groups: Sequence[int]) -> dict[str, Spread]:
    """Return F1, precision and recall of ``groups``, all ``rankable``, with their spread."""
    tops, bottoms = group_sums(counted, groups)
    found = {"f1": harmonic_spread(tops, bottoms)}
    for side, name in enumerate(DIRECTIONS):
        found[name] = ratio_spread(tops[:, :, side], bottoms[:, :, side])
    return found


def group_sums(
    counted: Counted,
    groups: Sequence[int],
    names: Sequence[str] = DIRECTIONS,
    n_entities: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numerators and denominators of each measure: (entities, groups, measures)."""
    n = counted.n_entities if n_entities is None else n_entities
    sums = [sums_of(cells_of(counted, group, n)[0], names) for group in groups]
    tops, bottoms = (np.stack([each[side] for each in sums], axis=1) for side in (0, 1))
    return tops, bottoms


def held_elsewhere(counted: Counted, groups: Sequence[int]) -> dict[int, int]:
    """Return groups whose reference entities differ from those of most groups, and by how many.

    Among equally frequent sets, the one with more entities counts as the common one. Elicited
    entities differ anyway and are ignored.
    """
    mine, entity = counted.column("group"), counted.column("entity")
    known = counted.column("direction") == 1
    held = {group: np.unique(entity[known & (mine == group)]) for group in groups}
    same = Counter(each.tobytes() for each in held.values())
    usual = max(held.values(), key=lambda each: (same[each.tobytes()], len(each)))
    differing = {group: len(np.setxor1d(each, usual)) for group, each in held.items()}
    return {group: n for group, n in differing.items() if n}


# Measures of each group and of its parts, with confidence intervals.

HALF_WIDTH = 0.02


# Sums in memory at once for joint resampling: 64 MB.
_MOST_AT_ONCE = 8_000_000


class _Part(NamedTuple):
    """Hold one group's triples, or a part: sums by entity and measure, and outcomes."""

    group: Group
    value: str
    tops: NDArray[np.float64]
    bottoms: NDArray[np.float64]
    counts: dict[str, dict[str, int]]


def measure_all(
    counted: Counted,
    groups: Sequence[Group],
    *,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Measured]:
    """Return the measures of each group."""
    parts = (
        _part(cells_of(counted, number, counted.n_entities)[0], group)
        for number, group in enumerate(groups)
    )
    return list(_measured(parts, "", n_resamples, seed, confidence))


def measure_by(
    counted: Counted,
    groups: Sequence[Group],
    entities: Sequence[EntityFacts],
    by: Breakdown,
    *,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Iterator[Measured]:
    """Return the measures of each group per value of a breakdown, in alphabetical order.

    Empty if no triple has a value. By source, precision uses the source of the evidence passage, so
    it covers triples that a passage decided. Recall uses the source of the reference triple.
    """
    if by in ("source", "family"):
        names = list(counted.sources if by == "source" else counted.families)
        codes = counted.column(by)
    else:
        said = [getattr(facts, by) for facts in entities]
        names = sorted(set(said))
        numbers = {name: code for code, name in enumerate(names)}
        of_entity = np.array([numbers[name] for name in said], dtype=np.intc)
        codes = of_entity[counted.column("entity")]
    parts = (
        _part(cells[code], group, names[code])
        for number, group in enumerate(groups)
        for cells in [cells_of(counted, number, counted.n_entities, codes)]
        for code in (sorted(range(len(cells)), key=names.__getitem__) if names else ())
        if names[code] and cells[code].any()
    )
    return _measured(parts, by, n_resamples, seed, confidence)


def _part(cells: NDArray[np.int64], group: Group, value: str = "") -> _Part:
    """Build a part from the entities with data, to save memory."""
    held = cells[cells.any(axis=(1, 2))]
    n = held.sum(axis=0).tolist()
    counts: dict[str, dict[str, int]] = {
        direction: {name: count for name, count in zip(OUTCOMES, n[side], strict=True) if count}
        for side, direction in enumerate(DIRECTIONS)
    }
    return _Part(group, value, *sums_of(held), counts)


def _measured(
    parts: Iterable[_Part], by: str, n_resamples: int, seed: int, confidence: float
) -> Iterator[Measured]:
    """Compute the measures of each part, resampling entities for many parts at once."""
    for batch in _batches(parts):
        all_drawn = bootstrap_ratios_each(
            [(part.tops, part.bottoms) for part in batch],
            clusters="entities",
            n_resamples=n_resamples,
            seed=seed,
        )
        for part, drawn in zip(batch, all_drawn, strict=True):
            estimates = {
                name: drawn.ratio(place, confidence=confidence)
                for place, name in enumerate(MEASURES)
                if drawn.n[place]
            }
            more: dict[str, int | None] = {
                name: more_for_half_width(estimates[name], HALF_WIDTH)
                for name in DIRECTIONS
                if name in estimates
            }
            if len(more) == len(DIRECTIONS):
                estimates["f1"] = drawn.made_of(
                    (0, 1),
                    lambda ratios: harmonic_mean(ratios[:, 0], ratios[:, 1]),
                    confidence=confidence,
                )
            yield Measured(
                group=part.group,
                counts=part.counts,
                estimates=estimates,
                more=more,
                by=by,
                value=part.value,
            )


def _batches(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    batch: list[_Part] = []
    held = 0
    for part in parts:
        batch.append(part)
        held += part.tops.size + part.bottoms.size
        if held >= _MOST_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


# Results as file rows: one verdict per row, and tables in BeQu's published columns.

_METRICS = {"precision": "Precision (RAG)", "recall": "Recall"}


def verdict_row(
    found: Verified, groups: Sequence[Group], entities: Sequence[EntityFacts]
) -> dict[str, Any]:
    """Return a triple with its verdict, and empty columns for annotators."""
    group, facts, verdict = groups[found.group], entities[found.entity], found.verdict
    return {
        "id": found.id,
        "drawn": found.drawn,
        "direction": found.direction,
        "model": group.model,
        "setting": group.setting,
        "subject": found.subject,
        "predicate": found.predicate,
        "object": found.object,
        "subject_name": facts.name,
        "wikidata_id": facts.identity,
        "domain": facts.domain,
        "popularity": facts.popularity,
        "family": found.family,
        "source": found.source,
        "verdict": verdict.label or verdict.basis,
        "basis": verdict.basis,
        "passage": verdict.passage.text,
        "title": verdict.passage.title,
        "url": verdict.passage.url,
        "reason": verdict.reason,
        "trouble": verdict.trouble,
        "people": "",
        "is_true": "",
    }


def result_tables(
    measured: Sequence[Measured], parts: Sequence[Measured]
) -> dict[str, Iterator[dict[str, Any]]]:
    """Return the tables by file name; breakdowns only if ``parts`` has them."""
    by = {name: [part for part in parts if part.by == name] for name in ("domain", "popularity")}
    found = {
        "results.csv": counted_rows(measured),
        "combined_results.csv": combined_rows([*measured, *by["domain"]]),
    }
    named = {"domain": ("category", "Domain"), "popularity": ("popularity", "Popularity")}
    for name, (file, column) in named.items():
        if by[name]:
            found[f"results_by_{file}.csv"] = counted_rows(by[name], column)
    return found


def counted_rows(measured: Iterable[Measured], column: str = "") -> Iterator[dict[str, Any]]:
    """Return one row per group and direction, as in ``results.csv``: triples by outcome.

    As published, unparsed verdicts and triples without a reference count as neutral there; extra
    columns hold their own counts. ``column`` is the breakdown's name.
    """
    for each in measured:
        for direction, metric in _METRICS.items():
            n = {name: count for name, count in each.counts[direction].items() if name != "waiting"}
            if not n:
                continue
            right = n.get("entailment", 0) + n.get("covered", 0)
            against = n.get("contradiction", 0)
            yield {
                "Model": each.group.model,
                "Metric": metric,
                "Setting": each.group.setting,
                **({column: each.value} if column else {}),
                "Total #Triples": sum(n.values()),
                "Entailment": right,
                "Contradiction": against,
                "Neutral": sum(n.values()) - right - against,
                "Unparsed": n.get("unparsed", 0),
                "Without reference": n.get("no reference", 0),
            }


def combined_rows(measured: Iterable[Measured]) -> Iterator[dict[str, Any]]:
    """Return one row per group, as in ``combined_results``: F1, precision and recall.

    Adds the domain if the measures are by domain.
    """
    for each in measured:
        found = {name: round(one.value, 4) for name, one in each.estimates.items()}
        yield {
            "Model": each.group.model,
            "Setting": each.group.setting,
            "Domain": each.value if each.by == "domain" else "",
            "Entailment_F1": found.get("f1"),
            "Entailment_Precision": found.get("precision"),
            "Entailment_Recall": found.get("recall"),
        }


def verdict_rows(verified: VerifiedRuns) -> Iterator[dict[str, Any]]:
    """Yield one row per triple, in the columns of ``verify-triples``.

    Each has the response that contains it and the source passage of a reference triple.
    """
    for found in verified.read():
        row = verdict_row(found, verified.groups, verified.entities)
        yield {
            **row,
            "known_from": found.known.text,
            "known_title": found.known.title,
            "known_url": found.known.url,
            "page": verified.entities[found.entity].page,
            "response": found.response,
        }
