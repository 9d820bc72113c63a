"""Search and lists above what has many rows; they add up, are told, and are taken back at once."""

from __future__ import annotations

from browser.pages import Page
from browser.tab import Tab
from browser.tables import Seen


def test_search_leaves_the_rows_that_hold_all_words(tab: Tab, page: Page) -> None:
    """In any order and case; how many are left is told, politely, to those who do not see it."""
    tab.open(page("accuracies"))
    board = Seen(tab, "Leaderboard")
    everyone = board.column("model")
    assert board.told == f"{len(everyone)} rows"
    board.search("thinking QWEN3")
    fitting = [name for name in everyone if "Qwen3" in name and "Thinking" in name]
    assert 1 < len(fitting) < len(everyone)
    assert board.column("model") == fitting
    assert board.told == f"{len(fitting)} of {len(everyone)} rows"


def test_nothing_found_is_told_and_reset_brings_all_back(tab: Tab, page: Page) -> None:
    """In the order that they came in."""
    tab.open(page("accuracies"))
    board = Seen(tab, "Leaderboard")
    everyone = board.column("model")
    board.click("model")
    board.search("no such model")
    assert board.column("model") == []
    assert board.told == f"0 of {len(everyone)} rows"
    board.reset()
    assert board.column("model") == everyone
    assert board.order("model") is None
    assert board.look("tools.querySelector('input').value") == ""


def test_lists_and_search_add_up(tab: Tab, page: Page) -> None:
    """Pairs that cannot be significant, of one model, in order of their difference."""
    tab.open(page("accuracies"))
    pairs = Seen(tab, "All pairs")
    n_all = len(pairs.column("model"))
    pairs.choose("significant", "no")
    n_apart = len(pairs.column("model"))
    assert 0 < n_apart < n_all
    pairs.search("GPT-5.4")
    pairs.click("difference")
    both = list(zip(pairs.column("model"), pairs.column("against"), strict=True))
    assert 0 < len(both) < n_apart
    assert all("GPT-5.4" in pair for pair in both)
    assert set(pairs.column("significant")) == {"no"}
    falling = pairs.numbers("difference")
    assert falling == sorted(falling, reverse=True)
    assert pairs.told == f"{len(both)} of {n_all} rows"


def test_a_list_is_offered_for_columns_of_words_that_repeat(tab: Tab, page: Page) -> None:
    """Not for names that each stand once, nor for numbers."""
    tab.open(page("accuracies"))
    facets = "[...tools.querySelectorAll('label')].slice(1).map((each) => each.firstChild.data)"
    assert Seen(tab, "Leaderboard").look(facets) == []
    assert "significant" in Seen(tab, "All pairs").look(facets)
    assert "difference" not in Seen(tab, "All pairs").look(facets)


def test_models_are_chosen_by_their_cards(tab: Tab, page: Page) -> None:
    """By the columns shown, and by what groups the rows: a group without any is not headed."""
    tab.open(page("cards"))
    board = Seen(tab, "Leaderboard")
    heads = """[...table.querySelectorAll("tr.part")].filter((each) => each.checkVisibility())
      .map((each) => each.innerText.split(" (")[0].trim())"""
    assert board.look(heads) == ["kind: chat", "kind: reasoning"]
    board.choose("lab", "Acme")
    assert board.column("lab") == ["Acme"] * 8
    board.choose("kind", "chat")
    assert board.column("model") == ["m0", "m3", "m6", "m9"]
    assert board.look(heads) == ["kind: chat"]
    assert board.told == "4 of 12 rows"
    board.choose("openness", "open weights")
    assert board.told == "0 of 12 rows"
    assert board.look(heads) == []
    board.reset()
    assert board.look(heads) == ["kind: chat", "kind: reasoning"]
    assert board.told == "12 rows"


def test_a_chinese_page_filters_in_chinese(tab: Tab, page: Page) -> None:
    tab.open(page("chinese"))
    board = Seen(tab, "排行榜")
    assert board.told == "共 12 行"
    board.search("Acme")
    assert board.told == "12 行中的 8 行"
    assert board.look("tools.querySelector('button').textContent") == "重置"


def test_a_short_table_is_seen_at_a_glance(tab: Tab, page: Page) -> None:
    tab.open(page("partial"))
    assert tab.read("document.querySelectorAll('.tools + .wide.board').length") == 0
