"""Figures drawn by another process are those that are drawn here."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from proofstone.page.figure import can_draw
from proofstone.results.drawing_process import DrawingProcess
from proofstone.results.page import render_page
from report.test_drawn import drawn, page_of


@drawn
def test_a_page_is_the_same_whoever_draws_it() -> None:
    with DrawingProcess() as process:
        assert render_page(page_of(), process.begin) == render_page(page_of())


def killed(spec: Mapping[str, Any]) -> Future[str]:
    future: Future[str] = Future()
    future.set_exception(BrokenProcessPool("it was killed"))
    return future


def nobody(spec: Mapping[str, Any]) -> None:
    return None


@drawn
def test_what_is_drawn_nowhere_else_is_drawn_here() -> None:
    assert render_page(page_of(), nobody) == render_page(page_of())


@drawn
def test_a_page_is_written_without_the_figures_of_a_crashed_process() -> None:
    """What crashed it would crash this process too; every section is there."""
    page, whole = render_page(page_of(), killed), render_page(page_of())
    # A group of marks is Vega's; the page's own strip has none.
    assert whole.count("mark-group") > page.count("mark-group") == 0
    assert page.count("<h2") == whole.count("<h2")
    assert page.rstrip().endswith("</html>")


@drawn
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_native_crash_is_noticed() -> None:
    others = {child.pid for child in multiprocessing.active_children()}
    with DrawingProcess() as process:
        assert not process.has_crashed
        (child,) = {child.pid for child in multiprocessing.active_children()} - others
        assert child is not None
        os.kill(child, signal.SIGSEGV)
        multiprocessing.connection.wait(
            [each.sentinel for each in multiprocessing.active_children() if each.pid == child]
        )
        assert process.has_crashed
        svg = process.begin({"mark": "point", "data": {}})
        assert svg is not None
        with pytest.raises(BrokenProcessPool):
            svg.result()


@drawn
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_of_the_terminal_is_left_to_who_asked() -> None:
    """It reaches this process too, which ends the other one; that one draws on, in silence."""
    others = {child.pid for child in multiprocessing.active_children()}
    with DrawingProcess() as process:
        (child,) = {child.pid for child in multiprocessing.active_children()} - others
        assert child is not None
        os.kill(child, signal.SIGINT)
        svg = process.begin({"mark": "point", "data": {}})
        assert svg is not None
        assert "</svg>" in svg.result()


def test_a_specification_that_is_none_is_the_answer_of_its_own_figure() -> None:
    """The process goes on with the next."""
    with DrawingProcess() as process:
        bad, good = process.begin({"mark": 7}), process.begin({"mark": "point", "data": {}})
        if not can_draw():
            assert bad is good is None
            return
        assert bad is not None
        assert good is not None
        with pytest.raises(ValueError, match="Vega-Lite"):
            bad.result()
        assert "</svg>" in good.result()
