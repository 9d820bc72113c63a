"""Replies of every fault kind, in our own words: what is read of each, and what is left where."""

from __future__ import annotations

import re

import pytest

from proofstone.methods.bequ.records import ReadTriples
from proofstone.methods.bequ.response_json import read_triples

ADA = "Ada Lovelace"
BORN = '{"subject": "Ada Lovelace", "predicate": "birthPlace", "object": "London"}'
DIED = '{"subject": "Ada Lovelace", "predicate": "deathYear", "object": "1852"}'
BOTH = [(ADA, "birthPlace", "London"), (ADA, "deathYear", "1852")]


def said(read: ReadTriples) -> list[tuple[str, str, str]]:
    return [(triple.subject, triple.predicate, triple.object) for triple in read.triples]


def faults(read: ReadTriples) -> set[str]:
    return {fault for triple in read.triples for fault in triple.faults}


def left(text: str, read: ReadTriples) -> list[tuple[str, str]]:
    return [(part.why, text[part.start : part.end]) for part in read.unread]


def test_plain_json_is_read_as_it_stands_and_nothing_is_marked() -> None:
    """Each triple has the place of its record; nothing was recovered."""
    text = f"[\n  {BORN},\n  {DIED}\n]"
    read = read_triples(text)
    assert said(read) == BOTH
    assert [text[t.start : t.end] for t in read.triples] == [BORN, DIED]
    assert read.n_recovered == 0
    assert read.unread == ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"Here is what I know:\n[{BORN}, {DIED}]\nI hope this helps.", {"text around"}),
        (f"```json\n[{BORN},\n{DIED}]\n```", {"text around"}),
        (f"[{BORN}, {DIED}, ]", {"commas"}),
        (f"[{BORN} {DIED}]", {"commas"}),
        (f"[{BORN},\n{DIED},\n", {"truncated"}),
        (f"[{BORN},\n{DIED}", {"truncated"}),
        (f"[{BORN},\n{DIED[:-1]}", {"truncated"}),
        (f"{BORN}\n{DIED}", {"no array"}),
        (f'{{"triples": [{BORN}, {DIED}]}}', {"no array"}),
        (f"[{BORN[:-1]},\n{DIED}]", {"not closed", "commas"}),
        (f"[{BORN[:-1]},}}, {DIED}]", {"commas"}),
        (f"[{BORN}, {DIED}]".replace('"', "'"), {"quotes"}),
        (re.sub('"([^"]*)"', "“\\1”", f"[{BORN}, {DIED}]"), {"quotes"}),
        (f"[{BORN}, {DIED}]".replace('"object"', '"value"'), {"keys"}),
        (f"[{BORN}, {DIED}]".replace('"subject"', "subject"), {"keys"}),
        (f"[{BORN}, {DIED}]".replace('"predicate": ', '"predicate" '), {"colons"}),
        (f"[{BORN}, {DIED}]".replace('", "object"', '" "object"'), {"commas"}),
        (f"[{BORN}, {DIED}]".replace('"1852"', "1852"), set()),
        (f'["{ADA}", "birthPlace", "London"], ["{ADA}", "deathYear", "1852"]', None),
        (f'[["{ADA}", "birthPlace", "London"], ["{ADA}", "deathYear", "1852"]]', {"array"}),
        (f"({ADA}, birthPlace, London)\n({ADA}, deathYear, 1852)", {"tuples"}),
        (f"1. ({ADA}, birthPlace, London)\n2. ({ADA}, deathYear, 1852)", {"tuples"}),
        (f"[({ADA}, birthPlace, London), ({ADA}, deathYear, 1852)]", {"tuples"}),
        (f'("{ADA}", "birthPlace", "London")\n("{ADA}", "deathYear", "1852")', {"tuples"}),
        (
            f"| Subject | Predicate | Object |\n|---|---|---|\n| {ADA} | birthPlace | London |\n"
            f"| {ADA} | deathYear | 1852 |\n",
            {"table"},
        ),
        (f"1. {ADA} | birthPlace | London\n2. {ADA} | deathYear | 1852\n", {"table"}),
        (f"{ADA}\tbirthPlace\tLondon\n{ADA}\tdeathYear\t1852\n", {"table"}),
        (f"- {ADA} -> birthPlace -> London\n- {ADA} → deathYear → 1852\n", {"table"}),
        (f"1. {ADA}, birthPlace, London\n2. {ADA}, deathYear, 1852", {"lines"}),
        (f"- {ADA} - birthPlace - London\n- {ADA} - deathYear - 1852", {"lines"}),
    ],
)  # fmt: skip
def test_both_triples_are_recovered_and_say_from_what(text: str, wanted: set[str] | None) -> None:
    """None: two arrays without one around them could be lists of anything, and are not read."""
    read = read_triples(text, names=[ADA])
    if wanted is None:
        assert said(read) == []
        return
    assert said(read) == BOTH
    assert faults(read) >= wanted
    assert read.unread == ()


