"""Estimates, intervals and comparisons: arrays in, records out; no method and no store known."""

from proofstone.engines.stats.agreement import (
    Coefficient,
    Level,
    agreement,
    cohen_kappa,
    krippendorff_alpha,
)
from proofstone.engines.stats.bends import (
    Bend,
    Shape,
    fit_bend,
)
from proofstone.engines.stats.best_of_n import majority_at_k, surest_at_k
from proofstone.engines.stats.bootstrap import bootstrap_means, disjoint_clusters
from proofstone.engines.stats.bounds import Bounds, bound_incomplete
from proofstone.engines.stats.calibration import (
    Binning,
    Calibration,
    ConfidenceBin,
    Interval,
    calibrate,
)
from proofstone.engines.stats.chance import Against, chance_level, interval_against
from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.concordance import Homogeneity, homogeneity, tau_b
from proofstone.engines.stats.confusion import Confusion, confuse
from proofstone.engines.stats.contrasts import Contrasts, measure_contrasts
from proofstone.engines.stats.dimension import DimensionCheck, check_dimension
from proofstone.engines.stats.disattenuation import (
    Disattenuated,
    disattenuate,
)
from proofstone.engines.stats.discrimination import (
    Discrimination,
    discriminate,
    discriminate_shares,
    top_k,
)
from proofstone.engines.stats.drawn_means import (
    DrawnMeans,
    draw_means,
    draw_shares,
)
from proofstone.engines.stats.drawn_ratios import (
    DrawnRatios,
    draw_ratios,
    draw_ratios_each,
    harmonic_mean,
    more_for_half_width,
)
from proofstone.engines.stats.factors import AverageEffect, Effect, Factor, analyse_factor
from proofstone.engines.stats.filter_bias import (
    FilterBias,
    filter_bias,
)
from proofstone.engines.stats.flags import (
    ESTIMANDS,
    FLAGS,
    Estimand,
    Flag,
    estimand_name,
    resampled_unit,
)
from proofstone.engines.stats.forecast import Forecast, Sampled, forecast_total
from proofstone.engines.stats.intervals import (
    clopper_pearson,
    normal_quantile,
    share_interval,
    t_quantile,
    t_two_sided_p,
    wilson,
)
from proofstone.engines.stats.irt import ItemResponse, fit_two_parameter
from proofstone.engines.stats.item_analysis import (
    ITEM_FLAGS,
    ItemFlag,
    ItemStatistics,
    describe_items,
    item_rest_correlations,
    one_sided_p,
    row_correlations,
)
from proofstone.engines.stats.joint_draws import MadeOf, estimate_together
from proofstone.engines.stats.joint_ranks import JointRanking, rank_jointly
from proofstone.engines.stats.key_analysis import KEY_FLAGS, KeyFlag, KeyStatistics, describe_keys
from proofstone.engines.stats.lengths import LengthEffect, Slope, length_effect
from proofstone.engines.stats.mcnemar import McNemar, mcnemar, mcnemar_p
from proofstone.engines.stats.means import estimates_of, mean_estimates
from proofstone.engines.stats.means_apart import Apart, SpreadApart, spread_apart
from proofstone.engines.stats.measures import counted_values, outcome_code, unit_means
from proofstone.engines.stats.multiplicity import benjamini_hochberg, holm
from proofstone.engines.stats.normal_range import expected_range, range_p
from proofstone.engines.stats.paired import (
    PairedDifference,
    compare_pair,
    compare_spread,
    units_to_pass,
)
from proofstone.engines.stats.permutation import SignFlip, sign_flip, sign_flip_p
from proofstone.engines.stats.positions import PositionBias, PositionShare, position_bias
from proofstone.engines.stats.power import (
    Assumed,
    Resolution,
    Separation,
    resolution_after,
    resolution_before,
    separations,
    units_for,
)
from proofstone.engines.stats.ppi import JudgedRate, correct_judged_rate
from proofstone.engines.stats.rank_agreement import (
    RankAgreement,
    rank_agreement,
    spearman,
)
from proofstone.engines.stats.rank_moves import (
    RankMove,
    rank_moves,
)
from proofstone.engines.stats.ranks import (
    Comparison,
    Ranking,
    RankInterval,
    best_group,
    rank_all,
    rank_intervals,
    tied_runs,
    tiers,
)
from proofstone.engines.stats.ratio_spread import harmonic_spread, ratio_spread
from proofstone.engines.stats.ratios import ratio_estimate, ratio_estimates, ratio_values
from proofstone.engines.stats.relative_drop import drop_between, relative_drop
from proofstone.engines.stats.reliability import (
    Reliability,
    measure_reliability,
    split_half,
)
from proofstone.engines.stats.repeated_looks import error_of_looks, look_confidence
from proofstone.engines.stats.repeats import (
    answer_consistency,
    consistency,
    majority_scores,
    pass_at_k,
    sample_means,
)
from proofstone.engines.stats.resampling import (
    Strata,
    allocate,
    blocks_of_draws,
    bootstrap_counts,
    generator,
    subsample_counts,
)
from proofstone.engines.stats.samples import AverageAtK, average_at_k
from proofstone.engines.stats.scaling import (
    MixtureGap,
    SizeSlope,
    SlopeDifference,
    compare_slopes,
    mixture_gap,
    slope_of,
)
from proofstone.engines.stats.selective import RiskCoverage, auroc, risk_coverage
from proofstone.engines.stats.separation import GroupsApart, GroupSeparation, groups_apart
from proofstone.engines.stats.shares import differ_significantly, rank_shares, share_estimate
from proofstone.engines.stats.shrinkage import Shrinkage, ShrunkenScore, shrink_scores
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
from proofstone.engines.stats.variance_split import (
    VarianceSplit,
    chance_correlation,
    split_variance,
)
from proofstone.engines.stats.wald import WaldTest, wald
from proofstone.engines.stats.weights import Weighting, equal_weights, group_weights

