"""``build statements SOURCE...``: from passages to checked statements, true and falsified.

Read ``pipeline`` first: it names the steps in their order, each in a file of its own.
"""

from proofstone.methods.encyclo_k.extraction.pipeline import PIPELINES, make_pipeline

__all__ = ["PIPELINES", "make_pipeline"]
