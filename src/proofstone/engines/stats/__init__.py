"""Estimates, intervals and comparisons: arrays in, records out; no method and no store known."""

from proofstone.engines.stats.bounds import Bounds, bound_incomplete
from proofstone.engines.stats.chance import Against, chance_level, interval_against
from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.concordance import Homogeneity, homogeneity, tau_b
from proofstone.engines.stats.flags import (
    ESTIMANDS,
    FLAGS,
    Estimand,
    Flag,
    estimand_name,
    resampled_unit,
)
from proofstone.engines.stats.intervals import (
    normal_quantile,
    t_quantile,
    t_two_sided_p,
    wilson,
)
from proofstone.engines.stats.means import estimates_of, mean_estimates
from proofstone.engines.stats.measures import counted_values, outcome_code, unit_means
from proofstone.engines.stats.ranks import (
    Comparison,
    Ranking,
    RankInterval,
    holm,
    rank_all,
    tied_runs,
)
from proofstone.engines.stats.samples import AverageAtK, average_at_k
from proofstone.engines.stats.spread import Spread, measure_spread
from proofstone.engines.stats.weights import Weighting, equal_weights, group_weights

__all__ = [
    "ESTIMANDS",
    "FLAGS",
    "Against",
    "AverageAtK",
    "Bounds",
    "Comparison",
    "Estimand",
    "Flag",
    "Homogeneity",
    "RankInterval",
    "Ranking",
    "SharedKeys",
    "Spread",
    "Weighting",
    "average_at_k",
    "bound_incomplete",
    "chance_level",
    "counted_values",
    "equal_weights",
    "estimand_name",
    "estimates_of",
    "group_weights",
    "holm",
    "homogeneity",
    "interval_against",
    "mean_estimates",
    "measure_spread",
    "normal_quantile",
    "outcome_code",
    "partner_sums",
    "rank_all",
    "resampled_unit",
    "t_quantile",
    "t_two_sided_p",
    "tau_b",
    "tied_runs",
    "unit_means",
    "wilson",
]
