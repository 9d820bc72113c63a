"""The six experiments on verified runs of which every count is known."""

from __future__ import annotations

import numpy as np
import pytest
from experiments_made_up import PromptMethod, experiment, facts

from proofstone.errors import BadUsage
from proofstone.methods.bequ.experiments.evidence import Experiment
from proofstone.methods.bequ.experiments.groups import (
    EXPERIMENTS,
    analysis_of,
    experiment_sections,
)
from proofstone.methods.bequ.records import EntityFacts
from proofstone.page.section import Section, Table
from proofstone.records.runs import Estimate
from proofstone.stats.ranks import RankInterval
from table_texts import heads, rows

TOWNS = facts(40)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def column(table: Table, key: str) -> list[object]:
    place = [each.key for each in table.columns].index(key)
    return [row[place] for row in table.rows]


def values(table: Table, key: str) -> list[float | None]:
    cells = column(table, key)
    return [cell.value if isinstance(cell, Estimate) else None for cell in cells]


def section(name: str, found: Experiment) -> Section:
    return EXPERIMENTS[name](found)


def test_prompts_are_held_against_the_direct_ones_on_the_same_entities() -> None:
    """Right triples move with the entity, and so in both ways alike: by two of ten everywhere, so
    that the difference has no error beyond its floor."""
    found = experiment(
        [
            PromptMethod(right=lambda place: 4 + place % 4, known=lambda place: 3 + place % 2),
            PromptMethod(
                prompts="wikidata", right=lambda p: 6 + p % 4, known=lambda p: 1 + p % 2, said=5
            ),
        ],
        TOWNS,
    )
    made = section("prompts", found)
    first, differences = made.tables
    assert column(first, "prompts") == ["direct", "wikidata"]
    usual, other = f1(0.55, 0.35), f1(0.75, 0.15)
    assert values(first, "f1") == pytest.approx([usual, other])
    assert values(first, "f1_less")[1:] == [pytest.approx(other - usual)]
    assert column(first, "f1_less")[0] is None
    assert column(first, "triples") == [12, 5]
    assert values(differences, "precision") == [pytest.approx(0.2)]
    assert values(differences, "recall") == [pytest.approx(-0.2)]
    assert values(differences, "contradiction") == [pytest.approx(-0.2)]
    assert values(differences, "triples") == [pytest.approx(5 - 12)]
    (less,) = [cell for cell in column(first, "f1_less") if isinstance(cell, Estimate)]
    assert less.high < 0.0
    assert less.high - less.low < 0.1
    assert less.resampled == "entities"
    apart = 100 * (usual - other)
    assert made.finding.startswith(
        f"Within a model, F1 differs by up to {apart:.1f} points by prompts. Of 1 difference from "
        "direct, 0 are significantly positive and 1 significantly negative. Precision changes most "
        "with wikidata (a/m): 20.0"
    )
    assert made.notes == (
        "Not run for a/m: two-step.",
        "To run only what is missing: proofstone run towns -m a/m --preset prompts",
    )
    (figure,) = made.figures
    assert [(mark.row, mark.column) for mark in figure.marks] == [
        ("direct", "a/m"),
        ("wikidata", "a/m"),
    ]


def test_the_same_way_twice_differs_by_nothing_and_a_noisy_one_is_not_told_apart() -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(2, 9, (2, 40))
    prompt_methods = [
        PromptMethod(right=lambda place: int(noise[0, place])),
        PromptMethod(prompts="two-step", right=lambda place: int(noise[0, place])),
        PromptMethod(prompts="wikidata", right=lambda place: int(noise[1, place])),
    ]
    made = section("prompts", experiment(prompt_methods, TOWNS))
    less = dict(
        zip(column(made.tables[0], "prompts"), column(made.tables[0], "f1_less"), strict=True)
    )
    same, noisy = less["two-step"], less["wikidata"]
    assert isinstance(same, Estimate)
    assert isinstance(noisy, Estimate)
    assert (same.value, "no-spread" in same.flags) == (0.0, True)
    assert same.low < 0.0 < same.high
    assert noisy.low < 0.0 < noisy.high
    assert "None of 2 differences from direct is statistically significant." in made.finding


