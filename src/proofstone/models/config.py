"""Resolve files, environment and flags to one endpoint per model.

Later layers win: the built-in providers, the user's ``proofstone.toml``, the workspace's, a model's
entry over its provider's, and a command's flags. Files name the environment variables that hold
keys. The nearest ``.env`` in this or a parent folder adds variables; the process's environment wins
over it and is never changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import platformdirs
from dotenv import dotenv_values
from msgspec import UNSET, Struct, structs
from msgspec import field as struct_field

from proofstone.errors import BadInput, NotFound, Problem, ProofstoneError
from proofstone.models.connections import Route, choose_route
from proofstone.models.credentials import (
    MASK,
    Address,
    Headers,
    Scrubber,
    Secret,
    build_headers,
    is_public_name,
    read_address,
    scrub,
)
from proofstone.models.egress import EgressGate
from proofstone.models.entries import (
    Entry,
    KeyPath,
    Tables,
    Wire,
    bundled_card,
    key_lines,
    line_of,
    merged,
    read_tables,
    thinking_fields,
    thinking_tokens,
)
from proofstone.models.names import ModelName, parse_model_name
from proofstone.models.wire import THINKING_TOKENS
from proofstone.records.models import Card, Price, SearchPrice, merged_card

FILE_NAME = "proofstone.toml"


MAX_CONNECTIONS = 64


TIMEOUT_S = 600.0  # reasoning models think for minutes


CONNECT_TIMEOUT_S = 15.0


@dataclass(frozen=True)
class ModelConfig:
    """Hold all settings of files and environment.

    ``environment`` holds keys and is never shown. ``layers`` are the files one by one, the built-in
    providers first. ``env_file`` is the ``.env`` that was read, if any, with its variables.
    ``searches`` are prices.
    """

    providers: Mapping[str, Entry]
    models: Mapping[str, Entry]
    environment: Mapping[str, str] = field(repr=False)
    files: tuple[str, ...] = ()
    layers: tuple[Tables, ...] = field(default=(), repr=False)
    env_file: str = ""
    from_env_file: frozenset[str] = frozenset()
    gate: EgressGate = field(default_factory=EgressGate)
    searches: Mapping[str, SearchPrice] = field(default_factory=dict)


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where and how one model is asked, ready to use.

    ``identity`` is the address without credentials and query, as in request hashes and the store.
    ``headers`` hold the key; their values print ``***``; no text may show the ``secrets``.
    ``key_from`` and ``entry`` name the key's origin and the configuration table to change, for
    messages. ``window`` (prompt plus response tokens) and ``images`` are None if unknown.
    """

    name: str
    base_url: Secret
    identity: str
    reported_as: str
    headers: tuple[tuple[str, Secret], ...] = ()
    secrets: tuple[Secret, ...] = ()
    max_connections: int = MAX_CONNECTIONS
    timeout_s: float = TIMEOUT_S
    connect_timeout_s: float = CONNECT_TIMEOUT_S
    price: Price | None = None
    card: Card = Card()
    body: Mapping[str, Any] = {}
    unsupported: frozenset[str] = frozenset()
    max_tokens_field: str = "max_tokens"
    key_from: str = ""
    entry: str = ""
    wire: Wire = "openai-chat"
    window: int | None = None
    images: bool | None = None
    thinking: Mapping[str, Mapping[str, Any]] = {}
    thinking_tokens: int = THINKING_TOKENS
    route: Route = struct_field(default_factory=lambda: Route(gate=EgressGate()))


def _key_beside(headers: Headers, address: Address) -> str:
    """Return where a key outside ``api_key_env`` is given; empty if there is none."""
    if headers.secrets:
        return "the headers"
    return "the address" if address.secrets else ""


