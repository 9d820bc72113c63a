"""Lists of entities: from the pages of a wiki, or from lists made elsewhere."""

from proofstone.methods.bequ.listing.pipeline import PIPELINES

__all__ = ["PIPELINES"]
