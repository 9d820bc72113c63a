"""Tables sort by any column, by pointer and by keys; what is missing stands last."""

from __future__ import annotations

from browser.pages import Page
from browser.tab import Tab
from browser.tables import Seen

MISSING = "\N{EM DASH}"


def test_a_click_on_a_head_sorts_numbers_from_the_highest(tab: Tab, page: Page) -> None:
    """By their estimate, not as text; a second click turns the order."""
    tab.open(page("accuracies"))
    board = Seen(tab, "Leaderboard")
    ranked = board.column("model")
    board.click("accuracy, %")
    assert board.order("accuracy, %") == "descending"
    falling = board.numbers("accuracy, %")
    assert falling == sorted(falling, reverse=True)
    board.click("accuracy, %")
    assert board.order("accuracy, %") == "ascending"
    assert board.numbers("accuracy, %") == falling[::-1]
    assert sorted(board.column("model")) == sorted(ranked)


def test_only_the_column_that_sorts_says_so(tab: Tab, page: Page) -> None:
    tab.open(page("accuracies"))
    board = Seen(tab, "Leaderboard")
    board.click("accuracy, %")
    board.click("model")
    assert board.look("heads.filter((head) => head.hasAttribute('aria-sort')).length") == 1
    assert board.order("model") == "ascending"
    names = board.column("model")
    assert names == sorted(names, key=lambda name: board_key(tab, name))


def board_key(tab: Tab, name: str) -> int:
    """The place of a name in the order of the reader's language, numbers in it as numbers."""
    order = (
        "[...document.querySelectorAll('.wide[aria-label=Leaderboard] tbody th')]"
        ".map((cell) => cell.innerText.trim())"
        ".sort(new Intl.Collator(undefined, {numeric: true}).compare)"
    )
    return list(tab.read(order)).index(name)


def test_keys_sort_as_the_pointer_does(tab: Tab, page: Page) -> None:
    """Enter and the space bar on a head, which keeps the focus."""
    tab.open(page("accuracies"))
    board = Seen(tab, "Leaderboard")
    board.focus("accuracy, %")
    tab.press("Enter")
    assert board.order("accuracy, %") == "descending"
    tab.press(" ")
    assert board.order("accuracy, %") == "ascending"
    rising = board.numbers("accuracy, %")
    assert rising == sorted(rising)
    assert tab.read("document.activeElement.innerText.trim()") == "accuracy, %"


def test_missing_values_stand_last_in_either_order(tab: Tab, page: Page) -> None:
    tab.open(page("report"))
    table = Seen(tab, "By position")
    n_missing = table.column("score").count(MISSING)
    assert n_missing
    for order in ("descending", "ascending"):
        table.click("score")
        assert table.order("score") == order
        scores = table.column("score")
        assert scores[-n_missing:] == [MISSING] * n_missing
        known = [float(score) for score in scores[:-n_missing]]
        assert known == sorted(known, reverse=order == "descending")


def test_a_grouped_table_is_sorted_within_its_groups(tab: Tab, page: Page) -> None:
    """The heading of each group stays above its rows."""
    tab.open(page("report"))
    board = Seen(tab, "Leaderboard")
    board.click("model")
    firsts = "[...table.tBodies].map((body) => body.rows[0].className)"
    assert set(board.look(firsts)) == {"part"}
    assert board.column("model") == sorted(board.column("model"))