def load_config(
    folder: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    user_folder: Path | None = None,
    other_tables: frozenset[str] = frozenset(),
) -> ModelConfig:
    """Return the configuration seen from ``folder`` (default: the current one).

    ``other_tables`` are top-level tables of ``proofstone.toml`` that other modules read. Raises
    BadInput naming every unknown key and invalid value of all files, with its place.
    """
    folder = Path.cwd() if folder is None else folder
    user = platformdirs.user_config_path("proofstone") if user_folder is None else user_folder
    tables = [_built_in()]
    problems: list[Problem] = []
    for path in dict.fromkeys((user / FILE_NAME, folder / FILE_NAME)):
        found, wrong = _read_file(path, other_tables)
        tables += [found] if found is not None else []
        problems += wrong
    if problems:
        hint = "see docs/how-to/models.md"
        raise BadInput("the configuration cannot be used", problems, hint=hint)
    given = os.environ if environ is None else environ
    env_file, read = _read_env_file(folder)
    return ModelConfig(
        providers=_by_name(table.providers for table in tables),
        models=_by_name(table.models for table in tables),
        environment={**read, **given},
        files=tuple(table.where for table in tables[1:]),
        layers=tuple(tables),
        env_file=env_file,
        from_env_file=frozenset(read) - frozenset(given),
        searches={name: price for table in tables for name, price in table.searches.items()},
        gate=EgressGate([table.egress for table in tables if table.egress is not None]),
    )


def resolve(name: ModelName, config: ModelConfig, flags: Entry | None = None) -> Endpoint:
    """Return the endpoint of a model.

    Raises NotFound for an unknown provider, EndpointUnusable if the variable of its key is not set,
    and BadInput for invalid addresses or headers.
    """
    own = config.models.get(str(name))
    table_name = provider_of(name)
    if table_name not in config.providers and (own is None or own.base_url is UNSET):
        raise _unknown_provider(name, config)
    provider = config.providers.get(table_name, Entry())
    chosen = merged([provider, own or Entry(), flags or Entry()])
    table = f'[models."{name}"]' if own is not None else f"[providers.{_key(table_name)}]"
    place = f"{table} of {FILE_NAME}"
    address = read_address(_or(chosen.base_url, ""), place)
    card = card_of(name, config)
    variable = _or(chosen.api_key_env, "")
    given = _or(chosen.headers, {})
    headers = build_headers(name, variable, given, config.environment, address, place)
    route = choose_route(address.identity, chosen, config.environment, config.gate, place)
    return Endpoint(
        name=str(name),
        base_url=address.url,
        identity=address.identity,
        reported_as=_or(chosen.model, name.model),
        headers=headers.values,
        secrets=headers.secrets + address.secrets + route.secrets,
        max_connections=_or(chosen.max_connections, MAX_CONNECTIONS),
        timeout_s=_or(chosen.timeout_s, TIMEOUT_S),
        connect_timeout_s=_or(chosen.connect_timeout_s, CONNECT_TIMEOUT_S),
        price=_or(chosen.price, None),
        card=card,
        body=_or(chosen.body, {}),
        unsupported=_unsupported(chosen, own or Entry(), card),
        max_tokens_field=_max_tokens_field(chosen, own or Entry(), card),
        key_from=variable or _key_beside(headers, address),
        entry=place,
        wire=_or(chosen.wire, wire_of(card)),
        window=_or(chosen.window, card.window),
        images=_or(chosen.images, card.images),
        thinking=thinking_fields(chosen),
        thinking_tokens=thinking_tokens(chosen),
        route=route,
    )


def address_of(name: ModelName, config: ModelConfig) -> tuple[str, tuple[str, ...]]:
    """Return a model's address, and the variables that it needs and that are not set.

    Raises BadInput for an invalid address.
    """
    chosen = merged(_entries_of(name, config))
    headers = _or(chosen.headers, {}).values()
    named = [_or(chosen.api_key_env, ""), *(text[1:] for text in headers if text.startswith("$"))]
    unset = (one for one in named if one and not config.environment.get(one, "").strip())
    return read_address(_or(chosen.base_url, ""), str(name)).identity, tuple(dict.fromkeys(unset))