def test_only_what_differs_in_nothing_else_is_compared() -> None:
    """Another temperature, another range and another model are no sweep; what was asked once is
    named, and so is what nobody verified."""
    prompt_methods = [
        PromptMethod(),
        PromptMethod(prompts="wikidata", range="5-10"),
        PromptMethod(prompts="wikidata", others=b"hot", told="temperature=1.0"),
        PromptMethod(model="b/n", prompts="two-step", is_verified=False),
    ]
    found = experiment(prompt_methods, TOWNS)
    with pytest.raises(BadUsage, match="no model was verified with two values of") as caught:
        section("prompts", found)
    assert "run towns -m a/m,b/n --preset prompts" in str(caught.value.hint)
    prompt_methods += [
        PromptMethod(model="b/n"),
        PromptMethod(model="b/n", prompts="wikidata", responses=39),
    ]
    made = section("prompts", experiment(prompt_methods, TOWNS))
    assert column(made.tables[0], "model") == ["b/n", "b/n"]
    assert made.notes[0] == "Run with one setting only, so not compared: a/m."
    assert "Incomplete: b/n wikidata 50-100 has 39 of 40 responses" in made.notes[2]
    assert made.notes[3].startswith("Not fully verified")
    assert "proofstone grade run:04040404 --judge J --reference B" in made.notes[3]


def test_ranges_and_efforts_are_swept_alike() -> None:
    prompt_methods = [
        PromptMethod(known=lambda _place: 5),
        PromptMethod(range="5-10", known=lambda _place: 1, said=3),
        PromptMethod(effort="low"),
        PromptMethod(effort="high", right=lambda place: 6 + place % 3),
    ]
    found = experiment(prompt_methods, TOWNS)
    ranges = section("ranges", found)
    assert column(ranges.tables[0], "range") == ["50-100", "5-10"]
    assert values(ranges.tables[1], "recall") == [pytest.approx(-0.4)]
    effort = section("effort", found)
    assert column(effort.tables[0], "effort") == ["low", "high", "not set"]
    assert column(effort.tables[0], "tokens") == [100.0] * 3
    assert column(effort.tables[0], "usd") == [2.0] * 3
    high = (6 * 14 + 7 * 13 + 8 * 13) / 400  # of 40 towns 14, 13 and 13
    assert values(effort.tables[1], "precision") == [
        pytest.approx(high - 0.6),
        pytest.approx(0.0),
    ]


def test_random_ranks_and_holds_each_model_against_the_first() -> None:
    """Rows of other prompts are left out, and counted."""
    prompt_methods = [
        PromptMethod(model="a/low", right=lambda place: 2 + place % 2),
        PromptMethod(model="b/high", right=lambda place: 7 + place % 2),
        PromptMethod(model="c/same", right=lambda place: 7 + (place + 1) % 2),
        PromptMethod(model="b/high", prompts="wikidata"),
    ]
    made = section("random", experiment(prompt_methods, TOWNS))
    (table,) = made.tables
    assert column(table, "model")[2] == "a/low direct 50-100"
    ranks = [
        (rank.low, rank.high) for rank in column(table, "rank") if isinstance(rank, RankInterval)
    ]
    assert ranks == [(1, 2), (1, 2), (3, 3)]  # among those that are shown
    precision = [0.75, 0.75, 0.25]
    assert values(table, "precision") == pytest.approx(precision)
    assert values(table, "contradiction") == pytest.approx([1 - p for p in precision])
    assert values(table, "f1_less")[1:] == pytest.approx([0.0, f1(0.25, 0.4) - f1(0.75, 0.4)])
    assert (
        "1 of 2 others are significantly lower. Not significantly different from it: "
        in made.finding
    )
    (figure,) = made.figures
    assert [(span.first, span.last) for span in figure.spans] == [(0, 1)]
    assert made.notes[0].startswith(
        "1 row with other prompts, ranges or reasoning efforts are left out"
    )


