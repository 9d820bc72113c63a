"""What of one edition still stands in another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proofstone.ingest.editions import Edition, hold, resting_on

OLD = Edition(
    [
        ("1", "Iron melts at 1,538 degrees. It is a metal\nof group eight."),
        ("2", "铜是一种金属。铜的熔点是1085度。"),
    ]
)


def test_a_sentence_stands_across_white_space_and_pages() -> None:
    new = Edition(
        [("3", "An added page. Iron melts at"), ("4", "1,538  degrees. 铜是 一种\n金属。")]
    )
    assert new.find("Iron melts at 1,538 degrees.") == "3"
    assert new.find("铜是一种金属。") == "4"
    assert new.find("An added") == "3"


def test_a_longer_number_or_word_is_not_the_same() -> None:
    new = Edition([("1", "Iron melts at 1,538.5 degrees. Irons melt. Copper ironically stays.")])
    assert new.find("Iron melts at 1,538.") is None
    assert new.find("Iron") == "1"
    assert new.find("Copper iron") is None


def test_sentences_stand_are_changed_or_have_vanished() -> None:
    new = Edition([("7", "Iron melts at 1,535 degrees. It is a metal of group eight.")])
    stands = hold(["It is a metal of group eight."], OLD, new)
    assert (stands.status, stands.before, stands.pages) == ("stands", (), ("7",))
    changed = hold(["Iron melts at 1,538 degrees."], OLD, new)
    assert changed.status == "changed"
    assert changed.before == ("Iron melts at 1,538 degrees.",)
    assert changed.after == ("Iron melts at 1,535 degrees.",)
    assert hold(["铜的熔点是1085度。"], OLD, new).status == "vanished"


def test_sentences_are_told_apart_where_languages_meet_and_marks_are_wide() -> None:
    """White space before Chinese and the full width of ！ and ？ do not count when texts are held
    against each other, and still end a sentence."""
    old = Edition([("1", "Copper conducts electricity well. 铜是金属！铁呢？银的熔点是962度。")])
    new = Edition([("1", "Copper conducts heat well. 铜是金属！铁呢？银的熔点是961度。")])
    changed = hold(["Copper conducts electricity well."], old, new)
    assert (changed.status, changed.after) == ("changed", ("Copper conducts heat well.",))
    changed = hold(["银的熔点是962度。"], old, new)
    assert (changed.status, changed.after) == ("changed", ("银的熔点是961度。",))
    assert hold(["Copper conducts heat well. 铜是金属！"], old, new).status == "stands"
    assert new.find("heat well. 铜是 金属!铁呢?") == "1"


def test_what_the_old_edition_says_too_is_not_what_a_sentence_became() -> None:
    old = Edition([("1", "Copper melts at 1,085 degrees. Iron melts at 1,538 degrees.")])
    new = Edition([("1", "Copper melts at 1,085 degrees.")])
    assert hold(["Iron melts at 1,538 degrees."], old, new).status == "vanished"


def test_a_statement_rests_on_the_sentences_that_hold_its_words() -> None:
    passage = "Iron melts at 1,538 degrees. It boils at 2,862 degrees. Miners know that."
    assert resting_on("Iron boils at 2,862 degrees.", passage) == ["It boils at 2,862 degrees."]
    assert resting_on("Iron melts at 1,538 and boils at 2,862 degrees.", passage) == [
        "Iron melts at 1,538 degrees.",
        "It boils at 2,862 degrees.",
    ]
    assert resting_on("铜是金属。", "铁是金属。铜的熔点是1085度。") == ["铁是金属。"]
    assert len(resting_on("Wholly otherwise.", passage)) == 3
    assert resting_on("Nothing.", "") == []


def test_an_edition_without_text_holds_nothing() -> None:
    empty = Edition([("1", " \n")])
    assert empty.find("Iron") is None
    assert hold(["Iron melts at 1,538 degrees."], OLD, empty).status == "vanished"
    assert hold([], OLD, empty).status == "vanished"


@given(
    st.lists(
        st.sampled_from(["Iron melts.", "铜是金属。", "It is 3.5 m long.", "铁呢？"]), min_size=1
    )
)
def test_all_of_an_edition_stands_in_itself(sentences: list[str]) -> None:
    edition = Edition([("1", " ".join(sentences))])
    assert hold(sentences, edition, edition).status == "stands"
