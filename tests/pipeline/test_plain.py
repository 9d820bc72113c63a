"""Plain steps in memory, without a loop: the same as through the pipeline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import Bench, Number

from proofstone.build.flow import make_row, perform_plain, read_row


@given(st.lists(st.integers(0, 40), max_size=30))
def test_plain_steps_make_the_same_of_rows_with_a_journal_or_without(numbers: list[int]) -> None:
    """Also of rows that come twice, and in a batch."""
    bench = Bench()
    steps = [bench.drop_odd(), bench.first_of_tens()]
    through = bench.perform(steps, numbers)
    done = perform_plain(steps, [make_row(Number(n)) for n in numbers])
    assert [read_row(row, Number) for row in done[-1].kept] == through.left
    for step, counted in zip(done, through.funnel.steps, strict=True):
        reasons = [outcome.reason for outcome in step.outcomes if outcome.reason]
        assert (len(step.rows), len(reasons)) == (counted.entered, counted.n_dropped)


def test_a_step_that_waits_is_refused() -> None:
    """It needs a loop and a journal."""
    bench = Bench()
    with pytest.raises(ValueError, match="step copy asks or waits"):
        perform_plain([bench.copies()], [make_row(Number(1))])
