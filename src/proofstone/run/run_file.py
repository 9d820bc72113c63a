"""Read and write run files: a TOML text with the targets, models and settings of runs.

    target = "elements-7f3a"
    prompt_method = ["direct", "cot"]
    samples = 2
    max_tokens = 2048

    [models."openai/gpt-5.1"]
    reasoning_effort = "low"

    [models."local/models/small.gguf"]

All unknown keys and invalid values are reported together, each with its line. Paths are relative to
the file's folder.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import UNSET as NOT_SAID
from msgspec import Struct, UnsetType

from proofstone import __version__
from proofstone.errors import BadInput, BadUsage, Problem, StoreFailed
from proofstone.method import find_method
from proofstone.models.budget import read_budget
from proofstone.models.entries import Entry, KeyPath, key_lines, line_of
from proofstone.models.names import parse_model_name, unknown_key
from proofstone.models.wire import (
    NUMBER_SETTINGS,
    SETTINGS,
    THINKING,
    check_range,
    checked_stop,
)
from proofstone.records.items import CONTEXTS, shown_name
from proofstone.records.options import options_in
from proofstone.records.runs import ANSWER_FORMAT, BLOCKED_HOSTS, REASONING_TOKENS, TOOLS
from proofstone.run.prompts import AUTO, THINKING_TOKENS
from proofstone.run.request import Asking, RunRequest, item_sets_of
from proofstone.run.run_options import COUNTS, RunAsked, RunOpt, names_of
from proofstone.session.session import Session
from proofstone.session.terminal import day

# The keys of a run file, with the type and check of each.

UNSET = "unset"  # in place of a value: omits a setting that has a default


_NOT_HERE = frozenset({"schema", "response_format"})  # set by a method only


_SETTINGS = SETTINGS | {THINKING_TOKENS, REASONING_TOKENS, ANSWER_FORMAT, TOOLS, BLOCKED_HOSTS}


ASKING_KEYS = (*COUNTS, "prompt_template", "set", *sorted(_SETTINGS - _NOT_HERE))


MODEL_KEYS = (*ASKING_KEYS, "prompt_method", "file", "max_connections", "timeout_s")


TOP_KEYS = (
    *ASKING_KEYS,
    "target",
    "targets",
    "models",
    "prompt_method",
    "workspace",
    *names_of("whole"),
)


# The check of each key, and its description. Settings without a row take any value.
Taken = tuple[Callable[[Any], bool], str]


def _texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    )


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _contexts(value: Any) -> bool:
    words = [value] if isinstance(value, str) else value
    return isinstance(words, list) and bool(words) and all(word in CONTEXTS for word in words)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any, least: float = float("-inf")) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return least <= value < float("inf")


def _from(least: int) -> Taken:
    return partial(_whole, least=least), f"a whole number of {least} or more"


def keys_of(record: type[Struct]) -> dict[str, Taken]:
    """Return what each field of a record of ``RunOpt`` takes in a run file, by its type."""
    taken: dict[str, Taken] = {}
    for name, kind, option in options_in(record):
        if not isinstance(option, RunOpt) or option.of == "command":
            continue
        if words := option.choices or (get_origin(kind) is Literal and get_args(kind)):
            *first, last = (f'"{word}"' for word in words)
            taken[name] = (tuple(words).__contains__, f"{', '.join(first)} or {last}")
        elif get_origin(kind) is tuple:
            taken[name] = (_texts, option.expected)
        elif kind is int:
            taken[name] = _from(int(option.least or 0))
        else:
            taken[name] = (_text, option.expected or "a text")
    return taken


_TAKES: Mapping[str, Taken] = {
    **keys_of(RunAsked),
    **dict.fromkeys(NUMBER_SETTINGS, (_number, "a number")),
    **dict.fromkeys(("top_k", "seed", "top_logprobs"), _from(0)),
    "thinking": (lambda value: value in THINKING, '"on" or "off"'),
    THINKING_TOKENS: (
        lambda value: value == AUTO or _whole(value, 0),
        'a whole number of 0 or more, or "auto"',
    ),
    "reasoning_effort": (_text, "a text"),
    "context": (_contexts, f"one of {', '.join(CONTEXTS)}, or a list of them"),
    "set": (lambda value: isinstance(value, dict), "a table of settings"),
    "prompt_method": (_texts, "a prompting method or several"),
    **dict.fromkeys(("target", "targets"), (_texts, "a form or bank, or several")),
    "file": (_text, "the path of a model's file"),
    "workspace": (_text, "the path of a folder"),
    "timeout_s": (lambda value: _number(value, 0.001), "a number of seconds"),
}


# Further checks; these raise BadUsage for what they cannot read.
_READS: Mapping[str, Callable[[Any], object]] = {
    **{name: partial(check_range, name) for name in NUMBER_SETTINGS},
    "stop": checked_stop,
    "budget": read_budget,
}


def wrong_keys(fields: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, str]:
    """Return the problems, by key, of a table that may hold the ``known`` keys."""
    wrong = {key: unknown_key(key, known) for key in fields if key not in known}
    for key, value in fields.items():
        if key in wrong or key not in _TAKES or (key in SETTINGS and value == UNSET):
            continue
        fits, called = _TAKES[key]
        if known is TOP_KEYS and _is_sweep(key, value):
            continue
        if not fits(value):
            wrong[key] = f"{key}: expected {called}, got {value!r}"
        elif key in _READS:
            try:
                _READS[key](value)
            except BadUsage as error:
                wrong[key] = f"{key}: expected {called}; {error.message}"
    return wrong


def read_asking(fields: Mapping[str, Any], folder: Path) -> Asking:
    """Return the settings layer of a checked table; paths are relative to ``folder``.

    Numbers become floats where a setting takes fractions, so that 0 and 0.0 give one run. Values in
    ``set`` stay as they are.
    """
    own = {name: _setting(name, value) for name, value in fields.items() if name in _SETTINGS}
    others = {
        name: None if value == UNSET else value for name, value in fields.get("set", {}).items()
    }
    return Asking(
        **{name: fields[name] for name in COUNTS if name in fields},
        prompt_template=_prompt(fields, folder),
        settings={**own, **others},
    )


def beside(folder: Path, path: str) -> Path:
    """Return a path of a run file, relative to the file's ``folder``."""
    return (folder / Path(path).expanduser()).resolve()


