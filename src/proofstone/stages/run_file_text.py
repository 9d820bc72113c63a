"""A request as the text of a run file, which read again means the very same runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UnsetType

from proofstone.engines.models import Entry
from proofstone.errors import BadInput
from proofstone.stages.run_keys import UNSET, has_own_key
from proofstone.stages.run_request import Asking, RunRequest

__all__ = ["run_file_text"]


def run_file_text(
    request: RunRequest, folder: Path, *, heading: str = "", names: Mapping[str, str] | None = None
) -> str:
    """The run file of a request whose flags are none; files of models and templates are written as
    seen from ``folder``, targets with their ``names`` behind them. Raises BadInput for a setting
    that TOML cannot hold."""
    parts = ["\n".join(_top(request, folder, heading, names or {}))]
    parts += [_table("ask", way, _asking(layer, folder)) for way, layer in request.ways.items()]
    parts += [
        _table("models", model, _model(request, model, layer, folder))
        for model, layer in request.models.items()
    ]
    return "\n\n".join(parts) + "\n"


def _top(
    request: RunRequest, folder: Path, heading: str, names: Mapping[str, str]
) -> Iterator[str]:
    yield from (f"# {line}" for line in heading.splitlines())
    yield "targets = ["
    for target in request.targets:
        name = f"  # {names[target]}" if target in names else ""
        yield f"    {_value(target, 'targets')},{name}"
    yield "]"
    whole = {
        "max_connections": request.max_connections,
        "budget": request.budget or None,
        "cache": request.cache or None,
        "context": list(request.contexts) or None,
        "context_tokens": request.context_tokens,
        "context_chunks": request.context_chunks,
        "context_search": request.context_search or None,
        "context_source": list(request.context_sources) or None,
        "context_embedder": request.context_embedder or None,
        "judge": list(request.judge) or None,
        **request.judge_rules,
    }
    yield from _lines({name: value for name, value in whole.items() if value is not None})
    swept = {"thinking": request.thinking, "reasoning_effort": request.efforts}
    yield from _lines({name: list(words) for name, words in swept.items() if words})
    yield from _lines(_asking(request.for_all, folder))


def _asking(layer: Asking, folder: Path) -> dict[str, Any]:
    """The keys of a layer: counts and the template first, then settings; those without a key of
    their own in ``set``."""
    counts = {
        name: value
        for name in ("shots", "samples", "limit", "replicate")
        if (value := getattr(layer, name)) is not None
    }
    if layer.prompt is not None:
        counts["prompt"] = _seen_from(folder, layer.prompt) if layer.prompt else ""
    known = {n: value for n, value in layer.settings.items() if has_own_key(n, value)}
    others = {n: value for n, value in layer.settings.items() if n not in known}
    return {**counts, **known, **({"set": others} if others else {})}


def _model(request: RunRequest, model: str, layer: Asking, folder: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if model in request.model_ways:
        fields["ask"] = list(request.model_ways[model])
    entry = request.entries.get(model, Entry())
    if not isinstance(entry.model, UnsetType):
        path = entry.model.partition("?")[0]
        fields["file"] = _seen_from(folder, path)
    for name in ("max_connections", "timeout_s"):
        value = getattr(entry, name)
        if not isinstance(value, UnsetType):
            fields[name] = value
    return {**fields, **_asking(layer, folder)}


def _seen_from(folder: Path, path: str) -> str:
    try:
        return Path(os.path.relpath(path, folder.absolute())).as_posix()
    except ValueError:  # another drive, on Windows
        return path


def _table(kind: str, name: str, fields: Mapping[str, Any]) -> str:
    return "\n".join([f"[{kind}.{_key(name)}]", *_lines(fields)])


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if name == "set":
            pairs = ", ".join(
                f"{_key(key)} = {_setting(entry, key)}" for key, entry in value.items()
            )
            yield f"set = {{ {pairs} }}"
        else:
            yield f"{_key(name)} = {_setting(value, name)}"


def _setting(value: Any, name: str) -> str:
    """A value, or the word that leaves a setting out."""
    if value == UNSET:
        raise _unwritable(name, value)
    return _quoted(UNSET) if value is None else _value(value, name)


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isascii() and plain.isalnum() else _quoted(name)


def _quoted(text: str) -> str:
    """A TOML text; JSON's escapes are TOML's, but for DEL."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _value(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(str(key))} = {_value(entry, name)}" for key, entry in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(entry, name) for entry in value)}]"
    raise _unwritable(name, value)


def _unwritable(name: str, value: Any) -> BadInput:
    return BadInput(f"the setting {name} cannot be written into a run file: {value!r}")
