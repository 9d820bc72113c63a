"""Read human labels of triples from the file of verdicts.

Annotators fill two columns of that file. ``people`` is the label by the passages, and ``is_true``
whether the triple is true by any source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields
from proofstone.methods.bequ.records import DIRECTIONS, Direction, Group, Verified
from proofstone.records.runs import Estimate
from proofstone.records.tables import Row
from proofstone.stats.agreement import JudgedRate, cohen_kappa, correct_judged_rate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.ratios import bootstrap_ratios, harmonic_mean

LABELS = {
    "precision": ("entailment", "contradiction", "neutral"),
    "recall": ("entailment", "contradiction", "neutral", "covered", "not covered"),
}


class PeopleSaid(Struct, frozen=True, gc=False):
    """Hold an annotator's labels of a triple; an empty label or None where unlabeled."""

    label: str
    is_true: bool | None


class Checked(Struct, frozen=True, kw_only=True):
    """Hold a judged triple, its position in the random order (0: no sampling), and its human label.

    The label is None if unlabeled.
    """

    direction: Direction
    group: int
    entity: int
    label: str
    said: PeopleSaid | None
    drawn: int = 0


def read_people(rows: Iterable[Row]) -> dict[str, PeopleSaid]:
    """Read human labels by triple id; rows without a label are skipped.

    Raises BadInput with every problem.
    """
    problems: list[Problem] = []
    found: dict[str, PeopleSaid] = {}
    columns: set[str] = set()
    for row in rows:
        columns |= row.values.keys()
        fields = Fields(row, problems)
        label = fields.text("people").strip().casefold()
        is_true = fields.truth("is_true")
        identity = fields.key("id")
        if not label and is_true is None:
            continue
        if not identity:
            fields.wrong("id", "is missing: expected an id from the file of verdicts")
        wanted = LABELS.get(fields.text("direction") or "precision")
        if wanted is None:
            fields.wrong("direction", f"expected one of {', '.join(LABELS)}")
        elif label and label not in wanted:
            fields.wrong("people", f"expected one of {', '.join(wanted)}")
        said = PeopleSaid(label, is_true)
        if found.setdefault(identity, said) != said:
            fields.wrong("id", "occurs twice, with two verdicts")
    if problems:
        raise BadInput("The human labels cannot be read.", problems)
    if not found:
        raise BadInput(
            f"the file has no human labels; its columns are {', '.join(sorted(columns))}",
            hint="expected id, and people or is_true filled in, in the file that --output wrote",
        )
    return found


def checked_of(found: Verified, people: Mapping[str, PeopleSaid]) -> Checked | None:
    """Return the fields of a verified triple that a correction needs; None for one that waits."""
    if found.verdict.basis == "waiting":
        return None
    return Checked(
        direction=found.direction,
        group=found.group,
        entity=found.entity,
        label=found.verdict.label or "unparsed",
        said=people.get(found.id),
        drawn=found.drawn,
    )


# Judge accuracy by human labels of some triples, and estimates corrected with them.
#
# Labels by the passages correct the judge. Truth by any source shows how incomplete the corpus is.

_LEAST_LABELLED = (
    0.9  # maximum share of unlabeled triples before the last labeled one; one is always allowed
)


_RIGHT = {"precision": {"entailment"}, "recall": {"entailment", "covered"}}


class _Side(NamedTuple):
    """Hold one direction of a group as 0 and 1.

    ``people`` and the judge labeled the ``same`` n triples (with ``entity``); the judge alone
    labeled those ``elsewhere``.
    """

    people: NDArray[np.float64]
    same: NDArray[np.float64]
    elsewhere: NDArray[np.float64]
    entity: NDArray[np.int64]
    entity_elsewhere: NDArray[np.int64]


