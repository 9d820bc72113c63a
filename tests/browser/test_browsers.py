"""The browsers of entities and of triples: found, paged, and opened to what a verdict rests on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from browser.pages import N_ENTITIES, Page
from browser.tab import Tab
from browser.test_keyboard import walk

N_NONEXISTENT, N_MODELS, EACH = 10, 4, 2
N_TRIPLES = N_MODELS * 2 * EACH * N_ENTITIES


class Browser:
    """One of the two as its reader sees it, once its rows are there."""

    def __init__(self, tab: Tab, name: str) -> None:
        self.tab, self.name = tab, name
        tab.read(f"document.querySelector('#{name}').scrollIntoView()")
        tab.until(f"document.querySelector('#{name} .browsed .opens')")

    def look(self, expression: str) -> Any:
        """An expression over its ``section``."""
        return self.tab.read(
            f"(() => {{ const section = document.querySelector('#{self.name}');"
            f" return {expression}; }})()"
        )

    @property
    def told(self) -> str:
        return str(self.look("section.querySelector('[role=status]').textContent"))

    def column(self, place: int) -> list[str]:
        return list(
            self.look(
                "[...section.querySelectorAll('.browsed > tbody > tr')]"
                f".filter((row) => row.cells.length > 1).map((row) => row.cells[{place}].innerText)"
            )
        )

    def search(self, text: str) -> None:
        self.look("section.querySelector('input').focus()")
        self.tab.type(text)

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


@pytest.fixture(params=["triples", "triples-beside"])
def triples(tab: Tab, page: Page, request: pytest.FixtureRequest) -> Browser:
    tab.open(page(request.param))
    return Browser(tab, "triples-held")


def test_fifty_rows_are_shown_at_a_time(triples: Browser) -> None:
    assert triples.told == f"1 to 50 of {N_TRIPLES:,} triples"
    assert len(triples.column(0)) == 50
    triples.press("Next 50")
    assert triples.told == f"51 to 100 of {N_TRIPLES:,} triples"
    triples.press("Previous 50")
    triples.press("Previous 50")  # there is nothing before the first
    assert triples.told == f"1 to 50 of {N_TRIPLES:,} triples"


def test_search_and_lists_add_up_and_are_taken_back(triples: Browser) -> None:
    """Of one model, in one direction, the one of these words."""
    triples.choose("model", "acme/big")
    assert triples.told == f"1 to 50 of {N_TRIPLES // N_MODELS:,} triples"
    triples.choose("direction", "recall")
    triples.search("KNOWN33 entity")
    assert triples.column(4) == ["Entity 33"]
    triples.search("no such thing")
    assert triples.told == f"No match: 0 of {N_TRIPLES:,}"
    triples.press("Reset")
    assert triples.told == f"1 to 50 of {N_TRIPLES:,} triples"


def test_a_row_opens_what_its_verdict_rests_on(triples: Browser) -> None:
    """By a key: verdict, reason, passage with its title and address, and how to see the reply."""
    triples.search("entity 5 fact5")
    triples.look("section.querySelector('.opens').focus()")
    triples.tab.press("Enter")
    triples.tab.until("document.querySelector('#triples-held .opened dl')")
    said = triples.look("section.querySelector('.opened').innerText")
    verdict = triples.column(1)[0]
    for text in (
        verdict,
        "The passage says so.",
        "Entity 5 is a thing of which much is known. Its fact 5 is so.",
        "https://en.wikipedia.org/wiki/Entity_5",
        "proofstone show response:00000005",
    ):
        assert text in said
    links = "[...section.querySelectorAll('.opened a')].map((each) => each.href)"
    assert "https://www.wikidata.org/wiki/Q6" in triples.look(links)
    triples.tab.press("Enter")
    assert triples.look("section.querySelectorAll('.opened').length") == 0


def test_hostile_names_are_shown_and_do_nothing(triples: Browser) -> None:
    """No tag and no direction mark of a name or a triple takes effect."""
    triples.search("alert(1)")
    assert len(triples.column(0)) == N_MODELS * 2 * EACH
    assert all("</script><script>alert(1)</script>" in text for text in triples.column(0))
    assert all("\u27e8U+202E\u27e9" in text for text in triples.column(0))
    assert triples.look("document.querySelectorAll('main script').length") == 0


def test_names_of_any_script_are_found_and_kept_apart(triples: Browser) -> None:
    """Each stands in an element of its own direction."""
    triples.search("مكة")
    assert len(triples.column(0)) == N_MODELS * 2 * EACH
    assert triples.look("section.querySelector('.browsed th bdi').textContent") == "مكة المكرمة"


def test_entities_have_chips_and_counts_and_lead_to_their_triples(tab: Tab, page: Page) -> None:
    tab.open(page("triples"))
    entities = Browser(tab, "entities-held")
    n = N_ENTITIES + N_NONEXISTENT
    assert entities.told == f"1 to 50 of {n} entities"
    entities.press("nonexistent")
    assert entities.told == f"1 to {N_NONEXISTENT} of {N_NONEXISTENT} entities"
    assert all(name.endswith("(nonexistent)") for name in entities.column(0))
    entities.press("Reset")
    entities.press("person")
    entities.press("well known")
    assert set(entities.column(1)) == {"person"}
    assert set(entities.column(2)) == {"well known"}
    entities.press("Reset")
    entities.search("Q7")
    assert "Entity 6" in entities.column(0)
    entities.press("Entity 6")
    rows = entities.look("section.querySelectorAll('.opened tbody tr').length")
    assert rows == N_MODELS
    entities.press("Its triples")
    triples = Browser(tab, "triples-held")
    assert triples.told == f"1 to 16 of {N_MODELS * 2 * EACH} triples"
    assert set(triples.column(4)) == {"Entity 6"}
    triples.press("Only Entity 6")
    assert triples.told == f"1 to 50 of {N_TRIPLES:,} triples"


def test_a_page_without_its_folder_says_what_is_missing(
    tab: Tab, page: Page, tmp_path: Path
) -> None:
    """And everything else of it still stands."""
    alone = tmp_path / "moved.html"
    shutil.copy(page("triples-beside"), alone)
    tab.open(alone)
    tab.read("document.querySelector('#triples-held').scrollIntoView()")
    tab.until("document.querySelector('#triples-held .note')")
    said = tab.read("document.querySelector('#triples-held .note').textContent")
    assert said.startswith("triples-beside_files/")
    assert "is missing or belongs to another page" in said
    assert tab.read("document.querySelectorAll('#triples-held details').length") == 50
    tab.forget()  # the browser's own word on the file that is not there


def test_rows_that_cannot_be_shown_are_not_called_missing(
    tab: Tab, page: Page, tmp_path: Path
) -> None:
    """Files are there and of this page, but what they hold is damaged: the cause is said."""
    copied = tmp_path / "triples-beside.html"
    shutil.copy(page("triples-beside"), copied)
    folder = tmp_path / "triples-beside_files"
    shutil.copytree(page("triples-beside").with_name("triples-beside_files"), folder)
    for file in folder.glob("*.js"):
        head, _rows = file.read_text(encoding="utf-8").split("[", 1)
        file.write_text(f"{head}[null])", encoding="utf-8")
    tab.open(copied)
    tab.read("document.querySelector('#triples-held').scrollIntoView()")
    tab.until("document.querySelector('#triples-held .note')")
    said = tab.read("document.querySelector('#triples-held .note').textContent")
    assert said.startswith("The rows cannot be shown: ")
    assert "missing" not in said


def test_rows_of_another_page_are_not_taken(tab: Tab, page: Page, tmp_path: Path) -> None:
    path = page("triples-beside")
    alone = tmp_path / path.name
    shutil.copy(path, alone)
    shutil.copytree(path.with_name(f"{path.stem}_files"), tmp_path / f"{path.stem}_files")
    piece = tmp_path / f"{path.stem}_files" / "triples-1.js"
    text = piece.read_text(encoding="utf-8")
    piece.write_text(text.replace('proofstoneHeld("', 'proofstoneHeld("x', 1), encoding="utf-8")
    tab.open(alone)
    tab.read("document.querySelector('#triples-held').scrollIntoView()")
    tab.until("document.querySelector('#triples-held .note')")
    assert "triples-1.js" in tab.read("document.querySelector('#triples-held .note').textContent")


@pytest.mark.parametrize("name", ["triples", "triples-beside"])
def test_without_scripts_the_first_fifty_are_read_as_they_stand(
    tab: Tab, page: Page, name: str
) -> None:
    """Each verdict with its reason and passage; experiments one after the other."""
    tab.without_scripts()
    tab.open(page(name))
    assert tab.read("document.querySelectorAll('.tools, .tablist').length") == 0
    assert tab.read("document.querySelectorAll('#entities-held tbody tr').length") == 50
    details = "#triples-held details"
    assert tab.read(f"document.querySelectorAll('{details}').length") == 50
    said = tab.read(f"document.querySelectorAll('{details}')[5].textContent")
    assert "The passage says so." in said
    assert "proofstone show response:00000005" in said
    assert tab.read(
        "[...document.querySelectorAll('.tabs > section')].every((each) => each.checkVisibility())"
    )


def test_experiments_are_tabs_that_keys_move_among(tab: Tab, page: Page) -> None:
    tab.open(page("triples"))
    chosen = "document.querySelector('[role=tab][aria-selected=true]').textContent"
    seen = """[...document.querySelectorAll('.tabs > section')]
      .map((each) => each.checkVisibility())"""
    first = tab.read(chosen)
    assert tab.read(seen) == [True, False]
    tab.read("document.querySelector('[role=tab]').focus()")
    tab.press("ArrowRight")
    assert tab.read(seen) == [False, True]
    assert tab.read(chosen) != first
    tab.press("ArrowRight")  # round again
    assert tab.read(seen) == [True, False]
    tab.show_as("print")
    assert tab.read(seen) == [True, True]


def test_a_leaderboard_of_few_models_is_filtered_by_openness(tab: Tab, page: Page) -> None:
    tab.open(page("triples"))
    region = "document.querySelector('.wide[aria-label=Leaderboard]')"
    tab.read(f"window.select = {region}.previousElementSibling.querySelector('select')")
    choices = tab.read("[...window.select.options].map((each) => each.value)")
    assert choices == ["", "commercial", "open", "unknown"]
    tab.read("window.select.value = 'open'; window.select.dispatchEvent(new Event('change'))")
    rows = f"[...{region}.querySelectorAll('tbody tr')].filter((each) => !each.hidden).length"
    assert tab.read(rows) == 1


def test_every_row_and_control_is_reached_by_keys(tab: Tab, page: Page) -> None:
    """In their order, each with a ring that is seen, and each with a name."""
    tab.open(page("triples"))
    Browser(tab, "entities-held")
    Browser(tab, "triples-held")
    tab.read("scrollTo(0, 0)")
    found = walk(tab)
    assert [each["place"] for each in found] == list(range(tab.read("window.stops.length")))
    assert len(found) > 2 * 50
    assert [each for each in found if each["ring"] < 2 or not each["seen"]] == []
    nameless = """[...document.querySelectorAll(".browser button, .browser input, .browser select")]
      .filter((each) => each.checkVisibility() && !each.textContent.trim()
        && !each.closest("label"))"""
    assert tab.read(f"{nameless}.length") == 0


@pytest.mark.parametrize(("width", "zoom"), [(360, 1.0), (1280, 2.0)])
def test_open_rows_fit_narrow_windows(tab: Tab, page: Page, width: int, zoom: float) -> None:
    """A table too wide scrolls by itself, and what a row opens stays within the window."""
    tab.open(page("triples"))
    tab.resize(width, zoom=zoom)
    for name in ("entities-held", "triples-held"):
        browser = Browser(tab, name)
        tab.click(f"#{name} .opens")
        tab.until(f"document.querySelector('#{name} .opened a')")
        assert tab.read("document.documentElement.scrollWidth <= innerWidth")
        assert browser.look(
            "[...section.querySelectorAll('.opened > *')].every((each) =>"
            " each.getBoundingClientRect().right <= innerWidth + 1)"
        )
