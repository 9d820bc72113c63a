"""From the articles of a wiki, or lists made elsewhere, to a bank of entities: the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.methods.bequ.listing.candidates import candidates, drawn_candidates
from proofstone.methods.bequ.listing.drawing import domains_step, thirds_step
from proofstone.methods.bequ.listing.filtering import filter_step, once_step
from proofstone.methods.bequ.listing.making_up import make_up_step
from proofstone.methods.bequ.listing.online import ONLINE
from proofstone.methods.bequ.listing.rating import rate_step
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.ports import (
    BatchStep,
    BuiltFact,
    ModelRole,
    Parameter,
    Pipeline,
    Step,
    StepBuilder,
)
from proofstone.records import Fact, Role, Stratum, fact_id, seats_of

__all__ = ["PIPELINES", "facts_by"]

PARAMETERS = (
    Parameter(
        name="corpus",
        kind="text",
        default="",
        help="For lists: the wiki that each entity is looked up in, dump:FILE, zim:FILE, or wiki: "
        "the live Wikipedia (wiki:de in another language, wiki:https://.../api.php any MediaWiki).",
    ),
    Parameter(
        name="search",
        kind="text",
        default="",
        help="For fictional ones: a search of the web that must not find the name either: brave, "
        "google, searxng, or searxng:bing+baidu (docs/retrieval.md).",
    ),
    Parameter(
        name="web_pages",
        kind="int",
        default=20,
        help="With --search: look at this many of the first pages that are found.",
    ),
    Parameter(
        name="known",
        kind="text",
        default="",
        help="A table of what is known of entities by name: wikidata, statements, popularity, "
        "domain, description, aliases.",
    ),
    Parameter(
        name="least_length", kind="int", default=2000, help="Least characters of an article."
    ),
    Parameter(
        name="least_statements",
        kind="int",
        default=10,
        help="Least statements of Wikidata, where their number is known.",
    ),
    Parameter(
        name="least_rating",
        kind="int",
        default=3,
        help="Least of each of the judge's ratings, 1 to 5: informative, clear, suitable; 0: "
        "nobody rates, as where all are fictional.",
    ),
    Parameter(
        name="per_domain",
        kind="int",
        default=0,
        help="This many entities of each domain, drawn by the seed, and none that is in several.",
    ),
    Parameter(
        name="thirds",
        kind="flag",
        default=False,
        help="Say of each in which third it is by Wikidata's statements.",
    ),
    Parameter(
        name="per_third",
        kind="int",
        default=0,
        help="With --thirds: this many of each third, drawn by the seed.",
    ),
)
_UNCHECKED = (
    "nobody looked whether what was made up exists: export the bank, then build entities FILE "
    "--corpus zim:FILE --search ENGINE keeps what neither knows"
)
ROLES = {
    "author": ModelRole(
        help="makes up names, of inputs made-up:KIND",
        settings={"temperature": 1.0, "max_tokens": 1024},
        optional=True,
    ),
    "judge": ModelRole(
        help="rates candidates, and names their domain",
        purpose="judge",
        settings={"temperature": 0.0, "max_tokens": 512},
    ),
}


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """The steps for these parameters. Raises BadUsage for what they cannot be."""
    _check(params)
    makes_up = bool(seats_of("author", models))
    steps: list[Step | BatchStep] = [make_up_step()] if makes_up else []
    steps += [filter_step(params["least_length"], params["least_statements"]), once_step()]
    if params["least_rating"]:
        steps.append(rate_step(params["least_rating"], one_domain=params["per_domain"] > 0))
    if params["thirds"]:
        steps.append(thirds_step(params["per_third"]))
    if params["per_domain"]:
        steps.append(domains_step(params["per_domain"]))
    notes = (_UNCHECKED,) if makes_up else ()
    return Pipeline(steps=tuple(steps), gives=Candidate, facts=facts_by(models), notes=notes)


def _check(params: Mapping[str, Any]) -> None:
    for name in ("least_length", "least_statements", "per_domain", "per_third"):
        if params[name] < 0:
            raise BadUsage(f"--{name.replace('_', '-')} is 0 or more, not {params[name]}")
    if not 0 <= params["least_rating"] <= 5:
        raise BadUsage(f"--least-rating is 1 to 5, or 0, not {params['least_rating']}")
    if params["per_domain"] and not params["least_rating"]:
        raise BadUsage("--per-domain needs the judge that --least-rating 0 leaves out")
    if params["per_third"] and not params["thirds"]:
        raise BadUsage("--per-third needs --thirds")


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Candidate]], Iterator[BuiltFact]]:
    """The facts of candidates: their entities. The judge checked those that it rated, the author
    wrote those that it made up."""
    checked = tuple(Role("checked", model) for model in seats_of("judge", models).values())
    wrote = tuple(Role("wrote", model) for model in seats_of("author", models).values())

    def facts(rows: Iterable[Candidate]) -> Iterator[BuiltFact]:
        for row in rows:
            fact = Fact(
                kind="bequ.entity",
                payload=row.entity,
                language=row.language,
                stratum=Stratum(row.domain, row.tier),
            )
            roles = (wrote if row.is_made_up else ()) + (checked if row.ratings else ())
            yield BuiltFact(structs.replace(fact, id=fact_id(fact)), roles=roles)

    return facts


PIPELINES = {
    "entities": StepBuilder(
        make=make_pipeline,
        roles=ROLES,
        parameters=PARAMETERS,
        rows=candidates,
        drawn=drawn_candidates,
        online=ONLINE,
        lists=True,
        next="run {bank} -m PROVIDER/NAME",
        help="A list of entities to elicit triples of. An INPUT is a wiki (dump:FILE, zim:FILE, or "
        "a live one: wiki), of which --per-input pages are drawn, folder:DIR of documents that are "
        "each about one entity, or a list, whose "
        "entities are looked up in --corpus. Short articles, pages of meanings and entities with "
        "few statements are left out, then what a judge rates low; of fictional entities those "
        "that have an article, or that a page of the web names. made-up:plausible and "
        "made-up:absurd let a model make up --per-input names of things that do not exist.",
    )
}