class Corrected(Struct, frozen=True, kw_only=True):
    """Hold a group's estimates, corrected with human labels.

    ``precision`` and ``recall`` are corrected by PPI++ (``JudgedRate``); ``f1`` combines both.
    ``agreement`` is the share of labels on which judge and annotator agree, and ``kappa`` is
    Cohen's kappa over precision labels. ``corpus`` is the recall of the reference itself: the share
    that it entails of elicited triples known to be true. ``true_share`` is the share of elicited
    triples that annotators found true. Reference triples count in neither. ``scattered`` directions
    have labels that skip many earlier-sampled triples: estimates are valid only for random samples.
    """

    group: Group
    n_people: Mapping[str, int]
    precision: JudgedRate | None = None
    recall: JudgedRate | None = None
    f1: Estimate | None = None
    agreement: Estimate | None = None
    kappa: Estimate | None = None
    corpus: Estimate | None = None
    true_share: Estimate | None = None
    scattered: tuple[Direction, ...] = ()

    def figures(self) -> dict[str, Estimate]:
        """Return the available estimates by name; both rates are corrected ones."""
        found = {
            "precision": self.precision and self.precision.corrected,
            "recall": self.recall and self.recall.corrected,
            **{name: getattr(self, name) for name in _FIGURES},
        }
        return {name: each for name, each in found.items() if each is not None}


_FIGURES = ("f1", "agreement", "kappa", "corpus", "true_share")


def correct_by_people(
    checked: Sequence[Checked], groups: Sequence[Group], *, n_resamples: int = 2_000, seed: int = 0
) -> list[Corrected]:
    """Return corrected estimates of each group with human labels.

    They are valid only if the labeled triples are a random sample: the first of the sample, as
    numbered.
    """
    found = []
    for number, group in enumerate(groups):
        mine = [each for each in checked if each.group == number]
        if any(each.said is not None for each in mine):
            found.append(_corrected(mine, group, n_resamples, seed))
    return found


def _corrected(mine: Sequence[Checked], group: Group, n_resamples: int, seed: int) -> Corrected:
    sides = {"precision": _side(mine, "precision"), "recall": _side(mine, "recall")}
    rates = {name: _rate(side) for name, side in sides.items() if len(side.people)}
    known = [
        each
        for each in mine
        if each.direction == "precision" and each.said is not None and each.said.is_true is not None
    ]
    agreement, kappa = _agreement(mine, n_resamples, seed)
    return Corrected(
        group=group,
        n_people={name: len(side.people) for name, side in sides.items()},
        precision=rates.get("precision"),
        recall=rates.get("recall"),
        f1=_f1(sides, rates, n_resamples, seed) if len(rates) == len(sides) else None,
        agreement=agreement,
        kappa=kappa,
        # By the human label of the passages if there is one, otherwise by the judge's.
        corpus=_share(
            [each for each in known if _is_true(each)],
            lambda each: (_said(each) or each.label) in _RIGHT["precision"],
            n_resamples,
            seed,
        ),
        true_share=_share(known, _is_true, n_resamples, seed),
        scattered=tuple(side for side in DIRECTIONS if _is_scattered(mine, side)),
    )


def _is_scattered(mine: Sequence[Checked], direction: Direction) -> bool:
    """Return True if the labels of a direction skip many triples sampled before labeled ones."""
    own = [each for each in mine if each.direction == direction and each.drawn]
    labelled = [each.drawn for each in own if _said(each)]
    before = sum(each.drawn <= max(labelled, default=0) for each in own)
    return len(labelled) < _LEAST_LABELLED * before


def _rate(side: _Side) -> JudgedRate:
    """Correct one direction, with standard errors clustered by entity.

    The error is never below that of as many independent entities, since a smaller estimate is
    sampling error.
    """
    entities = np.concatenate([side.entity, side.entity_elsewhere])
    triples = np.arange(len(entities))
    return correct_judged_rate(
        side.people,
        side.same,
        side.elsewhere,
        unit=triples,
        keys=SharedKeys(len(entities), triples, entities),
    )


