"""A step that works on all rows together says so when it lasts."""

from __future__ import annotations

from time import monotonic

import pytest

from proofstone.build.build import BuildProgress
from proofstone.build.flow import StepProgress
from proofstone.session.progress import RunProgress


@pytest.mark.parametrize(("seconds", "is_told"), [(0, False), (4, False), (6, True), (600, True)])
def test_a_long_step_on_all_rows_is_told_of(seconds: float, is_told: bool) -> None:
    step = StepProgress("selection", entered=20232, batch_since=monotonic() - seconds)
    shown = RunProgress("set: selection", total=0)
    BuildProgress([step], [shown]).refresh()
    told = ("selection works on all 20,232 rows together and counts them at its end",)
    assert shown.notes == (told if is_told else ())
    assert (shown.done, shown.total) == (0, 20232)


def test_a_step_that_counts_its_rows_is_not() -> None:
    step = StepProgress("difficulty", entered=10, done=3)
    shown = RunProgress("set: difficulty", total=10)
    BuildProgress([step], [shown]).refresh()
    assert (shown.done, shown.notes) == (3, ())
