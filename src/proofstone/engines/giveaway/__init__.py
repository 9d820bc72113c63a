"""Give-aways: can true be told from false, or gold from others, without knowing anything?"""

from proofstone.engines.giveaway.areas import Area, area_within, widened
from proofstone.engines.giveaway.audit import FeatureLeak, GiveAway, audit_give_away
from proofstone.engines.giveaway.crossfit import CrossFit, cross_fit, folds_by_source
from proofstone.engines.giveaway.embedded import Companion, companions, principal_columns
from proofstone.engines.giveaway.features import FeatureTable, surface_features, word_features
from proofstone.engines.giveaway.ridge import cross_ridge, swapped_areas
from proofstone.engines.giveaway.sieve import Sifted, sift_give_aways

__all__ = [
    "Area",
    "Companion",
    "CrossFit",
    "FeatureLeak",
    "FeatureTable",
    "GiveAway",
    "Sifted",
    "area_within",
    "audit_give_away",
    "companions",
    "cross_fit",
    "cross_ridge",
    "folds_by_source",
    "principal_columns",
    "sift_give_aways",
    "surface_features",
    "swapped_areas",
    "widened",
    "word_features",
]
