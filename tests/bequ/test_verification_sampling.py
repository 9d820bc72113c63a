"""Which triples are verified: every one as likely as it should be, by seed, the longer sample
beginning with the shorter."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_world import gathered

from proofstone.methods.bequ.records import SamplingMethod, VerifySettings
from proofstone.methods.bequ.verification.plan import SAMPLING_METHODS, make_plan, sample_places

COUNTS = st.lists(st.integers(0, 6), max_size=8)


@given(COUNTS, st.integers(1, 60), st.sampled_from(SAMPLING_METHODS), st.integers(0, 5))
def test_a_sample_has_different_places_that_exist(
    counts: list[int], n: int, prompt_method: SamplingMethod, seed: int
) -> None:
    drawn = sample_places(counts, n, prompt_method, seed=seed, purpose="p")
    assert len(drawn) == len(set(drawn)) == min(n, sum(counts))
    assert all(0 <= place < counts[entity] for entity, place in drawn)
    assert drawn == sample_places(counts, n, prompt_method, seed=seed, purpose="p")
    longer = sample_places(counts, n + 3, prompt_method, seed=seed, purpose="p")
    assert longer[: len(drawn)] == drawn


@given(COUNTS, st.sampled_from(SAMPLING_METHODS))
def test_zero_means_all_in_their_order(counts: list[int], prompt_method: SamplingMethod) -> None:
    drawn = sample_places(counts, 0, prompt_method, seed=1, purpose="p")
    assert drawn == [(at, place) for at, n in enumerate(counts) for place in range(n)]


@pytest.mark.parametrize(("prompt_method", "share"), [("entities", 1 / 2), ("triples", 90 / 100)])
def test_the_way_says_how_much_an_entity_weighs(
    prompt_method: SamplingMethod, share: float
) -> None:
    """Of 90 and 10 triples, over seeds: half of the first draws each, or nine in ten."""
    first = [
        sample_places([90, 10], 1, prompt_method, seed=seed, purpose="p")[0][0]
        for seed in range(600)
    ]
    assert Counter(first)[0] / 600 == pytest.approx(share, abs=0.06)


def test_draws_never_change() -> None:
    """A sample is named by its seed: these are golden values."""
    assert sample_places([3, 1, 5], 5, "entities", seed=0, purpose="recall") == GOLDEN["entities"]
    assert sample_places([3, 1, 5], 5, "triples", seed=0, purpose="recall") == GOLDEN["triples"]


GOLDEN = {
    "entities": [(0, 2), (0, 1), (0, 0), (1, 0), (2, 2)],
    "triples": [(2, 2), (2, 3), (0, 1), (0, 2), (1, 0)],
}


@pytest.mark.parametrize("per", ["domain", "popularity"])
def test_each_part_can_have_a_sample_of_its_own(per: str) -> None:
    """As published by domain and popularity: so many of each part and direction, where overall
    they would be that many together; the sample of a part is as large however many parts there
    are."""
    parts = {"a": 3, "b": 30, "c": 6}  # entities of each, with ten triples and twelve known ones
    rows = [(f"{part}{n}", part) for part, entities in parts.items() for n in range(entities)]
    known = [
        {"entity": name, "predicate": f"p{n}", "object": str(n), per: part}
        for name, part in rows
        for n in range(12)
    ]
    said = [
        {"model": "m", "subject": name, "predicate": f"q{n}", "object": "x", "subject_name": name}
        for name, _part in rows
        for n in range(10)
    ]
    with gathered(said, known) as held:
        plans = {
            each: make_plan(held, VerifySettings(sample=25, seed=42, sample_per=each))
            for each in ("all", per)
        }
        part_of = {number: facts.name[0] for number, facts in enumerate(held.entities)}
    assert (plans["all"].n_given, plans["all"].n_known) == (25, 25)
    for counts in (
        Counter(part_of[of] for (_group, of), own in plans[per].given.items() for _ in own),
        Counter(part_of[of] for of, own in plans[per].known.items() for _ in own),
    ):
        assert counts == {"a": 25, "b": 25, "c": 25}
