"""The answers held along reasoning: read from responses, counted, and drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.method import ShownOptions
from proofstone.records.runs import Response, Usage
from proofstone.results.answer_paths import LEAST_REPLY, path_of
from proofstone.results.sections.parts import Analysis, drawn_figures
from scripted_acts import completion
from scripted_server import Act, Seen
from serving import HurriedClock, configure, serving
from small_bank import write_lines
from table_texts import rows

SHOWN = ShownOptions(("alpha one", "beta two", "gamma three", "delta four"), (1,))
FILLER = "The table lists one rate for each of the samples. " * 10


def reasoned(text: str, tokens: int | None = None) -> Response:
    return Response(text="The answer is C.", reasoning=text, usage=Usage(reasoning=tokens))


def test_the_path_is_what_was_last_held_at_each_tenth() -> None:
    """The first half holds nothing; then the right answer is held, and left at the end."""
    path = path_of(reasoned(f"{FILLER}The answer is B. {FILLER}So the answer is C."), SHOWN)
    assert path.seen == "observed"
    assert path.tenths == ("none",) * 4 + ("right",) * 5 + ("another",)
    assert path.held == {"right", "another"}


def test_a_set_is_held_only_as_a_whole() -> None:
    several = ShownOptions(SHOWN.options, (0, 2), several=True)
    path = path_of(reasoned("The answer is A. Wait, no. The answer is A and C."), several)
    assert path.held == {"right", "another"}
    assert path.tenths[-1] == "right"


def test_hidden_reasoning_is_not_observable() -> None:
    """Tokens without a text; not even a long reply is taken for the reasoning."""
    assert path_of(reasoned("", tokens=900), SHOWN).seen == "hidden"
    long = Response(text=f"{FILLER}The answer is B.", usage=Usage(reasoning=900))
    assert path_of(long, SHOWN).seen == "hidden"


def test_without_reasoning_the_reply_is_read_if_it_is_long_enough() -> None:
    stated = "The answer is B."
    short = stated.rjust(LEAST_REPLY - 1, "x")
    assert path_of(Response(text=short), SHOWN).seen == "short"
    path = path_of(Response(text=f"{FILLER}{stated}"), SHOWN)
    assert (path.seen, path.tenths[-1], path.held) == ("observed", "right", {"right"})


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    lines = [
        {"question": f"Which sample is {n}?", "options": list(SHOWN.options), "answer": "B"}
        for n in range(6)
    ]
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.import_form(write_lines(tmp_path / "questions.jsonl", lines))
        yield opened


LEFT = f"The answer is B. {FILLER}Wait, that is not so. The answer is C."
NEVER = f"{FILLER}The answer is C."
FOUND = f"The answer is D. {FILLER}Wait, that is not so. The answer is B."


def studied(workspace: Workspace, said: Sequence[tuple[str, str, int]]) -> Analysis:
    """``said``: answer, reasoning and reasoning tokens of each reply in turn."""

    def response(request: Seen) -> Act:
        number = int(request.body.decode().partition("Which sample is ")[2][0])
        letter, reasoning, tokens = said[number]
        body = completion(f"The answer is {letter}.", prompt_tokens=200)
        body["choices"][0]["message"]["reasoning_content"] = reasoning
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": tokens}
        return Act(json.dumps(body).encode())

    (form,) = workspace.store.lookup.every("form")
    with serving(response) as server:
        configure(workspace.folder, server.url)
        workspace.run(f"form:{form.id.hex()}", models="scripted/one")
    return workspace.analysis("reasoning", f"form:{form.id.hex()}")


def test_right_answers_that_were_left_are_counted(workspace: Workspace) -> None:
    """Of four wrong answers one is hidden; of the other three, two held the right one."""
    made = studied(
        workspace,
        [("C", LEFT, 90), ("C", LEFT, 90), ("C", NEVER, 90), ("C", "", 90),
         ("B", FOUND, 90), ("B", "", 0)],
    )  # fmt: skip
    (row,) = rows(made)
    assert (row[1], row[2], row[4], row[5]) == ("4", "3", "2", "1")
    assert (row[3].split()[0], row[6].split()[0]) == ("66.7", "100.0")
    assert row[7:] == ("1", "1")
    assert made.finding.startswith("The reasoning held the correct answer in 2 of 3 wrong answers")
    assert any("The reasoning of 1 answer is hidden" in note for note in made.notes)
    (figure,) = drawn_figures(made)
    assert [column.rpartition("(")[2] for column in figure.columns()] == ["n = 1)", "n = 3)"]
    last = [mark.value for mark in figure.marks if mark.x == 100.0 and "n = 3" in mark.column]
    assert last == [0.0, 1.0, 0.0]
    wrong = [cells for cells in rows(made, 1) if "wrong" in cells[1]]
    assert [cells[4].split()[0] for cells in wrong][:2] == ["66.7", "66.7"]
    assert len(wrong) == 10


def test_nothing_is_drawn_where_nothing_is_observable(workspace: Workspace) -> None:
    made = studied(workspace, [("C", "", 90)] * 3 + [("B", "", 0)] * 3)
    assert made.finding == "No wrong answer here has reasoning that can be read."
    assert drawn_figures(made) == ()
    assert len(made.tables) == 1
    (row,) = rows(made)
    assert (row[2], row[3], row[7], row[8]) == ("0", "\u2014", "3", "3")


def test_refusals_have_no_path(workspace: Workspace) -> None:
    """A model that chose nothing has no row, so nothing can be analyzed."""
    (form,) = workspace.store.lookup.every("form")
    refusing = completion("I cannot answer that.", prompt_tokens=200)
    with serving(lambda _request: Act(json.dumps(refusing).encode())) as server:
        configure(workspace.folder, server.url)
        workspace.run(f"form:{form.id.hex()}", models="scripted/one")
    with pytest.raises(BadUsage, match="answered questions with options"):
        workspace.analysis("reasoning", f"form:{form.id.hex()}")
