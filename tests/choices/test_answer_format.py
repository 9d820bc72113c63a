"""Formats of answers that people state: what they find, and which are refused."""

from __future__ import annotations

from time import perf_counter

import pytest

from proofstone.choices.answer_format import read_answer_format
from proofstone.errors import BadInput
from proofstone.records.runs import Response


@pytest.mark.parametrize(
    ("stated", "response", "found"),
    [
        ("regex:Final: ([A-D])", "Final: B", "B"),
        ("regex Final: ([A-D])", "Final: A, no. Final: B", "B"),
        (r"regex:(?i)verdict\s*=\s*(?P<answer>\w)", "Verdict = c", "c"),
        ("regex:[A-D]!", "It is C!", "C!"),
        ("regex:Final: ([A-D])", "The answer is B.", None),
        ("json:$.answer", 'Sure: {"answer": "B", "why": "x"}', "B"),
        ("json:answer", '```json\n{"answer": "B"}\n```', "B"),
        ("json:$.result.picks[1]", '{"result": {"picks": ["A", "D"]}}', "D"),
        ("json:$.picks", '{"picks": ["A", "C"]}', "A, C"),
        ("json:$.right", '{"right": true}', "true"),
        ("json:$['final answer']", '{"final answer": "C"}', "C"),
        ("json:$.answer", '{"answer": "A"} then {"answer": "B"}', "B"),
        ("json:$.answer", '{"other": 1}', None),
        ("json:$.answer", '{"answer": {"letter": "B"}}', None),
        ("json:$.answer", "no JSON {", None),
        ("json:$.picks[1]", '{"picks": ["A"]}', None),
        ("json:$.picks[1]", '{"picks": "AB"}', None),
        # Two hundred objects are looked through, and no more.
        ("json:$.answer", '{"other": 1} ' * 250 + '{"answer": "B"} {', None),
    ],
)
def test_what_a_format_finds(stated: str, response: str, found: str | None) -> None:
    assert read_answer_format(stated).find(response) == found


def test_a_reply_is_its_answer_and_unparsed_without_one() -> None:
    stated = read_answer_format("regex:Final: ([A-D])")
    cut = stated.applied(Response(text="Final: B because", finish="length"))
    assert (cut.text, cut.finish) == ("B", "stop")  # stated before it was cut off
    assert stated.applied(Response(text="The answer is B.")).text == ""
    refused = stated.applied(Response(text="I cannot answer that."), is_refusal=True)
    assert (refused.text, refused.refusal) == ("", "I cannot answer that.")


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("Final: ([A-D])", "expected regex:PATTERN or json:PATH"),
        ("regex:", "expected regex:PATTERN or json:PATH"),
        ("regex:Final: ([A-D]", "missing \\), unterminated subpattern at position 7"),
        ("regex:[A-D]*", "matches an empty answer"),
        ("json:$", "empty JSON path"),
        ("json:$.a..b", "invalid JSON path '\\$.a..b', at character 4"),
        ("json:$.a[x]", "at character 4"),
        (r"regex:(a+)+$", "a repeat contains another one"),
        (r"regex:(?:a|ab)+c", "a repeat contains another one, or alternatives"),
        (r"regex:(\w+\s?)+:", "a repeat contains another one"),
        (r"regex:(.)x\1", "back reference"),
        (r"regex:\s*\s*\s*\s*B", "it is slow"),
        (r"regex:.*.*.*=B", "it is slow"),
        ("regex:" + "a*x" * 9, "more than 8 repeats"),
    ],
)
def test_a_format_that_cannot_be_used_is_refused(stated: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        read_answer_format(stated)


@pytest.mark.parametrize(
    "pattern",
    [
        r"Final answer\s*[:=]\s*\(?([A-J])\)?",
        r"(?i)answer is:?\s*\**([A-D])\b",
        r"\[\[([A-D])\]\]",
        r"<answer>\s*(.{1,80}?)\s*</answer>",
        r"####\s*([A-D])",
    ],
)
def test_usual_patterns_are_taken_and_quick_on_any_text(pattern: str) -> None:
    stated = read_answer_format(f"regex:{pattern}")
    for piece in ("Final answer", " ", "answer is:", "[[", "<answer>", "#", "A", "\n", "x" * 50):
        started = perf_counter()
        stated.find(piece * (1_000_000 // len(piece)))
        assert perf_counter() - started < 0.3
