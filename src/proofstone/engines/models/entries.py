"""What a configuration file may say of providers and models: read whole, every problem named."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.engines.models.card_entries import wrong_card, wrong_price, wrong_search_price
from proofstone.engines.models.egress_policy import EgressPolicy, read_policy
from proofstone.engines.models.settings import THINKING_TOKENS
from proofstone.engines.models.table_checks import unknown_key
from proofstone.errors import Problem
from proofstone.records import WEB_SEARCHES, Card, Price, SearchPrice, merged_card

__all__ = [
    "Entry",
    "Price",
    "Tables",
    "Thinking",
    "Wire",
    "merged",
    "read_tables",
    "thinking_fields",
    "thinking_tokens",
]

Wire = Literal["openai-chat", "openai-completions"]

_TABLES = ("providers", "models", "searches", "egress")
# Fields of a request that the engine writes itself, or that would put a key into stored settings.
_RESERVED_BODY = frozenset(
    {"model", "messages", "prompt", "stream", "n", "api_key", "key", "authorization"}
)


class Thinking(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a request that make a hybrid model think, and those that keep it from it; and
    how many ``tokens`` longer its reply may be when it thinks."""

    on: dict[str, Any] | UnsetType = UNSET
    off: dict[str, Any] | UnsetType = UNSET
    tokens: int | UnsetType = UNSET


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ``[providers.NAME]`` or ``[models."provider/model"]``, or the flags of a command.

    A header's value that starts with ``$`` names an environment variable. ``model`` is the name
    that is sent, ``body`` extra fields of each request, ``unsupported`` settings that are not sent,
    ``max_tokens_field`` the field that carries ``max_tokens``, ``card`` what is known of the model.
    ``wire`` says how it is asked:
    ``openai-completions`` for a base model, which only goes on with a text. ``window`` is how many
    tokens prompt and reply may have together, ``images`` whether it takes pictures.
    ``thinking`` has the fields that switch a hybrid model's thinking ``on`` and ``off``, and the
    ``tokens`` that it takes.
    ``ca_file`` names the certificates to believe, ``proxy`` the way to it ("" for none, ``$NAME``
    for a variable's).
    """

    base_url: str | UnsetType = UNSET
    api_key_env: str | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    max_connections: int | UnsetType = UNSET
    timeout_s: float | UnsetType = UNSET
    connect_timeout_s: float | UnsetType = UNSET
    model: str | UnsetType = UNSET
    price: Price | UnsetType = UNSET
    card: Card | UnsetType = UNSET
    body: dict[str, Any] | UnsetType = UNSET
    unsupported: tuple[str, ...] | UnsetType = UNSET
    max_tokens_field: str | UnsetType = UNSET
    wire: Wire | UnsetType = UNSET
    window: int | UnsetType = UNSET
    images: bool | UnsetType = UNSET
    thinking: Thinking | UnsetType = UNSET
    ca_file: str | UnsetType = UNSET
    proxy: str | UnsetType = UNSET


class Tables(Struct, frozen=True):
    """The providers, models, prices of searches and egress policy of a file, where it stands, and
    its text, to find lines in."""

    where: str
    providers: Mapping[str, Entry] = {}
    models: Mapping[str, Entry] = {}
    text: str = ""
    egress: EgressPolicy | None = None
    searches: Mapping[str, SearchPrice] = {}

    def beside(self, path: Path) -> Tables:
        """The same, with relative files of entries (``ca_file``) meant from the folder of
        ``path``."""
        return structs.replace(
            self,
            providers={name: _beside(path, entry) for name, entry in self.providers.items()},
            models={name: _beside(path, entry) for name, entry in self.models.items()},
        )


def merged(entries: Iterable[Entry]) -> Entry:
    """One entry of several, field by field: a later one wins; ``headers``, ``body``, ``thinking``
    and the facts of ``card`` add up."""
    values: dict[str, Any] = {}
    for entry in entries:
        for name in Entry.__struct_fields__:
            value = getattr(entry, name)
            if value is UNSET:
                continue
            if name in ("headers", "body"):
                value = {**values.get(name, {}), **value}
            if name == "thinking":
                value = _merged_thinking(values.get(name, Thinking()), value)
            if name == "card":
                value = merged_card([values.get(name, Card()), value])
            values[name] = value
    return Entry(**values)


def thinking_fields(entry: Entry) -> dict[str, dict[str, Any]]:
    """The fields that switch thinking, by ``on`` and ``off``; empty where the entry says none."""
    said = Thinking() if isinstance(entry.thinking, UnsetType) else entry.thinking
    if isinstance(said.on, UnsetType) and isinstance(said.off, UnsetType):
        return {}
    return {
        word: {} if isinstance(fields, UnsetType) else fields
        for word, fields in (("on", said.on), ("off", said.off))
    }


def thinking_tokens(entry: Entry) -> int:
    """How many tokens longer a reply may be when the model is told to think."""
    said = Thinking() if isinstance(entry.thinking, UnsetType) else entry.thinking
    return THINKING_TOKENS if isinstance(said.tokens, UnsetType) else said.tokens


def _merged_thinking(below: Thinking, above: Thinking) -> Thinking:
    said = {name: getattr(above, name) for name in Thinking.__struct_fields__}
    return structs.replace(below, **{n: value for n, value in said.items() if value is not UNSET})


def read_tables(
    where: str, text: str, others: frozenset[str] = frozenset()
) -> tuple[Tables, list[Problem]]:
    """The entries of a TOML text and all that is wrong with it; ``others`` are top-level tables
    that belong to someone else. With problems the tables are not to be used."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Tables(where), [Problem(where, f"not TOML: {error}")]
    problems = [
        Problem(where, unknown_key(key, (*_TABLES, *others)))
        for key in document
        if key not in (*_TABLES, *others)
    ]
    tables = {}
    for kind in ("providers", "models"):
        tables[kind], found = _entries(where, kind, document.get(kind, {}))
        problems += found
    problems += [
        Problem(f"{where}, [models.{_quoted(name)}]", 'a model is named "provider/model"')
        for name in tables["models"]
        if "/" not in name
    ]
    searches, found = _search_prices(where, document.get("searches", {}))
    problems += found
    egress = None
    if "egress" in document:
        egress, found = read_policy(where, document["egress"])
        problems += found
    return Tables(where, tables["providers"], tables["models"], text, egress, searches), problems


def _search_prices(where: str, value: Any) -> tuple[dict[str, SearchPrice], list[Problem]]:
    """What requests to searches cost, by ``[searches.NAME]``."""
    if not isinstance(value, dict):
        return {}, [Problem(where, "[searches] must be a table of tables, as in [searches.brave]")]
    prices: dict[str, SearchPrice] = {}
    problems: list[Problem] = []
    for name, fields in value.items():
        place = f"{where}, [searches.{_quoted(name)}]"
        if name not in WEB_SEARCHES:
            problems.append(Problem(place, unknown_key(name, WEB_SEARCHES)))
            continue
        if not isinstance(fields, dict):
            problems.append(Problem(place, f"expected a table, came {type(fields).__name__}"))
            continue
        found = [unknown_key(key, ("price",)) for key in fields if key != "price"]
        found += wrong_search_price(fields["price"]) if "price" in fields else []
        problems += [Problem(place, what) for what in found]
        if "price" in fields and not found:
            prices[name] = msgspec.convert(fields["price"], SearchPrice)
    return prices, problems


def _entries(where: str, kind: str, value: Any) -> tuple[dict[str, Entry], list[Problem]]:
    if not isinstance(value, dict):
        return {}, [Problem(where, f"[{kind}] must be a table of tables, as in [{kind}.NAME]")]
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    for name, fields in value.items():
        place = f"{where}, [{kind}.{_quoted(name)}]"
        found = [Problem(place, what) for what in _wrong(fields)]
        if not found:
            entries[name] = msgspec.convert(fields, Entry)
        problems += found
    return entries, problems


def _wrong(fields: Any) -> list[str]:
    """Everything wrong with one entry's fields."""
    if not isinstance(fields, dict):
        return [f"expected a table, came {type(fields).__name__}"]
    known = Entry.__struct_fields__
    wrong = [unknown_key(key, known) for key in fields if key not in known]
    for key, value in fields.items():
        if key in known:
            wrong += _wrong_value(key, value)
    return wrong


def _wrong_value(key: str, value: Any) -> list[str]:
    if key == "price":
        return wrong_price(value)
    if key == "card":
        return wrong_card(value)
    try:
        msgspec.convert({key: value}, Entry)
    except msgspec.ValidationError as error:
        return [f"{key}: {str(error).replace(f'$.{key}', key)}"]
    if key in ("max_connections", "timeout_s", "connect_timeout_s", "window") and value <= 0:
        return [f"{key}: must be above 0, not {value}"]
    return _wrong_fields(key, value) if key in ("body", "thinking") else []


def _wrong_fields(key: str, value: Mapping[str, Any]) -> list[str]:
    """What is wrong with fields that are to be sent, always or to switch thinking."""
    fields = value if key == "body" else {**value.get("on", {}), **value.get("off", {})}
    wrong = [
        f"{key}.{name}: not for a configuration file; it is written by Proofstone or is a key"
        for name in fields
        if name.lower() in _RESERVED_BODY
    ]
    if key == "thinking" and value.get("tokens", 0) < 0:
        wrong.append(f"thinking.tokens: must be 0 or more, not {value['tokens']}")
    return wrong


def _beside(path: Path, entry: Entry) -> Entry:
    if not isinstance(entry.ca_file, str) or not entry.ca_file:
        return entry
    return structs.replace(entry, ca_file=str(path.parent / Path(entry.ca_file).expanduser()))


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'