def wire_of(card: Card) -> Wire:
    """Return the default wire format of a model with this card."""
    return "openai-completions" if card.kind == "base" else "openai-chat"


def card_of(name: ModelName, config: ModelConfig) -> Card:
    """Return a model's card: the bundled card, overridden by its provider's and its own entry.

    Empty for a simulated model.
    """
    if name.provider == "sim":
        return Card()
    provider, own = _entries_of(name, config)
    reported_as = _or(own.model, "")
    return merged_card(
        [bundled_card(name, reported_as), _or(provider.card, Card()), _or(own.card, Card())]
    )


def price_of(name: ModelName, config: ModelConfig) -> Price | None:
    """Return a model's price from its own entry or its provider's; None without one."""
    price: Price | None = _or(merged(_entries_of(name, config)).price, None)
    return price


def sent_to(name: ModelName, config: ModelConfig) -> tuple[frozenset[str], str]:
    """Return the settings that are not sent to a model, and its field for ``max_tokens``."""
    provider, own = _entries_of(name, config)
    chosen, card = merged([provider, own]), card_of(name, config)
    return _unsupported(chosen, own, card), _max_tokens_field(chosen, own, card)


def room_of(name: ModelName, config: ModelConfig) -> int:
    """Return how many tokens longer a model's response may be with thinking on."""
    return 0 if name.provider == "sim" else thinking_tokens(merged(_entries_of(name, config)))


def _entries_of(name: ModelName, config: ModelConfig) -> tuple[Entry, Entry]:
    """Return the provider's entry and the model's own, empty if there is none."""
    return config.providers.get(provider_of(name), Entry()), config.models.get(str(name), Entry())


def provider_of(name: ModelName) -> str:
    """Return the name of a model's ``[providers]`` table: with Inspect's provider behind it."""
    inner, slash, _ = name.model.partition("/")
    return f"{name.provider}/{inner}" if name.provider == "inspect" and slash else name.provider


def _key(name: str) -> str:
    return f'"{name}"' if "/" in name else name


def _unsupported(chosen: Entry, own: Entry, card: Card) -> frozenset[str]:
    """Return the settings that are not sent.

    They come from the model's own entry if it lists any; otherwise from its provider's and its
    card.
    """
    if own.unsupported is not UNSET:
        return frozenset(_or(chosen.unsupported, ()))
    return frozenset((*_or(chosen.unsupported, ()), *card.refuses))


def _max_tokens_field(chosen: Entry, own: Entry, card: Card) -> str:
    """Return the field from the model's own entry, its card or its provider, in this order."""
    if own.max_tokens_field is UNSET and card.max_tokens_field:
        return card.max_tokens_field
    field_name: str = _or(chosen.max_tokens_field, "max_tokens")
    return field_name


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is UNSET else value


def _built_in() -> Tables:
    text = (resources.files(__package__) / "providers.toml").read_text(encoding="utf-8")
    return read_tables("built in", text)[0]


def _read_file(path: Path, others: frozenset[str]) -> tuple[Tables | None, list[Problem]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None, []
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(str(path), f"cannot be read: {error}")]
    tables, problems = read_tables(str(path), text, others)
    return tables.beside(path), problems


def _by_name(groups: Any) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for group in groups:
        for name, entry in group.items():
            entries[name] = merged([entries.get(name, Entry()), entry])
    return entries


