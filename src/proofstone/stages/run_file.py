"""A run file: what is to be run, as a TOML text that stands beside the results it makes.

    target = "elements-7f3a"
    ask = ["direct", "cot"]
    samples = 2
    max_tokens = 2048

    [models."openai/gpt-5.1"]
    reasoning_effort = "low"

    [models."local/models/small.gguf"]

Read whole: every unknown key and wrong value is named with its line. Paths are meant from the
folder of the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET as NOT_SAID
from msgspec import Struct

from proofstone.engines.models import Entry, key_lines, parse_model_name
from proofstone.engines.models.toml_lines import KeyPath, line_of
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.stages.run_keys import (
    ASKING_KEYS,
    JUDGE_RULES,
    MODEL_KEYS,
    TOP_KEYS,
    beside,
    read_asking,
    wrong_keys,
)
from proofstone.stages.run_request import Asking, RunRequest

__all__ = ["RunFile", "is_run_file", "read_run_file"]

_SUFFIX = ".toml"


class RunFile(Struct, frozen=True, kw_only=True):
    """A run file as it was read: what it asks for, the workspace it names, and its text, to find
    lines in."""

    path: Path
    request: RunRequest
    workspace: Path | None = None
    text: str = ""


def is_run_file(target: str) -> bool:
    """Whether a target of ``run`` is meant as a run file: no form or bank ends so."""
    return target.endswith(_SUFFIX)


def read_run_file(path: Path) -> RunFile:
    """The run file at ``path``. Raises BadInput naming every problem of it with its line."""
    text = _text_of(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}") from error
    problems = _Problems(path, key_lines(text))
    models, ways = _tables(document, "models", problems), _tables(document, "ask", problems)
    problems.add((), wrong_keys({k: v for k, v in document.items() if k not in _NESTED}, TOP_KEYS))
    for name, fields in models.items():
        problems.add(("models", name), wrong_keys(fields, MODEL_KEYS))
        problems.add(("models", name), _wrong_name(name))
    for way, fields in ways.items():
        problems.add(("ask", way), wrong_keys(fields, ASKING_KEYS))
    if "target" in document and "targets" in document:
        problems.add((), {"targets": "target and targets say the same: leave one out"})
    if problems.found:
        raise BadInput(f"{path} cannot be run", problems.found, hint="see docs/run-files.md")
    return RunFile(
        path=path,
        request=_request(document, models, ways, path.parent),
        workspace=beside(path.parent, document["workspace"]) if "workspace" in document else None,
        text=text,
    )


_NESTED = ("models", "ask")  # each a list of names, or a table of tables
_SWEPT = ("thinking", "reasoning_effort")  # each a setting of all, or a list: asked with each


class _Problems:
    """What is wrong with a file, each with its line."""

    def __init__(self, path: Path, lines: Mapping[KeyPath, int]) -> None:
        self.found: list[Problem] = []
        self._path = path
        self._lines = lines

    def add(self, table: KeyPath, wrong: Mapping[str, str]) -> None:
        """Adds what is wrong with keys of a table."""
        for key, what in wrong.items():
            line = line_of(self._lines, (*table, key))
            where = str(self._path) if line is None else f"{self._path}, line {line}"
            self.found.append(Problem(where, what))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"there is no run file {path}", hint="see docs/run-files.md") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the run file {path} cannot be read: {error}") from error


def _tables(
    document: Mapping[str, Any], key: str, problems: _Problems
) -> dict[str, Mapping[str, Any]]:
    """The tables below ``models`` or ``ask`` by name; names alone have empty ones."""
    value = document.get(key, {})
    names = _listed(value)
    if names is not None:
        return {name: {} for name in names}
    if not isinstance(value, dict):
        problems.add((), {key: f"{key}: expected names or tables, not {value!r}"})
        return {}
    no_tables = {
        name: f"expected a table [{key}.{name}], not {fields!r}"
        for name, fields in value.items()
        if not isinstance(fields, dict)
    }
    problems.add((key,), no_tables)
    return {name: fields for name, fields in value.items() if name not in no_tables}


def _request(
    document: Mapping[str, Any],
    models: Mapping[str, Mapping[str, Any]],
    ways: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> RunRequest:
    targets = document.get("target", document.get("targets", ()))
    return RunRequest(
        targets=tuple(_listed(targets) or ()),
        models={name: read_asking(fields, folder) for name, fields in models.items()},
        ways={way: read_asking(fields, folder) for way, fields in ways.items()},
        for_all=_for_all(document, folder),
        model_ways={
            name: tuple(_listed(fields["ask"]) or ())
            for name, fields in models.items()
            if "ask" in fields
        },
        entries=dict(_entries(models, folder)),
        thinking=_swept(document, "thinking"),
        efforts=_swept(document, "reasoning_effort"),
        max_connections=document.get("max_connections"),
        budget=document.get("budget", ""),
        cache=document.get("cache", ""),
        preset=document.get("preset", ""),
        contexts=tuple(_listed(document.get("context", ())) or ()),  # type: ignore[arg-type]
        context_tokens=document.get("context_tokens"),
        context_chunks=document.get("context_chunks"),
        context_search=document.get("context_search", ""),
        context_sources=tuple(_listed(document.get("context_source", ())) or ()),
        context_embedder=document.get("context_embedder", ""),
        judge=tuple(_listed(document.get("judge", ())) or ()),
        judge_rules={name: document[name] for name in JUDGE_RULES if name in document},
    )


def _for_all(document: Mapping[str, Any], folder: Path) -> Asking:
    own = {key: value for key, value in document.items() if key in ASKING_KEYS}
    for key in _SWEPT:
        if isinstance(own.get(key), list):  # asked once with each: no setting of one run
            del own[key]
    return read_asking(own, folder)


def _swept(document: Mapping[str, Any], key: str) -> tuple[str, ...]:
    words = document.get(key)
    return tuple(dict.fromkeys(words)) if isinstance(words, list) else ()


def _entries(models: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterable[tuple[str, Entry]]:
    """How single models are reached: a local one's file, meant from ``folder``, and connections.

    The model keeps the name that is written here, so that a run is the same from anywhere.
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
    """The path that a local model's file is to be read from, with the options of its name."""
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
    """One text or several as a list, each once; None for anything else."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return list(dict.fromkeys(value))
    return None
