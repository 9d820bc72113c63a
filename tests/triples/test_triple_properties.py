"""What holds of every reply: valid JSON comes back, and a prefix gives its whole triples."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from proofstone.methods.bequ.response_json import RecordScan, read_as_asked, read_triples

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
).filter(str.strip)
TRICKY = st.sampled_from(
    ['say "no"', "it's", "a, b", 'x", "object": "y', "]}", "{[", "\\", '\\"', "a\nb", "“c”", "(d)"]
)
FIELDS = st.one_of(TEXTS, TRICKY)
TRIPLES = st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=6)
KEYS = ("subject", "predicate", "object")


def written(triples: list[tuple[str, str, str]], *, indent: int | None, ascii_only: bool) -> str:
    rows = [dict(zip(KEYS, triple, strict=True)) for triple in triples]
    return json.dumps(rows, indent=indent, ensure_ascii=ascii_only)


@given(TRIPLES, st.sampled_from([None, 2]), st.booleans())
def test_valid_json_comes_back_and_nothing_is_marked(
    triples: list[tuple[str, str, str]], indent: int | None, ascii_only: bool
) -> None:
    text = written(triples, indent=indent, ascii_only=ascii_only)
    read = read_triples(text)
    assert [(t.subject, t.predicate, t.object) for t in read.triples] == triples
    assert read.n_recovered == 0
    assert read.unread == ()
    for triple in read.triples:
        record = json.loads(text[triple.start : triple.end])
        assert record == dict(
            zip(KEYS, (triple.subject, triple.predicate, triple.object), strict=True)
        )


@given(TRIPLES, st.booleans(), st.data())
def test_the_fast_way_reads_what_the_other_does_or_leaves_it(
    triples: list[tuple[str, str, str]], ascii_only: bool, data: st.DataObject
) -> None:
    """Also where signs of a valid reply are taken out, put in or said twice."""
    text = written(triples, indent=None, ascii_only=ascii_only)
    assert read_as_asked(text) is not None
    for _change in range(data.draw(st.integers(0, 2))):
        at, end = sorted(data.draw(st.integers(0, len(text))) for _end in range(2))
        put_in = data.draw(
            st.sampled_from(["", text[at:end], "\\ud800", "\\u0000", "null", "[]", " "])
        )
        text = text[:at] + put_in + text[data.draw(st.sampled_from([at, end])) :]
    found = read_as_asked(text)
    if found is not None:
        scan = RecordScan(text, is_strict=True)
        assert (found, scan.unread, scan.faults) == (scan.triples, [], set())
        assert [text[start:end].strip() for start, end in scan.spans] == [text.strip()]


@given(TRIPLES, st.sampled_from([None, 2]), st.booleans(), st.data())
def test_a_prefix_gives_exactly_the_triples_whose_three_texts_are_whole_in_it(
    triples: list[tuple[str, str, str]], indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    """The object is the last of the three: where its closing quote is there, all are."""
    text = written(triples, indent=indent, ascii_only=ascii_only)
    cut = data.draw(st.integers(0, len(text)))
    read = read_triples(text[:cut], is_cut=cut < len(text))
    ends = [
        found.end - (2 + (indent or 0) if indent else 1) for found in read_triples(text).triples
    ]
    whole = [triple for triple, end in zip(triples, ends, strict=True) if cut >= end]
    assert [(t.subject, t.predicate, t.object) for t in read.triples] == whole
    assert read.n_recovered == (len(whole) if cut < len(text) else 0)


@given(st.text(max_size=80), st.lists(st.text(max_size=4), max_size=1), st.booleans())
def test_anything_can_be_read_and_every_place_lies_within_it(
    text: str, names: list[str], is_cut: bool
) -> None:
    read = read_triples(text, names=names, is_cut=is_cut)
    places = [(part.start, part.end) for part in read.triples]
    places += [(part.start, part.end) for part in read.unread]
    assert all(0 <= start < end <= len(text) for start, end in places)
    for triple in read.triples:
        assert triple.subject.strip()
        assert triple.predicate.strip()
        assert triple.object.strip()


ALPHABET = ["{", "}", "[", "]", '"', "'", ",", ":", "\\", "\n", " ", "(", ")", "|", "A", "1", "-",
            '"subject"', '"predicate"', '"object"', "subject: ", "``` ", "null"]  # fmt: skip


@given(st.lists(st.sampled_from(ALPHABET), max_size=60).map("".join), st.booleans())
def test_any_heap_of_signs_can_be_read(text: str, is_cut: bool) -> None:
    read = read_triples(text, names=["A"], is_cut=is_cut)
    places = [(part.start, part.end) for part in read.triples]
    places += [(part.start, part.end) for part in read.unread]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert list(read.triples) == sorted(read.triples, key=lambda t: t.end)