def _read_env_file(folder: Path) -> tuple[str, dict[str, str]]:
    """Return the path and variables of the nearest ``.env`` in ``folder`` or a parent.

    Empty if there is none. The process's environment wins over it.
    """
    start = folder.absolute()
    found = next((p for f in (start, *start.parents) if (p := f / ".env").is_file()), None)
    if found is None:
        return "", {}
    try:
        # Taken literally: expanding ${NAME} would read an environment that was not passed in.
        read = dotenv_values(found, encoding="utf-8-sig", interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{found} cannot be read: {error}") from error
    return str(found), {name: value for name, value in read.items() if value is not None}


def _unknown_provider(name: ModelName, config: ModelConfig) -> NotFound:
    known = ", ".join(sorted({*config.providers, "local", "sim"}))
    missing = provider_of(name)
    return NotFound(
        f"unknown provider {missing!r} (in {name})",
        hint=f"choose from: {known}\n"
        f'or add [providers.{_key(missing)}] with base_url = "https://..." to {FILE_NAME}',
    )


# A configuration to show to others: complete in structure, without secrets and titles.

_SECRET_NAME = re.compile(r"(?i)key|token|secret|password|passwd|credential|auth|cookie|proxy")


_SHORTEST = 6  # replacing a variable's shorter value would blank out half of every text


def redacted_settings(config: ModelConfig) -> list[dict[str, Any]]:
    """Return the tables of each file that was read, in order of precedence, without built-in ones.

    Of the egress policy only the hosts and the number of sources with rules are given.
    """
    return [_layer(table) for table in config.layers[1:]]


def scrubber_of(config: ModelConfig) -> Scrubber:
    """Return a scrubber for every secret in this configuration.

    These are keys, headers, credentials in addresses and proxies, and variables named like a
    secret.
    """
    secrets = [
        Secret(value)
        for name, value in config.environment.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
    ]
    for name in [*config.models, *(f"{provider}/any" for provider in config.providers)]:
        try:
            secrets += resolve(parse_model_name(name), config).secrets
        except ProofstoneError:
            continue  # its key is not set, so there is none to hide
    for entry in [*config.models.values(), *config.providers.values()]:
        given = {} if entry.headers is UNSET else entry.headers
        secrets += [Secret(text) for text in given.values() if not text.startswith("$")]
    return Scrubber(secrets)


def _layer(table: Tables) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "file": table.where,
        "providers": {name: _entry(entry) for name, entry in table.providers.items()},
        "models": {name: _entry(entry) for name, entry in table.models.items()},
    }
    if table.egress is not None:
        rules = len(table.egress.sources)
        shown["egress"] = {"hosts": table.egress.hosts, "sources_with_rules": rules}
    return shown


def _entry(entry: Entry) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(entry)
    if "headers" in shown:
        shown["headers"] = {
            name: text if text.startswith("$") else "***" for name, text in shown["headers"].items()
        }
    for name in ("base_url", "proxy"):
        if name in shown and not shown[name].startswith("$"):
            shown[name] = scrub(shown[name].partition("?")[0])
    if "body" in shown:
        shown["body"] = sorted(shown["body"])  # names of extra fields; their values may be anything
    return shown


# The file and line of each setting of a model's endpoint.
#
# Keys, passwords and all other secrets are shown as ``***``.

BUILT_IN = "built in"  # path of the table of known providers


NOT_SET = "not set"


_BUNDLED = "bundled default"


_DEFAULTS: Mapping[str, Any] = {
    "max_connections": MAX_CONNECTIONS,
    "timeout_s": TIMEOUT_S,
    "max_tokens_field": "max_tokens",
    "unsupported": (),
}


_ADDED_UP = ("headers", "body")


_BY_CARD = ("unsupported", "max_tokens_field")  # fields that the card can set


class Effective(Struct, frozen=True, kw_only=True):
    """One setting in force: its name, its value as it may be shown, and its origin."""

    name: str
    value: str
    origin: str