def test_a_list_of_objects_is_a_triple_each_and_numbers_are_as_written() -> None:
    text = (
        '[{"subject": "A", "predicate": "sibling", "object": ["B", "C"]}, '
        '{"subject": "A", "predicate": "height", "object": 1.50}, '
        '{"subject": "A", "predicate": "isPart", "object": true}, '
        '{"subject": "A", "predicate": "born", "object": 1815-12-10}]'
    )
    read = read_triples(text)
    assert said(read) == [
        ("A", "sibling", "B"),
        ("A", "sibling", "C"),
        ("A", "height", "1.50"),
        ("A", "isPart", "true"),
        ("A", "born", "1815-12-10"),
    ]
    assert [t.faults for t in read.triples] == [("list",), ("list",), (), (), ("bare value",)]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ('{"predicate": "p", "object": "o"}', "no subject"),
        ('{"subject": "", "predicate": "p", "object": "o"}', "no subject"),
        ('{"subject": "A", "object": "o"}', "no predicate"),
        ('{"subject": "A", "predicate": ["p", "q"], "object": "o"}', "nested value"),
        ('{"subject": "A", "predicate": "p"}', "no object"),
        ('{"subject": "A", "predicate": "p", "object": "  "}', "no object"),
        ('{"subject": "A", "predicate": "p", "object": null}', "no object"),
        ('{"subject": "A", "predicate": "p", "object": []}', "no object"),
        ('{"subject": "A", "predicate": "p", "object": {"year": 1852}}', "nested value"),
        ('{"subject": "A", "predicate": "p", "object": [{"year": 1852}]}', "nested value"),
        ('{"subject": "A", "subject": "B", "predicate": "p", "object": "o"}', "repeated key"),
        ('{"subject": "A", "predicate": "p",\nLondon, England\n}', "end not clear"),
        ('{"subject": "A", "predicate": "p", "object", "o"}', "no JSON"),
        ('{"subject": "A", "predicate": "p", "o"}', "end not clear"),
        ('{"subject": "A", "predicate": "p", "object": "12" metres}', "end not clear"),
        ('{"subject": "A", "predicate": "p", "object": twelve metres}', "no JSON"),
        ('{"subject": "A", "predicate": "p", "object": "one "two", three"}', "end not clear"),
        ('{"subject": "A", "predicate": "p", "object": "half \\ud83d"}', "no text"),
        ('{"subject": "A", "predicate": "p", "object": "nothing \\u0000"}', "no text"),
    ],
)  # fmt: skip
def test_what_is_no_triple_is_left_with_its_place_and_the_others_stand(
    record: str, why: str
) -> None:
    text = f"[{BORN}, {record}, {DIED}]"
    read = read_triples(text, names=["A"])
    assert said(read) == BOTH
    assert [part[0] for part in left(text, read)] == [why]
    assert text[read.unread[0].start :].startswith(record[:12])


def test_a_quote_that_was_never_closed_costs_its_own_record_alone() -> None:
    """How far the text was meant to go is not guessed, on its own line or on one."""
    for gap in ("\n", " "):
        broken = '{"subject": "A", "predicate": "p", "object": "London},'
        text = f"[{BORN},{gap}{broken}{gap}{DIED}]"
        read = read_triples(text)
        assert said(read) == BOTH
        assert [part.why for part in read.unread] == ["end not clear"]


def test_quotes_within_a_text_and_line_breaks_are_part_of_it() -> None:
    text = '[{"subject": "A", "predicate": "alias", "object": "Ada "the Count" Byron"},\n' + (
        '{"subject": "A", "predicate": "says", "object": "one\ntwo"}]'
    )
    read = read_triples(text)
    assert [t.object for t in read.triples] == ['Ada "the Count" Byron', "one\ntwo"]
    assert [t.faults for t in read.triples] == [("inner quotes",), ("control characters",)]


def test_apostrophes_stand_in_single_quotes_and_escapes_are_read() -> None:
    text = (
        "[{'subject': 'A', 'predicate': 'book', 'object': 'L'Événement'}, "
        "{'subject': 'A', 'predicate': 'place', 'object': 'Land\\'s End \\u00e9 \\q'}]"
    )
    assert [t.object for t in read_triples(text).triples] == ["L'Événement", "Land's End é \\q"]


