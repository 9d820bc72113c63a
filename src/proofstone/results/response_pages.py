"""All responses of a report as HTML files next to its page, several items per file.

The files need no script. The page links to the prompt, each response and the source of an item.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from proofstone.errors import TextPurged
from proofstone.method import Method
from proofstone.models.responses import read_response
from proofstone.page.html import with_formulas
from proofstone.page.text import MOST_CHARACTERS, visible
from proofstone.records.calls import CallRecord, Message
from proofstone.records.items import ItemSet
from proofstone.records.runs import Run, Score
from proofstone.results.item_browser import ItemBrowser, ItemShown
from proofstone.results.page import page_environment, page_policy
from proofstone.results.page_pieces import FileBeside
from proofstone.results.table import headline, readable_items
from proofstone.results.trace import PURGED
from proofstone.store.rows import chunks
from proofstone.store.store import Store
from proofstone.wording.messages import say

_PAGE = 200  # items read at once


class Response(Struct, frozen=True, kw_only=True):
    """One response.

    ``model`` is the index of its model on the leaderboard; ``prompt`` the index among the item's
    prompts.
    """

    model: int
    sample: int
    prompt: int
    text: str
    reasoning: str = ""
    outcome: str = ""
    answer: str = ""
    basis: str = ""
    value: float | None = None
    flags: tuple[str, ...] = ()


class SourcePassage(Struct, frozen=True):
    """A passage that an item was made from: title of its source, page and text."""

    title: str
    page: str
    text: str


class ItemResponses(Struct, frozen=True, kw_only=True):
    """One item with its source passages, its distinct prompts, and all responses."""

    question: str
    passages: tuple[SourcePassage, ...]
    prompts: tuple[tuple[Message, ...], ...]
    responses: tuple[Response, ...]


class ReadRun(Struct, frozen=True):
    """A run with its key and the index of its model on the leaderboard."""

    key: int
    run: Run
    model: int


class ItemText(NamedTuple):
    """An item's question without instructions, and the whole item with its answer key marked."""

    question: str
    whole: str


def item_texts(store: Store, method: Method, item_sets: Sequence[ItemSet]) -> dict[bytes, ItemText]:
    """Return the texts of each item by id, without permanently deleted items."""
    found = {}
    for loaded in readable_items(store, item_sets):
        with contextlib.suppress(TextPurged):
            whole = method.show(loaded)
            asked = whole if method.query is None else method.query(loaded)
            found[loaded.item.id] = ItemText(asked, whole)
    return found


def read_responses(
    store: Store,
    method: Method,
    items: Iterable[bytes],
    asked: Sequence[ReadRun],
    texts: Mapping[bytes, ItemText],
) -> Iterator[ItemResponses]:
    """Read the items with these ids in order, each with the responses of all runs."""
    measure = headline(method).of
    for page in chunks(items, _PAGE):
        known = store.items.keys_of(page)
        keys = [known[identity] for identity in page]
        questions = [texts[each].whole if each in texts else PURGED for each in page]
        yield from _page_of(store, measure, keys, questions, asked)


def _page_of(
    store: Store,
    measure: str,
    keys: Sequence[int],
    questions: Sequence[str],
    asked: Sequence[ReadRun],
) -> Iterator[ItemResponses]:
    calls = [store.runs.calls_of_items(each.key, keys) for each in asked]
    scores = [_scores(store, each.key, keys) for each in asked]
    for key, question in zip(keys, questions, strict=True):
        prompts: dict[bytes, int] = {}
        messages: list[tuple[Message, ...]] = []
        responses: list[Response] = []
        for each, its_calls, its_scores in zip(asked, calls, scores, strict=True):
            for sample, step, call in its_calls.get(key, ()):
                if call.prompt_hash not in prompts:
                    prompts[call.prompt_hash] = len(prompts)
                    messages.append(_messages(call))
                is_last = step == each.run.last_step
                found = its_scores.get((key, sample), []) if is_last else []
                own = next((score for score in found if score.measure == measure), None)
                responses.append(_response(each, sample, prompts[call.prompt_hash], call, own))
        responses.sort(key=lambda one: (one.model, one.sample))
        yield ItemResponses(
            question=question,
            passages=tuple(_passages(store, key)),
            prompts=tuple(messages),
            responses=tuple(responses),
        )


def _scores(store: Store, run: int, keys: Sequence[int]) -> Mapping[tuple[int, int], list[Score]]:
    current = store.scores.current(run)
    found: dict[tuple[int, int], list[Score]] = {}
    if current is not None:
        for (item, sample, _kind), scores in store.scores.of_items(current.key, keys).items():
            found.setdefault((item, sample), []).extend(scores)
    return found


def _messages(call: CallRecord) -> tuple[Message, ...]:
    if not call.prompt:
        return (Message("user", PURGED),)
    return tuple(msgspec.json.decode(call.prompt, type=list[Message]))


def _response(
    asked: ReadRun, sample: int, prompt: int, call: CallRecord, score: Score | None
) -> Response:
    response = read_response(call.wire, call.raw) if call.raw else None
    return Response(
        model=asked.model,
        sample=sample,
        prompt=prompt,
        text=PURGED if response is None else response.text,
        reasoning="" if response is None else response.reasoning,
        outcome="" if score is None else score.outcome,
        answer="" if score is None else score.answer,
        basis="" if score is None else score.basis,
        value=None if score is None else score.value,
        flags=() if score is None else score.flags,
    )


def _passages(store: Store, item: int) -> Iterator[SourcePassage]:
    """Yield the distinct passages of the item's facts."""
    seen: set[bytes] = set()
    for fact in store.traces.facts_of_item(item):
        passage = None if fact.passage is None else store.knowledge.passage(fact.passage)
        if passage is None or passage.id in seen:
            continue
        seen.add(passage.id)
        title = store.knowledge.sources([passage.source])[passage.source].title
        page = fact.page or ("" if passage.page is None else str(passage.page))
        yield SourcePassage(title, page, passage.text or PURGED)


def response_files(
    title: str, page: Path, browser: ItemBrowser, items: Iterator[ItemResponses]
) -> Iterator[FileBeside]:
    """Yield the items in files ``responses-1.html``, ``responses-2.html`` and so on."""
    environment = page_environment()
    template = environment.get_template("responses.html.jinja")
    style = environment.get_template("responses.css.jinja").render()
    shown: dict[int, ItemShown] = {}
    for item in browser.items:
        shown.setdefault(item.place, item)
    shown.pop(-1, None)
    each = browser.items_a_file
    n_files = ceil(len(shown) / each)
    places = iter(sorted(shown))
    for number, part in enumerate(chunks(items, each), start=1):
        listed = [(shown[next(places)], item) for item in part]
        text = template.render(
            title=title,
            page=page.name,
            models=browser.models,
            items=listed,
            number=number,
            n_files=n_files,
            style=style,
            policy=page_policy(style, ""),
            whole=_whole,
            with_formulas=with_formulas,
        )
        first = listed[0][0].place + 1
        about = say("responses to items {first:,} to {last:,}", first=first,
                    last=first + len(part) - 1)  # fmt: skip
        yield FileBeside(f"responses-{number}.html", text, about)


def _whole(text: str) -> str:
    """Return the whole text for readers, regardless of length."""
    parts = range(0, len(text), MOST_CHARACTERS)
    return "".join(visible(text[first : first + MOST_CHARACTERS]) for first in parts)
