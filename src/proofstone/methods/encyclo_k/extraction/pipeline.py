"""From passages to statements, true and falsified (3.1.1, 3.1.2, appendices A and C): the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofstone.errors import BadUsage
from proofstone.judging.panel import seated_judges
from proofstone.methods.encyclo_k.extraction.checks import (
    PANEL_PARAMETERS,
    claim_step,
    falsify_step,
    falsity_step,
    filter_step,
    overlap_step,
    reason_step,
    standing_step,
    support_step,
)
from proofstone.methods.encyclo_k.extraction.extract import extract_step, facts_by, seen_step
from proofstone.methods.encyclo_k.extraction.rows import Claim, alike_step
from proofstone.methods.encyclo_k.review import ErrorType, read_error_type
from proofstone.records.builds import ModelRole, Pipeline, StepBuilder
from proofstone.records.options import Parameter

PARAMETERS = (
    Parameter(
        name="from_regions",
        kind="text",
        default="",
        help="Take statements from pictures of parts of pages, one of each: of passages, of points "
        "(definitions, theorems, laws), or of the boxes in a table (page, left, top, right, bottom "
        "in points). The writer must take images.",
    ),
    Parameter(
        name="statements",
        kind="int",
        default=3,
        help="Most statements of a passage.",
    ),
    Parameter(
        name="overlap",
        kind="float",
        default=0.5,
        help="Least share of a statement's words that stand in its passage, 0 to 1.",
    ),
    Parameter(
        name="alike",
        kind="float",
        default=0.9,
        help="From how alike two statements are near-duplicates, 0 to 1; statements on two things "
        "in one wording can be 0.8 alike.",
    ),
    Parameter(
        name="falsified",
        kind="float",
        default=1.0,
        help="Share of true statements that also get a falsified one, 0 to 1.",
    ),
    Parameter(
        name="error_types",
        kind="text",
        default="",
        help="Types of error by weight (detail falsification=2,scope change=1), drawn; else the "
        "falsifier picks what suits.",
    ),
    *PANEL_PARAMETERS,
)


ROLES = {
    "writer": ModelRole(
        help="takes statements from passages, and rewrites what does not stand alone",
        settings={"temperature": 0.0, "max_tokens": 2048},
    ),
    "falsifier": ModelRole(
        help="makes false statements of true ones; a reasoning model does it best",
        settings={"max_tokens": 2048},
    ),
    "judge": ModelRole(
        help="checks: alone, supported, false, reason",
        purpose="judge",
        settings={"temperature": 0.0, "max_tokens": 512},
        panel=True,
    ),
}


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """The steps for these parameters. Raises BadUsage for what they cannot be."""
    _check(params)
    types = _types(params["error_types"])
    judges = seated_judges(params, models)
    return Pipeline(
        steps=(
            seen_step() if params["from_regions"] else extract_step(params["statements"]),
            overlap_step(params["overlap"]),
            filter_step(),
            standing_step(judges),
            support_step(judges),
            alike_step(params["alike"]),
            claim_step(params["falsified"]),
            falsify_step(types),
            falsity_step(judges),
            reason_step(judges),
        ),
        gives=Claim,
        facts=facts_by(models),
    )


def _check(params: Mapping[str, Any]) -> None:
    for name in ("overlap", "alike", "falsified"):
        if not 0 <= params[name] <= 1:
            raise BadUsage(f"--{name} is a share from 0 to 1, not {params[name]}")
    if params["statements"] < 1:
        raise BadUsage(f"--statements is 1 or more, not {params['statements']}")


def _types(text: str) -> dict[ErrorType, float]:
    """``TYPE=WEIGHT,...``, a type alone weighing 1; none for the empty text."""
    weights: dict[ErrorType, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _sign, number = part.partition("=")
        kind = read_error_type(name)
        try:
            weight = float(number or 1)
        except ValueError:
            weight = -1.0
        if kind is None or not 0 < weight < float("inf"):
            raise BadUsage(f"--error-types: {part!r} is no TYPE=WEIGHT with a weight above 0")
        weights[kind] = weight
    return weights


PIPELINES = {
    "statements": StepBuilder(
        make=make_pipeline,
        roles=ROLES,
        parameters=PARAMETERS,
        regions=("from_regions", "writer"),
        help="Statements from the passages of sources, true and falsified, each step checked.",
    )
}
