"""Several rankings of the same texts as one: reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods" (SIGIR 2009): a text gets 1 / (60 + rank) from each ranking that has it. Scores of
different kinds (BM25's, cosines) need no common scale so.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.retrieval.hits import Hit

__all__ = ["RANK_CONSTANT", "fuse_ranks"]

RANK_CONSTANT = 60  # the paper's, chosen there once and for all


def fuse_ranks(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """The ``k`` texts with the most over all rankings (each best first), best first; of equals the
    one of the lower place."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.place] = scores.get(hit.place, 0.0) + 1 / (RANK_CONSTANT + rank)
    best = sorted((-score, place) for place, score in scores.items())
    return [Hit(place, -score) for score, place in best[: max(k, 0)]]
