"""Where each thing that is known of a model's endpoint comes from: which file, on which line.

Values are shown as they may be seen: keys, passwords and whatever else is secret read ``***``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from proofstone.engines.models.carried_cards import carried_card
from proofstone.engines.models.config import (
    MAX_CONNECTIONS,
    TIMEOUT_S,
    ModelConfig,
    card_of,
    sent_to,
)
from proofstone.engines.models.credentials import is_public_name, read_address
from proofstone.engines.models.entries import Entry, Tables
from proofstone.engines.models.names import ModelName
from proofstone.engines.models.secret import MASK, Scrubber, Secret
from proofstone.engines.models.toml_lines import KeyPath, key_lines, line_of
from proofstone.errors import BadInput
from proofstone.records import Card

__all__ = ["BUILT_IN", "Effective", "effective_entry", "shown_place", "variable_origin"]

BUILT_IN = "built in"  # where the table of known providers stands
NOT_SET = "not set"
_CARRIED = "carried default"
_DEFAULTS: Mapping[str, Any] = {
    "max_connections": MAX_CONNECTIONS,
    "timeout_s": TIMEOUT_S,
    "max_tokens_field": "max_tokens",
    "unsupported": (),
}
_ADDED_UP = ("headers", "body")
_BY_CARD = ("unsupported", "max_tokens_field")  # of which the card has a say


class Effective(Struct, frozen=True, kw_only=True):
    """One setting in force: its name, its value as it may be seen, and where it comes from."""

    name: str
    value: str
    origin: str


def effective_entry(
    name: ModelName, config: ModelConfig, above: Sequence[tuple[str, Entry]] = ()
) -> Iterator[Effective]:
    """Every field that is in force for a model, with what the file or flag is that said it.

    ``above`` are entries over the configuration with their origins, the highest last.
    """
    scrubber = Scrubber(_secrets(config))
    layers = [*_layers(name, config), *above]
    for field in Entry.__struct_fields__:
        if field in ("card", "price", *_BY_CARD):
            continue
        for shown, value, place in _in_force(field, layers):
            text, origin = _seen(shown, value, place, config)
            yield Effective(name=shown, value=scrubber.text(text), origin=origin)
    yield from _by_card(name, config, layers)
    yield from _facts(name, config)


def variable_origin(variable: str, config: ModelConfig) -> str:
    """Whether a variable comes from the environment or a ``.env``, or is not set."""
    if not config.environment.get(variable, "").strip():
        return NOT_SET
    return config.env_file if variable in config.from_env_file else "environment"


def shown_place(tables: Tables, path: KeyPath) -> str:
    """``proofstone.toml line 7`` for a key of a file."""
    if tables.where == BUILT_IN:
        return _CARRIED
    line = line_of(key_lines(tables.text), path)
    return tables.where if line is None else f"{tables.where} line {line}"


def _layers(name: ModelName, config: ModelConfig) -> list[tuple[Any, Entry]]:
    """The entries that concern a model, from the lowest: its provider's, then its own."""
    found: list[tuple[Any, Entry]] = []
    for kind, key in (("providers", name.provider), ("models", str(name))):
        for tables in config.layers:
            entry = getattr(tables, kind).get(key)
            if entry is not None:
                found.append(((tables, (kind, key)), entry))
    return found


def _in_force(field: str, layers: Sequence[tuple[Any, Entry]]) -> Iterator[tuple[str, Any, str]]:
    """(name, value, origin) of a field: one, none, or one a key where layers add up."""
    said = [(place, getattr(entry, field)) for place, entry in layers]
    said = [(place, value) for place, value in said if value is not UNSET]
    if field in _ADDED_UP:
        keys = dict.fromkeys(key for _place, value in said for key in value)
        for key in keys:
            place, value = next((p, v) for p, v in reversed(said) if key in v)
            yield f"{field}.{key}", value[key], _place(place, field, key)
    elif said:
        place, value = said[-1]
        yield field, value, _place(place, field)
    elif field in _DEFAULTS:
        yield field, _DEFAULTS[field], "default"


