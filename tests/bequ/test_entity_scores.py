"""Scores of what was said of an entity: whether it got triples, and each of them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from proofstone.methods.bequ.ask import PREDICATES, TRIPLES
from proofstone.methods.bequ.entities import Entity
from proofstone.methods.bequ.score import GIVEN, RECOVERED, TRIPLE, answer_key, score, units
from proofstone.records.items import Item, LoadedItem, Unit
from proofstone.records.runs import Response, Score

ADA = LoadedItem(
    Item(id=b"ada", kind="bequ.entity", payload=Entity(name="Ada Lovelace", aliases=("Ada",))), ()
)
NOBODY = LoadedItem(
    Item(id=b"nobody", kind="bequ.entity", payload=Entity(name="Vel Torun", is_nonexistent=True)),
    (),
)


def said(*triples: tuple[str, str, str]) -> str:
    return json.dumps([{"subject": s, "predicate": p, "object": o} for s, p, o in triples])


def units_of(text: str, item: LoadedItem = ADA, **about: Any) -> list[Unit]:
    return list(units(item, {TRIPLES: Response(text=text, **about)}, 0))


def scores_of(text: str, **about: Any) -> list[Score]:
    return list(asyncio.run(score(units_of(text, **about), None)))


def test_the_entity_is_a_unit_and_so_is_each_triple_once() -> None:
    found = units_of(
        said(("Ada", "born", "1815"), ("Ada", "born", "1815"), ("Ada", "died", "1852"))
    )
    assert [unit.kind for unit in found] == ["item", TRIPLE, TRIPLE]
    assert {unit.clusters for unit in found} == {(("entity", b"ada"),)}
    assert list(units(ADA, {PREDICATES: Response(text="[]")}, 0)) == []
    assert [answer_key(found[0]), answer_key(units_of("[]", NOBODY)[0])] == [
        ("real", 0),
        ("nonexistent", 0),
    ]


def test_a_whole_reply_is_counted() -> None:
    whole, first, other = scores_of(
        said(("Ada", "born", "1815"), ("Ada", "born", "1815"), ("Babbage", "knew", "Ada"))
    )
    assert (whole.measure, whole.outcome, whole.value) == (GIVEN, "answered", 1.0)
    assert (whole.answer, whole.basis) == ("2 triples", "parsing the response")
    assert whole.flags == ("1 said again", "1 about another entity")
    assert (first.measure, first.value, first.basis) == (RECOVERED, 0.0, "JSON as asked for")
    assert first.answer == "Ada | born | 1815"
    assert first.flags[1:] == ("elicited 2 times",)
    assert other.flags[1:] == ("about another entity",)
    assert first.flags[0].startswith("at ")


def test_one_triple_is_one() -> None:
    assert scores_of(said(("Ada", "born", "1815")))[0].answer == "1 triple"


def test_an_empty_list_abstains() -> None:
    (whole,) = scores_of("[]")
    assert (whole.outcome, whole.value, whole.basis) == ("answered", 0.0, "abstention")


def test_a_reply_that_cannot_be_read_has_no_value() -> None:
    (whole,) = scores_of("Let me think about her.")
    assert (whole.outcome, whole.value, whole.answer) == ("unparsed", None, "0 triples")
    (refused,) = scores_of("Lo siento, no puedo ayudar con eso.")
    assert refused.outcome == "refused"


def test_a_recovered_triple_says_what_was_wrong() -> None:
    text = said(("Ada", "born", "1815"), ("Ada", "died", "1852"))[:-30]
    whole, *triples = scores_of(text, finish="length")
    assert "truncated" in whole.flags
    assert [each.value for each in triples] == [1.0] * len(triples)
    assert all(each.basis != "JSON as asked for" for each in triples)


def test_a_long_triple_is_kept_in_part() -> None:
    _whole, triple = scores_of(said(("Ada", "wrote", "notes " * 60)))
    assert len(triple.answer) == 200
    assert triple.answer.endswith("...")


def test_units_of_one_reply_are_read_once_and_others_apart() -> None:
    """Also where the units of two entities are mixed."""
    one, two = units_of(said(("Ada", "born", "1815"))), units_of("[]", NOBODY)
    found = asyncio.run(score([one[0], two[0], one[1]], None))
    assert [each.unit for each in found] == [0, 1, 2]
    assert [each.measure for each in found] == [GIVEN, GIVEN, RECOVERED]