def has_own_key(name: str, value: Any) -> bool:
    """Return True if a setting is written under its own key and read back unchanged.

    All others are written in ``set``.
    """
    if name not in ASKING_KEYS or name in ("set", "prompt_template"):
        return False
    if value is None:
        return True
    fits = wrong_keys({name: value}, ASKING_KEYS) == {}
    same = _setting(name, value)
    return fits and type(same) is type(value) and same == value


def _prompt(fields: Mapping[str, Any], folder: Path) -> str | None:
    """Return the template's path; "" selects the method's own prompt."""
    path: str | None = fields.get("prompt_template")
    return str(beside(folder, path)) if path else path


def _is_sweep(key: str, value: Any) -> bool:
    """Return True if a value asks everything once with each of several words."""
    if not (isinstance(value, list) and value):
        return False
    if key == "thinking":
        return all(word in THINKING for word in value)
    return key == "reasoning_effort" and all(isinstance(word, str) and word for word in value)


def _setting(name: str, value: Any) -> Any:
    if value == UNSET:
        return None
    if name == "stop":
        return list(checked_stop(value))
    return float(value) if name in NUMBER_SETTINGS else value


# A request as the text of a run file; reading it back gives the same runs.


def run_file_text(
    request: RunRequest, folder: Path, *, heading: str = "", names: Mapping[str, str] | None = None
) -> str:
    """Return the run file of a request without flags.

    Files of models and templates are relative to ``folder``; targets are followed by their
    ``names``. Raises BadInput for a setting that TOML cannot hold.
    """
    parts = ["\n".join(_top(request, folder, heading, names or {}))]
    parts += [
        _table("prompt_method", prompt_method, _asking(layer, folder))
        for prompt_method, layer in request.prompt_methods.items()
    ]
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
    order = dict.fromkeys([*_FIRST, *names_of("whole"), *_SWEPT])
    said = {name: request.whole[name] for name in order if name in request.whole}
    yield from _lines({n: list(v) if isinstance(v, tuple) else v for n, v in said.items()})
    yield from _lines(_asking(request.for_all, folder))


