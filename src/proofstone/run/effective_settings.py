"""List every setting that a command would run with, and its origin."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from proofstone.models.config import (
    BUILT_IN,
    Effective,
    ModelConfig,
    effective_entry,
    room_of,
    sent_to,
    shown_place,
)
from proofstone.models.credentials import MASK, is_secret_name, scrub
from proofstone.models.entries import Entry, KeyPath, key_lines, line_of
from proofstone.models.names import parse_model_name
from proofstone.models.wire import THINKING_TOKENS as USUAL_TOKENS
from proofstone.records.ids import short
from proofstone.run.prompts import THINKING_TOKENS, read_own_prompt
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import RunFile
from proofstone.run.run_options import COUNTS, names_of

# Environment variables that change how endpoints are reached.
_OF_CONNECTIONS = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE",
                   "SSL_CERT_DIR")  # fmt: skip


_READ_HERE = ("providers", "models")


_COUNTS = (*COUNTS, "prompt_template")


_OPTIONS = frozenset(names_of("setting")) - {"thinking"}


_PLAIN: Mapping[str, Any] = {"shots": 0, "samples": 1, "replicate": "", "prompt_template": ""}


_OF_ALL = (
    "preset", "budget", "thinking", "reasoning_effort", "context", "context_tokens",
    "context_chunks", "context_search", "context_source", "context_embedding_model", "judge",
    "cache",
    "max_connections",
)  # fmt: skip


_EMPTY = {"prompt_template": "the method's"}


class Section(Struct, frozen=True, kw_only=True):
    """Settings under one heading."""

    heading: str
    settings: tuple[Effective, ...]


def effective_models(
    config: ModelConfig, request: RunRequest, file: RunFile | None
) -> Iterator[Section]:
    """Yield how each model is reached: the models of the request, or all configured ones."""
    names = list(request.models) or sorted(config.models)
    for name in names:
        above = list(_above(name, request, file))
        settings = tuple(effective_entry(parse_model_name(name), config, above))
        yield Section(heading=f"model {name}", settings=settings)


def effective_run(
    config: ModelConfig,
    request: RunRequest,
    file: RunFile | None,
    defaults: Callable[[str], Mapping[str, Any]] | None,
) -> Iterator[Section]:
    """Yield what is run and how each model is asked with each prompting method.

    ``defaults`` are the method's; None if no target determines the method.
    """
    whole = tuple(_whole(request, file))
    if whole:
        yield Section(heading="run", settings=whole)
    for model in request.models:
        for prompt_method in request.prompt_methods_of(model):
            settings = tuple(_asked(model, prompt_method, request, file, defaults, config))
            yield Section(heading=f"asking {model} {prompt_method}", settings=settings)


def other_tables(config: ModelConfig) -> Iterator[Section]:
    """Yield the workspace's settings, and variables that change how endpoints are reached."""
    for tables in config.layers:
        if tables.where == BUILT_IN:
            continue
        for table, fields in tomllib.loads(tables.text).items():
            if table not in _READ_HERE:
                found = _flat(fields, (table,))
                settings = tuple(
                    Effective(
                        name=".".join(path[1:]), value=_masked(path[-1], value),
                        origin=shown_place(tables, path),
                    )
                    for path, value in found
                )  # fmt: skip
                yield Section(heading=f"[{table}]", settings=settings)
    variables = tuple(
        Effective(
            name=name, value=scrub(value),
            origin=config.env_file if name in config.from_env_file else "environment",
        )
        for wanted in _OF_CONNECTIONS
        for name in (wanted, wanted.lower())
        if (value := config.environment.get(name, ""))
    )  # fmt: skip
    if variables:
        yield Section(heading="environment", settings=variables)


def _whole(request: RunRequest, file: RunFile | None) -> Iterator[Effective]:
    said = {"targets": request.targets, **request.whole}
    own = {} if file is None else {"targets": file.request.targets, **file.request.whole}
    for name in ("targets", *_OF_ALL):
        value = said.get(name)
        if not value:
            continue
        if file is not None and own.get(name) == value:
            is_one = name == "targets" and ("target",) in key_lines(file.text)
            origin = _line(file, ("target" if is_one else name,))
        else:
            origin = "command" if name == "targets" else f"flag --{name.replace('_', '-')}"
        shown = ", ".join(value) if isinstance(value, tuple) else str(value)
        yield Effective(name=name, value=shown, origin=origin)


