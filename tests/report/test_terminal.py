"""What people read in the terminal, compared whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import MEASURES, Row, mixed, right_of, table_of, two_small

from proofstone.page.text import aligned, cell_width, fitted, folded, padded, printable
from proofstone.records.runs import Outcome
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.board_text import (
    SIMULATED_BANNER,
    Leaderboard,
    render_breakdowns,
    render_terminal,
    to_json,
)
from proofstone.results.rankings import leaderboard


def board_of(table: ScoreTable) -> Leaderboard:
    return leaderboard(table, MEASURES, "accuracy")


SMALL = """\
form    elements-7f3a  60 questions, seeds 40 41 42
rank  model                  n  accuracy           truncated  unparsed
 1-2  smollm2-135m  cot     60  18.3 [10.6, 29.9]       6.7%     11.7%
 1-2  smollm2-135m  direct  60  15.0 [8.1, 26.1]        0.0%      3.3%
smollm2-135m cot has the highest score (18.3%, 3.3 points above smollm2-135m direct); 1 model is
statistically tied with it.
Chance lies inside both intervals: these results do not show knowledge. Chance is 20.0%.
! smollm2-135m cot: 6.7% truncated (4 of 60): raise --max-tokens, or lower --reasoning-effort, \
and run again
! smollm2-135m cot: 11.7% unparsed (7 of 60): read some \
(proofstone show RUN --outcome unparsed -n 5), or try another --prompt-method
! smollm2-135m direct: 3.3% unparsed (2 of 60): read some \
(proofstone show RUN --outcome unparsed -n 5), or try another --prompt-method
95% intervals for the domain of this item bank; each item counts the same (all replies)
page    demo/report.html
look    proofstone show run:2c1e --outcome wrong -n 5
"""


def test_a_small_leaderboard() -> None:
    shown = render_terminal(
        board_of(two_small()),
        heading=[("form", "elements-7f3a  60 questions, seeds 40 41 42")],
        next_steps=[
            ("page", "demo/report.html"),
            ("look", "proofstone show run:2c1e --outcome wrong -n 5"),
        ],
    )
    assert shown == SMALL


MIXED = f"""\
rank  model                n  accuracy           truncated  unparsed  refused
   1  lab/large   direct  40  87.3 [70.5, 96.5]       0.0%      0.0%     0.0%
   2  lab/小模型  direct  40  28.7 [14.5, 48.8]       0.0%      0.0%     2.5%
lab/large leads with 87.3%, 58.7 points ahead of lab/小模型; the difference is statistically
significant.
1 of 2 intervals lies above chance and 1 around chance: what lies around chance does not show \
knowledge. Chance is 20.0%.
incomplete, not ranked: missing responses counted as all wrong .. all right
lab/unlucky  direct  30 of 40 responses  37.5 .. 62.5  so far 50.0 [29.1, 70.9], 1 failed
{SIMULATED_BANNER}
model                             n  accuracy           truncated  unparsed
sim/guesser?ability=0.6  direct  40  59.3 [39.7, 76.4]       0.0%      0.0%
The interval lies above chance. Chance is 20.0%.
95% intervals for the domain of this item bank; each discipline counts the same (all replies)
"""


def test_a_leaderboard_of_all_kinds_of_respondents() -> None:
    shown = render_terminal(leaderboard(mixed(), MEASURES, "accuracy", level="discipline"))
    assert shown == MIXED


FULL_MARKS = """\
rank  model           n  accuracy             avg@2 sd  truncated  unparsed  failed
   1  all    direct  10  100.0 [69.2, 100.0]       0.0       0.0%      0.0%       0
   2  half   direct  10   55.0 [24.3, 82.3]        7.1       0.0%      0.0%       1
