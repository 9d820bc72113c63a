"""Strata as a score table codes them: by their path, shown by their name."""

from __future__ import annotations

from proofstone.store.scores import LEVELS, coded_levels


def coded(*paths: tuple[str, str, str]) -> dict[str, list[str]]:
    """The name of each unit's stratum by level; books and languages are not given."""
    columns = list(zip(*paths, strict=True)) or [()] * 3
    units = {**dict.fromkeys(LEVELS, [""] * len(paths)),
             **dict(zip(("discipline", "field", "subfield"), columns, strict=True))}  # fmt: skip
    names, codes = coded_levels(units)
    return {level: [names[level][code] for code in codes[level].tolist()] for level in names}


def test_a_name_of_its_own_stands_alone() -> None:
    told = coded(("Arts", "Music", "Opera"), ("Law", "Civil law", "Torts"))
    assert (told["field"], told["subfield"]) == (["Music", "Civil law"], ["Opera", "Torts"])


def test_two_of_one_name_in_different_places_are_two() -> None:
    """Shown with what they belong to, all of it, from the top."""
    told = coded(
        ("Arts", "History", "Theory"), ("Law", "History", "Theory"), ("Law", "Civil law", "Theory"),
        ("Law", "Civil law", "Torts"),
    )  # fmt: skip
    assert told["field"] == ["History (Arts)", "History (Law)", "Civil law", "Civil law"]
    assert told["subfield"] == [
        "Theory (Arts / History)", "Theory (Law / History)", "Theory (Law / Civil law)", "Torts",
    ]  # fmt: skip


def test_what_is_not_given_is_one_wherever_it_is() -> None:
    told = coded(("Arts", "", ""), ("Law", "", ""), ("", "History", ""), ("Law", "History", ""))
    assert told["field"] == ["", "", "History", "History (Law)"]
    assert told["subfield"] == [""] * 4


def test_codes_follow_the_names_in_alphabetical_order() -> None:
    names, codes = coded_levels(
        {"discipline": ["B", "A", "B"], "field": ["x", "x", "w"], "subfield": ["", "", ""],
         "book": ["2", "1", "2"], "language": ["en", "zh", "en"]}
    )  # fmt: skip
    assert names["field"] == ("w", "x (A)", "x (B)")
    assert codes["field"].tolist() == [2, 1, 0]
    assert (names["book"], codes["book"].tolist()) == (("1", "2"), [1, 0, 1])


def test_no_unit_has_no_stratum() -> None:
    names, codes = coded_levels(dict.fromkeys(LEVELS, ()))
    assert set(names.values()) == {()}
    assert {len(each) for each in codes.values()} == {0}
