"""What is known of a model from outside its replies: its card and its price, and since when.

An empty text, an empty tuple and None mean that a fact is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from msgspec import Struct, structs

__all__ = [
    "WEB_SEARCHES",
    "Architecture",
    "Card",
    "CardSnapshot",
    "CheckState",
    "Kind",
    "ModelCheck",
    "Openness",
    "Price",
    "SearchPrice",
    "WebSearchName",
    "merged_card",
]

Kind = Literal["", "base", "chat", "reasoning", "hybrid"]
Openness = Literal["", "closed", "open weights", "fully open"]
Architecture = Literal["", "dense", "mixture"]
CheckState = Literal["answered", "failed", "retired"]


class Card(Struct, frozen=True, gc=False, kw_only=True):
    """Who made a model, of what kind and size it is, and which settings it takes.

    A ``hybrid`` model thinks or does not, as it is told. ``fully open``: weights, data and code.
    Parameters are billions; ``active_parameters_b`` are those that one token uses. ``released`` is
    ``2024``, ``2024-11`` or ``2024-11-01``; ``languages`` are codes such as ``en``. The settings in
    ``refuses`` are not sent to it, and ``max_tokens_field`` is the field in which it takes
    ``max_tokens``; ``window`` is how many tokens prompt and reply may have together, ``images``
    whether it takes any. A ``base`` model is asked through text completions. ``source`` is where
    these facts were read.
    """

    lab: str = ""
    family: str = ""
    kind: Kind = ""
    openness: Openness = ""
    licence: str = ""
    total_parameters_b: float | None = None
    active_parameters_b: float | None = None
    architecture: Architecture = ""
    released: str = ""
    languages: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    max_tokens_field: str = ""
    window: int | None = None
    images: bool | None = None
    source: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known at all."""
        return self == Card()


class Price(Struct, frozen=True, gc=False, kw_only=True):
    """US dollars per million tokens, with the day and the page they were read from.

    ``cached`` is the price of a prompt token from the provider's cache, ``input`` where unset;
    ``reasoning`` that of a token of hidden thought, ``output`` where unset.
    """

    input: float
    output: float
    cached: float | None = None
    reasoning: float | None = None
    currency: Literal["USD"] = "USD"
    date: str
    source: str


WebSearchName = Literal["brave", "google", "searxng"]
WEB_SEARCHES: tuple[WebSearchName, ...] = get_args(WebSearchName)


class SearchPrice(Struct, frozen=True, gc=False, kw_only=True):
    """US dollars per 1,000 requests to a web search, with the day and the page they were read
    from."""

    per_1000: float
    currency: Literal["USD"] = "USD"
    date: str
    source: str


class CardSnapshot(Struct, frozen=True, gc=False, kw_only=True):
    """A model's card and price as they stood when something of it was run or checked.

    ``recorded_at`` is in seconds since 1970. The newest one of a model is in force; older ones say
    what was in force before.
    """

    model: str
    card: Card
    price: Price | None = None
    recorded_at: float = 0.0


class ModelCheck(Struct, frozen=True, gc=False, kw_only=True):
    """What a check of a model came to. ``retired``: it was there once, and its endpoint neither
    lists nor serves it any more. ``detail`` says why it did not answer, scrubbed."""

    model: str
    state: CheckState
    endpoint: str = ""
    detail: str = ""
    checked_at: float = 0.0


def merged_card(cards: Iterable[Card]) -> Card:
    """One card of several, field by field: a later one that knows a fact wins."""
    unknown = structs.asdict(Card())
    known: dict[str, Any] = {
        name: value
        for card in cards
        for name, value in structs.asdict(card).items()
        if value != unknown[name]
    }
    return Card(**known)
