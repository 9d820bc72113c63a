"""Tables of letters: answers beside an answer key, and grades."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import cells, layout_of, table_of, written

from proofstone.errors import BadInput, BadUsage


@pytest.mark.parametrize("key", ["gold", "answer_key", "Answer", "correct"])
def test_letters_are_scored_by_the_answer_key(tmp_path: Path, key: str) -> None:
    """Whatever a known column of it is called; an empty cell is missing, not wrong."""
    path = written(tmp_path, f"qid,{key},gpt,qwen\n1,A,A,b\n2,C,c,C\n3,D,(D),\n4,B,X,B\n")
    assert cells(table_of(path)) == {
        ("1", "gpt", 0): 1.0, ("1", "qwen", 0): 0.0, ("2", "gpt", 0): 1.0, ("2", "qwen", 0): 1.0,
        ("3", "gpt", 0): 1.0, ("4", "gpt", 0): 0.0, ("4", "qwen", 0): 1.0,
    }  # fmt: skip
    assert layout_of(path).told() == (
        f"item: qid; answer_key: {key}; models: gpt, qwen; "
        "letters: correct where they equal the answer key"
    )


def test_a_long_table_of_letters_needs_no_score(tmp_path: Path) -> None:
    """The answer is compared with the right one."""
    text = "item,model,answer,gold\n1,a,A,A\n1,b,B,A\n2,a,D,C\n2,b,C,C\n"
    assert cells(table_of(written(tmp_path, text))) == {
        ("1", "a", 0): 1.0, ("1", "b", 0): 0.0, ("2", "a", 0): 0.0, ("2", "b", 0): 1.0,
    }  # fmt: skip


def test_several_right_options_are_an_exact_set(tmp_path: Path) -> None:
    """In any order and with any separator; a part of them is wrong."""
    path = written(tmp_path, 'item,gold,m\n1,AC,"C,A"\n2,AC,A\n3,B,B\n')
    assert list(cells(table_of(path)).values()) == [1.0, 0.0, 1.0]


def test_grades_are_correct_incorrect_and_not_attempted(tmp_path: Path) -> None:
    """A alone counts, in a wide table and in a long one; how they are read is told."""
    wide = written(tmp_path, "item,gpt,qwen\n1,A,B\n2,C,A\n3,A,A\n")
    assert list(cells(table_of(wide)).values()) == [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert "grades: A correct, B incorrect, C not attempted" in layout_of(wide).told()
    long = written(tmp_path, "item,model,grade\n1,a,A\n1,b,B\n2,a,C\n2,b,A\n", "long.csv")
    assert list(cells(table_of(long)).values()) == [1.0, 0.0, 0.0, 1.0]


def test_letters_without_an_answer_key_are_refused(tmp_path: Path) -> None:
    """D is no grade, so what is right cannot be told."""
    with pytest.raises(BadUsage, match="--answer-key-col COLUMN"):
        layout_of(written(tmp_path, "item,gpt,qwen\n1,A,B\n2,D,A\n"))


def test_a_text_among_letters_is_a_problem_with_its_line(tmp_path: Path) -> None:
    """It is neither right nor wrong before a reader looks at it."""
    lines = [f"{n},A,A" for n in range(2, 13)]
    path = written(tmp_path, "\n".join(["item,gold,m", "1,A,I am not sure", *lines]) + "\n")
    with pytest.raises(BadInput) as caught:
        table_of(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column m: expected a letter, came 'I am not sure'"
    ]
