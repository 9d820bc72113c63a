"""How far several annotators agree, whatever their number, and who stands apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from proofstone.page.section import Cell, Column, Section, Table
from proofstone.records.runs import Estimate
from proofstone.records.scores import Annotated
from proofstone.results.sections.evidence import Evidence
from proofstone.stats.agreement import Coefficient, agreement, krippendorff_alpha
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.flags import Estimand
from proofstone.wording.messages import counted, noted, paragraph, say, say_of, word

# Coefficients of agreement of two raters or more, and their table.

Ratings = NDArray[np.integer]


Codes = NDArray[np.int64]


OBSERVED = noted("observed agreement")


ALPHA = noted("Krippendorff's alpha, nominal")


ORDINAL = noted("Krippendorff's alpha, ordinal")


_NAMES: Mapping[Coefficient, str] = {
    "observed agreement": OBSERVED,
    "Gwet AC1": noted("Gwet's AC1"),
    "Fleiss kappa": noted("Fleiss' kappa"),
}


class Drawn(TypedDict):
    """What is drawn: ``clusters`` (records) are items, ``keys`` what these share."""

    clusters: Codes
    keys: SharedKeys
    seed: int
    confidence: float


def keys_of_items(
    item: Codes, edge_item: Codes | None, edge_key: Codes | None, estimand: Estimand
) -> SharedKeys:
    """What items share; of fresh forms of one bank, nothing counts."""
    n = int(item.max(initial=-1)) + 1
    if estimand == "bank" or edge_item is None or edge_key is None:
        return SharedKeys.none(n)
    return SharedKeys(n, edge_item, edge_key)


def coefficients(
    ratings: Ratings, names: tuple[Coefficient, ...], n_labels: int, drawn: Drawn
) -> Iterator[tuple[str, Estimate]]:
    """Each coefficient by its name for readers: of ``ratings`` (records, raters), codes of
    ``n_labels``, -1 where there is none."""
    for name in names:
        yield _NAMES[name], agreement(ratings, name, n_categories=n_labels, **drawn)


def alphas(
    ratings: Ratings, values: NDArray[np.float64] | None, n_labels: int, drawn: Drawn
) -> Iterator[tuple[str, Estimate]]:
    """Krippendorff's alpha; where more than two labels are numbers, ``values``, for their order and
    their distances too."""
    yield ALPHA, krippendorff_alpha(ratings, **drawn)
    if values is None or n_labels < 3:
        return
    yield ORDINAL, krippendorff_alpha(ratings, "ordinal", **drawn)
    top = int(ratings.max(initial=-1)) + 1
    yield (
        noted("Krippendorff's alpha, interval"),
        krippendorff_alpha(ratings, "interval", values=values[:top], **drawn),
    )


def agreement_table(found: Mapping[str, Estimate]) -> Table:
    """The coefficients with n and interval."""
    return Table(
        title=say("Agreement"),
        columns=(
            Column(key="coefficient", name=say("coefficient")),
            Column(key="n", name=say("n"), help=say("records")),
            Column(
                key="value",
                name=say("value"),
                digits=3,
                help=say("1 is full agreement; 0 is chance"),
            ),
        ),
        rows=tuple((word(name), each.n, each) for name, each in found.items()),
        note=say(
            "Kappa falls where one label holds nearly all records although both agree; AC1 does "
            "not. Observed agreement takes no chance out."
        ),
        sorts=False,
    )


_FEW = 50


_MOST_LISTED = 30


def annotators_section(evidence: Evidence) -> Section | None:
    """Coefficients of agreement with intervals, each annotator beside the others, and the labels
    that each gave. None where no record has labels by two."""
    found = evidence.annotated
    if found is None:
        return None
    given = found.ratings >= 0
    both = int((given.sum(axis=1) > 1).sum())
    if not both:
        return None
    keys = keys_of_items(found.item, found.cluster_item, found.cluster_key, evidence.estimand)
    drawn = Drawn(
        clusters=found.item, keys=keys, seed=evidence.seed, confidence=evidence.board.confidence
    )
    by_name = dict(_coefficients(found, drawn))
    listed = np.argsort(-given.sum(axis=0), kind="stable")[:_MOST_LISTED]
    return Section(
        name="annotators",
        title=say("Inter-annotator agreement"),
        finding=_finding(found, by_name, both),
        plain=_plain(by_name),
        cannot=_cannot(both),
        how=_how(drawn),
        tables=(
            agreement_table(by_name),
            _beside_others(found, drawn, listed),
            _labels(found, listed),
        ),
    )


def _coefficients(found: Annotated, drawn: Drawn) -> Iterator[tuple[str, Estimate]]:
    n = len(found.labels)
    yield from coefficients(
        found.ratings, ("observed agreement", "Gwet AC1", "Fleiss kappa"), n, drawn
    )
    yield from alphas(found.ratings, found.values, n, drawn)


def _finding(found: Annotated, by_name: dict[str, Estimate], both: int) -> str:
    n = int((found.ratings >= 0).sum())
    name = ORDINAL if ORDINAL in by_name else ALPHA
    alpha = by_name[name]
    said = say(
        "{annotators} gave {labels} of {records}, {both:,} of which have two or more.",
        annotators=counted(len(found.annotators), "annotator"),
        labels=counted(n, "label"),
        records=counted(len(found.ratings), "record"),
        both=both,
    )
    if math.isnan(alpha.value):
        return paragraph(said, say("All use one label only, so that chance cannot be taken out."))
    return paragraph(
        said,
        say(
            "{coefficient} is {value:.2f} [{low:.2f}, {high:.2f}].",
            coefficient=word(name),
            value=alpha.value,
            low=alpha.low,
            high=alpha.high,
        )
        if not math.isnan(alpha.low)
        else say(
            "{coefficient} is {value:.2f}, without an interval.",
            coefficient=word(name),
            value=alpha.value,
        ),
    )


def _plain(by_name: dict[str, Estimate]) -> str:
    seen = next(iter(by_name.values()))
    return say(
        "Two annotators who label the same record give it the same label in {share:.0f} of 100 "
        "cases.",
        share=100 * seen.value,
    )


def _cannot(both: int) -> str:
    if both >= _FEW:
        return ""
    return say_of(
        both,
        "{records} with two labels is too little to estimate agreement elsewhere.",
        "{records} with two labels are too few to estimate agreement elsewhere.",
        records=counted(both, "record"),
    )


def _how(drawn: Drawn) -> str:
    return paragraph(
        say(
            "Over all pairs of labels of the same record: Fleiss' kappa (1971), Gwet's AC1 (2008) "
            "and Krippendorff's alpha (2019), which takes records that lack some labels as they "
            "are; for the order and the distance of labels where these are numbers."
        ),
        say(_DRAWN[_drawn(drawn["keys"])], seed=drawn["seed"]),
    )


def _drawn(keys: SharedKeys) -> Literal["items", "keys", "pairs"]:
    if keys.groups is None:
        return "pairs"
    return "items" if len(np.unique(keys.groups)) == keys.n_units else "keys"


_DRAWN: Mapping[Literal["items", "keys", "pairs"], str] = {
    "items": noted(
        "Intervals: percentiles of 2,000 draws of items, each with all its records; seed {seed}."
    ),
    "keys": noted(
        "Intervals: percentiles of 2,000 draws of what items share, each with all its items; seed "
        "{seed}."
    ),
    "pairs": noted(
        "Items share keys that overlap: intervals are percentiles of 2,000 draws from a normal law "
        "whose covariance sums over all pairs of items that share any; seed {seed}."
    ),
}


def _beside_others(found: Annotated, drawn: Drawn, listed: NDArray[np.intp]) -> Table:
    more = len(found.annotators) - len(listed)
    return Table(
        title=say("Each annotator beside the others"),
        columns=(
            Column(key="annotator", name=say("annotator")),
            Column(key="n", name=say("labels"), help=say("records labelled")),
            Column(key="n_shared", name=say("shared"), help=say("of them labelled by others too")),
            Column(key="agreement", name=say("agrees"), unit="points",
                   help=say("how often the label is that of another annotator of the record")),
            Column(key="alpha_without", name=say("alpha without"), digits=3,
                   help=say("Krippendorff's alpha, nominal, of all others")),
        ),
        rows=tuple(_row(found, drawn, int(place)) for place in listed),
        note=say("{n:,} more with fewer labels are not shown.", n=more) if more else "",
    )  # fmt: skip


def _row(found: Annotated, drawn: Drawn, place: int) -> tuple[Cell, ...]:
    own, others = found.ratings[:, place], np.delete(found.ratings, place, axis=1)
    shared = (own >= 0) & (others >= 0).any(axis=1)
    without = krippendorff_alpha(others, **drawn) if (others >= 0).any() else None
    return (
        found.annotators[place],
        int((own >= 0).sum()),
        int(shared.sum()),
        _with_others(own[shared], others[shared], found.item[shared], drawn),
        None if without is None or math.isnan(without.value) else without,
    )


def _with_others(
    own: NDArray[np.int32], others: NDArray[np.int32], item: NDArray[np.int64], drawn: Drawn
) -> Estimate | None:
    """How often a label is that of another annotator of the record, each pair once: all records
    as many pairs as they have others, items drawn."""
    row, column = np.nonzero(others >= 0)
    if not len(row):
        return None
    pairs = np.column_stack([own[row], others[row, column]])
    of_pairs = Drawn(**{**drawn, "clusters": item[row]})
    return agreement(pairs, "observed agreement", **of_pairs)


def _labels(found: Annotated, listed: NDArray[np.intp]) -> Table:
    counts = [
        np.bincount(own[own >= 0], minlength=len(found.labels)) for own in found.ratings.T[listed]
    ]
    return Table(
        title=say("Labels by annotator"),
        columns=(
            Column(key="annotator", name=say("annotator")),
            *(Column(key=f"label_{label}", name=label) for label in found.labels),
        ),
        rows=tuple(
            (found.annotators[place], *row.tolist())
            for place, row in zip(listed.tolist(), counts, strict=True)
        ),
        note=say("How often each gave each label."),
    )
