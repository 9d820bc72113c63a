"""The cells of a sheet in which a question is answered: the answer and the pages that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypedDict

from proofstone.engines.review.addresses import (
    NoAddress,
    pages_of,
    read_address,
    split_addresses,
)
from proofstone.engines.review.sheets import Role
from proofstone.engines.review.tasks import Task
from proofstone.records import ReviewTask

__all__ = ["Stated", "answer_problems", "stated_answer"]

_Cell = Callable[[Role], str]
_PAGES: tuple[Role, ...] = ("url", "url2", "urls")
# What a decision speaks of besides the text itself, and so must still be in its row.
_COMPARED: Mapping[ReviewTask, tuple[Role, ...]] = MappingProxyType(
    {"same": ("found", "model"), "wording": ("reworded",)}
)
_LOST = "what was compared is no longer there: take the row from the file that was sent out"


class Stated(TypedDict, total=False):
    """What of an ``Answer`` these cells give."""

    said: str
    urls: tuple[str, ...]
    model: str


def stated_answer(cell: _Cell, task: Task) -> Stated:
    """The answer and its pages as they were typed; of a comparison the two texts that were shown,
    of the model's its first line: aliases stand below. Empty for tasks without any."""
    if task.name == "same":
        return {"said": cell("found"), "model": next(iter(cell("model").splitlines()), "")}
    if task.name == "wording":
        return {"said": cell("reworded")}
    if not task.needs_answer:
        return {}
    urls = tuple(url for role in _PAGES for url in split_addresses(cell(role)))
    return {"said": cell("answer"), "urls": urls}


def answer_problems(
    cell: _Cell, task: Task, verdict: str, words: str
) -> Iterator[tuple[Role, str]]:
    """What is wrong with the cells of a row with this ``verdict`` (``words`` as it is shown): a
    cell each."""
    if task.name in _COMPARED:
        yield from ((role, _LOST) for role in _COMPARED[task.name] if not cell(role))
        return
    yield from _page_problems(cell)
    answer, pages = cell("answer"), [url for role in _PAGES for url in split_addresses(cell(role))]
    if verdict in task.needs_answer:
        if not answer:
            yield "answer", f"{words!r} needs your answer, and there is none"
        n = len(pages_of(pages))
        if n < task.n_pages and not any(_page_problems(cell)):
            same = ": two addresses of one page are one" if len(pages) > n else ""
            yield "url", f"expected {task.n_pages} different pages or more, came {n}{same}"
    elif answer or pages:
        filled: Role = "answer" if answer else next(role for role in _PAGES if cell(role))
        yield filled, f"there is an answer or a page, and the decision is {words!r}"


def _page_problems(cell: _Cell) -> Iterator[tuple[Role, str]]:
    for role in _PAGES:
        for url in split_addresses(cell(role)):
            try:
                read_address(url)
            except NoAddress as cause:
                yield role, str(cause)
