"""Support centrality follows appendix B: against its formulas, written out one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from kina.planted_pool import Planted, planted
from proofstone.errors import BadUsage
from proofstone.methods.kina.centrality.pairs import PairFeatures, nearest
from proofstone.methods.kina.centrality.representatives import (
    ANCHOR,
    DIFFICULTY,
    UNALIGNED,
    UNSUPPORTED,
    refused,
)
from proofstone.methods.kina.centrality.settings import Settings, variants
from proofstone.methods.kina.centrality.support import (
    Support,
    alignment_features,
    item_labels,
    support,
)
from proofstone.stats.calibrators import Labels, fit

SETTINGS = Settings(resamples=25, k=6, delta_a=0.2, delta_c=0.3, tau_dup=0.4, alpha_c=0.1)


@pytest.fixture(scope="module")
def small() -> Planted:
    return planted(5, n=60, n_items=40, n_pairs=30, size=6)


@pytest.fixture(scope="module")
def found(small: Planted) -> Support:
    held = small.discipline
    return support(held.pool, held.items, held.pairs, SETTINGS, seed=3)


class Literal:
    """Appendix B, formula by formula, with loops."""

    def __init__(self, held: Planted, settings: Settings, seed: int) -> None:
        pool, self.settings = held.discipline.pool, settings
        self.pool, self.n = pool, len(pool.ids)
        self.anchors = pool.anchors.tolist()
        self.features = PairFeatures.of(pool.rows, pool.vectors)
        place = {identity: at for at, identity in enumerate(pool.ids)}
        shown = alignment_features(pool, settings)
        labels = item_labels(held.discipline.items, place)
        calibrator = fit("logistic", shown, labels, n_resamples=settings.resamples, seed=seed)
        self.shown, self.calibrator = shown, calibrator
        ends = np.array([(place[e.id], place[e.other]) for e in held.discipline.pairs])
        both = np.vstack([ends, ends[:, ::-1]])
        units = np.array([min(a, b) * self.n + max(a, b) for a, b in both.tolist()])
        directed = self.features.directed(both)
        support_labels = [e.support for e in held.discipline.pairs] * 2
        duplicate_labels = [e.duplicate for e in held.discipline.pairs] * 2
        self.shared, self.risk = (
            fit(
                "logistic", directed,
                Labels(np.arange(len(both)), units, np.array(values, dtype=np.float64)),
                n_resamples=settings.resamples, seed=seed,
            )
            for values in (support_labels, duplicate_labels)
        )  # fmt: skip

    def one(self, model: Any, q: int, u: int, b: int | None) -> float:
        """The symmetrized probability of a pair; ``b`` is a resample, None the sample."""
        values = []
        for pair in ((q, u), (u, q)):
            features = self.features.directed(np.array([pair]))
            unit = np.array([min(q, u) * self.n + max(q, u)])
            if b is None:
                values.append(float(model.values(features, unit)[0]))
            else:
                values.append(float(np.vstack(list(model.replicates(features, unit)))[b, 0]))
        return sum(values) / 2

    def s(self, q: int, u: int, b: int | None = None) -> float:
        shared, risk = self.one(self.shared, q, u, b), self.one(self.risk, q, u, b)
        return max(0.0, shared - self.settings.lambda_dup * risk)

    def a_low(self, q: int) -> float:
        replicates = np.vstack(
            list(self.calibrator.replicates(self.shown[q : q + 1], np.array([q])))
        )
        return float(np.quantile(replicates[:, 0], self.settings.delta_a))

    def near(self, q: int, among: list[int]) -> list[int]:
        cosine = {u: float(self.pool.vectors[q] @ self.pool.vectors[u]) for u in among if u != q}
        return sorted(cosine, key=lambda u: (-cosine[u], u))[: self.settings.k]

    def bank(self) -> list[int]:
        raw = [q for q in range(self.n) if self.a_low(q) >= self.settings.alpha_ref]
        best = self.calibrator.values(self.shown, np.arange(self.n))
        close = {(min(q, u), max(q, u)) for q in raw for u in self.near(q, raw)}
        kept: list[int] = []
        for q in sorted(raw, key=lambda at: (-best[at], at)):
            others = [u for u in kept if (min(q, u), max(q, u)) in close]
            if all(self.one(self.risk, q, u, None) <= self.settings.tau_dup for u in others):
                kept.append(q)
        return sorted(kept)

    def mu(self, bank: list[int]) -> dict[int, float]:
        strata = [row.candidate.stratum.subfield for row in self.pool.rows]
        held = {strata[q] for q in bank}
        omega = 1 / len(held)
        return {q: omega / sum(strata[u] == strata[q] for u in bank) for q in bank}

    def c(self, q: int, bank: list[int], mu: dict[int, float], b: int | None = None) -> float:
        near = self.near(q, bank)
        rest = 1 - sum(mu[u] for u in near)
        pi = 1 / len(self.anchors)
        head = sum(mu[u] * self.s(q, u, b) for u in near)
        return head + rest * sum(pi * self.s(q, a, b) for a in self.anchors)


@pytest.fixture(scope="module")
def literal(small: Planted) -> Literal:
    return Literal(small, SETTINGS, 3)


def test_the_bank_is_aligned_and_has_no_near_duplicates(found: Support, literal: Literal) -> None:
    assert found.bank.tolist() == literal.bank()
    assert 0 < len(found.bank) < found.n_aligned


def test_weights_of_references_are_shares_of_their_strata(found: Support, literal: Literal) -> None:
    expected = literal.mu(found.bank.tolist())
    assert found.mu.tolist() == pytest.approx([expected[q] for q in found.bank.tolist()])
    assert math.isclose(found.mu.sum(), 1)


def test_centrality_is_the_weighted_support_of_neighbours_and_anchors(
    found: Support, literal: Literal
) -> None:
    bank, mu = found.bank.tolist(), literal.mu(found.bank.tolist())
    for q in range(literal.n):
        if q in literal.anchors:
            assert math.isnan(found.centrality[q])
        else:
            assert found.centrality[q] == pytest.approx(literal.c(q, bank, mu), abs=1e-12)


def test_lower_quantiles_are_over_refitted_models(found: Support, literal: Literal) -> None:
    bank, mu = found.bank.tolist(), literal.mu(found.bank.tolist())
    others = [q for q in range(literal.n) if q not in literal.anchors]
    for q in others[:12]:
        replicates = [literal.c(q, bank, mu, b) for b in range(SETTINGS.resamples)]
        low = np.quantile(replicates, SETTINGS.delta_c)
        assert found.centrality_low[q] == pytest.approx(low, abs=1e-12)
        assert found.alignment_low[q] == pytest.approx(literal.a_low(q), abs=1e-12)


def test_scores_of_selection_are_sparse_and_one_for_itself(
    found: Support, literal: Literal
) -> None:
    bank, n = found.bank.tolist(), literal.n
    scores = found.scores(np.arange(n)).toarray()
    compared = {
        frozenset((q, u))
        for q in range(n)
        if q not in literal.anchors
        for u in [*literal.near(q, bank), *literal.anchors]
    }
    for q in range(n):
        for column, u in enumerate(bank):
            expected = 1.0 if q == u else 0.0
            if q != u and frozenset((q, u)) in compared:
                expected = literal.s(q, u)
            assert scores[q, column] == pytest.approx(expected, abs=1e-12)


def test_the_shortlist_has_three_conditions(found: Support, small: Planted) -> None:
    reasons = refused(found)
    for q in range(len(small.topics)):
        expected = ""
        if q in small.discipline.pool.anchors:
            expected = ANCHOR
        elif found.alignment_low[q] < SETTINGS.alpha_a:
            expected = UNALIGNED
        elif found.centrality_low[q] < SETTINGS.alpha_c:
            expected = UNSUPPORTED
        elif not SETTINGS.least_wrong <= small.difficulty[q] <= SETTINGS.most_wrong:
            expected = DIFFICULTY
        assert reasons.get(q, ("", ""))[0] == expected
    assert {reason for reason, _why in reasons.values()} >= {ANCHOR, UNALIGNED, DIFFICULTY}


def test_without_a_panel_difficulty_is_no_condition(small: Planted) -> None:
    held = small.discipline
    rows = tuple(structs.replace(row, wrong=None) for row in held.pool.rows)
    pool = type(held.pool)(
        held.pool.ids, rows, held.pool.vectors, held.pool.prototype, held.pool.anchors
    )
    reasons = refused(support(pool, held.items, held.pairs, SETTINGS, seed=3))
    assert DIFFICULTY not in {reason for reason, _why in reasons.values()}


@pytest.mark.parametrize("missing", ["anchors", "aligned", "support", "duplicate", "bank"])
def test_what_cannot_be_computed_is_left_to_people(small: Planted, missing: str) -> None:
    held = small.discipline
    pool, items, pairs, settings = held.pool, held.items, held.pairs, SETTINGS
    if missing == "anchors":
        none = np.zeros(0, dtype=np.int64)
        pool = type(pool)(pool.ids, pool.rows, pool.vectors, pool.prototype, none)
    elif missing == "aligned":
        items = tuple(structs.replace(each, aligned=True) for each in items)
    elif missing == "bank":
        settings = structs.replace(settings, alpha_ref=1.0)
    else:
        pairs = tuple(structs.replace(each, **{missing: False}) for each in pairs)
    told = support(pool, items, pairs, settings)
    assert {"bank": "reference bank"}.get(missing, missing) in told.empty
    assert {reason for reason, _why in refused(told).values()} == {"left to people"}


def test_nearest_breaks_ties_by_place_and_leaves_itself_out() -> None:
    vectors = np.array([[1.0, 0], [1, 0], [0, 1], [1, 0], [0.6, 0.8]])
    among = np.array([0, 1, 3, 4])
    assert [each.tolist() for each in nearest(vectors, np.array([0, 2]), among, 2)] == [
        [1, 3],
        [4, 0],
    ]
    assert nearest(vectors, np.array([4]), among, 9)[0].tolist() == [0, 1, 3]


def test_settings_outside_their_range_are_refused_together() -> None:
    with pytest.raises(BadUsage) as told:
        Settings(delta_a=1.5, k=0, lambda_dup=-1, least_wrong=0.9, most_wrong=0.2)
    for name in ("delta_a", "k is below 1", "lambda_dup", "least_wrong"):
        assert name in str(told.value)


def test_every_variant_changes_one_setting() -> None:
    base = Settings()
    seen = set()
    for name, _value, changed in variants(base, panel=True):
        differs = {
            field
            for field in base.__struct_fields__
            if getattr(base, field) != getattr(changed, field)
        }
        assert differs == ({"least_wrong"} if name == "I" else {name})
        seen |= differs
    fixed = {"calibrator", "resamples", "stratum", "most_wrong"}
    assert seen == set(base.__struct_fields__) - fixed
