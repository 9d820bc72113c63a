"""Triples and references of anybody's files: every form read, every problem told with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from known_world import gathered, rows_of
from numpy.typing import NDArray

from proofstone.errors import BadInput
from proofstone.methods.bequ.records import (
    ReferenceRow,
    ReferenceTriple,
    VerifySettings,
    family_of,
    object_text,
    spoken,
)
from proofstone.methods.bequ.verification.plan import Gathered, known_triples, make_plan
from proofstone.methods.bequ.verification.verify import EntityCorpus, TextIndex, triple_words
from proofstone.records.items import SearchMethod
from proofstone.records.verdicts import Passage

TRIPLE = {"subject": "Ulm", "predicate": "country", "object": "Germany", "subject_name": "Ulm"}
KNOWN = {"entity": "Ulm", "predicate": "country", "object": "Germany"}


def given(held: Gathered) -> list[tuple[str, str, str]]:
    return [
        (each.subject, each.predicate, each.object)
        for key in held.elicited
        for each in held.elicited.of(key)
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (["a", 2, None, "b"], "a; 2; b"), ('["a", "b"]', "a; b"), (1924, "1924"), (True, "true"),
        (None, ""), ("", ""), (" 8 March 1902 ", "8 March 1902"), ("[sic", "[sic"),
    ],
)  # fmt: skip
def test_objects_of_any_kind_become_text(value: Any, text: str) -> None:
    with gathered([{**TRIPLE, "object": value}], [KNOWN]) as held:
        assert given(held) == [("Ulm", "country", text)]
        assert held.told().without_object == (not text)


def test_objects_in_objects_are_json() -> None:
    assert object_text({"b": 1, "a": [2]}) == '{"a":[2],"b":1}'


def test_all_problems_of_a_file_are_told_at_once() -> None:
    rows = [TRIPLE, {"predicate": "p", "object": "o"}, {**TRIPLE, "predicate": " "},
            {**TRIPLE, "subject_name": ["x"]}]  # fmt: skip
    with pytest.raises(BadInput) as refused, gathered(rows, [KNOWN]):
        pass
    assert [str(problem) for problem in refused.value.problems] == [
        "line 2, field subject_name: is missing or empty",
        "line 3, field predicate: contains only white space",
        "line 4, field subject_name: expected text or a whole number, got a list",
    ]


def test_all_problems_of_a_reference_are_told_at_once() -> None:
    rows: list[dict[str, Any]] = [
        {"text": "nameless"}, {"entity": "A"}, {"entity": "A", "triples_wiki": "x"},
        {"entity": "B", "triples": [["p", "o"], ["p"], ["", "o"], ["", ""]]},
        {"entity": "C", "passages": [3]},
    ]  # fmt: skip
    with pytest.raises(BadInput) as refused, gathered([TRIPLE], rows):
        pass
    assert [str(problem) for problem in refused.value.problems] == [
        "line 1, field entity: is missing or empty",
        "line 2, field text: expected a triple (predicate, object), a text or lists of triples",
        "line 3, field triples_wiki: expected a list as JSON",
        "line 4, field triples: entry 2: expected [predicate, object], got a list",
        "line 4, field triples: entry 3: the predicate is missing",
        "line 5, field passages: expected texts, or objects with a text, got 3",
    ]


def test_two_entities_with_one_name_are_told() -> None:
    """Told apart by an identity; without one the row that does not say which is a problem."""
    reference = [
        {**KNOWN, "entity": "Mercury", "wikidata_id": identity} for identity in ("Q1", "Q2")
    ]
    rows = [{**TRIPLE, "subject_name": "Mercury", "wikidata_id": "Q2"}]
    with gathered(rows, reference) as held:
        assert [facts.identity for facts in held.entities] == ["Q1", "Q2"]
        assert held.elicited.count((0, 1)) == 1
    with (
        pytest.raises(BadInput, match='2 entities are named "Mercury" \\(Q1, Q2\\)'),
        gathered([{**TRIPLE, "subject_name": "Mercury"}] * 2, reference),
    ):
        pass


@pytest.mark.parametrize("where", ["reference", "elicited"])
def test_a_row_that_did_not_say_which_is_told_once_there_are_two(where: str) -> None:
    """A row without an identity meant the only one of its name, until a second one came."""
    rows = [{**TRIPLE, "subject_name": "Mercury", "wikidata_id": of} for of in ("", "Q1", "Q2")]
    reference = [{**row, "entity": "Mercury"} for row in rows]
    told = (
        'line 3, field .*: 2 entities are named "Mercury" \\(Q1, Q2\\), '
        "and some rows have no identity"
    )
    with (
        pytest.raises(BadInput, match=told),
        gathered(rows, reference[:2] if where == "elicited" else reference),
    ):
        pass


def test_a_listed_entity_of_a_name_that_several_have_is_refused() -> None:
    """As where two items of a list have one name, and one of them no Wikidata number."""
    with gathered([], [KNOWN]) as held:
        assert held.find_entity("Mercury", "Q1", "", "") == 1
        assert held.find_entity("Mercury", "Q2", "", "") == 2
        with pytest.raises(
            BadInput, match='2 entities are named "Mercury" \\(Q1, Q2\\)'
        ) as refused:
            held.find_entity("Mercury", "", "", "")
    assert refused.value.code == "PS-202"


def test_an_entity_whose_triples_are_listed_twice_is_told() -> None:
    rows = [{"entity": "Ulm", "triples_wiki": [["country", "Germany"]]}] * 2
    told = 'line 2, field entity: two entities are named "Ulm"'
    with pytest.raises(BadInput, match=told), gathered([TRIPLE], rows):
        pass


def test_names_are_one_whatever_joins_their_words() -> None:
    """Underscores and spaces, composed and decomposed letters, case; and nothing else."""
    rows = [{**TRIPLE, "subject_name": name} for name in ("san_josé", "San Jose\u0301", "San Jose")]
    with gathered(rows, [{**KNOWN, "entity": "San José"}]) as held:
        assert [facts.name for facts in held.entities] == ["San José", "San Jose"]
        assert held.told().without_reference == ("San Jose",)


@pytest.mark.parametrize("name", ["القاهرة", "東京", "北京大学", "Ὅμηρος", "תל אביב"])
def test_any_script_is_read_and_found(name: str) -> None:
    rows = [{"subject": name, "predicate": "p", "object": f"x {name}"}]
    with gathered(rows, [{"entity": name, "text": f"{name} is x."}]) as held:
        assert held.told().without_reference == ()
        corpus = EntityCorpus(name, held.reference.of(0))
        assert [each.text for each in corpus.search(held.elicited.of((0, 0)), 3)[0]] == [
            f"{name} is x."
        ]


def test_a_reference_has_many_forms() -> None:
    rows = [
        {"entity": "Ulm", "predicate": "river", "object": "Danube", "passage": "On the Danube.",
         "source": "web", "url": "https://example.org"},
        {"title": "Ulm", "text": "Ulm is a city."},
        {"entity": "Ulm", "snippet": "Ulm ...", "triples_wiki": [["country", "Germany"], ["x", ""]],
         "triples_web": '[["river", "Iller", "A page"]]', "passages": ["One.", {"text": "Two."}]},
    ]  # fmt: skip
    with gathered([TRIPLE], rows) as held:
        known = known_triples(held, 0)
        assert [(each.predicate, each.object, each.passage.source) for each in known] == [
            ("river", "Danube", "web"), ("country", "Germany", "wiki"), ("river", "Iller", "web"),
        ]  # fmt: skip
        passages = EntityCorpus("Ulm", held.reference.of(0)).passages
        assert [each.text for each in passages] == [
            "On the Danube.", "Ulm is a city.", "Ulm ...", "One.", "Two.", "Ulm: country: Germany",
            "Ulm: river: Iller",
        ]  # fmt: skip
        assert passages[-1].title == "A page"


def test_an_article_of_two_megabytes_is_cut_and_searched() -> None:
    """Every sentence stands in one passage, and the one that is meant is found first."""
    sentences = [f"Sentence {at} is about thing{at} and nothing else." for at in range(40_000)]
    article = " ".join(sentences)
    assert len(article) > 1_900_000
    corpus = EntityCorpus("E", [ReferenceRow((Passage(article),), ())])
    assert all(len(each.text) <= 800 for each in corpus.passages)
    with gathered([{**TRIPLE, "object": "thing31337"}], [KNOWN]) as held:
        (found,) = corpus.search(held.elicited.of((0, 0)), 3)
    assert "thing31337 " in found[0].text


def test_recall_is_not_measured_of_who_was_not_asked_of_the_reference() -> None:
    rows = [TRIPLE, {**TRIPLE, "model": "b", "subject_name": "Nowhere"}]
    with gathered(rows, [KNOWN, {**KNOWN, "entity": "Berlin"}]) as held:
        plan = make_plan(held, VerifySettings())
        assert [held.groups[group].model for group in plan.recalled] == ["file"]
        assert plan.n_known == 2
        assert make_plan(held, VerifySettings(over="elicited")).n_known == 1


def test_the_sample_does_not_depend_on_the_order_of_the_entities() -> None:
    names = [f"E{at}" for at in range(9)]
    rows = [{**TRIPLE, "subject_name": name, "object": name} for name in names for _ in range(3)]
    known = [{**KNOWN, "entity": name} for name in names]

    def drawn(rows: list[dict[str, Any]]) -> set[str]:
        with gathered(rows, known) as held:
            plan = make_plan(held, VerifySettings(sample=5))
            return {held.entities[entity].name for _group, entity in plan.given}

    backwards = [row for name in reversed(names) for row in rows if row["object"] == name]
    assert drawn(rows) == drawn(backwards)


def test_who_said_the_same_has_the_same_sample() -> None:
    """So that a way of asking that changes nothing changes no figure."""
    rows = [
        {**TRIPLE, "model": model, "subject_name": f"E{at}", "object": f"{at} {n}"}
        for model in ("a", "b")
        for at in range(9)
        for n in range(at + 1)
    ]
    with gathered(rows, [KNOWN]) as held:
        plan = make_plan(held, VerifySettings(sample=20))
        mine = [
            {entity: sampled for (group, entity), sampled in plan.given.items() if group == each}
            for each in range(2)
        ]
    assert sum(map(len, mine[0].values())) == 20
    assert mine[0] == mine[1]


@pytest.mark.parametrize(
    ("predicate", "words", "family"),
    [
        ("locatedAlongRiver", "located along river", "place"), ("rdf:type", "type", "kind"),
        ("dateOfBirth", "date of birth", "date"), ("FIPSCode", "FIPS code", "identifier"),
        ("number_of_seats", "number of seats", "number"), ("出生地", "出生地", "place"),
        ("reaffirms", "reaffirms", "other"), ("https://x", "https://x", "other"),
    ],
)  # fmt: skip
def test_predicates_are_words_of_a_family(predicate: str, words: str, family: str) -> None:
    assert spoken(predicate) == words
    assert family_of(predicate) == family


def test_a_triple_without_its_passage_stands_as_its_words_once() -> None:
    triples = tuple(ReferenceTriple("partOf", "X", Passage("", "web")) for _ in range(2))
    (only,) = EntityCorpus("E", [ReferenceRow((), triples)]).passages
    assert (only.text, only.source) == ("E: part of: X", "web")


def test_rows_without_a_group_are_those_of_their_file() -> None:
    with gathered([TRIPLE], [KNOWN]) as held:
        assert [group.model for group in held.groups] == ["file"]
    assert rows_of([TRIPLE])[0].place == "line 1"


class Letters:
    """An embedder by which letters are: which of them a text has, and how many."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        counts = [[text.count(chr(97 + at)) + 1e-9 for at in range(26)] for text in texts]
        rows = np.array(counts, dtype=np.float64)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(("prompt_method", "first"), [("bm25", 0), ("dense", 2), ("hybrid", 2)])
def test_texts_are_found_by_words_by_meaning_or_by_both(
    prompt_method: SearchMethod, first: int
) -> None:
    """By words nothing is found, and the first texts stand for it; by letters the anagram is."""
    texts = ["something else", "another thing", "silent", "more of it"]
    (found,) = TextIndex(texts, prompt_method, Letters()).search(["listen"], 2)
    assert found[0] == first
    assert len(found) == 2


def test_numbers_are_found_with_and_without_their_commas() -> None:
    texts = [f"it has {n:,} rooms" for n in (12_400, 12_500, 12_600)]
    assert TextIndex(texts, "bm25", None).search(["12500"], 1) == [[1]]
    (plain,) = TextIndex(["about 12400", "about 12500"], "bm25", None).search(
        [triple_words("E", "p", "12,500")], 1
    )
    assert plain == [1]


def test_a_number_is_no_tier_of_popularity() -> None:
    rows = [
        {**TRIPLE, "popularity": "1284"},
        {**TRIPLE, "subject_name": "B", "popularity": "66-100%"},
    ]
    with gathered(rows, [KNOWN]) as held:
        assert [facts.popularity for facts in held.entities] == ["", "66-100%"]
