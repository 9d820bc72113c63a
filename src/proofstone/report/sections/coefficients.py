"""Coefficients of agreement of two raters or more, and their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Coefficient,
    Estimand,
    SharedKeys,
    agreement,
    krippendorff_alpha,
)
from proofstone.records.results import Estimate
from proofstone.report.sections.section import Column, Table
from proofstone.wording import noted, say, word

__all__ = [
    "ALPHA",
    "OBSERVED",
    "ORDINAL",
    "Drawn",
    "agreement_table",
    "alphas",
    "coefficients",
    "keys_of_items",
]

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
