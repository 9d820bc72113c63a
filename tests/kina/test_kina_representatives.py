"""Planted topics are covered, copies and off-topic questions are left out, at stated rates."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from msgspec import structs

from kina.planted_pool import TOPICS, Planted, planted
from proofstone.errors import QuotasConflict
from proofstone.methods.kina.centrality.representatives import (
    ANCHOR,
    NOT_CHOSEN,
    Chosen,
    Discipline,
    represent,
)
from proofstone.methods.kina.centrality.settings import Settings
from proofstone.methods.kina.centrality.support import Pool
from proofstone.methods.kina.centrality.tables import report_tables

QUICK = Settings(resamples=60)
SEEDS = range(6)


def chosen_of(held: Planted, settings: Settings = QUICK, *, sensitivity: bool = False) -> Chosen:
    return represent(held.discipline, settings, seed=1, sensitivity=sensitivity)


def copies_among(held: Planted, places: tuple[int, ...]) -> int:
    return sum(one in places and other in places for one, other in held.copies.items())


@pytest.fixture(scope="module")
def pools() -> list[tuple[Planted, Chosen]]:
    """Pools of which greedy with repair chooses rather than the exact program, for speed."""
    made = [planted(seed, n=260, copied=0.6) for seed in SEEDS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("proofstone.selection.choose.EXACT_PAIRS", 0)
        return [(held, chosen_of(held)) for held in made]


def test_planted_questions_are_found_refused_and_dropped(
    pools: list[tuple[Planted, Chosen]],
) -> None:
    """Against choices at random, and of the most difficult questions."""
    rng = np.random.default_rng(0)
    rates: dict[str, list[float]] = {}
    for held, chosen in pools:
        places, k = chosen.places, len(chosen.places)
        others = np.setdiff1d(np.arange(len(held.topics)), held.discipline.pool.anchors)
        hardest = others[np.lexsort((rng.random(len(others)), -held.difficulty[others]))][:k]
        by_way = {
            "centrality": places,
            "random": tuple(rng.choice(others, k, replace=False).tolist()),
            "difficulty": tuple(hardest.tolist()),
        }
        for way, rows in by_way.items():
            topics = held.topics[list(rows)]
            rates.setdefault(f"{way} off topic", []).append(float((topics < 0).mean()))
            covered = len(set(topics[topics >= 0].tolist())) / TOPICS
            rates.setdefault(f"{way} covered", []).append(covered)
            rates.setdefault(f"{way} copies", []).append(copies_among(held, rows))
        assert {chosen.dropped[at][0] for at in held.discipline.pool.anchors.tolist()} == {ANCHOR}
    mean = {name: float(np.mean(values)) for name, values in rates.items()}
    assert mean["centrality off topic"] <= 0.08
    assert min(mean["random off topic"], mean["difficulty off topic"]) >= 0.12
    assert mean["centrality covered"] >= 0.97
    assert max(mean["random covered"], mean["difficulty covered"]) <= 0.92
    assert sum(rates["centrality copies"]) == 0
    assert sum(rates["random copies"]) + sum(rates["difficulty copies"]) >= 2


def test_each_question_is_chosen_or_dropped_with_a_reason(
    pools: list[tuple[Planted, Chosen]],
) -> None:
    for held, chosen in pools:
        assert set(chosen.dropped) | set(chosen.places) == set(range(len(held.topics)))
        assert not set(chosen.dropped) & set(chosen.places)
        counts = Counter(reason for reason, _why in chosen.dropped.values())
        assert chosen.report is not None
        assert counts[NOT_CHOSEN] == chosen.report.n_shortlist - held.discipline.size
        assert list(chosen.gains) == sorted(chosen.gains, reverse=True)


def test_the_result_does_not_depend_on_the_order_of_labels() -> None:
    held = planted(1, n=120, size=8)
    other = structs.replace(
        held.discipline, items=held.discipline.items[::-1], pairs=held.discipline.pairs[::-1]
    )
    one, two = chosen_of(held), represent(other, QUICK, seed=1, sensitivity=False)
    assert one.places == two.places
    assert one.gains == pytest.approx(two.gains)


def test_quotas_and_sizes_are_kept_or_explained() -> None:
    quotas = {"part 0": (4, 5), "part 1": (0, 0)}
    held = planted(2, n=160, size=10, quotas=quotas)
    chosen = chosen_of(held)
    strata = held.discipline.pool.strata("subfield")
    counts = Counter(strata[at] for at in chosen.places)
    assert 4 <= counts["part 0"] <= 5
    assert counts["part 1"] == 0
    with pytest.raises(QuotasConflict, match="part 0: at least 90"):
        chosen_of(planted(2, n=160, size=10, quotas={"part 0": (90, 95)}))


def test_the_report_holds_the_certificate_and_its_tables() -> None:
    held = planted(3, n=110, size=6)
    settings = structs.replace(QUICK, resamples=20)
    report = chosen_of(held, settings, sensitivity=True).report
    assert report is not None
    proof = report.certificate
    assert proof["value"] <= proof["upper_bound"]
    assert 1 - 1 / np.e <= proof["ratio"] <= 1
    assert [each["item"] for each in proof["picks"]] == [
        held.discipline.pool.ids[at] for at in chosen_of(held, settings).places
    ]
    titles = {table.title: table for table in report_tables([report], [])}
    assert len(titles["Marginal gains"].rows) == 6
    assert len(titles["Coverage of the experts' concepts"].rows) == TOPICS + TOPICS // 2
    shared = {row[1]: row[5] for row in titles["Sensitivity to the settings"].rows}
    assert set(shared) >= {"alpha_ref", "k", "lambda_dup", "I", "omega", "pi", "rho"}
    assert report.agreement[0].n_shared == 28
    assert report_tables([], []) == ()


def test_an_unchanged_reading_leaves_the_choice_unchanged() -> None:
    """Without second readings, rho = 0 reads the same; so do equal weights of anchors stated."""
    held = planted(3, n=110, size=6)
    pool = held.discipline.pool
    weights = {pool.ids[at]: 2.0 for at in pool.anchors.tolist()}
    prototype = structs.replace(pool.prototype, anchor_weights=weights)
    same = Pool(pool.ids, pool.rows, pool.vectors, prototype, pool.anchors)
    stated = Discipline(pool=same, items=held.discipline.items, pairs=held.discipline.pairs, size=6)
    settings = structs.replace(QUICK, rho=0.0)
    one, two = chosen_of(held), represent(stated, settings, seed=1, sensitivity=False)
    assert one.places == two.places
