"""Statement files: read whole, every problem by line and field, and written so that ids stay."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.errors import BadInput
from proofstone.files.tables import read_checked
from proofstone.files.write import write_rows
from proofstone.methods.encyclo_k.payloads import ERROR_TYPES, Statement
from proofstone.methods.encyclo_k.statements import read_facts, write_fact
from proofstone.records.knowledge import BuiltFact, Fact, Role, Source, Stratum, fact_id, source_id
from proofstone.records.tables import Row

HEX = "ab" * 32


def rows_of(*values: dict[str, Any]) -> list[Row]:
    return [Row(f"line {number}", value) for number, value in enumerate(values, start=1)]


def problems_of(*values: dict[str, Any]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_facts(rows_of(*values))
    return [str(problem) for problem in caught.value.problems]


TRUE = {"id": "t", "text": "Water is wet.", "correct": True}


def test_a_full_row_becomes_a_fact_with_its_source_and_roles() -> None:
    correct, perturbed = read_facts(
        rows_of(
            TRUE | {"language": "en", "license": "CC0", "book": "Chemistry", "page": 7},
            {
                "id": 2,
                "text": "Water is dry.",
                "correct": "incorrect",
                "title": "Water",
                "origin": "t",
                "error_type": "Concept_Substitution",
                "reason": "It is wet.",
                "language": "EN",
                "discipline": "Science",
                "field": "Chemistry",
                "category": "Liquids",
                "book_name": "Chemistry",
                "page_location": "xii",
                "source": "Chemistry, 3rd edition",
                "license": "CC0",
                "written_by": "a, b ,",
                "perturbed_by": ["c"],
                "checked_by": '["d,e"]',
            },
        )
    )
    assert correct.source is not None
    assert (correct.source.title, correct.source.license) == ("Chemistry", "CC0")
    assert correct.source.content == sha256(b"Chemistry").digest()
    assert correct.fact.page == "7"
    assert correct.fact.id == fact_id(correct.fact)
    fact = perturbed.fact
    assert fact.payload == Statement(
        text="Water is dry.",
        correct=False,
        title="Water",
        origin=correct.fact.id,
        error_type="concept substitution",
        reason="It is wet.",
    )
    assert fact.kind == "encyclo_k.statement"
    assert fact.stratum == Stratum("Science", "Chemistry", "Liquids", "Chemistry")
    assert (fact.language, fact.page) == ("en", "xii")
    assert perturbed.source is not None
    assert perturbed.source.id == fact.source == source_id(perturbed.source)
    assert perturbed.roles == (
        Role("wrote", "a"),
        Role("wrote", "b"),
        Role("perturbed", "c"),
        Role("checked", "d,e"),
    )


@pytest.mark.parametrize(
    ("value", "correct"),
    [
        (True, True),
        (1, True),
        ("1", True),
        (" Correct ", True),
        ("TRUE", True),
        (False, False),
        (0, False),
        ("0", False),
        ("false", False),
        ("incorrect", False),
    ],
)
def test_truth_is_read_in_each_of_its_spellings(value: object, correct: bool) -> None:
    (built,) = read_facts(rows_of({"statement": "x", "label": value}))
    assert built.fact.payload.correct is correct


def test_an_origin_may_stand_after_its_falsification_or_in_another_file() -> None:
    after, elsewhere, correct = read_facts(
        rows_of(
            {"text": "Water is dry.", "correct": False, "origin": "t"},
            {"text": "Fire is cold.", "correct": False, "origin": HEX},
            TRUE,
        )
    )
    assert after.fact.payload.origin == correct.fact.id
    assert elsewhere.fact.payload.origin == bytes.fromhex(HEX)


def test_every_problem_of_every_row_is_named_at_once() -> None:
    assert problems_of(
        {},
        {"text": " \n", "correct": "maybe"},
        {"text": 5, "correct": 2, "title": ["x"], "id": 1.5},
        {"text": "a", "correct": False, "error_type": "typo", "language": "english", "page": {}},
        {"text": "b", "correct": True, "origin": "x", "error_type": "scope change"},
        {"text": "c", "correct": True, "written_by": ["x", 1], "checked_by": '["x"'},
        {"text": "d", "correct": True, "passage": "12", "source_sha256": 7},
        {"text": "e", "correct": True, "license": "CC0"},
        {"text": "f", "correct": True, "license": "CC0"},
        {"text": "g", "correct": True, "source": "S", "source_kind": "book", "source_year": "x"},
        {"text": "h", "correct": True, "passage": "é" * 64, "corrects": "nowhere"},
        {"text": "i", "correct": True, "passage": "z" * 64, "source": "S", "source_year": -1},
        {"text": "i" * 50, "correct": 0.5},
        {"text": "j", "correct": True, "source": "S", "source_kind": "x" * 50},
    ) == [
        "line 1, field text: is missing or empty",
        "line 1, field correct: is missing; expected true or false",
        "line 2, field text: contains only white space",
        'line 2, field correct: expected true or false (correct, incorrect, 1, 0), got "maybe"',
        "line 3, field text: expected text, got 5",
        "line 3, field correct: expected true or false (correct, incorrect, 1, 0), got 2",
        "line 3, field id: expected text or a whole number, got 1.5",
        "line 3, field title: expected text, got a list",
        f'line 4, field error_type: expected one of {", ".join(ERROR_TYPES)}, got "typo"',
        'line 4, field language: expected a language code such as en or zh, got "english"',
        "line 4, field page: expected text or a whole number, got an object",
        ("line 5, field origin: only a false statement has an origin, but this one is correct"),
        ("line 5, field error_type: only a false statement has one, but this one is correct"),
        "line 6, field written_by: expected a list of texts, got a list",
        'line 6, field checked_by: expected a list of texts, got "["x""',
        "line 7, field source_sha256: expected 64 hexadecimal digits, got 7",
        'line 7, field passage: expected 64 hexadecimal digits, got "12"',
        "line 8, field license: has no source; add the source (its title) or the book",
        "line 9, field license: has no source; add the source (its title) or the book",
        (
            "line 10, field source_kind: expected one of document, table, dump, "
            'images, web, got "book"'
        ),
        'line 10, field source_year: expected a whole number of 0 or more, got "x"',
        f'line 11, field passage: expected 64 hexadecimal digits, got "{"é" * 40}..."',
        "line 12, field source_year: expected a whole number of 0 or more, got -1",
        f'line 12, field passage: expected 64 hexadecimal digits, got "{"z" * 40}..."',
        "line 13, field correct: expected true or false (correct, incorrect, 1, 0), got 0.5",
        "line 14, field source_kind: expected one of document, table, dump, images, web, "
        f'got "{"x" * 40}..."',
        'line 11, field corrects: no row has the id "nowhere"',
    ]


def test_a_bad_source_is_named_in_every_row_that_has_it() -> None:
    bad = {"correct": True, "source": "S", "source_kind": "book"}
    assert len(problems_of(bad | {"text": "a"}, bad | {"text": "b"})) == 2


def test_a_bad_row_with_a_known_source_stays_bad() -> None:
    """The second row's source is taken from the first's; its missing text is still its problem,
    so it does not count as a repetition."""
    source = {"correct": True, "source": "S"}
    assert problems_of(source | {"text": "a"}, source | {"text": 3}) == [
        "line 2, field text: expected text, got 3"
    ]


def test_references_must_lead_to_what_they_mean() -> None:
    false = {"correct": False}
    assert problems_of(
        TRUE,
        false | {"id": "f", "text": "Water is dry.", "origin": "t"},
        false | {"text": "Water is hot.", "origin": "f"},
        false | {"text": "Water is cold.", "origin": "nowhere"},
        false | {"text": "Water  is\nwet.", "origin": "t"},
        {"id": "bad", "text": 1, "correct": True},
        false | {"text": "Its origin has its own problem.", "origin": "bad"},
        {"id": "t", "text": "Fire is hot.", "correct": True},
    ) == [
        "line 6, field text: expected text, got 1",
        'line 8, field id: "t" is already the id of line 1',
        'line 3, field origin: "f" (line 2) is itself a false statement',
        (
            'line 4, field origin: no row has the id "nowhere", and it is not a '
            "content id (64 digits)"
        ),
        "line 5, field origin: this false statement is the same as its origin (line 1)",
    ]


def test_a_statement_stands_once_in_its_book_and_is_never_true_and_false() -> None:
    book = {"book": "B", "correct": True}
    assert problems_of(
        book | {"text": "Water is wet."},
        book | {"text": "Water  is wet."},
        book | {"text": "Water is wet.", "book": "C"},
        book | {"text": "Water is wet.", "correct": False},
        {"text": "Fire is cold.", "correct": False},
        {"text": "Fire is cold.", "correct": True},
    ) == [
        "line 2, field text: repeats the statement of line 1",
        "line 4, field text: the same text is correct in line 1",
        "line 6, field text: the same text is perturbed in line 5",
    ]


def test_the_same_origin_is_not_said_twice_when_it_stands_after() -> None:
    assert problems_of({"text": "Water is wet.", "correct": False, "origin": "t"}, TRUE) == [
        "line 1, field origin: this false statement is the same as its origin (line 2)"
    ]


def test_the_same_text_in_two_books_is_two_facts() -> None:
    facts = read_facts(rows_of(TRUE | {"book": "A"}, {"text": "Water is wet.", "correct": 1}))
    assert len({built.fact.id for built in facts}) == 2


def test_a_correction_names_a_row_or_a_content_id_and_may_repeat_its_text() -> None:
    second, first, third = read_facts(
        rows_of(
            TRUE | {"id": "t2", "corrects": "t", "title": "Water"},
            TRUE,
            {"text": "Water is dry.", "correct": False, "origin": "t2", "corrects": HEX},
        )
    )
    assert first.fact.corrects is None
    assert second.fact.corrects == first.fact.id
    assert third.fact.payload.origin == second.fact.id
    assert third.fact.corrects == bytes.fromhex(HEX)


def test_a_ring_of_corrections_is_named() -> None:
    assert problems_of(
        {"id": "a", "text": "x", "correct": True, "corrects": "b"},
        {"id": "b", "text": "y", "correct": True, "corrects": "a"},
    ) == [("line 1, field corrects: these rows refer to each other in a cycle: line 1, line 2")]


def test_a_missing_language_is_guessed_by_book_and_und_is_none() -> None:
    facts = read_facts(
        rows_of(
            {"text": "细胞是生命的基本单位。", "correct": True, "book": "生物"},
            {"text": "E = mc^2", "correct": True, "book": "生物"},
            {"text": "E = mc^2", "correct": True, "book": "Physics"},
            {"text": "Qu'est-ce que c'est", "correct": True, "book": "Physics", "language": "fr"},
            {"text": "1 + 1 = 2", "correct": True, "language": "und"},
        )
    )
    assert [built.fact.language for built in facts] == ["zh", "zh", "en", "fr", ""]


def test_no_rows_make_no_facts() -> None:
    assert list(read_facts([])) == []


# ---------------------------------------------------------------- writing

LABEL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
SOURCE = st.builds(
    Source,
    kind=st.sampled_from(["document", "table", "dump", "images"]),
    title=LABEL,
    content=st.binary(min_size=32, max_size=32),
    language=st.sampled_from(["", "en", "zh-Hant"]),
    license=LABEL,
    authors=st.lists(LABEL, max_size=2).map(tuple),
    year=st.none() | st.integers(0, 2100),
    origin=LABEL,
) | LABEL.filter(bool).map(
    lambda title: Source(kind="document", title=title, content=sha256(title.encode()).digest())
)
ROLE = st.builds(
    Role,
    st.sampled_from(["wrote", "perturbed", "checked", "filtered", "judged"]),
    LABEL.filter(bool),
)


def identified(fact: Fact) -> Fact:
    return msgspec.structs.replace(fact, id=fact_id(fact))


@st.composite
def banks(draw: st.DrawFn) -> list[BuiltFact]:
    """Statements with different texts, the falsified ones from correct ones, in any order."""
    texts = draw(
        st.lists(
            LABEL.filter(str.strip), min_size=1, max_size=5, unique_by=lambda t: tuple(t.split())
        )
    )
    built: list[BuiltFact] = []
    for text in texts:
        correct_ids = [b.fact.id for b in built if b.fact.payload.correct]
        correct = draw(st.booleans())
        origins = st.none() | (st.sampled_from(correct_ids) if correct_ids else st.none())
        source = draw(st.none() | SOURCE)
        if source:
            source = msgspec.structs.replace(source, id=source_id(source))
        fact = Fact(
            kind="encyclo_k.statement",
            payload=Statement(
                text=text,
                correct=correct,
                title=draw(LABEL),
                origin=None if correct else draw(origins),
                error_type="" if correct else draw(st.sampled_from(["", *ERROR_TYPES])),
                reason=draw(LABEL),
            ),
            language=draw(st.sampled_from(["", "en", "zh"])),
            stratum=Stratum(*draw(st.tuples(LABEL, LABEL, LABEL, LABEL))),
            source=source.id if source else None,
            passage=draw(st.none() | st.binary(min_size=32, max_size=32)),
            page=draw(LABEL),
            corrects=draw(st.none() | st.sampled_from([b.fact.id for b in built] or [b"c" * 32])),
        )
        built.append(BuiltFact(identified(fact), source, tuple(draw(st.lists(ROLE, max_size=2)))))
    return draw(st.permutations(built))


@settings(deadline=None, max_examples=40)
@given(banks(), st.sampled_from(["x.jsonl", "x.csv", "x.parquet"]))
def test_what_was_written_reads_back_with_the_same_ids(built: list[BuiltFact], name: str) -> None:
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
    facts = {entry.fact.id: entry.fact for entry in built}
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_rows(path, (write_fact(entry, facts) for entry in built))
        came = read_checked(path, read_facts)
    assert [entry.fact for entry in came] == [entry.fact for entry in built]
    assert [entry.source for entry in came] == [entry.source for entry in built]
    assert [sorted(entry.roles) for entry in came] == [sorted(entry.roles) for entry in built]


def test_a_row_is_written_with_what_it_has_and_nothing_else() -> None:
    (built,) = read_facts(rows_of(TRUE | {"language": "en"}))
    assert write_fact(built, {}) == {
        "id": built.fact.id.hex(),
        "text": "Water is wet.",
        "correct": True,
        "language": "en",
    }


def test_a_fact_is_not_written_without_the_source_it_names() -> None:
    (built,) = read_facts(rows_of(TRUE | {"source": "S"}))
    with pytest.raises(ValueError, match="needs its source"):
        write_fact(BuiltFact(built.fact), {})
