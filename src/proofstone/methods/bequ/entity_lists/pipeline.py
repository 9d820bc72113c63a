"""From the articles of a wiki, or lists made elsewhere, to a bank of entities: the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from proofstone.choices.outcomes import ask_for
from proofstone.errors import BadUsage
from proofstone.methods.bequ.ask import TwoPrompts
from proofstone.methods.bequ.entities import DOMAINS, NamedRow, plain_name, same_entities
from proofstone.methods.bequ.entity_lists.candidates import (
    ONLINE,
    Candidate,
    Ratings,
    candidates,
    drawn_candidates,
    make_up_step,
)
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    Drop,
    Kept,
    ModelRole,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    seats_of,
)
from proofstone.records.calls import Message
from proofstone.records.ids import Draws, digest
from proofstone.records.knowledge import BuiltFact, Fact, Role, Stratum, fact_id
from proofstone.records.options import Parameter

# How many of each kind a list holds: thirds by what is known of them, so many of a domain.

TIERS = ("0-33%", "33-66%", "66-100%")  # of popularity, from the least known on


_UNKNOWN, _NOT_DRAWN, _NO_DOMAIN = "statements unknown", "not drawn", "no domain"


def thirds_step(per_tier: int) -> BatchStep:
    """Each entity with its third by the count of Wikidata's statements, and of each third so many,
    drawn by the seed (0: all). Thirds are of those that came so far; where counts are equal, the
    name decides. Those without a count are dropped; fictional ones stay as they are."""

    def place(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        made: dict[int, Kept] = {}
        counted: list[tuple[int, str, int]] = []
        listed = list(rows)
        for number, row in enumerate(listed):
            if row.entity.is_fictional:
                continue
            if row.entity.statements is None:
                made[number] = Drop(_UNKNOWN, row.entity.name)
            else:
                counted.append((row.entity.statements, plain_name(row.entity.name), number))
        groups: dict[str, list[int]] = {tier: [] for tier in TIERS}
        for rank, (_n, _name, number) in enumerate(sorted(counted)):
            tier = TIERS[rank * len(TIERS) // len(counted)]
            made[number] = structs.replace(listed[number], tier=tier)
            groups[tier].append(number)
        return made | _not_drawn(groups.values(), listed, per_tier, context, "tier")

    return BatchStep(
        name="thirds", version=1, takes=Candidate, work=place, reasons=(_UNKNOWN, _NOT_DRAWN),
        config={"per_tier": per_tier, "tiers": TIERS}, draws=True,
    )  # fmt: skip


def domains_step(per_domain: int) -> BatchStep:
    """Of each domain so many entities, drawn by the seed; those without one are dropped. Fictional
    ones stay."""

    def draw(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        made: dict[int, Kept] = {}
        groups: dict[str, list[int]] = {}
        listed = list(rows)
        for number, row in enumerate(listed):
            if row.entity.is_fictional:
                continue
            if row.domain:
                groups.setdefault(row.domain, []).append(number)
            else:
                made[number] = Drop(_NO_DOMAIN, row.entity.name)
        return made | _not_drawn(groups.values(), listed, per_domain, context, "domain")

    return BatchStep(
        name="domains", version=1, takes=Candidate, work=draw, reasons=(_NO_DOMAIN, _NOT_DRAWN),
        config={"per_domain": per_domain}, draws=True,
    )  # fmt: skip


def _not_drawn(
    groups: Iterable[Sequence[int]],
    listed: Sequence[Candidate],
    n: int,
    context: StepContext,
    purpose: str,
) -> dict[int, Kept]:
    """Those that are not among the ``n`` of their group that come first in the draw (0: none is).
    A row's place in it rests on the seed and its name alone: a larger ``n`` keeps those drawn."""

    def drawn_at(number: int) -> tuple[float, int]:
        name = plain_name(listed[number].entity.name).encode("utf-8", "surrogatepass")
        key = int.from_bytes(digest(name)[:8], "big")
        return Draws(context.seed, key, purpose).uniform(), number

    return {
        number: Drop(_NOT_DRAWN, listed[number].entity.name)
        for group in groups
        if n
        for number in sorted(group, key=drawn_at)[n:]
    }


# Whether models can be asked about an entity: a judge rates it, and names its domain.

_PROMPTS = TwoPrompts(str(__package__), "rate", "article", "条目")


_UNRATED = "not rated"


_LOW = {"informative": "too little to say", "clear": "ambiguous", "suitable": "not suitable"}


_SEVERAL = "not of one domain"


_RATING = {"type": "integer", "minimum": 1, "maximum": 5}


