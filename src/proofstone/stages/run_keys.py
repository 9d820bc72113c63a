"""What a run file may say, key by key: of which type it is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from proofstone.engines.models import (
    NUMBER_SETTINGS,
    SETTINGS,
    THINKING,
    check_range,
    checked_stop,
    read_budget,
)
from proofstone.engines.models.table_checks import unknown_key
from proofstone.engines.retrieval import SEARCH_WAYS
from proofstone.errors import BadUsage
from proofstone.records import ANSWER_FORMAT, CONTEXTS
from proofstone.stages.run_request import Asking
from proofstone.stages.search_sources import LOCAL
from proofstone.stages.thinking import AUTO, THINKING_TOKENS

__all__ = [
    "ASKING_KEYS",
    "JUDGE_RULES",
    "MODEL_KEYS",
    "TOP_KEYS",
    "UNSET",
    "beside",
    "has_own_key",
    "read_asking",
    "wrong_keys",
]

UNSET = "unset"  # in place of a value: the setting is left out, though it has a default

_COUNTS: Mapping[str, int] = {"shots": 0, "samples": 1, "limit": 1}  # each with its least value
_NOT_HERE = frozenset({"schema", "response_format"})  # a method's own, not a person's
_SETTINGS = SETTINGS | {THINKING_TOKENS, ANSWER_FORMAT}
ASKING_KEYS = (*_COUNTS, "replicate", "prompt", "set", *sorted(_SETTINGS - _NOT_HERE))
MODEL_KEYS = (*ASKING_KEYS, "ask", "file", "max_connections", "timeout_s")
JUDGE_RULES = ("votes", "orders", "quorum", "majority")
TOP_KEYS = (
    *ASKING_KEYS,
    "target", "targets", "models", "ask", "workspace", "max_connections", "budget", "cache",
    "preset", "context", "context_tokens", "context_chunks", "context_search",
    "context_source", "context_embedder", "judge",
    *JUDGE_RULES,
)  # fmt: skip


def _texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    )


def _contexts(value: Any) -> bool:
    words = [value] if isinstance(value, str) else value
    return isinstance(words, list) and bool(words) and all(word in CONTEXTS for word in words)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any, least: float = float("-inf")) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return least <= value < float("inf")


# What a key takes: a check, and how a person would call it. Settings of no row may be any value.
_TAKES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **{
        name: (partial(_whole, least=least), f"a whole number from {least} up")
        for name, least in _COUNTS.items()
    },
    **dict.fromkeys(NUMBER_SETTINGS, (_number, "a number")),
    "max_tokens": (lambda value: _whole(value, 1), "a whole number from 1 up"),
    "top_k": (lambda value: _whole(value, 0), "a whole number from 0 up"),
    "seed": (lambda value: _whole(value, 0), "a whole number from 0 up"),
    "top_logprobs": (lambda value: _whole(value, 0), "a whole number from 0 up"),
    "stop": (_texts, "a text or several"),
    "thinking": (lambda value: value in THINKING, '"on" or "off"'),
    THINKING_TOKENS: (
        lambda value: value == AUTO or _whole(value, 0),
        'a whole number from 0 up, or "auto"',
    ),
    ANSWER_FORMAT: (lambda value: isinstance(value, str), "regex:PATTERN or json:PATH"),
    "reasoning_effort": (lambda value: isinstance(value, str), "a text"),
    "preset": (lambda value: isinstance(value, str), "the name of a preset"),
    "replicate": (lambda value: isinstance(value, str), "a text"),
    "prompt": (lambda value: isinstance(value, str), "the path of a template"),
    "context": (_contexts, '"none", "evidence", "retrieved" or a list of them'),
    "context_tokens": (lambda value: _whole(value, 1), "a whole number from 1 up"),
    "context_chunks": (lambda value: _whole(value, 1), "a whole number from 1 up"),
    "context_search": (lambda value: value in SEARCH_WAYS, '"bm25", "dense" or "hybrid"'),
    "context_source": (_texts, f"{LOCAL!r}, a search of the web, or several"),
    "context_embedder": (lambda value: isinstance(value, str), "the name of a model"),
    "judge": (_texts, "a model or several"),
    "votes": (lambda value: _whole(value, 1), "a whole number from 1 up"),
    "orders": (lambda value: _whole(value, 1), "a whole number from 1 up"),
    "quorum": (lambda value: _whole(value, 0), "a whole number from 0 up"),
    "majority": (lambda value: value in ("half", "most", "all"), '"half", "most" or "all"'),
    "set": (lambda value: isinstance(value, dict), "a table of settings"),
    "ask": (_texts, "a way of asking or several"),
    "target": (_texts, "a form or bank, or several"),
    "targets": (_texts, "a form or bank, or several"),
    "file": (lambda value: isinstance(value, str), "the path of a model's file"),
    "workspace": (lambda value: isinstance(value, str), "the path of a folder"),
    "max_connections": (lambda value: _whole(value, 1), "a whole number from 1 up"),
    "timeout_s": (lambda value: _number(value, 0.001), "a number of seconds"),
    "cache": (lambda value: value in ("same", "any"), '"same" or "any"'),
    "budget": (lambda value: isinstance(value, str), 'an amount such as "5USD" or "2Mtok"'),
}

# Where the type is not all: these raise BadUsage for what they cannot read.
_READS: Mapping[str, Callable[[Any], object]] = {
    **{name: partial(check_range, name) for name in NUMBER_SETTINGS},
    "stop": checked_stop,
    "budget": read_budget,
}


def wrong_keys(fields: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, str]:
    """What is wrong, by key, of a table that may hold the ``known`` keys."""
    wrong = {key: unknown_key(key, known) for key in fields if key not in known}
    for key, value in fields.items():
        if key in wrong or key not in _TAKES or _is_unset(key, value):
            continue
        fits, called = _TAKES[key]
        if known is TOP_KEYS and _is_sweep(key, value):
            continue
        if not fits(value):
            wrong[key] = f"{key}: expected {called}, not {value!r}"
        elif key in _READS:
            wrong |= _unreadable(key, value, called)
    return wrong


def read_asking(fields: Mapping[str, Any], folder: Path) -> Asking:
    """The layer that a checked table makes; paths are meant from ``folder``. Numbers are floats
    where a setting takes fractions, so that 0 and 0.0 are one run; what stands in ``set`` stays as
    it is."""
    own = {name: _setting(name, value) for name, value in fields.items() if name in _SETTINGS}
    others = {
        name: None if value == UNSET else value for name, value in fields.get("set", {}).items()
    }
    return Asking(
        **{name: fields[name] for name in (*_COUNTS, "replicate") if name in fields},
        prompt=_prompt(fields, folder),
        settings={**own, **others},
    )


def beside(folder: Path, path: str) -> Path:
    """A path that a run file names, meant from the file's ``folder``."""
    return (folder / Path(path).expanduser()).resolve()


