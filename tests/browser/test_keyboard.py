"""All that a pointer does, keys do: every stop is reached, in order, and is seen to be reached."""

from __future__ import annotations

from typing import Any

import pytest

from browser.pages import Page
from browser.tab import Tab
from browser.test_layout import OPEN_ALL

# What a reader can act on, in the order in which it stands.
STOPS = """[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
  .filter((each) => each.tabIndex >= 0 && each.checkVisibility({visibilityProperty: true}))"""

# The stop that has the focus: its place among all, and how its reader sees that it has it.
HERE = """(() => {
  const here = document.activeElement;
  const style = getComputedStyle(here);
  const box = here.getClientRects()[0];
  return {
    place: window.stops.indexOf(here),
    tag: here.tagName,
    ring: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    seen: box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
  };
})()"""


def walk(tab: Tab, *, shift: bool = False) -> list[dict[str, Any]]:
    """Every stop of the Tab key, until it leaves the page."""
    tab.read(f"(window.stops = {STOPS}).length")
    found: list[dict[str, Any]] = []
    while True:
        tab.press("Tab", shift=shift)
        here = tab.read(HERE)
        if here["tag"] == "BODY" or (found and here["place"] == found[0]["place"]):
            return found
        found.append(here)


def settle(tab: Tab) -> None:
    """Brings a browser of items into sight once, so that its rows are there."""
    if tab.read("!!document.querySelector('#items-held')"):
        tab.read("document.querySelector('#items-held').scrollIntoView()")
        tab.until("document.querySelector('#items-held .opens')")
        tab.read("scrollTo(0, 0)")


@pytest.mark.parametrize("name", ["partial", "cards"])
def test_tab_reaches_all_in_order_with_a_ring_around_each(tab: Tab, page: Page, name: str) -> None:
    """Nothing that can be acted on is passed by; nothing holds the focus: links, heads, numbers
    and questions of the one page, search and lists of the other."""
    tab.open(page(name))
    settle(tab)
    found = walk(tab)
    assert [each["place"] for each in found] == list(range(tab.read("window.stops.length")))
    assert len(found) > 15
    assert [each for each in found if each["ring"] < 2 or not each["seen"]] == []


def test_shift_tab_goes_back(tab: Tab, page: Page) -> None:
    tab.open(page("partial"))
    settle(tab)
    n_stops = len(walk(tab))
    tab.read("document.activeElement.blur()")
    back = walk(tab, shift=True)
    assert sorted(each["place"] for each in back) == list(range(n_stops))


def test_no_stop_jumps_the_order(tab: Tab, page: Page) -> None:
    """A tabindex above 0 would."""
    tab.open(page("wide"))
    assert tab.read("[...document.querySelectorAll('[tabindex]')].every((e) => e.tabIndex <= 0)")


def test_the_first_stop_skips_to_the_answer(tab: Tab, page: Page) -> None:
    """It is hidden until it has the focus; the stop after it is one of the answer or after it."""
    tab.open(page("report"))
    left = "document.querySelector('.skip').getBoundingClientRect().right"
    assert tab.read(left) < 0
    tab.press("Tab")
    assert tab.read("document.activeElement.className") == "skip"
    assert tab.read(left) > 0
    tab.press("Enter")
    assert tab.read("location.hash") == "#main"
    tab.press("Tab")
    assert tab.read("!!document.activeElement.closest('main')")


def test_every_stop_has_a_name_and_every_landmark_is_there_once(tab: Tab, page: Page) -> None:
    """As those meet the page who hear it."""
    tab.open(page("report"))
    nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in nodes if not node.get("ignored")]
    roles = [node["role"]["value"] for node in shown]
    for landmark in ("banner", "main", "contentinfo"):
        assert roles.count(landmark) == 1
    focusable = [
        node
        for node in shown
        if node["role"]["value"] != "RootWebArea"
        and any(
            each["name"] == "focusable" and each["value"]["value"]
            for each in node.get("properties", ())
        )
    ]
    assert len(focusable) > 50
    told = ("Abbr", "abbr", "generic")  # a number's name is its text, which stands below it
    nameless = [
        node["role"]["value"]
        for node in focusable
        if not node.get("name", {}).get("value") and node["role"]["value"] not in told
    ]
    assert nameless == []
    regions = [node["name"]["value"] for node in shown if node["role"]["value"] == "region"]
    assert regions == ["By group", "Items", "Data quality", "Methods", "All items"]
    groups = [node["name"]["value"] for node in shown if node["role"]["value"] == "group"]
    assert "Leaderboard" in groups


NOTE = (
    "[document.querySelector('#told')].filter((note) => !note.hidden).map((note) => note.innerText)"
)
STOP_OF_TABLE = """[...document.querySelectorAll(
  ".wide[aria-label=Leaderboard] [data-told]")].filter((each) => each.tabIndex === 0)"""
FIRST = "document.querySelector('.wide[aria-label=Leaderboard] td [data-told]')"