def test_domains_are_held_against_the_others_and_fictional_entities_counted_by_kind() -> None:
    """Persons are known better; one model makes three triples up about each absurd entity too."""
    real = facts(60, domain=lambda place: ("person", "plant", "event")[place % 3])
    made_up = tuple(
        EntityFacts(name=f"No {kind}", is_nonexistent=True, fiction=kind)
        for kind in ("plausible", "plausible", "absurd")
    )
    prompt_methods = [
        PromptMethod(model="a/liar", right=lambda p: 9 if p % 3 == 0 else 4 + p % 2, made_up=3),
        PromptMethod(model="b/mute"),
    ]
    made = section("domains", experiment(prompt_methods, (*real, *made_up)))
    by_domain, nonexistent = made.tables
    assert column(by_domain, "domain") == ["event", "person", "plant"] * 2
    assert column(by_domain, "entities") == [20] * 6
    person = f1(0.9, 0.4)
    assert values(by_domain, "f1")[1] == pytest.approx(person)
    assert values(by_domain, "f1_less")[1] == pytest.approx(person - f1(0.45, 0.4))
    counted = [(row[0], row[1], row[2], row[3], row[5]) for row in nonexistent.rows]
    assert counted == [
        ("a/liar direct 50-100", "all", 3, 3, 9),
        ("a/liar direct 50-100", "plausible", 2, 2, 6),
        ("a/liar direct 50-100", "absurd", 1, 1, 3),
        ("b/mute direct 50-100", "all", 3, 0, 0),
        ("b/mute direct 50-100", "plausible", 2, 0, 0),
        ("b/mute direct 50-100", "absurd", 1, 0, 0),
    ]
    assert values(nonexistent, "share") == [1.0] * 3 + [0.0] * 3
    assert (
        "F1 of a/liar direct 50-100: significantly above its other domains: person ("
        in made.finding
    )
    assert "No domain of b/mute direct 50-100 differs" in made.finding
    assert "Of 2 models, 1 gave no triples about non-existent entities; a/liar" in made.finding
    assert "gave the most: 9 triples about 3 of 3 (in percent: 100.0 [" in made.finding
    assert [(figure.kind, figure.table) for figure in made.figures] == [("strips", 1), ("bars", 2)]
    alone = section("domains", experiment([PromptMethod(made_up=2, is_verified=False)], made_up))
    assert [(figure.kind, figure.table) for figure in alone.figures] == [("bars", 1)]


def test_popularity_goes_by_thirds_and_by_doublings_of_statements() -> None:
    """Statements double with each third, and of ten triples one more is right: a slope of a tenth,
    exactly, since it is the same on every entity."""
    entities = facts(
        60,
        popularity=lambda place: ("66-100%", "0-33%", "33-66%")[place % 3],
        statements=lambda place: (80, 20, 40)[place % 3],
    )
    step = {0: 2, 1: 0, 2: 1}
    prompt_methods = [
        PromptMethod(
            right=lambda place: 5 + step[place % 3], known=lambda place: 6 - step[place % 3]
        )
    ]
    made = section("popularity", experiment(prompt_methods, entities))
    by_third, trends = made.tables
    assert column(by_third, "third") == ["0-33%", "33-66%", "66-100%"]
    assert values(by_third, "precision") == pytest.approx([0.5, 0.6, 0.7])
    assert values(trends, "precision") == [pytest.approx(0.1)]
    assert values(trends, "recall") == [pytest.approx(-0.1)]
    assert values(trends, "f1") == [pytest.approx(f1(0.7, 0.4) - f1(0.5, 0.6))]
    assert made.notes == ()


def test_what_a_list_does_not_say_is_refused_with_what_it_takes() -> None:
    found = experiment([PromptMethod()], TOWNS)
    for name, says in (
        ("domains", "these runs have neither entities of two domains nor non-existent entities"),
        ("popularity", "these runs have no entities of two thirds of popularity"),
        ("effort", "two values of effort"),
        ("ranges", "two values of requested triples"),
    ):
        with pytest.raises(BadUsage, match=says):
            section(name, found)
    entities = facts(9, domain=lambda place: "ab"[place % 2], popularity=lambda p: "ab"[p % 2])
    nothing = experiment(
        [PromptMethod(is_verified=False), PromptMethod(effort="low", is_verified=False)], entities
    )
    with pytest.raises(BadUsage, match="no triple of these runs was verified"):
        section("random", nothing)
    assert experiment_sections(nothing) == ()
    assert [each.name for each in experiment_sections(found)] == ["random"]


def test_a_section_as_a_study_has_its_cells_as_text_and_a_mark_a_point() -> None:
    found = experiment([PromptMethod(), PromptMethod(prompts="wikidata")], TOWNS)
    analysis = analysis_of(section("prompts", found), found)
    assert heads(analysis)[:3] == ("model", "prompts", "asked as")
    assert rows(analysis)[0][:2] == ("a/m", "direct")
    assert rows(analysis)[0][4].startswith("60.0 [")  # precision: six of ten
    assert [(mark.row, mark.column) for mark in analysis.data.marks] == [
        ("a/m", "direct"),
        ("a/m", "wikidata"),
    ]
    assert [type(cell) for cell in analysis.tables[1].rows[0]][:2] == [str, str]
    assert analysis.notes[0] == "judged by j against towns-1f2e; all triples"