__all__ = [
    "ESTIMANDS",
    "FLAGS",
    "ITEM_FLAGS",
    "KEY_FLAGS",
    "Against",
    "Apart",
    "Assumed",
    "AverageAtK",
    "AverageEffect",
    "Bend",
    "Binning",
    "Bounds",
    "Calibration",
    "Coefficient",
    "Comparison",
    "ConfidenceBin",
    "Confusion",
    "Contrasts",
    "DimensionCheck",
    "Disattenuated",
    "Discrimination",
    "DrawnMeans",
    "DrawnRatios",
    "Effect",
    "Estimand",
    "Factor",
    "FilterBias",
    "Flag",
    "Forecast",
    "GroupSeparation",
    "GroupsApart",
    "Homogeneity",
    "Interval",
    "ItemFlag",
    "ItemResponse",
    "ItemStatistics",
    "JointRanking",
    "JudgedRate",
    "KeyFlag",
    "KeyStatistics",
    "LengthEffect",
    "Level",
    "MadeOf",
    "McNemar",
    "MixtureGap",
    "PairedDifference",
    "PositionBias",
    "PositionShare",
    "RankAgreement",
    "RankInterval",
    "RankMove",
    "RankSpread",
    "Ranking",
    "Reliability",
    "Resolution",
    "RiskCoverage",
    "Sampled",
    "Scheme",
    "Separation",
    "Shape",
    "SharedKeys",
    "Shrinkage",
    "ShrunkenScore",
    "SignFlip",
    "SizeSlope",
    "Slope",
    "SlopeDifference",
    "Spread",
    "SpreadApart",
    "Stability",
    "Strata",
    "Summary",
    "VarianceSplit",
    "WaldTest",
    "Weighting",
    "agreement",
    "allocate",
    "analyse_factor",
    "answer_consistency",
    "auroc",
    "average_at_k",
    "benjamini_hochberg",
    "best_group",
    "blocks_of_draws",
    "bootstrap_counts",
    "bootstrap_means",
    "bootstrap_stability",
    "bound_incomplete",
    "calibrate",
    "chance_correlation",
    "chance_level",
    "check_dimension",
    "clopper_pearson",
    "cohen_kappa",
    "compare_pair",
    "compare_slopes",
    "compare_spread",
    "confuse",
    "consistency",
    "correct_judged_rate",
    "counted_values",
    "describe_items",
    "describe_keys",
    "differ_significantly",
    "disattenuate",
    "discriminate",
    "discriminate_shares",
    "disjoint_clusters",
    "draw_means",
    "draw_ratios",
    "draw_ratios_each",
    "draw_shares",
    "drop_between",
    "equal_weights",
    "error_of_looks",
    "estimand_name",
    "estimate_together",
    "estimates_of",
    "expected_range",
    "filter_bias",
    "fit_bend",
    "fit_two_parameter",
    "forecast_total",
    "generator",
    "group_weights",
    "groups_apart",
    "harmonic_mean",
    "harmonic_spread",
    "holm",
    "homogeneity",
    "interval_against",
    "item_rest_correlations",
    "krippendorff_alpha",
    "length_effect",
    "look_confidence",
    "majority_at_k",
    "majority_scores",
    "mcnemar",
    "mcnemar_p",
    "mean_estimates",
    "means_by_draw",
    "measure_contrasts",
    "measure_reliability",
    "measure_spread",
    "mixture_gap",
    "more_for_half_width",
    "normal_quantile",
    "one_sided_p",
    "outcome_code",
    "partner_sums",
    "pass_at_k",
    "position_bias",
    "range_p",
    "rank_agreement",
    "rank_all",
    "rank_intervals",
    "rank_jointly",
    "rank_moves",
    "rank_shares",
    "ranks_of",
    "ratio_estimate",
    "ratio_estimates",
    "ratio_spread",
    "ratio_values",
    "relative_drop",
    "resampled_unit",
    "resolution_after",
    "resolution_before",
    "risk_coverage",
    "row_correlations",
    "sample_means",
    "separation",
    "separations",
    "share_estimate",
    "share_interval",
    "shrink_scores",
    "sign_flip",
    "sign_flip_p",
    "slope_of",
    "spearman",
    "split_half",
    "split_variance",
    "spread_apart",
    "subsample_counts",
    "subsample_stability",
    "summarise_draws",
    "surest_at_k",
    "t_quantile",
    "t_two_sided_p",
    "tau_b",
    "tied_runs",
    "tiers",
    "top_k",
    "unit_means",
    "units_for",
    "units_to_pass",
    "wald",
    "wilson",
]