all leads with 100.0%, 45.0 points ahead of half; the difference is statistically significant.
95% intervals for the domain of this item bank; each item counts the same (all replies)
"""


def test_samples_failures_and_full_marks_have_their_columns() -> None:
    """100.0 takes one more place, so all of that column do."""
    rows: list[Row] = [
        (i, r, k, "answered", 1.0 if r else float(i < 5 + k))
        for r in range(2)
        for k in range(2)
        for i in range(10)
    ]
    rows.append((0, 0, 0, "failed", None))
    table = table_of(
        [Respondent("half", "direct"), Respondent("all", "direct")],
        rows,
        n_units=10,
        expected=[20, 20],
        n_options=0,
    )
    assert render_terminal(board_of(table)) == FULL_MARKS


def test_respondents_without_a_common_item() -> None:
    other: list[Row] = [(i, 1, 0, "answered", 1.0) for i in range(5, 10)]
    rows = right_of(5, 2, 0) + other
    table = table_of(
        [Respondent("a", "direct"), Respondent("b", "direct")],
        rows,
        n_units=10,
        expected=[5, 5],
    )
    lines = render_terminal(board_of(table)).splitlines()
    assert lines[1].split()[0] == "\N{EM DASH}"
    assert lines[3] == "The 2 models share no item, so they are not ranked."


def test_nothing_to_rank() -> None:
    assert render_terminal(board_of(table_of([], [], n_units=0))) == (
        "no scores yet: nothing to rank\n"
    )


def test_only_incomplete_ones_have_no_table() -> None:
    shown = render_terminal(board_of(table_of([Respondent("m", "direct")], [], n_units=3)))
    assert shown == (
        "incomplete, not ranked: missing responses counted as all wrong .. all right\n"
        "m  direct  0 of 3 responses  0.0 .. 100.0  so far \N{EM DASH}\n"
    )


def test_long_names_give_way_to_the_numbers() -> None:
    """Columns of what no reply had go first. Then a name takes several lines; it is never cut."""
    rows = [row for r in range(2) for row in right_of(20, 9, r)]
    names = ["provider/family/some-very-long-model-name-a", "provider/family/模型模型模型模型-b"]
    table = table_of([Respondent(name, "direct") for name in names], rows, n_units=20)
    lines = render_terminal(board_of(table), width=80).splitlines()
    assert lines[:4] == [
        "rank  model                                                 n  accuracy",
        " 1-2  provider/family/some-very-long-model-name-a  direct  20  45.0 [25.8, 65.8]",
        " 1-2  provider/family/模型模型模型模型-b           direct  20  45.0 [25.8, 65.8]",
        "No response was truncated or unparsed.",
    ]
    head, *rest = render_terminal(board_of(table), width=70).splitlines()
    assert max(cell_width(line) for line in (head, *rest[:4])) <= 70
    assert head.index("model") == 6
    for name, lines in zip(names, (rest[:2], rest[2:4]), strict=True):
        assert "".join(line[6:].split("  ")[0] for line in lines) == name
        assert "45.0 [25.8, 65.8]" in lines[0]
    narrow = render_terminal(board_of(table), width=10).splitlines()[1:5]
    assert "".join(line[6:].split("  ")[0] for line in narrow) == names[0]


def test_columns_stay_where_some_reply_had_their_outcome() -> None:
    """Only the unparsed are named in a sentence: some reply was truncated."""
    cut = render_terminal(board_of(table_of_outcomes("truncated")), width=60).splitlines()
    assert cut[0].split() == ["model", "n", "accuracy", "truncated"]
    assert "No response was unparsed." in cut


def table_of_outcomes(*outcomes: Outcome) -> ScoreTable:
    """One respondent with a long name: ten right answers, and these outcomes."""
    rows: list[Row] = [
        *right_of(10, 10, 0),
        *((10 + u, 0, 0, o, None) for u, o in enumerate(outcomes)),
    ]
    who = Respondent("provider/family/some-very-long-model-name", "direct")
    return table_of([who], rows, n_units=10 + len(outcomes))


PROMPT_METHODS = [
    Respondent("acme/large", "direct", settings=f"thinking={told}") for told in ("on", "off")
]


def test_a_breakdown_names_respondents_whole_or_by_number() -> None:
    """Settings tell columns apart; what does not fit is numbered, in blocks of whole columns."""
    rows = [row for r in range(2) for row in right_of(8, 4, r)]
    board = board_of(table_of(PROMPT_METHODS, rows, n_units=8))
    (wide,) = render_breakdowns(board, ["position"])
    heads = ("acme/large direct thinking=on", "acme/large direct thinking=off")
    assert all(head in wide.splitlines()[0] for head in heads)
    (narrow,) = render_breakdowns(board, ["position"], width=60)
    lines = narrow.splitlines()
    assert [line[:3].strip() for line in lines[:2]] == ["1)", "2)"]
    assert [line[4:] in heads for line in lines[:2]] == [True, True]
    assert lines[2].split() == ["answer", "key", "position", "n", "1", "2"]
    assert len(lines) == 2 + 1 + len(wide.splitlines()[1:])
    (blocks,) = render_breakdowns(board, ["position"], width=20)
    heads_of_blocks = [
        line.split()[-1] for line in blocks.splitlines() if line.startswith("answer key")
    ]
    assert heads_of_blocks == ["1", "2"]


def test_a_name_cannot_move_the_cursor() -> None:
    table = table_of([Respondent("m\x1b[2J\n\u202e", "direct")], right_of(2, 1, 0), n_units=2)
    assert "m\ufffd[2J\ufffd\ufffd" in render_terminal(board_of(table))


def test_colour_marks_state_only() -> None:
    shown = render_terminal(board_of(two_small()), colour=True).splitlines()
    assert [line.startswith("\x1b[33m! ") for line in shown].count(True) == 3
    assert not any("\x1b" in line for line in shown[:3])


def test_json_holds_all_of_the_leaderboard() -> None:
    found = json.loads(to_json(board_of(mixed())))
    assert found["measure"] == "accuracy"
    assert found["standings"][0]["ranked"][0]["runs"] == ["01" * 32]
    assert found["standings"][0]["ranked"][0]["average"]["sd"] is None, "NaN is null"
    assert found["standings"][0]["incomplete"][0]["bounds"]["missing"] == 10
    assert found["standings"][0]["compared"][0]["resolved"] is True


# ------------------------------------------------------------ columns


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("模型", 4), ("e\u0301", 1), ("a\u200db", 2)]
)
def test_width_is_counted_in_cells(text: str, width: int) -> None:
    assert cell_width(text) == width


@given(text=st.text(max_size=30), width=st.integers(1, 30))
def test_fitted_text_never_is_wider(text: str, width: int) -> None:
    assert cell_width(fitted(text, width)) <= width
    assert cell_width(padded(fitted(text, width), width)) == width


@given(rows=st.lists(st.tuples(st.text("ab模", max_size=5), st.text("12", max_size=4)), max_size=4))
def test_columns_begin_and_end_at_the_same_cell(rows: list[tuple[str, str]]) -> None:
    full = [(f"{name}.", f"{number}0") for name, number in rows]
    assert len({cell_width(line) for line in aligned(full, left=[0])}) <= 1


@given(text=st.text(max_size=20))
def test_printable_text_holds_no_control_character(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not any(character in shown for character in "\x00\n\r\x1b\u202e\u2028")


def test_a_table_that_is_too_wide_continues_below_and_breaks_no_cell() -> None:
    """Names, intervals and columns stay whole at 52 cells; narrower tables break names only."""
    board = leaderboard(mixed(), MEASURES, "accuracy", level="discipline")
    lines = render_terminal(board, width=52).splitlines()
    assert "   1  lab/large   direct  40  87.3 [70.5, 96.5]" in lines
    assert "model               refused" in lines
    assert "lab/小模型  direct     2.5%" in lines
    for width in (30, 40, 80):
        shown = render_terminal(board, width=width)
        assert all(
            f"[{low}, {high}]" in shown for low, high in (("70.5", "96.5"), ("14.5", "48.8"))
        )


def test_an_interval_is_not_broken_over_lines() -> None:
    line = "1-2  model-a  33.3 [4.3, 77.7]  n = 6"
    for width in range(16, 40):
        assert "[4.3, 77.7]" in folded(line, width)
