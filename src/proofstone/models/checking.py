"""Is a model there, and does it answer: the endpoint's own list, and one tiny question."""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol, runtime_checkable
from urllib.parse import quote

from msgspec import Struct

from proofstone.models.listing import ListedState, Listing, list_is_telling, read_listing
from proofstone.records.calls import Attempt, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.items import Oracle

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