def _asking(layer: Asking, folder: Path) -> dict[str, Any]:
    """Return the keys of a layer: other values first, then settings.

    Settings without a key go in ``set``.
    """
    counts = {name: value for name in COUNTS if (value := getattr(layer, name)) is not None}
    if layer.prompt_template is not None:
        counts["prompt_template"] = (
            _seen_from(folder, layer.prompt_template) if layer.prompt_template else ""
        )
    known = {n: value for n, value in layer.settings.items() if has_own_key(n, value)}
    others = {n: value for n, value in layer.settings.items() if n not in known}
    return {**counts, **known, **({"set": others} if others else {})}


def _model(request: RunRequest, model: str, layer: Asking, folder: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if model in request.model_prompt_methods:
        fields["prompt_method"] = list(request.model_prompt_methods[model])
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
            pairs = ", ".join(f"{_key(key)} = {_said(entry, key)}" for key, entry in value.items())
            yield f"set = {{ {pairs} }}"
        else:
            yield f"{_key(name)} = {_said(value, name)}"


def _said(value: Any, name: str) -> str:
    """Return a value, or the word that omits a setting."""
    if value == UNSET:
        raise _unwritable(name, value)
    return _quoted(UNSET) if value is None else _value(value, name)


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isascii() and plain.isalnum() else _quoted(name)


def _quoted(text: str) -> str:
    """Return a TOML text; JSON's escapes are TOML's, except for DEL."""
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
    return BadInput(f"the setting {name} cannot be written to a run file: {value!r}")


_SUFFIX = ".toml"


class RunFile(Struct, frozen=True, kw_only=True):
    """Hold a run file as read: its request, its workspace, and its text to find lines in."""

    path: Path
    request: RunRequest
    workspace: Path | None = None
    text: str = ""


def is_run_file(target: str) -> bool:
    """Return True if a target of ``run`` is a run file; no form or bank has its file extension."""
    return target.endswith(_SUFFIX)


def read_run_file(path: Path) -> RunFile:
    """Return the run file at ``path``. Raises BadInput naming every problem with its line."""
    text = _text_of(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}") from error
    wrong: list[tuple[KeyPath, str]] = []

    def check(table: KeyPath, found: Mapping[str, str]) -> None:
        wrong.extend(((*table, key), what) for key, what in found.items())

    models, prompt_methods = (
        _tables(document, "models", check),
        _tables(document, "prompt_method", check),
    )
    check((), wrong_keys({k: v for k, v in document.items() if k not in _NESTED}, TOP_KEYS))
    for name, fields in models.items():
        check(("models", name), wrong_keys(fields, MODEL_KEYS))
        check(("models", name), _wrong_name(name))
    for prompt_method, fields in prompt_methods.items():
        check(("prompt_method", prompt_method), wrong_keys(fields, ASKING_KEYS))
    if "target" in document and "targets" in document:
        check((), {"targets": "target and targets mean the same: remove one"})
    if wrong:
        lines = key_lines(text)
        at = {place: line_of(lines, place) for place, _what in wrong}
        problems = [
            Problem(f"{path}, line {at[place]}" if at[place] is not None else str(path), what)
            for place, what in wrong
        ]
        raise BadInput(f"{path} cannot be run", problems, hint="see docs/reference/formats.md")
    return RunFile(
        path=path,
        request=_request(document, models, prompt_methods, path.parent),
        workspace=beside(path.parent, document["workspace"]) if "workspace" in document else None,
        text=text,
    )


_NESTED = ("models", "prompt_method")  # each a list of names, or a table of tables


_SWEPT = (
    "thinking",
    "reasoning_effort",
)  # each one value for all, or a list: everything is asked with each


_SEVERAL = {n for n, kind, _option in options_in(RunAsked) if get_origin(kind) is tuple}


_FIRST = ("max_connections", "budget", "cache")  # options of the whole run, in a file


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"run file {path} not found", hint="see docs/reference/formats.md") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the run file {path} cannot be read: {error}") from error


