"""What a run says while it works: one line a run, plain ones without a terminal."""

from __future__ import annotations

from collections import Counter

import pytest

from proofstone.session.progress import RunProgress, progress_line, watching


def test_a_line_tells_done_rate_time_left_tokens_cost_and_errors() -> None:
    """30 of 120 in 10 seconds, 10 of them before: 2 a second, and (120 - 30) / 2 = 45 s left."""
    progress = RunProgress(
        label="acme/large direct books-7f3a", total=120, before=10, done=30, cached=4,
        prompt_tokens=2_000, completion_tokens=345, cost_usd=0.01234, started=100.0,
        errors=Counter({"rate_limited": 3, "timeout": 1}),
    )  # fmt: skip
    assert progress_line(progress, 110.0) == (
        "acme/large direct books-7f3a              30 of 120   25%     2.0/s  45 s left"
        "  2,345 tokens  0.0123 USD  4 cached  rate_limited 3  timeout 1"
    )


def test_a_run_that_has_ended_has_no_time_left_and_one_of_nothing_is_whole() -> None:
    ended = RunProgress(label="a", total=4, done=4, started=100.0, ended=102.0)
    assert progress_line(ended, 500.0).split() == [
        *("a", "4", "of", "4"),
        *("100%", "2.0/s", "0", "tokens"),
    ]
    assert "100%" in progress_line(RunProgress(label="a", total=0), 0.0)


def test_without_a_terminal_notes_are_said_once_and_each_run_when_it_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No line is drawn over another; a run that is at work is told of at the end."""
    first = RunProgress(label="a", total=1, notes=("mind the window",))
    second = RunProgress(label="b", total=2)
    with watching(quiet=False) as watch:
        assert watch is not None
        for run in (first, second):
            run.started = 1.0
        watch([first, second])
        first.done, first.ended = 1, 2.0
        watch([first, second])
        watch([first, second])
        second.ended = 3.0
    out, err = capsys.readouterr()
    assert (out, "\x1b" in err, "\r" in err) == ("", False, False)
    assert [line.split()[0] for line in err.splitlines()] == ["note:", "a", "b"]


def test_quiet_watches_nothing_and_who_leaves_at_once_is_told_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with watching(quiet=True) as watch:
        assert watch is None
    with pytest.raises(KeyboardInterrupt), watching(quiet=False):
        raise KeyboardInterrupt
    assert capsys.readouterr() == (
        "", "interrupted: what was committed is kept, and the same command goes on\n",
    )  # fmt: skip
