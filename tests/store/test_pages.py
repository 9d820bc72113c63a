"""Pages: readings of a source's pages with passages and layout; merged, and read anew."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from rows_for_tests import open_store, source

from proofstone.records.knowledge import Passage, passage_id
from proofstone.records.pages import Box, Mark, Page, PageLayout, PlacedLine, pack_layout, page_id
from proofstone.store.copies import merge
from proofstone.store.knowledge import ReadPage
from proofstone.store.purge import empty_rows, plan_purge

BOOK = source()
LAYOUT = PageLayout(
    (
        PlacedLine(0, 9, Box(72.0, 100.0, 300.0, 112.0)),
        PlacedLine(9, 20, Box(72.0, 112.0, 310.0, 124.0)),
    ),
    (Mark("equation", 9, 20, Box(72.0, 112.0, 310.0, 124.0)), Mark("figure", 20, 20, None)),
)


def read_page(number: int, text: str, *, reader: str = "test 1", unread: bool = False) -> ReadPage:
    layout = b"" if unread else pack_layout(LAYOUT, 595.0, 842.0)
    page = Page(
        source=BOOK.id, number=number, text="" if unread else text, width=595.0, height=842.0,
        reader=reader, state="unread" if unread else "read",
        reason="garbled" if unread else "", layout=layout,
    )  # fmt: skip
    page = msgspec.structs.replace(page, id=page_id(page))
    if unread:
        return ReadPage(page)
    passage = Passage(source=BOOK.id, page=number, start=0, end=len(text), text=text, language="en")
    return ReadPage(page, (msgspec.structs.replace(passage, id=passage_id(passage)),))


def test_pages_come_back_with_their_passages_and_again_change_nothing(url: str) -> None:
    store = open_store(url)
    pages = [read_page(1, "The first line x = 1"), read_page(2, "", unread=True)]
    assert store.pages.add(BOOK, pages, now=1.0) == 2
    assert store.pages.add(BOOK, pages, now=2.0) == 0
    count = store.pages.count(BOOK.id)
    assert (count.pages, count.passages, count.unread) == (2, 1, {"garbled": (2,)})
    assert [page.number for page in store.pages.pages(BOOK.id)] == [1, 2]
    (passage,) = store.knowledge.passages_of(BOOK.id)
    placed = store.pages.placed([passage.id])[passage.id]
    assert placed.page.text[passage.start : passage.end] == passage.text == "The first line x = 1"
    assert placed.page.places.kinds(passage.start, passage.end) == ("equation",)
    (first, second) = placed.page.places.boxes(0, 20)
    assert [round(edge, 1) for edge in first] == [72.0, 100.0, 300.0, 112.0]
    assert [round(edge, 1) for edge in second] == [72.0, 112.0, 310.0, 124.0]
    assert placed.page.places.marks[1] == Mark("figure", 20, 20, None)
    store.close()


def test_the_newest_reading_of_a_page_holds_and_the_older_one_stays(url: str) -> None:
    """What OCR makes of an unread page stands in its place; passages are those of that reading."""
    store = open_store(url)
    store.pages.add(BOOK, [read_page(1, "", unread=True), read_page(2, "old text")], now=1.0)
    store.pages.add(BOOK, [read_page(1, "read by OCR", reader="ocr 1")], now=2.0)
    store.pages.add(BOOK, [read_page(2, "new text", reader="test 2")], now=3.0)
    assert store.pages.count(BOOK.id).unread == {}
    assert [page.reader for page in store.pages.pages(BOOK.id)] == ["ocr 1", "test 2"]
    texts = {passage.text for passage in store.knowledge.passages_of(BOOK.id)}
    assert texts == {"read by OCR", "new text"}
    store.close()


def test_pages_travel_in_a_merge_and_twice_change_nothing(
    new_database: Callable[[], str],
) -> None:
    origin, target = open_store(new_database()), open_store(new_database())
    origin.pages.add(BOOK, [read_page(1, "carried over")], now=1.0)
    assert merge(origin.database, target.database).added["page"] == 1
    assert merge(origin.database, target.database).added["page"] == 0
    (passage,) = target.knowledge.passages_of(BOOK.id)
    assert target.pages.placed([passage.id])[passage.id].page.text == "carried over"
    origin.close()
    target.close()


def test_a_purge_takes_the_text_and_layout_of_pages(url: str) -> None:
    """Numbers and sizes stay."""
    store = open_store(url)
    pages = [read_page(1, "a sentence that goes with its source")]
    store.pages.add(BOOK, pages, now=1.0)
    with store.database.writing() as connection:
        key = store.lookup.find(f"source:{BOOK.id.hex()}").key
        plan = plan_purge(connection, [key])
        assert plan.counts()["pages"] == 1
        empty_rows(connection, plan)
    (page,) = store.pages.pages(BOOK.id)
    assert (page.number, page.width, page.text, page.layout) == (1, 595.0, "", b"")
    assert list(store.knowledge.passages_of(BOOK.id)) == []
    store.close()