_SCHEMA: Mapping[str, Any] = {
    "title": "ratings",
    "type": "object",
    "properties": {
        **dict.fromkeys(_LOW, _RATING),
        "domains": {"type": "array", "items": {"type": "string", "enum": list(DOMAINS)}},
    },
    "required": [*_LOW, "domains"],
    "additionalProperties": False,
}


_Likert = Annotated[int, Meta(ge=1, le=5)]


class _Rated(Struct, frozen=True):
    informative: _Likert
    clear: _Likert
    suitable: _Likert
    domains: tuple[str, ...]


def rate_step(least: int, *, one_domain: bool) -> Step:
    """Candidates with three ratings of at least ``least``, each with its domain where it has one
    alone; others are dropped where ``one_domain``. Fictional ones are not rated: they have no
    article to be rated by."""

    async def rate(row: Candidate, context: StepContext) -> Kept:
        if row.entity.is_fictional:
            return row
        prompt = [Message("user", rate_prompt(row))]
        found = await ask_for(context.call, "ratings", prompt, _Rated, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNRATED, found)
        for name, reason in _LOW.items():
            if getattr(found, name) < least:
                return Drop(reason, f"{row.entity.name}: {getattr(found, name)} of 5")
        named = {each.strip().casefold() for each in found.domains}
        domains = [domain for domain in DOMAINS if domain in named]
        if one_domain and len(domains) != 1:
            return Drop(_SEVERAL, f"{row.entity.name}: {', '.join(domains) or 'none'}")
        ratings = Ratings(informative=found.informative, clear=found.clear, suitable=found.suitable)
        domain = row.domain or (domains[0] if len(domains) == 1 else "")
        return structs.replace(row, ratings=ratings, domain=domain)

    return Step(
        name="ratings",
        version=1,
        takes=Candidate,
        work=rate,
        reasons=(_UNRATED, *_LOW.values(), *([_SEVERAL] if one_domain else [])),
        config={
            "least": least,
            "one_domain": one_domain,
            "prompt": _PROMPTS.key(),
        },
        asks=("judge",),
    )


def rate_prompt(row: Candidate) -> str:
    """What a judge is sent, in Chinese for Chinese articles, else in English."""
    entity = row.entity
    return _PROMPTS.render(
        row.language, row.lead, name=entity.name, description=entity.description, domains=DOMAINS
    )


# What a list refuses by rule: pages that are no articles, short ones, names that come again.

_NONE, _UNREAD, _MEANINGS = "no article", "unreadable article", "article of meanings"


_SHORT, _FEW, _EXISTS = "article too short", "too few statements", "no fiction"


_AGAIN = "named before"


def filter_step(least_length: int, least_statements: int) -> Step:
    """Entities with an article of at least so many characters that is no list of meanings, and,
    where their number is known, at least so many statements of Wikidata. Of fictional ones those
    that have no article, and that no page of the web names."""

    def look(row: Candidate, _context: StepContext) -> Kept:
        entity = row.entity
        if row.to_make_up:
            raise BadUsage(
                "no model is named that makes names up", hint="name it: -m author=PROVIDER/NAME"
            )
        if entity.is_fictional:
            found = row.title or row.against
            return Drop(_EXISTS, f"{entity.name}: {found}") if found else row
        if not row.title or row.trouble or row.is_meanings:
            return _without_article(row)
        if (entity.length or 0) < least_length:
            return Drop(_SHORT, f"{row.title}: {entity.length or 0} characters")
        if entity.statements is not None and entity.statements < least_statements:
            return Drop(_FEW, f"{row.title}: {entity.statements} statements")
        return row

    return Step(
        name="filters",
        version=2,
        takes=Candidate,
        work=look,
        reasons=(_EXISTS, _NONE, _UNREAD, _MEANINGS, _SHORT, _FEW),
        config={"length": least_length, "statements": least_statements},
    )


def _without_article(row: Candidate) -> Drop:
    if not row.title:
        return Drop(_NONE, row.entity.name)
    if row.trouble:
        return Drop(_UNREAD, f"{row.title}: {row.trouble}")
    return Drop(_MEANINGS, row.title)


def once_step() -> BatchStep:
    """Each entity once: by its Wikidata number, its name, or a name among another's aliases."""

    def fold(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        named = [_named(row) for row in rows]
        again: dict[int, Kept] = {}
        for first, *others in same_entities(named, []):
            again |= {n: Drop(_AGAIN, f"{named[n].name}: {named[first].name}") for n in others}
        return again

    return BatchStep(name="once", version=1, takes=Candidate, work=fold, reasons=(_AGAIN,))


def _named(row: Candidate) -> NamedRow:
    entity = row.entity
    return NamedRow("", entity.name, entity.description, entity.aliases, entity.wikidata)


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
