"""Give-aways: can true be told from false, or gold from others, without knowing anything?"""

from proofstone.engines.giveaway.areas import Area, area_within
from proofstone.engines.giveaway.audit import FeatureLeak, GiveAway, audit_give_away
from proofstone.engines.giveaway.crossfit import CrossFit, cross_fit, folds_by_source
from proofstone.engines.giveaway.features import FeatureTable, surface_features, word_features
from proofstone.engines.giveaway.sieve import Sifted, sift_give_aways

__all__ = [
    "Area",
    "CrossFit",
    "FeatureLeak",
    "FeatureTable",
    "GiveAway",
    "Sifted",
    "area_within",
    "audit_give_away",
    "cross_fit",
    "folds_by_source",
    "sift_give_aways",
    "surface_features",
    "word_features",
]