def test_a_key_that_comes_again_begins_the_next_triple_where_the_last_is_whole() -> None:
    text = (
        '[{"subject": "A", "predicate": "p", "object": "1", "object": "2", '
        '"predicate": "q", "object": "3"}, {"subject": "A", "predicate": "p", "object": "4", '
        '"subject": "B", "predicate": "p", "object": "5"}]'
    )
    read = read_triples(text)
    assert said(read) == [
        ("A", "p", "1"), ("A", "p", "2"), ("A", "q", "3"), ("A", "p", "4"), ("B", "p", "5"),
    ]  # fmt: skip
    assert faults(read) == {"repeated key"}


def test_commas_within_a_name_or_object_are_told_apart_by_the_name_that_was_asked() -> None:
    """Without it, four fields could be cut in two ways, and are not cut at all."""
    name = "Tax Act, 1974"
    text = f"({name}, passedIn, Delhi, India)\n(Tax Act (1974), passedIn, Delhi)\n"
    read = read_triples(text, names=[name])
    assert said(read) == [
        (name, "passedIn", "Delhi, India"),
        ("Tax Act (1974)", "passedIn", "Delhi"),
    ]
    assert said(read_triples(f"({name}, passedIn, Delhi, India)")) == []
    longer = read_triples("(Tax Act, 1974, passedIn, Delhi)", names=["Tax Act"])
    assert said(longer) == []
    assert [part.why for part in longer.unread] == ["ambiguous fields"]


def test_a_line_that_the_end_cuts_is_no_triple() -> None:
    text = f"({ADA}, birthPlace, London)\n({ADA}, deathPlace, Lon"
    read = read_triples(text, names=[ADA], is_cut=True)
    assert said(read) == BOTH[:1]
    assert left(text, read) == [("truncated", f"({ADA}, deathPlace, Lon")]
    table = f"{ADA} | birthPlace | London\n{ADA} | deathPlace | Lon"
    assert said(read_triples(table, names=[ADA], is_cut=True)) == BOTH[:1]


@pytest.mark.parametrize("text", ["[]", " [ ]\n", "```json\n[]\n```", "I do not know it.\n\n[]"])
def test_an_empty_list_says_nothing(text: str) -> None:
    assert read_triples(text) == ReadTriples(says_nothing=True)


@pytest.mark.parametrize(
    "text",
    [
        "I do not know this entity.",
        "If it is unknown, I should return `[]`. Let me think about",
        "The rules (subject, predicate, object) say so.",
        f"{ADA}, who was born in London, was a mathematician.",
        f"1. {ADA}, born in London, wrote.\n2. She died young.",
        "x = {y | y > 0} and [1, 2, 3]",
    ],
)
def test_prose_is_no_triple_and_no_empty_list(text: str) -> None:
    """What a reply says of its instructions, or in sentences, is left as a whole."""
    read = read_triples(text, names=[ADA])
    assert read.triples == ()
    assert not read.says_nothing
    assert [(part.start, part.end) for part in read.unread] == [(0, len(text))]


def test_names_in_any_script_are_read_as_written() -> None:
    text = (
        '[{"subject": "أم كلثوم", "predicate": "وُلدت في", "object": "طماي الزهايرة"}, '
        '{"subject": "鲁迅", "predicate": "出生地", "object": "绍兴"}]'
    )
    assert [t.object for t in read_triples(text).triples] == ["طماي الزهايرة", "绍兴"]
    assert said(read_triples("（鲁迅，出生地，绍兴）\n(鲁迅，出生地，绍兴)", names=["鲁迅"])) == [
        ("鲁迅", "出生地", "绍兴")
    ]


def test_a_reply_of_three_thousand_triples_is_read_whole() -> None:
    records = [BORN.replace("London", f"London {n}") for n in range(3000)]
    read = read_triples("[" + ",\n".join(records) + "]")
    assert [t.object for t in read.triples] == [f"London {n}" for n in range(3000)]


HOSTILE = {
    "brackets": "[",
    "braces": "{",
    "both": '[{"subject":',
    "quotes": '"',
    "keys": '{"subject":"',
    "apostrophes": "{'a':'",
    "backslashes": '{"subject":"\\',
    "line breaks": '{"subject":"\n\n\n\n\n\n\n\n',
    "round": "(",
    "round and names": f"({ADA}, a, (",
    "bars": "|",
    "commas": f"{ADA}, ",
    "spaces": '{"a" ',
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    """100,000 characters: in proportion to the text a moment, to its square a very long time."""
    text = piece * (100_000 // len(piece))
    read = read_triples(text, names=[ADA])
    assert read.triples == ()
    assert read.unread