def effective_entry(
    name: ModelName, config: ModelConfig, above: Sequence[tuple[str, Entry]] = ()
) -> Iterator[Effective]:
    """Yield every field in force for a model, with the file or flag that set it.

    ``above`` are entries over the configuration with their origins, the highest last.
    """
    scrubber = Scrubber(_secrets(config))
    layers = [*_layers(name, config), *above]
    for told in Entry.__struct_fields__:
        if told in ("card", "price", *_BY_CARD):
            continue
        for shown, value, place in _in_force(told, layers):
            text, origin = _seen(shown, value, place, config)
            yield Effective(name=shown, value=scrubber.text(text), origin=origin)
    yield from _by_card(name, config, layers)
    yield from _facts(name, config)


def variable_origin(variable: str, config: ModelConfig) -> str:
    """Return whether a variable comes from the environment or a ``.env``, or is not set."""
    if not config.environment.get(variable, "").strip():
        return NOT_SET
    return config.env_file if variable in config.from_env_file else "environment"


def shown_place(tables: Tables, path: KeyPath) -> str:
    """Return ``proofstone.toml line 7`` for a key of a file."""
    if tables.where == BUILT_IN:
        return _BUNDLED
    line = line_of(key_lines(tables.text), path)
    return tables.where if line is None else f"{tables.where} line {line}"


def _layers(name: ModelName, config: ModelConfig) -> list[tuple[Any, Entry]]:
    """Return the entries for a model, from the lowest: its provider's, then its own."""
    found: list[tuple[Any, Entry]] = []
    for kind, key in (("providers", name.provider), ("models", str(name))):
        for tables in config.layers:
            entry = getattr(tables, kind).get(key)
            if entry is not None:
                found.append(((tables, (kind, key)), entry))
    return found


def _in_force(field: str, layers: Sequence[tuple[Any, Entry]]) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, value, origin) of a field: one, none, or one per key if layers add up."""
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
    """Yield unsent settings and the field for ``max_tokens``: from an entry or the card."""
    unsupported, field = sent_to(name, config)
    card = card_of(name, config)
    for shown, value, by_card in (
        ("unsupported", ", ".join(sorted(unsupported)) or "none", set(card.refuses) & unsupported),
        ("max_tokens_field", field, card.max_tokens_field == field),
    ):
        ((_name, _value, origin),) = _in_force(shown, layers)
        said = f"card.{'refuses' if shown == 'unsupported' else shown}"
        both = by_card and origin not in ("default", "bundled default")
        known = f"{said}, {origin}" if both else said if by_card else origin
        yield Effective(name=shown, value=value, origin=known)


def _place(place: Any, *keys: str) -> str:
    if isinstance(place, str):
        return place
    tables, path = place
    return shown_place(tables, (*path, *keys))


def _seen(name: str, value: Any, origin: str, config: ModelConfig) -> tuple[str, str]:
    """Return a value as it may be shown, and its origin with that of a variable that it names."""
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
    """Return an address without credentials and query; an invalid one unchanged."""
    try:
        return read_address(address, origin).identity
    except BadInput:
        return address


def _facts(name: ModelName, config: ModelConfig) -> Iterator[Effective]:
    """Yield each fact of the card, and the price, with its origin."""
    layers = _layers(name, config)
    reported_as = next((e.model for _p, e in reversed(layers) if isinstance(e.model, str)), "")
    bundled = Card() if name.provider == "sim" else bundled_card(name, reported_as)
    unknown = Card()
    for fact, value in structs.asdict(card_of(name, config)).items():
        if value == getattr(unknown, fact):
            continue
        origin = "bundled card" if value == getattr(bundled, fact) else _fact_place(layers, fact)
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
    return "bundled card"


def _secrets(config: ModelConfig) -> list[Secret]:
    """Return the values of every variable that an entry names for a key or a header."""
    entries = [*config.providers.values(), *config.models.values()]
    names = [entry.api_key_env for entry in entries if isinstance(entry.api_key_env, str)]
    for entry in entries:
        if isinstance(entry.headers, dict):
            names += [value[1:] for value in entry.headers.values() if value.startswith("$")]
    return [Secret(value) for name in names if (value := config.environment.get(name, ""))]