def _side(mine: Sequence[Checked], direction: Direction) -> _Side:
    right = _RIGHT[direction]
    own = [each for each in mine if each.direction == direction]
    seen = [each for each in own if _said(each)]
    rest = [each for each in own if not _said(each)]

    halves = (seen, rest)
    same, elsewhere = (
        np.array([each.label in right for each in half], dtype=np.float64) for half in halves
    )
    entity, entity_elsewhere = (
        np.array([each.entity for each in half], dtype=np.int64) for half in halves
    )
    people = np.array([_said(each) in right for each in seen], dtype=np.float64)
    return _Side(people, same, elsewhere, entity, entity_elsewhere)


def _f1(
    sides: Mapping[str, _Side], rates: Mapping[str, JudgedRate], n_resamples: int, seed: int
) -> Estimate:
    """Return the harmonic mean of both corrected rates, with joint resampling of entities."""
    parts = [
        (values, entity)
        for side in sides.values()
        for values, entity in (
            (side.people, side.entity),
            (side.same, side.entity),
            (side.elsewhere, side.entity_elsewhere),
        )
    ]
    n = 1 + max(int(entity.max(initial=-1)) for _values, entity in parts)
    tops = [np.bincount(entity, weights=values, minlength=n) for values, entity in parts]
    bottoms = [np.bincount(entity, minlength=n) for _values, entity in parts]
    sums = [np.stack(each, axis=1).astype(np.float64) for each in (tops, bottoms)]
    drawn = bootstrap_ratios(*sums, clusters="entities", n_resamples=n_resamples, seed=seed)

    def corrected(ratios: NDArray[np.float64], at: int, rate: JudgedRate) -> NDArray[np.float64]:
        moved = rate.trust * (ratios[:, at + 2] - ratios[:, at + 1]) if rate.trust else 0.0
        return np.asarray(np.clip(ratios[:, at] + moved, 0.0, 1.0))

    def f1(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        first = corrected(ratios, 0, rates["precision"])
        return harmonic_mean(first, corrected(ratios, 3, rates["recall"]))

    return drawn.made_of((0, 3), f1)


def _agreement(
    mine: Sequence[Checked], n_resamples: int, seed: int
) -> tuple[Estimate | None, Estimate | None]:
    """Return the agreement between judge and human labels, and Cohen's kappa over precision labels.

    Entities are resampled.
    """
    seen = [each for each in mine if _said(each)]
    if not seen:
        return None, None
    own = [each for each in seen if each.direction == "precision"]
    place = {name: code for code, name in enumerate((*LABELS["precision"], "unparsed"))}
    kappa = None
    if own:
        kappa = cohen_kappa(
            np.array([place[_said(each)] for each in own]),
            np.array([place[each.label] for each in own]),
            n_categories=len(place),
            clusters=_units(np.array([each.entity for each in own])),
            n_resamples=n_resamples,
            seed=seed,
        )
    return _share(seen, lambda each: _said(each) == each.label, n_resamples, seed), kappa


def _share(
    among: Sequence[Checked], is_so: Callable[[Checked], bool], n_resamples: int, seed: int
) -> Estimate | None:
    if not among:
        return None
    unit = _units(np.array([each.entity for each in among]))
    right = np.array([is_so(each) for each in among], dtype=np.float64)
    counts = (np.bincount(unit, weights=weights) for weights in (right, np.ones_like(right)))
    sums = [np.asarray(each, dtype=np.float64)[:, None] for each in counts]
    return bootstrap_ratios(*sums, clusters="entities", n_resamples=n_resamples, seed=seed).ratio(0)


def _units(entities: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber entities from 0 without gaps."""
    return np.unique(entities, return_inverse=True)[1].astype(np.int64)


def _said(each: Checked) -> str:
    return "" if each.said is None else each.said.label


def _is_true(each: Checked) -> bool:
    return each.said is not None and each.said.is_true is True
