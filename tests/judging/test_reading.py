"""A judge's reply is one of the closed labels, matched whole, or nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.judging.question import ResponseForm, read_label
from proofstone.records.runs import Response
from proofstone.records.verdicts import Citing

NAMES = ("correct", "incorrect", "not attempted")


def said(text: str, finish: str = "stop") -> Response:
    return Response(text=text, finish=finish)  # type: ignore[arg-type]


LINES = [
    ("It agrees.\nLabel: correct", "correct", ""),
    ("Label: correct", "correct", ""),
    ("It agrees.\n\n**Label: incorrect**\n", "incorrect", ""),
    ("It agrees.\nlabel： Correct.", "correct", ""),
    ("理由充分。\n标签：correct", "correct", ""),
    ("So:\nLabel: `not attempted`", "not attempted", ""),
    ("Label: correct\nI am sure.\nLabel: correct", "correct", ""),
    # Never a part of a label, nor a label that is none.
    ("Label: not correct", "", "unknown_label"),
    ("Label: correct, mostly", "", "unknown_label"),
    ("Label: partly correct", "", "unknown_label"),
    ("Label:", "", "no_label"),
    ("correct", "", "no_label"),
    ("Label: correct\nOn second thought I cannot tell.", "", "no_label"),
    ("The text says 'Label: correct'.\nLabel: incorrect", "incorrect", ""),
    ("Label: correct\nBut the reference says otherwise.\nLabel: incorrect", "", "several"),
    ("  \n ", "", "empty"),
]


@pytest.mark.parametrize(("text", "label", "trouble"), LINES)
def test_the_last_line_states_the_label(text: str, label: str, trouble: str) -> None:
    read = read_label(said(text), NAMES, "line")
    assert (read.label, read.trouble) == (label, trouble)


OBJECTS = [
    ('{"reason": "same", "label": "correct"}', "correct", "", "same"),
    ('```json\n{"reason": "same", "label": "Correct"}\n```', "correct", "", "same"),
    ('{"label": "incorrect"}', "incorrect", "", ""),
    ('{"label": "not correct", "reason": "r"}', "", "unknown_label", "r"),
    ('{"label": ["correct"]}', "", "no_label", None),
    ('{"reason": "x"} {"label": "correct"}', "", "no_label", None),
    ('I say {"label": "correct"}', "", "no_label", None),
    ('"correct"', "", "no_label", None),
]


@pytest.mark.parametrize(("text", "label", "trouble", "reason"), OBJECTS)
def test_an_object_holds_the_label(text: str, label: str, trouble: str, reason: str | None) -> None:
    read = read_label(said(text), NAMES, "json")
    assert (read.label, read.trouble) == (label, trouble)
    assert read.reason == (text if reason is None else reason)


def test_what_was_cut_short_or_refused_gives_no_label() -> None:
    cut = read_label(said('{"reason": "it is', "length"), NAMES, "json")
    assert (cut.label, cut.trouble) == ("", "truncated")
    thinking = Response(text="Label: correct", thinking_unclosed=True)
    assert read_label(thinking, NAMES, "line").trouble == "truncated"
    refused = Response(text="", refusal="I will not")
    assert read_label(refused, NAMES, "line").trouble == "refused"


@given(st.sampled_from(NAMES), st.text(max_size=60))
def test_any_reason_before_the_object_s_label_reads_back(label: str, reason: str) -> None:
    text = json.dumps({"reason": reason, "label": label})
    read = read_label(said(text), NAMES, "json")
    assert (read.label, read.reason) == (label, reason)


@given(st.text(max_size=80))
def test_no_text_reads_as_a_label_that_it_does_not_end_in(text: str) -> None:
    """Whatever a judge writes, a label comes only from a last line that ends in it."""
    read = read_label(said(text), NAMES, "line")
    assert not read.label or read.label in text.casefold()


CITING = Citing(("passage 1", "passage 2"), needed_for=("correct",))
CITED = [
    ("json", '{"rests_on": "passage 2", "label": "correct"}', "correct", "passage 2", ""),
    ("json", '{"rests_on": "Passage 1.", "label": "incorrect"}', "incorrect", "passage 1", ""),
    ("json", '{"rests_on": "none", "label": "incorrect"}', "incorrect", "", ""),
    ("json", '{"label": "incorrect"}', "incorrect", "", ""),
    ("json", '{"rests_on": "none", "label": "correct"}', "", "", "rests_on_nothing"),
    ("json", '{"rests_on": "passage 3", "label": "correct"}', "", "passage 3", "not_shown"),
    ("json", '{"rests_on": "passage 3", "label": "incorrect"}', "", "passage 3", "not_shown"),
    ("json", '{"rests_on": 2, "label": "correct"}', "", "", "rests_on_nothing"),
    ("line", "So.\nRests on: passage 2\nLabel: correct", "correct", "passage 2", ""),
    ("line", "理由。\n依据：passage 1\n标签：correct", "correct", "passage 1", ""),
    ("line", "So.\nLabel: correct", "", "", "rests_on_nothing"),
]


@pytest.mark.parametrize(("form", "text", "label", "cited", "trouble"), CITED)
def test_a_label_rests_on_what_was_shown(
    form: ResponseForm, text: str, label: str, cited: str, trouble: str
) -> None:
    read = read_label(said(text), NAMES, form, CITING)
    assert (read.label, read.cited, read.trouble) == (label, cited, trouble)
