"""A page on a phone: what fits 390 pixels, what a tap opens, and how large its targets are."""

from __future__ import annotations

import pytest

from browser.pages import PAGES, Page
from browser.tab import Tab
from browser.test_layout import OPEN_ALL, SETTLED

WIDTH = 390

CUT = """[...document.querySelectorAll("td.number")]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth)
  .map((each) => each.textContent.trim())"""
SMALL = """[...document.querySelectorAll("button, select, input, summary, nav a")]
  .filter((each) => {
    const box = (each.closest("label") ?? each).getBoundingClientRect();
    return each.checkVisibility() && each.type !== "checkbox" && box.width && box.height < 44;
  }).map((each) => `${each.tagName} ${each.textContent.trim().slice(0, 30)}`)"""


@pytest.mark.parametrize("name", PAGES)
def test_no_number_is_cut_and_targets_are_large(tab: Tab, page: Page, name: str) -> None:
    """Every cell with a number shows all of it; what can be tapped is at least 44 pixels high."""
    tab.open(page(name))
    tab.resize(WIDTH)
    tab.read(OPEN_ALL)
    tab.until(SETTLED)
    assert tab.read("document.documentElement.scrollWidth <= innerWidth")
    assert tab.read(CUT) == []
    assert tab.read(SMALL) == []


@pytest.mark.parametrize("name", ["accuracies", "report", "cards", "triples"])
def test_a_leaderboard_shows_rank_model_and_score_and_the_rest_on_a_tap(
    tab: Tab, page: Page, name: str
) -> None:
    """Without a sideways scroll; on a wide window the columns are back."""
    tab.open(page(name))
    seen = """[...document.querySelector(".board tbody tr:not(.part)").cells]
      .filter((each) => each.checkVisibility()).length"""
    wide = tab.read(seen)
    tab.resize(WIDTH)
    tab.until("document.querySelector('.board.narrow')")
    assert tab.read(seen) == 3 < wide
    region = "document.querySelector('.board')"
    assert tab.read(f"{region}.scrollWidth <= {region}.clientWidth")
    if name != "accuracies":
        more = "document.querySelector('.board .row-more')"
        assert not tab.read(f"{more}.checkVisibility()")
        tab.click(".board .row-open")
        assert tab.read(f"{more}.checkVisibility()")
        assert tab.read(f"{more}.querySelectorAll('dt').length") >= 1
    tab.resize(1280)
    tab.until("!document.querySelector('.board.narrow')")
    assert tab.read(seen) == wide


def test_rows_of_one_model_keep_their_setting(tab: Tab, page: Page) -> None:
    """Each simulated model was asked in two ways: all six rows can be told apart."""
    tab.open(page("report"))
    rows = """[...document.querySelectorAll(".board tbody tr:not(.part) th[scope=row]")]
      .map((each) => each.innerText.replace(/more.*/is, "").trim())"""
    assert len(set(tab.read(rows))) == 3
    tab.resize(WIDTH)
    tab.until("document.querySelector('.board.narrow')")
    shown = tab.read(rows)
    assert len(set(shown)) == len(shown) == 6
    assert {each.split()[-1] for each in shown} == {"cot", "direct"}


def test_an_item_shows_its_question_and_score_and_the_rest_on_a_tap(tab: Tab, page: Page) -> None:
    tab.open(page("report"))
    tab.resize(WIDTH)
    tab.read("document.querySelector('#items-held').scrollIntoView()")
    tab.until("document.querySelector('#items-held .opens')")
    seen = """[...document.querySelector("#items-held .browsed tbody tr").cells]
      .filter((each) => each.checkVisibility()).length"""
    assert tab.read(seen) == 2
    tab.click("#items-held .opens")
    tab.until("document.querySelector('#items-held .opened table')")
    tab.until(SETTLED)
    assert tab.read("document.querySelectorAll('#items-held .opened tbody tr').length") == 6
    assert tab.read("document.documentElement.scrollWidth <= innerWidth")
