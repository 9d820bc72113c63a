"""Templates from people's hands: what is refused, with its line, and what they cannot reach."""

from __future__ import annotations

import pytest

from proofstone.errors import BadInput
from proofstone.texts.templates import read_template

VARIABLES = ("letters", "question", "statements")
VALUES = {"letters": "A, B", "question": "Which?", "statements": [{"text": "Ice floats."}]}


def render(text: str) -> str:
    return read_template(text, "mine.jinja", VARIABLES).render(VALUES)


def refused(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        render(text)
    return str(caught.value)


def test_a_template_is_filled_in_and_knows_what_it_uses() -> None:
    text = "{% for s in statements %}{{ loop.index }}. {{ s.text }}{% endfor %} {{ question }}\n"
    template = read_template(text, "mine.jinja", VARIABLES)
    assert template.uses == {"question", "statements"}
    assert template.render(VALUES) == "1. Ice floats. Which?"


def test_own_variables_macros_and_filters_are_allowed() -> None:
    text = (
        "{% set seen = namespace(n=0) %}{% macro loud(t) %}{{ t|upper }}{% endmacro %}"
        "{% for n in range(2) %}{% set seen.n = seen.n + 1 %}{% endfor %}"
        "{{ loud(question) }} {{ seen.n }}"
    )
    assert render(text) == "WHICH? 2"


def test_all_unknown_variables_and_tags_are_named_by_line() -> None:
    """At their first lines, in order, with the nearest known name."""
    assert refused("{{ qestion }}\n{% include 'other' %}\n{{ odd }}\n{{ odd }}") == (
        "cannot use the template mine.jinja\n"
        "  mine.jinja, line 1: unknown variable qestion; did you mean question?\n"
        "  mine.jinja, line 2: include reads another file, which is not allowed\n"
        "  mine.jinja, line 3: unknown variable odd\n"
        "  it may use: letters, question, statements"
    )


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a\n{{ question", 2, "unexpected end of template"),
        ("\n\n{% if question %}", 3, "Unexpected end of template"),
        ("{{ question|shout }}", 1, "No filter named 'shout'"),
        ("{% from 'x' import y %}", 1, "from reads another file"),
        ("{% extends 'x' %}", 1, "extends reads another file"),
        ("{% import 'x' as y %}", 1, "import reads another file"),
        ("a\n{{ question.nothing }}", 2, "has no attribute 'nothing'"),
        ("a\nb\n{{ statements[7].text }}", 3, "has no element 7"),
        ("{{ 1 // 0 }}", 1, "zero"),
        ("{{ question + 1 }}", 1, "str"),
        ("{{ question.__class__.__mro__ }}", 1, "unsafe"),
        ("{% set _ = statements.append(1) %}", 1, "unsafe"),
        ("{{ range(10000000)|length }}", 1, "Range too big"),
    ],
)
def test_what_cannot_be_read_or_rendered_names_its_line(text: str, line: int, says: str) -> None:
    told = refused(text)
    assert f"mine.jinja, line {line}: " in told
    assert says in told


def test_texts_are_put_as_they_are() -> None:
    """No escaping, and nothing within a value is read as a template."""
    values = {"question": "<b> & {{ letters }}"}
    template = read_template("{{ question }}", "mine.jinja", VARIABLES)
    assert template.render(values) == "<b> & {{ letters }}"
