"""Verdicts on several statements from one reply: every shape, and nothing guessed."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_extract_adversarial import BUDGET_S, CHARACTERS, REPEATED

from proofstone.choices.options import roman
from proofstone.choices.outcomes import read_verdicts
from proofstone.choices.verdicts import extract_verdicts, read_label
from proofstone.records.runs import Finish, Response

T, F, N = "true", "false", ""

# Three statements; where no list of n is meant, N stands for no verdict.
CASES = [
    ("i: True\nii: False\niii: True", [T, F, T]),
    ("I. True\nII. False\nIII. Correct", [T, F, T]),
    ("1. True\n2. False\n3. true", [T, F, T]),
    ("(i) True\n(ii) False\n(iii) True", [T, F, T]),
    ("i) True\nii) False\niii) True", [T, F, T]),
    ("- **i**: True\n- **ii**: False\n- **iii**: True", [T, F, T]),
    ("**i: True**\n**ii: False**\n**iii: True**", [T, F, T]),
    ("i：正确\nii：错误\niii：正确", [T, F, T]),
    ("第i条：正确\n第ii条：错误\n第iii条：对", [T, F, T]),
    ("陈述1：正确。\n陈述2：不正确，因为…\n陈述3：属实", [T, F, T]),
    ("①正确\n②错误\n③正确", [T, F, T]),
    ("ⅰ、正确\nⅱ、错误\nⅲ、正确", [T, F, T]),
    ("i正确，ii错误，iii正确", [T, F, T]),
    ("Statement i is true.\nStatement ii is false.\nStatement iii is true.", [T, F, T]),
    ("i: True, ii: False, iii: True", [T, F, T]),
    ("i: True; ii: False; iii: True.", [T, F, T]),
    ("Answers: i: True, ii: False, iii: True", [T, F, T]),
    ("i. True - because\nii. False (Lima)\niii. True, since it is", [T, F, T]),
    ("| Statement | Verdict |\n|---|---|\n| i | True |\n| ii | False |\n| iii | True |", [T, F, T]),
    (
        "| # | Statement | Verdict | Reason |\n|---|---|---|---|\n| i | Iron is. "
        "| True | ok |\n| ii | Gold is | False | no |\n| iii | Tin | True | - |",
        [T, F, T],
    ),
    ('{"i": true, "ii": false, "iii": true}', [T, F, T]),
    ('```json\n{"i": "True", "ii": "False", "iii": "True"}\n```', [T, F, T]),
    ('{"verdicts": {"1": true, "2": false, "3": true}}', [T, F, T]),
    ("[true, false, true]", [T, F, T]),
    ('["True","False","True"]', [T, F, T]),
    (
        '[{"statement": "i", "verdict": "true"}, {"statement": "ii", '
        '"verdict": "false"}, {"statement": "iii", "verdict": "true"}]',
        [T, F, T],
    ),
    (
        '[{"id": 1, "correct": true}, {"id": 2, "correct": false}, {"id": 3, "correct": true}]',
        [T, F, T],
    ),
    ('{"answers":[{"i": true}, {"ii": false}, {"iii": true}]}', [T, F, T]),
    ("True\nFalse\nTrue", [T, F, T]),
    ("True, False, True", [T, F, T]),
    ("正确\n错误\n正确", [T, F, T]),
    ("True: i, iii\nFalse: ii", [T, F, T]),
    ("Correct statements: i and iii\nIncorrect statements: ii", [T, F, T]),
    ("正确的有：i、iii\n错误的有：ii", [T, F, T]),
    ("i, iii: True\nii: False", [T, F, T]),
    ("i and iii are true; ii is false", [T, F, T]),
    ("i. Iron is a metal. True\nii. Gold is Ag. **False**\niii. Tin is Sn: True", [T, F, T]),
    (
        "i. Iron is a metal.\nThis is true.\n\nii. Gold is Ag.\n"
        "This is incorrect.\n\niii. Tin is Sn.\nVerdict: True",
        [T, F, T],
    ),
    (
        "**Statement i**\nIt is a metal.\nVerdict: True\n\n"
        "**Statement ii**\nVerdict: False\n\n**Statement iii**\nVerdict: True",
        [T, F, T],
    ),
    (
        "i is correct: x.\nii is false: y.\niii is correct.\ni: True\nii: False\niii: True",
        [T, F, T],
    ),
    ("i: False\nii: False\niii: False\n\nWait, again:\ni: True\nii: False\niii: True", [T, F, T]),
    ("i: True\nii: False", [T, F, N]),
    ("i: True\ni: False\nii: False\niii: True", [N, F, T]),
    ("i: True or False\nii: False\niii: True", [N, F, T]),
    ("i: True/False\nii: False\niii: True", [N, F, T]),
    ("i: partly true\nii: False\niii: True", [N, F, T]),
    ("0: True\n1: False\n2: True", [N, N, N]),
    ('{"0": true, "1": false, "2": true}', [N, N, N]),
    ("True\nFalse", [N, N, N]),
    ("I am right: gold is Au.", [N, N, N]),
    ("i: True\nii: False\niii: True\niv: False", [T, F, T]),
    ("The answer is i, iii.", [N, N, N]),
    ("", [N, N, N]),
    ("1. i: True\n2. ii: False\n3. iii: True", [T, F, T]),
    ("i True\nii False\niii True", [T, F, T]),
    ("i - T\nii - F\niii - T", [T, F, T]),
    ("i: ✓\nii: ✗\niii: ✓", [T, F, T]),
    ("i = 正确；ii = 错误；iii = 正确", [T, F, T]),
    ("i: Not true\nii: not false\niii: True", [F, T, T]),
    ("i-iii: True", [N, N, N]),
    ("In 1815: false\nStep 2: True", [N, N, N]),
    (
        "i: The statement is true.\n"
        "ii: The statement is false because it is Lima.\niii: This is true.",
        [T, F, T],
    ),
    ("i. This statement is false, since gold is Au.\nii: Iron. It is true.", [F, T, N]),
    ("All statements are true.", [N, N, N]),
    (
        "| i | True, since iron is one |\n| ii | False because gold is Au |\n| iii | Correct: Sn |",
        [T, F, T],
    ),
    ("| i | True, mostly | False, in part |\n| ii | False | |\n| iii | True | |", [N, F, T]),
    ("| i | Iron |\n| ii | Gold |\n| iii | Tin |", [N, N, N]),
    # JSON that holds no verdict leaves the text to be read; what is no verdict in it is none.
    ('```json\n{"note": "see below"}\n```\ni: True\nii: False\niii: True', [T, F, T]),
    ("```json\n42\n```\ni: True\nii: False\niii: True", [T, F, T]),
    ('{"i": null, "ii": 3.5, "iii": true}', [N, N, T]),
    ('Here they are: {"i": true, "ii": false, "iii": true}', [T, F, T]),
    ('[{"id": 1, "wrong": false}, {"id": 2, "wrong": true}, {"id": 3, "wrong": false}]', [T, F, T]),
    ("[true, false]", [N, N, N]),
    ('{"right": [1], "wrong": [2]}', [N, N, N]),
    ('{"a": {"b": {"c": {"d": [true, false, true]}}}}', [N, N, N]),
    ('[{"x": "y", "z": "w"}, {"x": "y", "z": "w"}, {"x": "y", "z": "w"}]', [N, N, N]),
    ('[{"verdict": "true"}, {"verdict": "false"}, {"verdict": "true"}]', [N, N, N]),
    (
        "i. Iron is a metal.\nThis is true.\n\nii. Gold is Ag.\nThis is incorrect.\n\n"
        "iii. Tin is Sn.\nIt melts early.\nIt is soft.\nVerdict: True\n\n"
        "All that I know of metals, true or false, is above.",
        [T, F, T],
    ),
]


@pytest.mark.parametrize(("text", "said"), CASES, ids=[repr(text[:40]) for text, _ in CASES])
def test_three_verdicts_are_read(text: str, said: list[str]) -> None:
    assert list(extract_verdicts(text, 3).said) == said


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("i: True or False\nii: False", {0}),
        ("i: True\ni: False\nii: False", {0}),
        ("i: partly true\nii: False", {0}),
        ("i: True\nii: False\n\nFinal:\nii: True", {1}),
        ('{"i": true, "i": false, "ii": true}', {0}),
        ("| i | True | False |\n| ii | True | |", {0}),
        ("i.\nTrue or false?\n\nii: False", set()),
        ("i.\nIt is true.\nVerdict: both true and false\n\nii: False", {0}),
    ],
)
def test_what_is_called_both_is_called_nothing_and_said_so(text: str, both: set[int]) -> None:
    found = extract_verdicts(text, 2)
    assert found.both == both
    assert all(found.said[place] == "" for place in both)


def test_a_last_list_of_all_stands_alone_and_one_of_some_does_not() -> None:
    """Correcting everything is an answer; correcting a part contradicts the rest of it."""
    first = "i: True\nii: False\niii: True\n\nLet me check them again.\n\n"
    assert extract_verdicts(first + "i: False\nii: True\niii: True", 3).said == (F, T, T)
    found = extract_verdicts(first + "i: False", 3)
    assert (found.said, found.both) == ((N, F, T), {0})


def test_verdicts_in_objects_are_read_and_labels_go_to_99() -> None:
    said = '{"1": {"why": "so", "verdict": "true"}, "2": {"why": "no", "verdict": "false"}}'
    assert extract_verdicts(said, 2).said == (T, F)
    assert read_label(roman(99)) == 99
    assert read_label("100") is None


def test_labels_that_number_no_statement_are_counted() -> None:
    assert extract_verdicts("i: True\nix: False", 3).strays == 1
    assert extract_verdicts("0: True\n1: False", 3).strays == 2


def test_a_verdict_from_a_paragraph_is_marked_as_such() -> None:
    found = extract_verdicts("i: True\n\nii. Gold is Ag.\nThis is false.\n", 3)
    assert (found.said, found.inferred) == ((T, F, N), {1})


@given(
    st.lists(st.booleans(), min_size=1, max_size=20),
    st.sampled_from(["{}: {}", "{}. {}", "({}) {}", "- **{}**: {}", "| {} | {} |", "{}：{}"]),
    st.sampled_from([roman, lambda n: roman(n).upper(), str]),
    st.sampled_from([("True", "False"), ("correct", "incorrect"), ("正确", "错误"), ("对", "错")]),
)
def test_any_list_in_a_known_shape_is_read_whole(truth, shape, numeral, words) -> None:
    lines = [shape.format(numeral(at), words[not said]) for at, said in enumerate(truth, start=1)]
    expected = tuple(T if said else F for said in truth)
    assert extract_verdicts("\n".join(lines), len(truth)).said == expected
    assert (
        extract_verdicts("Let me see.\n\n" + "\n".join(lines) + "\n", len(truth)).said == expected
    )


@given(st.text(), st.integers(1, 20))
def test_any_text_is_read_without_error(text: str, n: int) -> None:
    found = extract_verdicts(text, n)
    assert len(found.said) == n
    assert set(found.said) <= {T, F, N}


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("text", "finish", "outcome", "flags", "each"),
    [
        ("i: True\nii: False", "stop", "answered", (), ["answered", "answered"]),
        ("i: True", "stop", "answered", ("missing verdicts",), ["answered", "unparsed"]),
        (
            "i: True\nii: Fal", "length", "answered", ("truncated", "missing verdicts"),
            ["answered", "truncated"],
        ),
        ("i. Gold is Au. It is", "length", "truncated", (), ["truncated", "truncated"]),
        ("i.\nThis is true.\n", "length", "truncated", (), ["truncated", "truncated"]),
        (
            "i.\nThis is true.\n", "stop", "answered", ("missing verdicts",),
            ["answered", "unparsed"],
        ),
        ("Gold is Au.", "stop", "unparsed", (), ["unparsed", "unparsed"]),
        ("I'm sorry, but I cannot answer that.", "stop", "refused", (), ["refused", "refused"]),
        ("", "content_filter", "refused", ("by endpoint",), ["refused", "refused"]),
    ],
)  # fmt: skip
def test_each_statement_has_an_outcome_of_its_own(
    text: str, finish: Finish, outcome: str, flags: tuple[str, ...], each: list[str]
) -> None:
    """A verdict stated before the cut counts; one that only reasoning implies does not."""
    read = read_verdicts(Response(text=text, finish=finish), 2)
    assert (read.outcome, read.flags) == (outcome, flags)
    assert [reading.outcome for reading in read.readings] == each


def test_a_missing_verdict_and_one_both_ways_say_which_they_are() -> None:
    read = read_verdicts(Response(text="i: True\nii: True or False"), 3)
    assert [reading.flags for reading in read.readings] == [
        (), ("several answers",), ("missing verdict",),
    ]  # fmt: skip


# ---------------------------------------------------------------- time

MORE = (
    "i: ", "i: True\n", "i: True, ", "i, ii, iii, ",
    "i: True or ", "| ", "| i | True |\n", "{",
    "[[", '{"i": true, ', "\n{", "```json\n{\n```\n", "True: i, ii, ", "True\n", "i.\nTrue\n",
    "ii. the statement is\n", "i.\nanswer: \n", "1. i: ", "第i条", "i (", '"i": ', "①",
    "[1,", '{"a":[',
    "i.\n答案 answer 陈述是\n", "i. answer that the statement is\n", "i. x - True\n", "\n\n",
)  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED + MORE, ids=repr)
def test_a_million_characters_of_anything_are_read_at_once(piece: str) -> None:
    text = (piece * (CHARACTERS // len(piece) + 1))[:CHARACTERS]
    assert min(_taken(text) for _ in range(2)) < BUDGET_S


@pytest.mark.parametrize("words", ["answer ", "答案是", "the statement that it is ", "so it is "])
def test_long_paragraphs_under_every_label_are_read_at_once(words: str) -> None:
    paragraphs = [f"{roman(at)}.\n{words * 200}\n" for at in range(1, 21)]
    assert min(_taken("\n".join(paragraphs * 2)) for _ in range(2)) < BUDGET_S


def _taken(text: str) -> float:
    start = process_time()
    extract_verdicts(text, 20)
    return process_time() - start
