"""Recipes: defaults as published, every contradiction named."""

from __future__ import annotations

from typing import Any

import pytest

from proofstone.errors import BadUsage
from proofstone.methods.encyclo_k.compose import PARAMETERS, recipe
from proofstone.records.ids import canonical_json

PUBLISHED = {
    "composer": 1,
    "statements": [8, 10],
    "options": [4, 8],
    "combination": [2, 4],
    "correct_share": 0.5,
    "base": 5000,
    "questions": None,
    "allocate": "book",
    "within": "book",
    "forbid_subsets": False,
    "siblings": False,
    "skip_small": False,
}


def test_an_empty_recipe_is_the_published_one() -> None:
    assert recipe({}) == PUBLISHED


def test_a_complete_recipe_comes_back_as_it_is() -> None:
    """Also with the same bytes, which the form's id hashes."""
    once = recipe({"options": "5-6", "correct_share": 1, "questions": "40"})
    assert canonical_json(recipe(once)) == canonical_json(once)


@pytest.mark.parametrize("given", ["6-6", " 6 ", 6, [6, 6], (6, 6), "6 - 6"])
def test_a_range_is_read_from_what_people_write(given: Any) -> None:
    assert recipe({"options": given})["options"] == [6, 6]


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"colour": 1}, "unknown parameter colour; expected one of: setting, sample, statements"),
        ({"composer": 2}, "the recipe is from composer 2; this version has 1"),
        ({"options": "8-4"}, "options: expected a number or LOW-HIGH, got '8-4'"),
        ({"options": [4]}, "options: expected a number or LOW-HIGH"),
        ({"options": "many"}, "options: expected a number or LOW-HIGH"),
        ({"options": 0}, "options: expected a number or LOW-HIGH"),
        ({"options": True}, "options: expected a number or LOW-HIGH"),
        ({"options": "1-4"}, "options: 2 to 26, got 1-4"),
        ({"options": "4-27"}, "options: 2 to 26, got 4-27"),
        ({"statements": "8-21"}, "statements: at most 20, got 21"),
        ({"combination": "2-7"}, "combination: at most 6, got 7"),
        ({"statements": "4-10"}, "combination: 4 of 4 statements leaves none"),
        ({"correct_share": 1.5}, "correct_share: expected a number from 0 to 1, got 1.5"),
        ({"correct_share": "half"}, "correct_share: expected a number from 0 to 1"),
        ({"correct_share": float("nan")}, "correct_share: expected a number from 0 to 1"),
        ({"correct_share": True}, "correct_share: expected a number from 0 to 1"),
        ({"base": 0}, "base: expected a whole number from 1 to 1,000,000,000, got 0"),
        ({"questions": 2.5}, "questions: expected a whole number"),
        ({"questions": True}, "questions: expected a whole number"),
        ({"within": "shelf"}, "within: expected discipline or field or subfield or book"),
        ({"siblings": "yes"}, "siblings: expected true or false, got 'yes'"),
        ({"allocate": "field"}, "allocate: field is coarser than within, book"),
    ],
)
def test_what_cannot_be_is_named(params: dict[str, Any], named: str) -> None:
    with pytest.raises(BadUsage) as caught:
        recipe(params)
    assert named in str(caught.value)


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(BadUsage) as caught:
        recipe({"options": "x", "base": -1, "within": "shelf"})
    assert all(name in str(caught.value) for name in ("options:", "base:", "within:"))


def test_more_options_than_the_statements_give_are_refused() -> None:
    """Pairs of 5 statements: 10, and one of them is gold."""
    few = {"statements": 5, "combination": 2}
    assert recipe({**few, "options": 10})["options"] == [10, 10]
    with pytest.raises(BadUsage, match="give at most 10 options, got 11"):
        recipe({**few, "options": 11})


def test_without_subsets_there_are_fewer_options() -> None:
    """Of 4 statements in ones and twos beside a gold one: the 3 pairs of others, or the 3 other
    single ones; beside a gold pair: the 5 other pairs."""
    few = {"statements": 4, "combination": "1-2", "forbid_subsets": True}
    assert recipe({**few, "options": 4})["options"] == [4, 4]
    with pytest.raises(BadUsage, match="none a subset of another, give at most 4 options"):
        recipe({**few, "options": 5})


def test_the_help_gives_the_reason_against_siblings() -> None:
    """Whoever turns them on should know what it does."""
    (siblings,) = [one for one in PARAMETERS if one.name == "siblings"]
    assert "the contrast points at the false one" in siblings.help
    assert siblings.default is False


def test_every_parameter_has_help_and_its_default_in_the_recipe() -> None:
    for parameter in PARAMETERS:
        assert parameter.help.endswith(".")
        if parameter.name not in {"setting", "sample"}:  # younger than the ids of such forms
            assert PUBLISHED[parameter.name] == parameter.default
