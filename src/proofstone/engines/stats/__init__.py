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
from proofstone.engines.stats.resampling import (
    Strata,
    allocate,
    bootstrap_counts,
    generator,
    subsample_counts,
)
from proofstone.engines.stats.samples import AverageAtK, average_at_k
from proofstone.engines.stats.spread import Spread, measure_spread
from proofstone.engines.stats.stability import (
    RankSpread,
    Scheme,
    Stability,
    Summary,
    bootstrap_stability,
    subsample_stability,
    summarise_draws,
)
from proofstone.engines.stats.standings_by_draw import means_by_draw, ranks_of
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
    "RankSpread",
    "Ranking",
    "Scheme",
    "SharedKeys",
    "Spread",
    "Stability",
    "Strata",
    "Summary",
    "Weighting",
    "allocate",
    "average_at_k",
    "bootstrap_counts",
    "bootstrap_stability",
    "bound_incomplete",
    "chance_level",
    "counted_values",
    "equal_weights",
    "estimand_name",
    "estimates_of",
    "generator",
    "group_weights",
    "holm",
    "homogeneity",
    "interval_against",
    "mean_estimates",
    "means_by_draw",
    "measure_spread",
    "normal_quantile",
    "outcome_code",
    "partner_sums",
    "rank_all",
    "ranks_of",
    "resampled_unit",
    "subsample_counts",
    "subsample_stability",
    "summarise_draws",
    "t_quantile",
    "t_two_sided_p",
    "tau_b",
    "tied_runs",
    "unit_means",
    "wilson",
]
