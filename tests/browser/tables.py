"""A table of a page as its reader sees it, found by the name of its region."""

from __future__ import annotations

import json
from typing import Any

from browser.tab import Tab

__all__ = ["Seen"]

_FIND = """
const region = document.querySelector(`.wide[aria-label="${name}"]`);
const table = region.querySelector("table");
const tools = region.previousElementSibling;
const heads = [...table.tHead.rows[0].cells];
const rows = [...table.tBodies].flatMap((body) => [...body.rows])
  .filter((row) => row.checkVisibility() && !row.matches(".part"));
"""


class Seen:
    """One table, with what stands above it."""

    def __init__(self, tab: Tab, name: str) -> None:
        self._tab = tab
        self._name = name
        self.look(
            "(() => { for (let each = region; each; each = each.parentElement)"
            ' if (each.matches("details")) each.open = true; })()'
        )
        self.look('region.closest(".short")?.querySelector(".all:not(:checked)")?.click()')

    def look(self, expression: str) -> Any:
        """An expression over ``table``, ``heads``, visible ``rows``, its ``tools`` and
        ``region``."""
        name = json.dumps(self._name)
        return self._tab.read(f"(() => {{ const name = {name}; {_FIND} return {expression}; }})()")

    def column(self, head: str) -> list[str]:
        """Texts of the rows that are seen, from top to bottom, under the column of that name."""
        at = json.dumps(head)
        return list(
            self.look(
                f"rows.map((row) => row.cells[heads.findIndex((each) => "
                f"each.innerText.trim() === {at})].innerText.trim())"
            )
        )

    def numbers(self, head: str) -> list[float]:
        """The same as numbers: of an estimate with its interval, the estimate."""
        return [float(text.split()[0].replace(",", "")) for text in self.column(head)]

    def order(self, head: str) -> str | None:
        """What the head of a column says of its order."""
        at = json.dumps(head)
        found: str | None = self.look(
            f'heads.find((each) => each.innerText.trim() === {at}).getAttribute("aria-sort")'
        )
        return found

    def click(self, head: str) -> None:
        """The button in the head of a column."""
        self._mark(
            f"heads.find((each) => each.innerText.trim() === {json.dumps(head)})"
            '.querySelector("button")'
        )
        self._tab.click("[data-here]")

    def focus(self, head: str) -> None:
        self.look(
            f"heads.find((each) => each.innerText.trim() === {json.dumps(head)})"
            '.querySelector("button").focus()'
        )

    def search(self, text: str) -> None:
        """Types over what the search box holds."""
        self.look('(tools.querySelector("input").focus(), tools.querySelector("input").select())')
        self._tab.type(text)

    def choose(self, facet: str, value: str) -> None:
        """A value of one of the lists above it, as if picked there."""
        self.look(
            f"""(() => {{ const label = [...tools.querySelectorAll("label")].find((each) =>
                each.firstChild.textContent === {json.dumps(facet)});
                const select = label.querySelector("select"); select.value = {json.dumps(value)};
                select.dispatchEvent(new Event("change")); return select.value; }})()"""
        )

    def reset(self) -> None:
        self._mark('tools.querySelector("button")')
        self._tab.click("[data-here]")

    @property
    def told(self) -> str:
        """What is said of the rows that are seen."""
        return str(self.look("tools.querySelector('[role=status]').textContent"))

    def _mark(self, element: str) -> None:
        self._tab.read('document.querySelector("[data-here]")?.removeAttribute("data-here")')
        self.look(f'{element}.setAttribute("data-here", "")')
