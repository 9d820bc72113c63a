"""Progress of runs: one redrawn line for all, plain lines without a terminal."""

from __future__ import annotations

from collections import Counter

import pytest

from proofstone.session.progress import RunProgress, clock_text, error_line, progress_line, watching


def test_a_line_tells_done_rate_time_left_and_cost() -> None:
    """30 of 120 in 10 seconds, 10 of them before: 2 per second, and (120 - 30) / 2 = 45 s left."""
    first = RunProgress(
        label="acme/large direct", total=100, before=10, done=30, cost_usd=0.41, started=100.0
    )
    second = RunProgress(label="acme/small direct", total=20, cost_usd=0.01, started=102.0)
    assert progress_line([first, second], 110.0) == "30/120  25%  2.0/s  ETA 0:45  $0.42"
    assert clock_text(3 * 60 + 14) == "3:14"
    assert clock_text(7394) == "2:03:14"


def test_errors_are_listed_behind_the_models_name() -> None:
    errors = Counter({"rate_limited": 3, "timeout": 1})
    run = RunProgress(label="acme/large direct", total=9, errors=errors)
    assert error_line(run) == "acme/large direct  errors: rate_limited 3, timeout 1"


def test_a_run_that_has_ended_has_no_time_left_and_one_of_nothing_is_whole() -> None:
    ended = RunProgress(label="a", total=4, done=4, started=100.0, ended=102.0)
    assert progress_line([ended], 500.0) == "4/4  100%  2.0/s"
    assert progress_line([RunProgress(label="a", total=0)], 0.0) == "0/0  100%"


def test_without_a_terminal_notes_are_printed_once_and_a_line_for_each_tenth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No line is drawn over another; errors are printed at the end, for models that had any."""
    first = RunProgress(label="a", total=10, notes=("mind the window",))
    second = RunProgress(label="b", total=30, errors=Counter({"timeout": 2}))
    with watching(quiet=False) as watch:
        assert watch is not None
        for run in (first, second):
            run.started = 1.0
        for done in range(1, 11):
            first.done, second.done = done, 2 * done
            watch([first, second])
    out, err = capsys.readouterr()
    assert (out, "\x1b" in err, "\r" in err) == ("", False, False)
    lines = err.splitlines()
    assert lines[0] == "note: mind the window"
    assert [line.split()[1] for line in lines[1:8]] == [
        "15%", "22%", "30%", "45%", "52%", "60%", "75%",
    ]  # fmt: skip
    assert lines[-1] == "b  errors: timeout 2"


def test_quiet_watches_nothing_and_who_leaves_at_once_is_told_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with watching(quiet=True) as watch:
        assert watch is None
    with pytest.raises(KeyboardInterrupt), watching(quiet=False):
        raise KeyboardInterrupt
    assert capsys.readouterr() == (
        "",
        "interrupted: results so far are kept ('proofstone status' counts them); the same command "
        "resumes\n",
    )
