"""From a list of entities and a corpus to what that corpus knows of each: the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofstone.errors import BadUsage
from proofstone.methods.bequ.reference.corpora import SOURCES, entity_texts, read_corpus
from proofstone.methods.bequ.reference.facts import facts_by
from proofstone.methods.bequ.reference.grounding import grounds_step
from proofstone.methods.bequ.reference.online import ONLINE
from proofstone.methods.bequ.reference.passages import passages_step
from proofstone.methods.bequ.reference.rows import Known
from proofstone.methods.bequ.reference.searching import SEARCH, search_step
from proofstone.methods.bequ.reference.taking import once_step, subjects_step, triples_step
from proofstone.ports import BatchStep, ModelRole, Parameter, Pipeline, Step, StepBuilder

__all__ = ["PIPELINES"]

_LEAST_TOKENS = 50
PARAMETERS = (
    Parameter(
        name="corpus",
        kind="text",
        default="",
        help="Where the texts are: dump:FILE (a wiki's XML), zim:FILE, folder:DIR of documents "
        "named for their entities, sources: passages of the workspace that name them, or wiki: the "
        "live Wikipedia (wiki:de in another language, wiki:https://.../api.php any MediaWiki).",
    ),
    Parameter(
        name="search",
        kind="text",
        default="",
        help="Search the web for each entity too, or alone: brave, google, searxng, or "
        "searxng:bing+baidu (docs/retrieval.md).",
    ),
    Parameter(
        name="web_pages",
        kind="int",
        default=20,
        help="With --search: read this many of the first pages that are found of an entity.",
    ),
    Parameter(
        name="found",
        kind="int",
        default=20,
        help="With --corpus sources: most passages by each name of an entity.",
    ),
    Parameter(
        name="passage_tokens",
        kind="int",
        default=200,
        help="Most tokens of a passage, of whole sentences; each passage is one request. "
        "Verification shows judges passages of 200.",
    ),
)
ROLES = {
    "author": ModelRole(
        help="takes triples from each passage", settings={"temperature": 0.0, "max_tokens": 2048}
    ),
}


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """The steps for these parameters. Raises BadUsage or NotFound for what they cannot be."""
    by_search_alone = params["search"] and not params["corpus"]
    is_searched = not by_search_alone and read_corpus(params["corpus"])[0] == SOURCES
    if params["found"] < 1:
        raise BadUsage(f"--found is 1 or more, not {params['found']}")
    if params["passage_tokens"] < _LEAST_TOKENS:
        raise BadUsage(
            f"--passage-tokens is {_LEAST_TOKENS} or more, not {params['passage_tokens']}"
        )
    steps: list[Step | BatchStep] = [search_step(params["found"])] if is_searched else []
    steps += [
        passages_step(params["passage_tokens"]),
        triples_step((SEARCH,) if is_searched else ()),
        subjects_step(),
        grounds_step(),
        once_step(),
    ]
    return Pipeline(steps=tuple(steps), gives=Known, facts=facts_by(models))


PIPELINES = {
    "reference": StepBuilder(
        make=make_pipeline,
        roles=ROLES,
        parameters=PARAMETERS,
        rows=entity_texts,
        online=ONLINE,
        lists=True,
        suffix="-reference",
        next="score RUN --judge PROVIDER/NAME --reference {bank}",
        help="What a corpus knows of entities, for 'score --reference'. An INPUT is a "
        "list of entities: a file (see 'import --as entities') or one of the workspace. Of each "
        "its article is found by name, redirect or alias, cut into passages, and a model takes "
        "triples from each; entities without an article are listed with what was looked for. What "
        "a live wiki or the web is asked, and what came of it, is kept: it is asked once.",
    )
}
