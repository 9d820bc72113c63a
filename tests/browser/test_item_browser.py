"""The item browser of a report: found, filtered, counted, and opened to every response."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from browser.pages import N_ITEMS, N_MODELS, Page
from browser.tab import Tab

MODELS = 6  # three simulated models, each with two prompting methods
ITEMS = 12


class Items:
    """The browser as its reader sees it, once its rows are there."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        tab.read("document.querySelector('#items-held').scrollIntoView()")
        tab.until("document.querySelector('#items-held .browsed .opens')")

    def look(self, expression: str) -> Any:
        return self.tab.read(
            "(() => { const section = document.querySelector('#items-held');"
            f" return {expression}; }})()"
        )

    @property
    def told(self) -> str:
        return str(self.look("section.querySelector('[role=status]').textContent"))

    def chips(self, name: str) -> dict[str, int]:
        """The chips of a filter with their counts."""
        texts = self.look(
            f"[...section.querySelectorAll('.chips[aria-label={json.dumps(name)}] button')]"
            ".map((each) => each.textContent)"
        )
        return {text.rsplit(" ", 1)[0]: int(text.rsplit(" ", 1)[1]) for text in texts}

    def press(self, name: str) -> None:
        """The button whose text begins so."""
        self.look(
            "(document.querySelector('[data-here]')?.removeAttribute('data-here'),"
            " [...section.querySelectorAll('button')].find((each) =>"
            f" each.textContent.startsWith({json.dumps(name)})).setAttribute('data-here', ''))"
        )
        self.tab.click("[data-here]")

    def choose(self, facet: str, value: str) -> None:
        self.look(
            "(() => { const select = [...section.querySelectorAll('label')].find((each) =>"
            f" each.firstChild.data === {json.dumps(facet)}).querySelector('select');"
            f" select.value = {json.dumps(value)};"
            " select.dispatchEvent(new Event('change')); })()"
        )

    def column(self, selector: str) -> list[str]:
        return list(
            self.look(f"[...section.querySelectorAll('{selector}')].map((each) => each.innerText)")
        )


@pytest.fixture
def items(tab: Tab, page: Page) -> Items:
    tab.open(page("report"))
    return Items(tab)


def test_rows_have_the_question_and_a_cell_for_each_model(items: Items) -> None:
    """The title is the question, cut at 100 characters; no row is headed by an id."""
    titles = items.column(".browsed > tbody > tr > th")
    assert items.told == f"1 to {ITEMS} of {ITEMS} items"
    assert len(titles) == ITEMS
    assert all("Leaf" in title and len(title) <= 103 for title in titles)
    assert not any("item" in title for title in titles)
    cells = items.look("section.querySelectorAll('.browsed > tbody td.state').length")
    assert cells == ITEMS * MODELS


def test_chips_count_what_they_would_leave(items: Items) -> None:
    """Of any model, items with at least one such outcome; of one model, its own outcomes."""
    assert items.chips("outcome")["correct"] <= ITEMS
    items.choose("model", "sim/bob?miss=0.5 cot")
    own = items.chips("outcome")
    assert sum(own.values()) == ITEMS
    items.press("unparsed")
    assert items.told == f"1 to {own['unparsed']} of {own['unparsed']} items"
    at = items.look(
        "[...section.querySelectorAll('.browsed thead th.turned')].findIndex((each) =>"
        " each.textContent === 'sim/bob?miss=0.5 cot')"
    )
    states = items.look(
        "[...section.querySelectorAll('.browsed > tbody > tr')].map((row) =>"
        f" [...row.querySelectorAll('td.state')][{at}].textContent)"
    )
    assert states == ["?"] * own["unparsed"]
    items.press("Reset")
    assert items.told == f"1 to {ITEMS} of {ITEMS} items"


def test_an_item_opens_its_prompt_and_every_response(items: Items) -> None:
    """Each is linked once, and each link leads to a place in a file beside the page."""
    items.look("section.querySelector('.opens').click()")
    items.tab.until("document.querySelector('#items-held .opened table')")
    code = items.look("section.querySelector('.opened code').textContent")
    assert code.startswith("item:")
    assert "Copy ID" in items.look("section.querySelector('.opened').innerText")
    links = items.look("[...section.querySelectorAll('.opened a')].map((each) => each.href)")
    assert len(links) == len(set(links)) == 1 + MODELS  # the prompt and each response
    for link in links:
        items.tab.read(f"location.href = {json.dumps(link)}")
        items.tab.until("document.readyState === 'complete' && document.querySelector(':target')")
        target = items.tab.read("document.querySelector(':target').textContent")
        assert target
        assert urlsplit(link).path.endswith("_files/responses-1.html")
    said = items.tab.read("document.querySelector('article').innerText")
    assert "Answer: " in said
    assert "extracted answer: " in said
    assert items.tab.read("document.querySelectorAll('article').length") == ITEMS
    assert items.tab.read("document.querySelectorAll('script').length") == 0


def test_many_items_come_fifty_at_a_time_and_few_models_are_not_needed(
    tab: Tab, page: Page
) -> None:
    """Of a table of 60 models; flags and negative discrimination have tabs of their own."""
    tab.open(page("wide"))
    items = Items(tab)
    assert items.told == f"1 to 50 of {N_ITEMS} items"
    assert items.look("section.querySelectorAll('.browsed thead th.turned').length") == N_MODELS
    items.press("Next 50")
    assert items.told == f"51 to 100 of {N_ITEMS} items"
    items.choose("sort by", "2")  # lowest discrimination first
    known = [
        float(text.replace("\u2212", "-"))
        for text in items.column(".browsed > tbody > tr > td:nth-last-child(2)")
        if text != "\u2014"
    ]
    assert known == sorted(known)
    tabs = tab.read("[...document.querySelectorAll('[role=tab]')].map((each) => each.textContent)")
    assert tabs[0] == "All items"
    assert any(name.startswith("Negative discrimination (") for name in tabs)


def test_without_scripts_the_first_items_are_read_as_they_stand(tab: Tab, page: Page) -> None:
    tab.without_scripts()
    tab.open(page("wide"))
    assert tab.read("document.querySelectorAll('#items-held tbody tr').length") == 50
    assert tab.read("document.querySelector('#items-held noscript').innerText").startswith(
        "Without JavaScript, only the first 50 items"
    )
