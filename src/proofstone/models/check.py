"""Is a model there, and does it answer: the endpoint's own list, and one tiny question."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Literal, Protocol, runtime_checkable
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from proofstone.records.calls import Attempt, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.items import Oracle

# Which models an endpoint says it serves: the bodies that ``GET /models`` brings, read by shape.
#
# OpenAI and its likes give ``{"data": [{"id": ...}]}``, some in pages; Together a bare list; Google
# and Ollama ``{"models": [{"name": ...}]}``, of which Google's begin with ``models/``. Azure lists
# what its region could serve, not what is deployed, so its list says nothing of a model.

ListedState = Literal["listed", "not listed", "no list"]


_AZURE = re.compile(r"\.(openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.\w+$")


_NEAR = 3


class Listing(Struct, frozen=True, kw_only=True):
    """The ids of an endpoint's models; ``problem`` says why there is no list. ``next_page`` is the
    query that brings the rest, empty behind the last."""

    ids: frozenset[str] = frozenset()
    problem: str = ""
    next_page: str = ""

    def state_of(self, served_as: str) -> ListedState:
        """Whether the model of this name stands in the list, if there is one."""
        if self.problem:
            return "no list"
        return "listed" if served_as.casefold() in self._names else "not listed"

    def near(self, served_as: str) -> tuple[str, ...]:
        """Up to three ids that a mistyped name may have meant."""
        return tuple(difflib.get_close_matches(served_as, sorted(self.ids), n=_NEAR, cutoff=0.7))

    @property
    def _names(self) -> set[str]:
        """The ids, and what they may be called beside that, without regard to case."""
        plain = {name.casefold() for name in self.ids}
        # Google's ``models/NAME``, and Ollama's ``NAME:latest``, which answers as NAME.
        bare = {name.removeprefix("models/") for name in plain}
        return plain | bare | {name.removesuffix(":latest") for name in plain}


def list_is_telling(identity: str) -> bool:
    """Whether an endpoint's list says which models it answers for: not Azure's."""
    return _AZURE.search(urlsplit(identity).hostname or "") is None


def read_listing(raw: bytes) -> Listing:
    """The listing in a body, or one with a problem where the body is no list of models."""
    try:
        body = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return Listing(problem="the answer is not JSON")
    rows = body
    if isinstance(body, dict):
        rows = body.get("data", body.get("models"))
    if not isinstance(rows, list):
        return Listing(problem="the answer holds no list of models")
    ids = frozenset(_ids(rows))
    if rows and not ids:
        return Listing(problem="the list names no model")
    return Listing(ids=ids, next_page=_next_page(body))


def _ids(rows: Iterable[Any]) -> Iterable[str]:
    for row in rows:
        name = row.get("id", row.get("name")) if isinstance(row, dict) else row
        if isinstance(name, str) and name:
            yield name


def _next_page(body: Any) -> str:
    """Anthropic's lists come in pages that name their last id."""
    if isinstance(body, dict) and body.get("has_more") is True:
        last = body.get("last_id")
        return f"after_id={last}" if isinstance(last, str) and last else ""
    return ""


_CHECK = (Message("user", "Reply with the word ready."),)


_CHECK_TOKENS = 16  # a few providers refuse less


_MOST_PAGES = 50


_NO_LIST = frozenset({404, 405, 501})


@runtime_checkable
class Lister(Protocol):
    """A model whose endpoint can be asked for what lies below its address."""

    endpoint: str
    served_as: str

    async def fetch(self, path: str, query: str = "") -> Attempt:
        """What lies at ``path``; whatever comes of it."""


class Checked(Struct, frozen=True, kw_only=True):
    """What a check of a model came to.

    ``usable``: it answered the tiny question; else ``kind`` and ``detail`` say why it did not, and
    ``advice`` what to do. ``listed`` is what the endpoint's own list says (``no list`` where there
    is none that says it, and for models that have no endpoint); ``near`` are listed names that may
    have been meant. ``retired``: it was there once, and its endpoint neither lists nor serves it.
    """

    name: str
    usable: bool
    endpoint: str = ""
    served_model: str = ""
    latency_s: float = 0.0
    kind: str = ""
    detail: str = ""
    advice: str = ""
    listed: ListedState = "no list"
    near: tuple[str, ...] = ()
    retired: bool = False


async def check_model(model: Model, listing: Listing | None = None) -> Checked:
    """Asks one tiny request, once, and looks into ``listing`` where there is one."""
    prompt = canonical_json(_CHECK)
    request = ModelRequest(
        messages=_CHECK,
        prompt=prompt,
        prompt_hash=sha256(prompt).digest(),
        settings={"max_tokens": _CHECK_TOKENS},
        purpose="control",
        oracle=Oracle("ready", ("ready",)) if model.simulated else None,
    )
    attempt = await model.collect(await model.submit(request))
    listing = Listing(problem="not asked") if listing is None else listing
    listed = listing.state_of(model.served_as)
    return Checked(
        name=model.name,
        usable=attempt.reply is not None,
        endpoint=model.endpoint,
        served_model="" if attempt.reply is None else attempt.reply.model,
        latency_s=attempt.latency_s,
        kind=attempt.error,
        detail=attempt.detail,
        listed=listed,
        near=listing.near(model.served_as) if listed == "not listed" else (),
    )


async def fetch_listing(model: Lister) -> Listing:
    """The models that the endpoint of ``model`` lists, all pages of them."""
    if not list_is_telling(model.endpoint):
        return Listing(problem="Azure lists what could be deployed, not what is")
    ids: frozenset[str] = frozenset()
    query = ""
    for _page in range(_MOST_PAGES):
        attempt = await model.fetch("/models", query)
        if attempt.status != 200:
            return Listing(problem=_why_none(attempt))
        page = read_listing(attempt.raw)
        if page.problem:
            return page
        ids |= page.ids
        if not page.next_page:
            break
        name, _, value = page.next_page.partition("=")
        query = f"{name}={quote(value, safe='')}"
    return Listing(ids=ids)


def _why_none(attempt: Attempt) -> str:
    if attempt.status in _NO_LIST:
        return "the endpoint lists no models"
    return f"{attempt.error}: {attempt.detail}".removesuffix(": ")
