"""Model metadata: cards and prices, with dates.

An empty text, an empty tuple and None mean unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct, structs

Kind = Literal["", "base", "chat", "reasoning", "hybrid"]


Openness = Literal["", "closed", "open weights", "fully open"]


Architecture = Literal["", "dense", "mixture"]


CheckState = Literal["answered", "failed", "unavailable"]


class Card(Struct, frozen=True, gc=False, kw_only=True):
    """A model card: lab, type, size and supported settings.

    A ``hybrid`` model can turn reasoning on or off. ``fully open`` means weights, data and code.
    Parameters are in billions; ``active_parameters_b`` are those used per token. ``released`` is
    ``2024``, ``2024-11`` or ``2024-11-01``; ``languages`` are codes such as ``en``. Settings in
    ``refuses`` are not sent to it, and ``max_tokens_field`` is its field for ``max_tokens``.
    ``window`` is the tokens of prompt and response together, ``images`` whether it accepts images.
    A ``base`` model is called through text completions. ``source`` is where these facts were found.
    """

    lab: str = ""
    family: str = ""
    kind: Kind = ""
    openness: Openness = ""
    license: str = ""
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
        """Return True if nothing is known."""
        return self == Card()


class Price(Struct, frozen=True, gc=False, kw_only=True):
    """US dollars per million tokens, with the date and page of the price.

    ``cached`` is the price of a prompt token from the provider's cache (default: ``input``);
    ``reasoning`` that of a hidden reasoning token (default: ``output``).
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
    """US dollars per 1,000 web search requests, with the date and page of the price."""

    per_1000: float
    currency: Literal["USD"] = "USD"
    date: str
    source: str


class CardSnapshot(Struct, frozen=True, gc=False, kw_only=True):
    """A model's card and price at the time of a run or check.

    ``recorded_at`` is in seconds since 1970. The newest snapshot of a model applies; older ones are
    its history.
    """

    model: str
    card: Card
    price: Price | None = None
    recorded_at: float = 0.0


class ModelCheck(Struct, frozen=True, gc=False, kw_only=True):
    """Result of a model check.

    ``unavailable``: it was available once, and its endpoint neither lists nor serves it any more.
    ``detail`` is the reason for no answer, scrubbed.
    """

    model: str
    state: CheckState
    endpoint: str = ""
    detail: str = ""
    checked_at: float = 0.0


def merged_card(cards: Iterable[Card]) -> Card:
    """Merge several cards field by field; later known values win."""
    unknown = structs.asdict(Card())
    known: dict[str, Any] = {
        name: value
        for card in cards
        for name, value in structs.asdict(card).items()
        if value != unknown[name]
    }
    return Card(**known)


# Model names for display: without local folders.

# ``local//opt/me/x.gguf``, ``~/x``, ``C:\x`` or ``hf/../x``: a path, usually after a provider.
_PATH = re.compile(
    r"(?P<provider>(?:[\w.+-]+[/=])*?)(?:/|~|[A-Za-z]:[\\/]|\.\.?[\\/]).*?(?P<file>[^\\/]*)[\\/]*"
)


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Return the display name of each model name.

    It is the name itself, or for a path (from a root, home or dots) its provider and last part
    (``local/x.gguf``). Different names stay different: a second one is ``local/x.gguf (2)``.
    """
    given = list(dict.fromkeys(names))
    taken = {name for name in given if _without_folder(name) == name}
    shown = {}
    for name in given:
        base = _without_folder(name)
        number, text = 1, base
        while text in taken and text != name:
            number += 1
            text = f"{base} ({number})"
        taken.add(text)
        shown[name] = text
    return shown


def _without_folder(name: str) -> str:
    found = _PATH.fullmatch(name)
    return name if found is None else found["provider"] + found["file"]


# Model family: from its card if stated, else by a rule on its name.
#
# A model that helped make a benchmark may favor its siblings, so siblings are marked as well. The
# rule assigns some family unless a name has no usable part.


class _Families(Struct, frozen=True):
    """``known_as``: by family, the letters of its other names; ``no_family``: first words that name
    a lab, region or purpose.
    """

    families: frozenset[str]
    no_family: frozenset[str]
    known_as: dict[str, tuple[str, ...]]


@cache
def _families() -> _Families:
    text = (resources.files(__package__) / "families.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_Families)


@cache
def _by_stem() -> dict[str, str]:
    known = _families()
    names = {name: family for family, names in known.known_as.items() for name in names}
    return {name: name for name in (*known.families, *known.known_as)} | names


_SERIES_O = re.compile(r"o\d")  # o1, o3-mini, o4-mini: OpenAI's reasoning line of GPT


_WORDS = re.compile(r"[^0-9a-z]+")


_FILE = re.compile(r"\.(gguf|safetensors|bin)$")


def family_of(name: str, stated: str = "") -> str:
    """Return the family of a model named ``provider/model``, or as people write it; "" for no name.

    ``stated`` is the family stated in the model's card and replaces the name. Generations (GPT-4.1,
    Qwen3) share a family. The result is the first word that is a known family: ``gpt-4.1`` and
    ``o3-mini`` are gpt, ``SmolLM2-135M.gguf`` smollm, ``meta-llama-3`` llama,
    ``hermes-3-llama-3.1`` llama. Otherwise it is the letters of the first word that does not name a
    lab, otherwise the whole name. Each simulated model is its own family.
    """
    if name.startswith("sim/"):
        return name.partition("?")[0]
    text = stated.strip().lower() or _bare(name)
    words = [word for word in _WORDS.split(text) if word]
    if words and _SERIES_O.match(words[0]):
        return "gpt"
    stems = [letters[0] for word in words if (letters := re.match(r"[a-z]+", word))]
    for stem in stems:
        if stem in _by_stem():
            return _by_stem()[stem]
    named = [stem for stem in stems if stem not in _families().no_family]
    return named[0] if named else text


def same_model(one: str, other: str) -> bool:
    """Return True if two names mean one model, ignoring provider, case and file extension."""
    if one.startswith("sim/") or other.startswith("sim/"):
        return one == other
    return bool(_bare(one)) and _bare(one) == _bare(other)


def _bare(name: str) -> str:
    """Return a name without provider, owner, tag, version mark or file extension."""
    text = name.strip().lower().removeprefix("ft:")
    text = text.rstrip("/").rpartition("/")[2]
    text = re.split(r"[:@?]", text, maxsplit=1)[0]
    return _FILE.sub("", text)


def shown_parameters(card: Card) -> str:
    """Return ``8.2B``, or ``235B, 22B active``; empty if unknown."""
    total, active = card.total_parameters_b, card.active_parameters_b
    parts = [f"{total:g}B"] if total is not None else []
    parts += [f"{active:g}B active"] if active is not None and active != total else []
    return ", ".join(parts)


def card_line(card: Card) -> str:
    """Return the known facts of a card on one line; empty without any."""
    made_by = " ".join(part for part in (card.lab, card.family) if part)
    size = " ".join(part for part in (shown_parameters(card), card.architecture) if part)
    parts = (made_by, card.kind, card.openness, size, card.license, card.released)
    return ", ".join(part for part in parts if part)


LOCAL = "local"
