"""Pages fit narrow windows and large type, keep heads in sight, and can be read by all."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.pages import N_MODELS, N_STRATA, PAGES, Page
from browser.tab import Tab

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => (each.open = true))"
# Regions know whether they scroll, and what that changes is laid out.
SETTLED = """[...document.querySelectorAll(".wide")]
  .filter((each) => each.checkVisibility())
  .every((each) => each.matches(".scrolls") === each.scrollWidth > each.clientWidth + 1)"""
TOO_WIDE = """[...document.querySelectorAll("body *")].filter((each) => {
  const box = each.getBoundingClientRect();
  return box.width && box.right + scrollX > document.documentElement.clientWidth + 1
    && each.checkVisibility() && !each.closest(".wide.scrolls, svg");
}).map((each) => `${each.tagName}.${each.className} ${each.textContent.trim().slice(0, 40)}`)"""


@pytest.mark.parametrize("name", PAGES)
def test_no_page_scrolls_sideways(tab: Tab, page: Page, name: str) -> None:
    """At 360 and 768 pixels, and at 1280 zoomed to 200%, with everything opened."""
    tab.open(page(name))
    tab.read(OPEN_ALL)
    for width, zoom in ((360, 1.0), (768, 1.0), (1280, 2.0)):
        tab.resize(width, zoom=zoom)
        tab.until(SETTLED)
        where = f"{name} at {width}, zoom {zoom:g}"
        assert tab.read(TOO_WIDE) == [], where
        assert tab.read("document.documentElement.scrollWidth <= innerWidth"), where


def test_a_table_too_wide_scrolls_by_itself(tab: Tab, page: Page) -> None:
    """It is a stop then, and its heads and the names of its rows stay in sight; one that fits is
    none."""
    tab.open(page("wide"))
    tab.read(OPEN_ALL)
    tab.until(SETTLED)
    strata = "document.querySelector('.wide[aria-label=\"Scores by discipline\"]')"
    assert tab.read(f"{strata}.tabIndex") == 0
    assert tab.read("document.querySelector('.wide[aria-label=Leaderboard]').tabIndex") == -1
    assert tab.read(f"{strata}.querySelectorAll('thead th').length") == N_STRATA + 1
    assert tab.read(f"{strata}.querySelectorAll('tbody tr').length") == N_MODELS
    tab.read(f"{strata}.scrollTo(900, 500)")
    assert tab.read(f"{strata}.scrollTop") > 0
    for cell, side in (("thead th", "top"), ("tbody tr:nth-child(20) th", "left")):
        away = f"""{strata}.querySelector("{cell}").getBoundingClientRect().{side}
          - {strata}.getBoundingClientRect().{side}"""
        assert abs(tab.read(away)) <= 1, cell


def test_heads_stay_at_the_top_of_the_window(tab: Tab, page: Page) -> None:
    tab.open(page("accuracies"))
    tab.until(SETTLED)
    head = "document.querySelector('.wide[aria-label=Leaderboard] thead th')"
    tab.read("document.querySelectorAll('.wide[aria-label=Leaderboard] tr')[20].scrollIntoView()")
    assert abs(tab.read(f"{head}.getBoundingClientRect().top")) <= 1


@pytest.mark.parametrize("name", ["wide", "report"])
def test_labels_of_figures_are_not_cut(tab: Tab, page: Page, name: str) -> None:
    """Also where a reader's font is wider than the one that the figure was laid out in."""
    tab.open(page(name))
    tab.read(OPEN_ALL)
    tab.until(SETTLED)
    cut = """[...document.querySelectorAll(".drawn svg text")].filter((each) => {
      const text = each.getBoundingClientRect();
      const region = each.closest(".wide");
      const { left, top } = region.getBoundingClientRect();
      return text.left < left || text.right > left + region.scrollWidth || text.top < top - 1;
    }).map((each) => each.textContent)"""
    assert tab.read("document.querySelectorAll('.drawn svg text').length") > 20
    assert tab.read(cut) == []


@pytest.mark.parametrize("name", ["accuracies", "report", "partial", "empty", "triples"])
def test_all_text_has_a_contrast_of_at_least_4_5(tab: Tab, page: Page, name: str) -> None:
    """Also in figures, against what they paint behind it, and in notes."""
    tab.open(page(name))
    tab.read(OPEN_ALL)
    tab.read("document.querySelector('[data-told]')?.focus()")
    assert tab.read(f"({CONTRAST})(4.5)") == []


def test_the_contrast_is_really_measured(tab: Tab, page: Page) -> None:
    """Grey (170) on white has 2.32: 1.05 / (0.4020 + 0.05)."""
    tab.open(page("empty"))
    tab.read("document.querySelector('h1').style.color = 'rgb(170, 170, 170)'")
    assert tab.read(f"({CONTRAST})(4.5)") == [["Elements", 2.32]]


@pytest.mark.parametrize("name", ["wide", "report", "partial", "empty"])
def test_without_scripts_the_page_reads_the_same(tab: Tab, page: Page, name: str) -> None:
    """Every table is there, numbers still answer the pointer, and nothing asks for a script. A
    script repeats settings next to names for phones, which hide columns."""
    texts = (
        "[...document.querySelectorAll('main table')]"
        ".filter((each) => !each.closest('.browser, .items')).map((each) => {"
        " const copy = each.cloneNode(true);"
        " copy.querySelectorAll('.row-setting').forEach((added) => added.remove());"
        " return copy.textContent; })"
    )
    tab.open(page(name))
    with_scripts = tab.read(texts)
    n_told = tab.read("document.querySelectorAll('[data-told]:not(.items *)').length")
    tab.without_scripts()
    tab.open(page(name))
    assert tab.read("document.querySelectorAll('.tools, th button, [data-told]').length") == 0
    assert tab.read(texts) == with_scripts
    assert tab.read("document.querySelectorAll('[title]:not(.items *)').length") == n_told
    for width in (360, 1280):
        tab.resize(width)
        tab.read(OPEN_ALL)
        assert tab.read("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_that_asks_for_more_is_found_out(tab: Tab, page: Page, tmp_path: Path) -> None:
    """The checks on every tab see what a page's own policy refuses, and what it asks for."""
    path = tmp_path / "asks.html"
    text = page("empty").read_text(encoding="utf-8")
    path.write_text(
        text.replace("<h1>", "<script>alert(1)</script><img src='http://127.0.0.1:9/x.png'><h1>"),
        encoding="utf-8",
    )
    tab.open(path)
    refused = " ".join(tab.complaints)
    assert "script-src" in refused
    assert "img-src" in refused or "default-src" in refused
    tab.forget()


# The pages of triples here repeat two of their own sections, as experiments.
@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith("triples")])
def test_landmarks_have_names_of_their_own(tab: Tab, page: Page, name: str) -> None:
    """A screen reader lists them: two of one name could not be told apart."""
    tab.open(page(name))
    tab.read(OPEN_ALL)
    tab.until(SETTLED)
    names = tab.read(
        """[...document.querySelectorAll("section[aria-labelledby], [role=region], nav")]
          .filter((each) => each.checkVisibility())
          .map((each) => each.getAttribute("aria-label")
            ?? document.getElementById(each.getAttribute("aria-labelledby")).textContent.trim())"""
    )
    assert sorted(names) == sorted(set(names))


def test_one_landmark_of_a_page_of_triples_is_the_leaderboard(tab: Tab, page: Page) -> None:
    tab.open(page("triples"))
    named = """[...document.querySelectorAll("section[aria-labelledby=leaderboard],"
      + "[role=region][aria-label=Leaderboard]")].length"""
    assert tab.read(named) == 1