def _by_card(
    name: ModelName, config: ModelConfig, layers: Sequence[tuple[Any, Entry]]
) -> Iterator[Effective]:
    """What is not sent, and as what ``max_tokens`` is: by an entry, else by the card."""
    unsupported, field = sent_to(name, config)
    card = card_of(name, config)
    for shown, value, by_card in (
        ("unsupported", ", ".join(sorted(unsupported)) or "none", set(card.refuses) & unsupported),
        ("max_tokens_field", field, card.max_tokens_field == field),
    ):
        ((_name, _value, origin),) = _in_force(shown, layers)
        said = f"card.{'refuses' if shown == 'unsupported' else shown}"
        both = by_card and origin not in ("default", "carried default")
        known = f"{said}, {origin}" if both else said if by_card else origin
        yield Effective(name=shown, value=value, origin=known)


def _place(place: Any, *keys: str) -> str:
    if isinstance(place, str):
        return place
    tables, path = place
    return shown_place(tables, (*path, *keys))


def _seen(name: str, value: Any, origin: str, config: ModelConfig) -> tuple[str, str]:
    """A value as it may be seen, and its origin with that of a variable that it names."""
    if name == "base_url":
        return _shown_address(value, origin), origin
    if name == "api_key_env":
        found = variable_origin(value, config)
        known = f"{value} is not set" if found == NOT_SET else f"{value} = {MASK}"
        return known, f"named by {origin}" if found == NOT_SET else f"{found}, named by {origin}"
    header = name.partition("headers.")[2]
    if header and isinstance(value, str) and value.startswith("$"):
        return MASK, f"{variable_origin(value[1:], config)} ({value[1:]}), named by {origin}"
    if header and not is_public_name(header):
        return MASK, origin
    return _written(value), origin


def _written(value: Any) -> str:
    if isinstance(value, Struct):
        return msgspec.json.encode(value).decode()
    if isinstance(value, list | tuple):
        return ", ".join(str(entry) for entry in value) or "none"
    return str(value)


def _shown_address(address: str, origin: str) -> str:
    """An address without credentials and query; one that is none as it stands."""
    try:
        return read_address(address, origin).identity
    except BadInput:
        return address


def _facts(name: ModelName, config: ModelConfig) -> Iterator[Effective]:
    """Each fact of the card, and the price, with where it stands."""
    layers = _layers(name, config)
    served_as = next((e.model for _p, e in reversed(layers) if isinstance(e.model, str)), "")
    carried = Card() if name.provider == "sim" else carried_card(name, served_as)
    unknown = Card()
    for fact, value in structs.asdict(card_of(name, config)).items():
        if value == getattr(unknown, fact):
            continue
        origin = "carried card" if value == getattr(carried, fact) else _fact_place(layers, fact)
        shown = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        yield Effective(name=f"card.{fact}", value=shown, origin=origin)
    for place, entry in reversed(layers):
        if entry.price is not UNSET:
            price = structs.asdict(entry.price)
            shown = ", ".join(f"{key} {value}" for key, value in price.items() if value is not None)
            yield Effective(name="price", value=shown, origin=_place(place, "price"))
            return


def _fact_place(layers: Sequence[tuple[Any, Entry]], fact: str) -> str:
    unknown = getattr(Card(), fact)
    for place, entry in reversed(layers):
        if entry.card is not UNSET and getattr(entry.card, fact) != unknown:
            return _place(place, "card", fact)
    return "carried card"


def _secrets(config: ModelConfig) -> list[Secret]:
    """The values of every variable that an entry names for a key or a header."""
    entries = [*config.providers.values(), *config.models.values()]
    names = [entry.api_key_env for entry in entries if isinstance(entry.api_key_env, str)]
    for entry in entries:
        if isinstance(entry.headers, dict):
            names += [value[1:] for value in entry.headers.values() if value.startswith("$")]
    return [Secret(value) for name in names if (value := config.environment.get(name, ""))]
