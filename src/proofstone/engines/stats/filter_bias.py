"""Whether a benchmark that a model filtered is harder for that model, or easier, than for others.

Items were kept or dropped by what the filter's model answered (as a rule those that it failed), so
on the filtered items its accuracy is no longer that of a model among others. Where a sample that no
filter saw was asked too, the bias is a difference of differences: what the filter's model loses
from unfiltered to filtered items, less what the others lose on average. Items are shared by all
models, so the bias is one mean over filtered items less one over unfiltered ones, of each item's
lead of the filter's model over the others.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.contrasts import measure_contrasts
from proofstone.engines.stats.flags import Estimand
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate

__all__ = ["FilterBias", "filter_bias"]

Floats = NDArray[np.float64]


class FilterBias(Struct, frozen=True, kw_only=True):
    """``bias``: below 0 where the filter costs the models that made it more than the others.

    ``own`` and ``others`` are the two changes from unfiltered to filtered items, on the items where
    both kinds have scores. ``n_filtered`` and ``n_unfiltered`` items, ``n_own`` and ``n_others``
    models.
    """

    bias: Estimate
    own: Estimate
    others: Estimate
    p: float
    n_filtered: int
    n_unfiltered: int
    n_own: int
    n_others: int


def filter_bias(
    values: Floats,
    is_filtered: NDArray[np.bool_],
    is_unfiltered: NDArray[np.bool_],
    own: NDArray[np.bool_],
    keys: SharedKeys,
    *,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
) -> FilterBias:
    """The bias against the models ``own`` (m) of ``values`` (U units, m; NaN where missing).

    ``is_filtered`` and ``is_unfiltered`` (U) say which items came through the filter, and which are
    a sample of all before it; an item may be in both. Items that lack a model's score are left out.
    Raises BadUsage where all models are the filter's, or none.
    """
    if not own.any() or own.all():
        raise BadUsage(
            "a filter's bias compares its own models with others; here are "
            f"{int(own.sum())} of its own and {int((~own).sum())} others",
            hint="ask models that had no hand in the filter the same items",
        )
    complete = ~np.isnan(values).any(axis=1)
    mine, theirs = values[:, own].mean(axis=1), values[:, ~own].mean(axis=1)
    columns = np.stack([mine - theirs, mine, theirs], axis=1)
    before = np.where((complete & is_unfiltered)[:, None], columns, np.nan)
    after = np.where((complete & is_filtered)[:, None], columns, np.nan)
    # Two samples of items, whatever they have in common: a filter picks among items, it does not
    # change them, so pairs would compare an item with itself.
    found = measure_contrasts(before, after, keys, estimand, paired=False)
    bias, own_change, others_change = found.estimates(confidence=confidence, bound=2.0)
    return FilterBias(
        bias=bias,
        own=own_change,
        others=others_change,
        p=float(found.p()[0]),
        n_filtered=int((complete & is_filtered).sum()),
        n_unfiltered=int((complete & is_unfiltered).sum()),
        n_own=int(own.sum()),
        n_others=int((~own).sum()),
    )
