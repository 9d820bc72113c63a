"""Define the steps from passages, or ready pairs, to short questions (3.2, 3.3, appendix K)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.judging.panel import judge_slots, panel_parameters
from proofstone.method import read_asked
from proofstone.methods.chinese_simpleqa.build.checks import (
    alias_step,
    check_step,
    delete_step,
    difficulty_step,
    evidence_step,
    kind_step,
    left_step,
    near_step,
    read_known,
    rewrite_step,
    sensitive_step,
)
from proofstone.methods.chinese_simpleqa.build.choices import CLOSING, choices_of, opening_steps
from proofstone.methods.chinese_simpleqa.build.pairs import (
    Draft,
    PairsAsked,
    Scope,
    facts_by,
    knowledge_step,
    read_shots,
    ready_pairs,
    rules_step,
    write_step,
)
from proofstone.records.builds import BatchStep, FileRows, Pipeline, Step, StepBuilder, slots_of

_PRIVATE = (
    "the documents are private: questions that only their owners can answer are kept (--documents)"
)


_VALID_AT = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-\d\d)?)?", re.ASCII)


_ASKED = read_asked(__package__, "pairs")

PARAMETERS = (
    *_ASKED.parameters,
    *panel_parameters(
        votes="Votes of each judge on evidence; more than half are its vote.",
        orders="Orders of the labels in which each vote is asked for; more than half decide.",
        tie="Tie rule of a panel: drop or keep the row.",
        usual_tie="drop",
    ),
)


def from_passages(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps from passages. Raises BadUsage or BadInput for invalid parameters and
    files."""
    if params["from_choices"]:
        raise BadUsage(
            "--from-choices needs files of multiple-choice questions",
            hint="export a bank first: proofstone export BANK -o FILE",
        )
    _check(params)
    shots = read_shots(params["shots"], params["examples"])
    scope = _scope(params)
    asked = PairsAsked(
        most=params["questions"],
        scope=scope,
        valid_at=params["valid_at"],
        write_in=params["write_in"],
        primary=params["primary_category"],
        secondary=params["secondary_category"],
    )
    rules = rules_step(params["primary_category"], needs_category=params["needs_category"])
    write = write_step(asked, shots)
    if params["knowledge"] == "rules":
        note = "no judge checks the passages (--knowledge rules)"
        return _pipeline((rules, write), params, models, notes=(note,))
    knowledge = knowledge_step(judge_slots(params, models), scope)
    return _pipeline((rules, knowledge, write), params, models)


def from_pairs(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps for ready pairs, or for choices. Raises as ``from_passages``."""
    _check(params)
    first = opening_steps(judge_slots(params, models)) if params["from_choices"] else ()
    return _pipeline(first, params, models)


def _rows(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterable[Struct]:
    read = choices_of if params["from_choices"] else ready_pairs
    return read(inputs, params)


def _pipeline(
    first: tuple[Step, ...],
    params: Mapping[str, Any],
    models: Mapping[str, str],
    *,
    notes: tuple[str, ...] = (),
) -> Pipeline:
    judges = judge_slots(params, models)
    scope = _scope(params)
    known = read_known(params["against"])
    members = slots_of("panel", models)
    steps: list[Step | BatchStep] = [*first, check_step(scope, params["rounds"])]
    steps.append(delete_step(judges, scope))
    left_out = [_PRIVATE, *notes] if scope.is_private else [*notes]
    if params["evidence"]:
        searches = _searches(params["search"], scope)
        steps.append(evidence_step(judges, params["evidence"], searches, scope))
    else:
        left_out.append("no pair is checked against sources (--evidence 0)")
    steps.append(alias_step(judges))
    if members:
        steps.append(difficulty_step(judges, members, params["least_wrong"]))
    else:
        left_out.append("no panel is set (--panel): questions that are too easy are kept")
    steps += [
        near_step(params["alike"], known),
        rewrite_step(judges),
        left_step(params["alike"], known),
    ]
    if params["sensitive"] == "on":
        guards = judge_slots({**params, "quorum": 0}, models, "sensitive")
        steps.append(sensitive_step(guards, scope))
    else:
        left_out.append("sensitive content is not checked (--sensitive off)")
    steps.append(kind_step(judges))
    asked = {slot for step in steps for slot in step.asks}
    facts = facts_by({slot: model for slot, model in models.items() if slot in asked})
    return Pipeline(steps=tuple(steps), gives=Draft, facts=facts, notes=tuple(left_out))


def _scope(params: Mapping[str, Any]) -> Scope:
    if params["documents"] == "private":
        return Scope(is_private=True)
    return Scope(as_of=params["as_of"])


def _searches(named: str, scope: Scope) -> tuple[str, ...]:
    """Return the configured searches, without duplicates; ``local`` searches the workspace by
    words.

    Raises BadUsage for web search with private documents.
    """
    names = [each.strip() for each in named.split(",") if each.strip()]
    if not names:
        raise BadUsage("--search names no search engine", hint="bm25, or a web search: google")
    searches = tuple(dict.fromkeys("bm25" if name == "local" else name for name in names))
    of_web = [name for name in searches if name not in ("bm25", "dense", "hybrid")]
    if scope.is_private and of_web:
        raise BadUsage(
            f"--search {','.join(of_web)} would send questions about private documents to the web",
            hint="leave --search out, or add --documents public",
        )
    return searches


def _check(params: Mapping[str, Any]) -> None:
    """Raise BadUsage for invalid numbers and dates."""
    for name, least in (("questions", 1), ("rounds", 0), ("evidence", 0), ("least_wrong", 1)):
        if params[name] < least:
            option = name.replace("_", "-")
            raise BadUsage(f"--{option} must be {least} or more, got {params[name]}")
    if not params["evidence"] and params["search"] != "bm25":
        raise BadUsage("--search cannot be combined with --evidence 0")
    if not 0 < params["alike"] <= 1:
        raise BadUsage(f"--alike must be above 0, and at most 1, got {params['alike']}")
    if params["secondary_category"] and not params["primary_category"]:
        raise BadUsage("--secondary-category needs its --primary-category")
    valid_at = params["valid_at"]
    if valid_at and params["documents"] != "private":
        raise BadUsage("--valid-at is for private documents", hint="--documents private")
    if valid_at and not _is_date(valid_at):
        raise BadUsage(f"--valid-at must be YYYY, YYYY-MM or YYYY-MM-DD, got {valid_at!r}")
    try:
        date.fromisoformat(params["as_of"])
    except ValueError:
        raise BadUsage(f"--as-of must be a date YYYY-MM-DD, got {params['as_of']!r}") from None


def _is_date(text: str) -> bool:
    """Return True for a year, a month of a year, or a day."""
    if not _VALID_AT.fullmatch(text):
        return False
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:
        return False
    return True


PIPELINES = {
    "short-qa": StepBuilder(
        make=from_passages,
        roles=_ASKED.roles,
        parameters=PARAMETERS,
        documents="documents",
        files=FileRows(make=from_pairs, rows=_rows),
        help="Short questions with one answer, written from passages. Each pair is checked, "
        "compared with search results, and answered by a panel of models.",
        example="Handbook -m openai/gpt-5.1 --judge other/model --panel a/one,b/two",
    ),
    **CLOSING,
}
