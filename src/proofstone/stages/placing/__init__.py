"""``build strata SOURCE...``: sources placed in a taxonomy by models that choose among its nodes.

Read ``pipeline`` first.
"""

from proofstone.stages.placing.pipeline import PLACING, Placing

__all__ = ["PLACING", "Placing"]