def test_a_number_answers_when_it_has_the_focus(tab: Tab, page: Page) -> None:
    """n, interval, estimand and what was drawn; as a description to those who hear the page."""
    tab.open(page("accuracies"))
    tab.read(f"{STOP_OF_TABLE}[0].focus()")
    (told,) = tab.read(NOTE)
    assert told.startswith(
        "n = 899, effective number of independent items 899; 95% interval for questions like"
    )
    assert tab.read("document.activeElement.getAttribute('aria-describedby')") == "told"
    box = tab.read("document.querySelector('#told').getBoundingClientRect().toJSON()")
    assert box["left"] >= 0
    assert box["right"] <= 1280
    tab.press("Escape")
    assert tab.read(NOTE) == []


def test_a_head_that_does_not_sort_is_reached_and_left(tab: Tab, page: Page) -> None:
    """Up from the first row of numbers, and down again."""
    tab.open(page("report"))
    tab.read(OPEN_ALL)
    stop = '[...document.querySelectorAll(\'.wide[aria-label="Minimum detectable difference"] td '
    tab.read(f"{stop}[data-told]')][0].focus()")
    (number,) = tab.read(NOTE)
    tab.press("ArrowUp")
    (head,) = tab.read(NOTE)
    assert head != number
    assert tab.read("!!document.activeElement.closest('th')")
    tab.press("ArrowDown")
    assert tab.read(NOTE) == [number]


def test_a_table_is_one_stop_and_arrows_move_in_it(tab: Tab, page: Page) -> None:
    """Down and up a column, past rows that are hidden; along a row; to its ends."""
    tab.open(page("report"))
    tab.read(f"{FIRST}.focus()")
    stops = f"{STOP_OF_TABLE}.length"
    place = """(() => { const cell = document.activeElement.closest("td");
      return [cell.parentElement.rowIndex, cell.cellIndex]; })()"""
    row, column = tab.read(place)
    right = tab.read("""[...document.activeElement.closest("tr").cells].findIndex((cell) =>
      cell.cellIndex > document.activeElement.closest("td").cellIndex
      && cell.querySelector("[data-told]"))""")
    assert right > column
    for key, there in (
        ("ArrowDown", [row + 1, column]),
        ("ArrowRight", [row + 1, right]),
        ("ArrowUp", [row, right]),
        ("ArrowLeft", [row, column]),
        ("ArrowLeft", [row, column]),
        ("End", [row, tab.read("document.activeElement.closest('tr').cells.length") - 1]),
        ("Home", [row, column]),
    ):
        tab.press(key)
        assert tab.read(place) == there, key
        assert tab.read(stops) == 1
        assert len(tab.read(NOTE)) == 1
    tab.read("document.activeElement.closest('tr').nextElementSibling.hidden = true")
    tab.press("ArrowDown")
    assert tab.read(place) == [row + 2, column]


def test_a_filter_leaves_a_table_its_stop(tab: Tab, page: Page) -> None:
    """The first number that is still seen."""
    tab.open(page("accuracies"))
    tab.read(
        """(() => { const search = document.querySelector(".tools input"); search.value = "0.6B";
        search.dispatchEvent(new Event("input")); })()"""
    )
    (stop,) = tab.read(f"{STOP_OF_TABLE}.map((each) => each.closest('tr').innerText)")
    assert "Qwen3-0.6B" in stop


def test_what_is_missing_says_why(tab: Tab, page: Page) -> None:
    """To a tap, which moves the focus there, and to the keys that lead there."""
    tab.open(page("partial"))
    tab.read(OPEN_ALL)
    tab.read(
        """[...document.querySelectorAll("[data-told]")]
        .findLast((each) => each.innerText === "\\u2014").id = "missing" """
    )
    tab.click("#missing")
    assert tab.read("document.activeElement.id") == "missing"
    assert tab.read(NOTE) == ["no calls were made"]
    tab.press("ArrowLeft")
    assert tab.read(NOTE) == ["not requested or not reported"]
    tab.press("ArrowRight")
    assert tab.read(NOTE) == ["no calls were made"]


def test_a_pointer_asks_too_and_the_answer_goes_with_it(tab: Tab, page: Page) -> None:
    tab.open(page("accuracies"))
    tab.point_at(".wide[aria-label=Leaderboard] td [data-told]")
    (told,) = tab.read(NOTE)
    assert told.startswith("n = 899")
    tab.point_at("#told")  # it is there to be read, and to be copied from
    assert len(tab.read(NOTE)) == 1
    tab.point_at("h2")
    assert tab.read(NOTE) == []


def test_the_answer_goes_with_what_scrolls(tab: Tab, page: Page) -> None:
    tab.open(page("triples"))
    tab.read(
        """(() => { window.region = document.querySelector(".wide.board.scrolls");
        region.querySelector("td [data-told]").focus();
        window.away = () => document.querySelector("#told").getBoundingClientRect().left
          - document.activeElement.getBoundingClientRect().left;
        region.scrollLeft = 0; window.before = away(); region.scrollLeft = 40; })()"""
    )
    tab.until("region.scrollLeft === 40 && Math.abs(away() - before) < 1")


def test_a_head_with_a_meaning_tells_it(tab: Tab, page: Page) -> None:
    """Where it sorts, the button answers for it."""
    tab.open(page("accuracies"))
    tab.read("document.querySelector('th button:has([data-told])').focus()")
    assert len(tab.read(NOTE)) == 1