def _asked(
    model: str,
    prompt_method: str,
    request: RunRequest,
    file: RunFile | None,
    defaults: Callable[[str], Mapping[str, Any]] | None,
    config: ModelConfig,
) -> Iterator[Effective]:
    """Yield each setting of one model and prompting method, from the highest layer that sets it."""
    unsupported, _field = sent_to(parse_model_name(model), config)
    plain = Asking(**_PLAIN)
    own = {} if defaults is None else defaults(prompt_method)
    layers: list[tuple[Asking | None, KeyPath | str]] = [
        (plain, "default"),
        (Asking(settings=own), "method's default"),
        (request.for_all, ()),
        (request.prompt_methods.get(prompt_method), ("prompt_method", prompt_method)),
        (request.models.get(model), ("models", model)),
        (request.flags, "flag"),
    ]
    asking = request.asking(model, prompt_method).over(Asking(settings=own).over(plain))
    said = {name: getattr(asking, name) for name in _COUNTS if getattr(asking, name) is not None}
    for name, value in (said | dict(asking.settings)).items():
        place = next(place for layer, place in reversed(layers) if layer and _says(layer, name))
        shown = "left out" if value is None else _masked(name, value) or _EMPTY.get(name, '""')
        if name == "prompt_template" and value:
            shown = f"{value} ({short(read_own_prompt(Path(value)).hash)})"
        shown += " (not sent)" if name in unsupported else ""
        yield Effective(
            name=name, value=shown, origin=_shown(place, name, file, request.asked.preset)
        )
    tokens = room_of(parse_model_name(model), config)
    thinks = "on" in request.asked.thinking or asking.settings.get("thinking") == "on"
    said_length = {"max_tokens", THINKING_TOKENS} & request.asking(
        model, prompt_method
    ).settings.keys()
    if tokens and thinks and not said_length:
        origin = "default" if tokens == USUAL_TOKENS else "the model's entry"
        yield Effective(name=THINKING_TOKENS, value=str(tokens), origin=origin)


def _says(layer: Asking, name: str) -> bool:
    if name in _COUNTS:
        return getattr(layer, name) is not None
    return name in layer.settings


def _shown(place: KeyPath | str, name: str, file: RunFile | None, preset: str) -> str:
    if place == "flag":
        own = name in _COUNTS or name in _OPTIONS
        return f"flag --{name.replace('_', '-')}" if own else f"flag --set {name}"
    if isinstance(place, str):
        return place
    if file is None or (not place and not _says(file.request.for_all, name)):
        return f"preset {preset}"
    return _line(file, (*place, name))


def _above(name: str, request: RunRequest, file: RunFile | None) -> Iterator[tuple[str, Entry]]:
    """Yield what run file and flags override about how a model is reached."""
    entry = request.entries.get(name, Entry())
    for field, key in (("model", "file"), ("max_connections", ""), ("timeout_s", "")):
        value = getattr(entry, field)
        if file is not None and value is not UNSET:
            yield _line(file, ("models", name, key or field)), Entry(**{field: value})
    if (most := request.asked.max_connections) is not None:
        (setting,) = (s for s in _whole(request, file) if s.name == "max_connections")
        yield setting.origin, Entry(max_connections=most)


def _line(file: RunFile, path: KeyPath) -> str:
    line = line_of(key_lines(file.text), path)
    return str(file.path) if line is None else f"{file.path} line {line}"


def _flat(fields: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(fields, dict) and fields:
        for key, value in fields.items():
            yield from _flat(value, (*path, key))
    else:
        yield path, fields


def _masked(name: str, value: Any) -> str:
    """Return a setting with secrets masked; the name of a variable is not a secret."""
    if is_secret_name(name) and not name.endswith("_env") and isinstance(value, str):
        return MASK
    if isinstance(value, list | tuple | dict):
        return scrub(msgspec.json.encode(value).decode())
    return scrub(str(value))