def _tables(
    document: Mapping[str, Any], key: str, check: Callable[[KeyPath, Mapping[str, str]], None]
) -> dict[str, Mapping[str, Any]]:
    """Return the tables below ``models`` or ``ask`` by name; bare names have empty tables."""
    value = document.get(key, {})
    names = _listed(value)
    if names is not None:
        return {name: {} for name in names}
    if not isinstance(value, dict):
        check((), {key: f"{key}: expected names or tables, got {value!r}"})
        return {}
    no_tables = {
        name: f"expected a table [{key}.{name}], got {fields!r}"
        for name, fields in value.items()
        if not isinstance(fields, dict)
    }
    check((key,), no_tables)
    return {name: fields for name, fields in value.items() if name not in no_tables}


def _request(
    document: Mapping[str, Any],
    models: Mapping[str, Mapping[str, Any]],
    prompt_methods: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> RunRequest:
    targets = document.get("target", document.get("targets", ()))
    own = {
        key: value
        for key, value in document.items()
        if key in ASKING_KEYS
        and not (key in _SWEPT and isinstance(value, list))  # everything is asked once with each
    }
    return RunRequest(
        targets=tuple(_listed(targets) or ()),
        models={name: read_asking(fields, folder) for name, fields in models.items()},
        prompt_methods={
            prompt_method: read_asking(fields, folder)
            for prompt_method, fields in prompt_methods.items()
        },
        for_all=read_asking(own, folder),
        model_prompt_methods={
            name: tuple(_listed(fields["prompt_method"]) or ())
            for name, fields in models.items()
            if "prompt_method" in fields
        },
        entries=dict(_entries(models, folder)),
        whole={
            name: tuple(_listed(document[name]) or ()) if name in _SEVERAL else document[name]
            for name in TOP_KEYS
            if document.get(name) not in (None, [])
            and (name in names_of("whole") or _is_sweep(name, document[name]))
        },
    )


def _entries(models: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterable[tuple[str, Entry]]:
    """Yield how single models are reached: a local model's file, and connections.

    The model keeps the name written here, so that a run is the same from any folder.
    """
    for name, fields in models.items():
        file = _file_of(name, fields.get("file"), folder)
        entry = Entry(
            model=file or NOT_SAID,
            max_connections=fields.get("max_connections", NOT_SAID),
            timeout_s=fields.get("timeout_s", NOT_SAID),
        )
        if entry != Entry():
            yield name, entry


def _file_of(name: str, file: str | None, folder: Path) -> str:
    """Return the path of a local model's file, with the options of its name."""
    provider, _, rest = name.partition("/")
    path, question, options = rest.partition("?")
    if file is None and provider == "local" and path.endswith(".gguf"):
        file = path
    return "" if file is None else f"{beside(folder, file)}{question}{options}"


def _wrong_name(name: str) -> dict[str, str]:
    try:
        parse_model_name(name)
    except BadUsage as error:
        return {"": error.message}
    return {}


def _listed(value: Any) -> list[str] | None:
    """Return a text or several as a list without duplicates; None for anything else."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return list(dict.fromkeys(value))
    return None


def save_request(session: Session, request: RunRequest, path: Path) -> None:
    """Write the resolved request as a run file. Raises StoreFailed if that fails."""
    item_sets = item_sets_of(session, request.targets)
    names = {
        f"form:{identity.hex()}": shown_name(session.store.items.item_set(identity))
        for identity in item_sets
    }
    resolved = request.resolved(tuple(names), defaults_of(session, item_sets))
    now = day(session.clock.now())
    heading = f"Resolved by proofstone {__version__} on {now}: every default is written out."
    text = run_file_text(resolved, path.parent, heading=heading, names=names)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}",
            hint="choose another file with --save",
        ) from error


def defaults_of(session: Session, item_sets: Sequence[bytes]) -> Callable[[str], Mapping[str, Any]]:
    """Return a method's default settings by prompting method; BadUsage for several methods."""
    names = {session.store.items.item_set(identity).method for identity in item_sets}
    if len(names) != 1:
        raise BadUsage(
            f"expected targets of one method, got {len(names)} ({', '.join(sorted(names))}): a "
            "run file holds the defaults of one",
            hint="save one run file per method",
        )
    return find_method(names.pop()).settings