def has_own_key(name: str, value: Any) -> bool:
    """Whether a setting is written under its own key and comes back as it is; else in ``set``."""
    if name not in ASKING_KEYS or name in ("set", "prompt"):
        return False
    if value is None:
        return True
    fits = wrong_keys({name: value}, ASKING_KEYS) == {}
    same = _setting(name, value)
    return fits and type(same) is type(value) and same == value


def _prompt(fields: Mapping[str, Any], folder: Path) -> str | None:
    """The template's path; "" for the method's own prompt, over a layer that names a template."""
    path: str | None = fields.get("prompt")
    return str(beside(folder, path)) if path else path


def _is_sweep(key: str, value: Any) -> bool:
    """Whether a value asks everything once with each of several words."""
    if not (isinstance(value, list) and value):
        return False
    if key == "thinking":
        return all(word in THINKING for word in value)
    return key == "reasoning_effort" and all(isinstance(word, str) and word for word in value)


def _is_unset(key: str, value: Any) -> bool:
    return key in SETTINGS and value == UNSET


def _setting(name: str, value: Any) -> Any:
    if value == UNSET:
        return None
    if name == "stop":
        return list(checked_stop(value))
    return float(value) if name in NUMBER_SETTINGS else value


def _unreadable(key: str, value: Any, called: str) -> dict[str, str]:
    """What the key's own reader has against a value of the right type."""
    try:
        _READS[key](value)
    except BadUsage as error:
        return {key: f"{key}: expected {called}; {error.message}"}
    return {}
