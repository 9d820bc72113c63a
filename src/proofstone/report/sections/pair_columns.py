"""What else is said of a pair: another correction, and the items that only one got right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.engines.stats import Comparison, benjamini_hochberg, mcnemar_p
from proofstone.report.board import Standings
from proofstone.report.sections.ranked_values import ranked_values
from proofstone.report.sections.section import Cell, Column, Evidence
from proofstone.wording import say

__all__ = ["PairColumns", "further_columns", "rate_heads"]


@dataclass(frozen=True, slots=True)
class PairColumns:
    """Further columns of the table of pairs, and the cells of each pair that is listed (places in
    the ranking)."""

    heads: tuple[Column, ...]
    cells: Mapping[tuple[int, int], tuple[Cell, ...]]


def further_columns(
    evidence: Evidence, group: Standings, listed: Sequence[Comparison]
) -> PairColumns:
    """Of each of the pairs that are ``listed``: what Benjamini and Hochberg make of its p-value
    among all; and where all scores are right or wrong, the items that only one of the two got
    right, with McNemar's exact test."""
    pairs = [(pair.first, pair.second) for pair in listed]
    by_rate = benjamini_hochberg(np.array([pair.p for pair in group.compared]))
    place_of = {(pair.first, pair.second): n for n, pair in enumerate(group.compared)}
    by_rate = by_rate[[place_of[pair] for pair in pairs]]
    heads = rate_heads()
    columns: list[Sequence[Cell]] = [by_rate.tolist()]
    ranked = ranked_values(evidence)
    if ranked is not None and ((ranked.values == 0) | (ranked.values == 1)).all():
        both = (ranked.values.T @ ranked.values).round().astype(np.int64)
        won = np.array([both[a, a] - both[a, b] for a, b in pairs])
        lost = np.array([both[b, b] - both[a, b] for a, b in pairs])
        exact, _ = mcnemar_p(won, lost)
        columns += [won.tolist(), lost.tolist(), exact.tolist()]
        heads += (
            Column(key="only_first", name=say("only A correct"),
                   help=say("items that only the first model got right")),
            Column(key="only_second", name=say("only B correct"),
                   help=say("items that only the second model got right")),
            Column(key="p_mcnemar", name=say("p, McNemar"), unit="probability",
                   help=say("the exact test on those items, taken as independent")),
        )  # fmt: skip
    return PairColumns(heads, dict(zip(pairs, zip(*columns, strict=True), strict=True)))


def rate_heads() -> tuple[Column, ...]:
    """The column of p-values that bound the share of false discoveries."""
    return (
        Column(key="p_bh", name=say("q (BH)"), unit="probability",
               help=say("q-value (Benjamini-Hochberg): calling every pair with a q up to "
                        "this value significant keeps the expected share of false "
                        "discoveries at or below it")),
    )  # fmt: skip
