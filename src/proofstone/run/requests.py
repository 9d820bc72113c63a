"""What a ``run`` command means: its run file, if it names one, with its options over it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from msgspec import Struct

from proofstone.models.settings import SETTINGS, THINKING
from proofstone.records.items import CONTEXTS, ContextName
from proofstone.records.runs import ANSWER_FORMAT
from proofstone.run.model_request import THINKING_TOKENS
from proofstone.run.request import DEFAULT_WAY, Asking, RunRequest
from proofstone.run.run_file import JUDGE_RULES, RunFile, is_run_file, read_run_file
from proofstone.session.options import read_list, read_panel, read_settings

_COUNTS = ("shots", "samples", "limit", "replicate")


class AskedFor(Struct, frozen=True, kw_only=True):
    """The request of a command, and the workspace and run file that it names, if any."""

    request: RunRequest
    workspace: Path | None = None
    file: RunFile | None = None


def read_request(context: click.Context, *, whole: bool = True) -> AskedFor:
    """The request of a ``run`` command. UsageError where it names no model or target, though the
    ``whole`` is wanted; BadInput where its run file cannot be read."""
    values = context.params
    given = _given(context)
    targets = read_list(values["targets"])
    files = [target for target in targets if is_run_file(target)]
    if len(files) > 1:
        raise click.UsageError(f"one run file at a time, not {' and '.join(files)}", context)
    file = read_run_file(Path(files[0])) if files else None
    efforts = read_list(values["efforts"])
    request = (RunRequest() if file is None else file.request).over(
        targets=[target for target in targets if not is_run_file(target)],
        models=read_list(values["models"]),
        ways=_ways(read_list(values["ways"]), read_list(values.get("ranges", ()))),
        thinking=_thinking(read_list(values["thinking"])),
        efforts=efforts if len(efforts) > 1 else (),
        flags=_flags(given, efforts),
        max_connections=given.get("max_connections"),
        cache=given.get("cache", ""),
        preset=given.get("preset") or "",
        budget=given.get("budget", ""),
        contexts=_contexts(read_list(values["contexts"])),
        context_tokens=given.get("context_tokens"),
        context_chunks=given.get("context_chunks"),
        context_search=given.get("context_search") or "",
        context_sources=read_list(values["context_sources"]),
        context_embedder=given.get("context_embedder") or "",
        judge=read_panel(given.get("judge", ())),
        judge_rules={name: given[name] for name in JUDGE_RULES if name in given},
    )
    if whole and not request.targets:
        raise click.UsageError("name a target: a form or a bank", context)
    if whole and not request.models:
        raise click.UsageError(
            "name a model: -m openai/gpt-5.1, -m local/FILE.gguf, -m sim/x", context
        )
    return AskedFor(request=request, workspace=None if file is None else file.workspace, file=file)


def _ways(ways: list[str], ranges: list[str]) -> list[str]:
    """Each way with each of the ranges, where any is named."""
    if not ranges:
        return ways
    told = [way for way in ways if "@" in way]
    if told:
        raise click.BadParameter(f"{told[0]} has a range already", param_hint="--range")
    return [f"{way}@{named}" for way in ways or [DEFAULT_WAY] for named in ranges]


def _thinking(words: list[str]) -> list[str]:
    """``on``, ``off`` or both, in order."""
    for word in words:
        if word not in THINKING:
            raise click.BadParameter(
                f"{word!r}: expected on, off, or on,off", param_hint="--thinking"
            )
    return words


def _contexts(words: list[str]) -> list[ContextName]:
    """``none``, ``evidence``, ``retrieved`` or several, in order."""
    known = {name: name for name in CONTEXTS}
    for word in words:
        if word not in known:
            raise click.BadParameter(
                f"{word!r}: expected none, evidence, retrieved, or several (none,evidence)",
                param_hint="--context",
            )
    return [known[word] for word in words if word in known]


def _given(context: click.Context) -> dict[str, Any]:
    """The options that stand on the command line, under their names."""
    return {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)
    }


def _flags(given: Mapping[str, Any], efforts: list[str]) -> Asking:
    """The layer that the options make, over everything else; several ``efforts`` are no layer but
    asked one after the other."""
    own = (SETTINGS - {"thinking"}) | {THINKING_TOKENS, ANSWER_FORMAT}
    settings = {name: value for name, value in given.items() if name in own}
    if "stop" in settings:
        settings["stop"] = [text.replace("\\n", "\n") for text in settings["stop"]]
    settings |= {"reasoning_effort": efforts[0]} if len(efforts) == 1 else {}
    settings |= read_settings(given.get("extra", ()))
    prompt = None if "prompt" not in given else str(given["prompt"].resolve())
    counts = {name: given[name] for name in _COUNTS if name in given}
    return Asking(**counts, prompt=prompt, settings=settings)
