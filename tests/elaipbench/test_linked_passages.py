"""Passages of a document are cut at headings and sentences, and chosen far apart and linked."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log, sqrt

import pytest

from proofstone.methods.elaipbench.candidates import question_prompt
from proofstone.methods.elaipbench.passages import (
    DocumentPassage,
    PassageRule,
    PassageSet,
    choose_sets,
    cosines,
    cut_document,
    weigh_terms,
)
from proofstone.methods.elaipbench.payloads import QuestionType
from proofstone.models.tokens import load_cl100k
from proofstone.records.ids import Draws
from proofstone.records.knowledge import DocumentPart, Source, WholeDocument

RULE = PassageRule(most=5, sizes=(2,), tokens=512, apart=100, several=0.5)
FILLER = "Plain words stand here so that a passage has the length of a paragraph in a paper. " * 4


def passage(words: str, number: int, heading: str = "", tokens: int = 80) -> DocumentPassage:
    return DocumentPassage(f"{words} {FILLER}", heading or f"Section {number}", number * 80, tokens)


def chosen(passages: list[DocumentPassage], rule: PassageRule = RULE, seed: int = 0):
    return choose_sets(passages, rule, Draws(seed, 0, "passages"))


def document(*parts: tuple[str, str]) -> WholeDocument:
    """A document of one page, with the heading and the text of each of its parts."""
    page, places = "", []
    for heading, text in parts:
        page += f"{heading}\n\n"
        places.append(DocumentPart(1, len(page), len(page) + len(text), heading))
        page += f"{text}\n\n"
    source = Source(id=b"s" * 32, kind="document", title="T", content=b"c" * 32)
    return WholeDocument(source, ((1, page),), tuple(places))


def test_terms_weigh_by_their_rarity_in_the_document() -> None:
    counts = [Counter("aab"), Counter("ac"), Counter("d")]
    first, second, third = weigh_terms(counts)
    assert first == pytest.approx({"a": (1 + log(2)) * log(3 / 2), "b": log(3)})
    found = cosines([first, second, third])
    shared = first["a"] * second["a"]
    norms = sqrt(first["a"] ** 2 + log(3) ** 2) * sqrt(second["a"] ** 2 + log(3) ** 2)
    assert found[0, 1] == pytest.approx(shared / norms)
    assert found[0, 2] == 0


def test_a_term_of_all_passages_links_none() -> None:
    assert not cosines(weigh_terms([Counter("a"), Counter("a")])).any()


def test_passages_end_at_sentences_and_headings() -> None:
    sentence = "One sentence of this section says the same as all the others do. "
    found = cut_document(document(("A", sentence * 20), ("B", "A short end.")), 64)
    assert [each.heading for each in found][-1] == "B"
    assert all(each.tokens <= 64 for each in found)
    assert all(each.text.endswith(".") for each in found)
    assert [each.before for each in found] == [
        sum(each.tokens for each in found[:place]) for place in range(len(found))
    ]
    assert found[0].tokens == load_cl100k()(found[0].text)


def test_reference_lists_have_no_passages() -> None:
    parts = [("1 Methods", "We count."), ("References", "A. Author."), ("2 > 参考文献", "某人。")]
    assert [each.heading for each in cut_document(document(*parts), 64)] == ["1 Methods"]


def test_linked_passages_are_chosen_if_they_are_far_apart() -> None:
    near = [passage("quasar", 0), passage("quasar", 1), *(passage(f"w{n}", n) for n in (2, 3))]
    assert chosen(near) == []
    far = [passage("quasar", 0), passage("x", 1), passage("y", 2), passage("quasar", 3)]
    (found,) = chosen(far)
    assert (found.places, found.distance, found.terms) == ((0, 3), 160, ("quasar",))


def test_passages_of_one_section_are_not_paired() -> None:
    passages = [passage("quasar", n, "Same") if n in (0, 3) else passage("z", n) for n in range(4)]
    assert chosen(passages) == []


def test_code_and_remnants_are_not_chosen() -> None:
    code = DocumentPassage("quasar <- f(x, 1:10)[[2]] + {%} ## ** == " * 9, "S", 0, 80)
    assert chosen([code, passage("x", 1), passage("y", 2), passage("quasar", 3)]) == []
    short = passage("quasar", 0, tokens=9)
    assert chosen([short, passage("x", 1), passage("y", 2), passage("quasar", 3)]) == []


def linked_passages() -> list[DocumentPassage]:
    names = ["pulsar", "quasar", "magnetar", "nebula"]
    return [passage(f"{names[n % 4]} {names[(n + 1) % 4]}", n) for n in range(16)]


def test_three_passages_are_linked_in_each_pair() -> None:
    rule = PassageRule(most=5, sizes=(3,), tokens=512, apart=100, several=0.5)
    found = chosen(linked_passages(), rule)
    assert found
    for each in found:
        assert len(each.places) == 3
        assert each.link > 0
        assert all(80 * (b - a) - 80 >= 100 for a, b in combinations(each.places, 2))


def test_a_larger_number_keeps_the_sets_of_a_smaller_one() -> None:
    few = PassageRule(most=3, sizes=(2, 3), tokens=512, apart=100, several=0.5)
    many = PassageRule(most=9, sizes=(2, 3), tokens=512, apart=100, several=0.5)
    found = chosen(linked_passages(), few)
    assert len(found) == 3
    assert chosen(linked_passages(), many)[:3] == found
    assert chosen(linked_passages(), few, seed=1) != found


@pytest.mark.parametrize(
    ("language", "kind", "says"),
    [
        ("en", "single", ["combines all 2 passages", "Exactly one", "[passage 2 | begin"]),
        ("en", "multiple", ["Two or three of them", "5 options or more", "pulsar, quasar"]),
        (
            "zh-Hans",
            "multiple",
            ["综合全部 2 段文字", "两个或三个", "[文字 2 | ", "pulsar、quasar"],
        ),
    ],
)
def test_the_author_is_asked_in_the_language_of_the_document(
    language: str, kind: QuestionType, says: list[str]
) -> None:
    chosen = PassageSet(
        source=document(("A", "x")).source, document=b"", language=language, question_type=kind,
        passages=(passage("pulsar", 0), passage("quasar", 3)), distance=160, link=0.5,
        terms=("pulsar", "quasar"),
    )  # fmt: skip
    prompt = question_prompt(chosen, 5)
    assert [each for each in says if each not in prompt] == []
    assert "Section 3" in prompt
