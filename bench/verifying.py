"""Measure verification of triples: blocking, passage search, and memory of planning.

Blocking: judge calls saved compared with exhaustive pairing, and recall lost; the true matches are
known. Search: passages per second by words and meaning.

    --memory    plan 10,000 entities x 20 models x 40 triples and rank as many verdicts,
                each in a separate process
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from random import Random

from measures import Line, machine, print_lines, timed
from msgspec import Struct

from proofstone.methods.bequ.records import (
    DIRECTIONS,
    Elicited,
    EntityFacts,
    GivenTriple,
    Group,
    ReferenceRow,
    ReferenceTriple,
    Verdict,
    VerdictLabel,
    Verified,
    VerifiedRuns,
    VerifySettings,
)
from proofstone.methods.bequ.report.board import triple_board
from proofstone.methods.bequ.verification.plan import Gathered, Spool, make_plan
from proofstone.methods.bequ.verification.verify import (
    EntityCorpus,
    TextIndex,
    posed_questions,
    triple_words,
)
from proofstone.records.items import SearchMethod
from proofstone.records.tables import Row
from proofstone.records.verdicts import Passage
from proofstone.search.index import SentenceEncoder

ENTITIES, KNOWN, SAID, K = 150, 90, 45, 10
TIMED = 40  # entities whose passages are searched
# Synonymous predicates: reference and model seldom use the same one.
PREDICATES = (
    ("dateOfBirth", "bornOn", "birthDate"), ("placeOfBirth", "bornIn", "birthplace"),
    ("occupation", "profession", "worksAs"), ("spouse", "marriedTo", "wife"),
    ("educatedAt", "almaMater", "studiedAt"), ("country", "locatedInCountry", "state"),
    ("population", "numberOfInhabitants", "inhabitants"), ("area", "surfaceArea", "size"),
    ("foundedIn", "inception", "established"), ("founder", "foundedBy", "createdBy"),
    ("author", "writtenBy", "writer"), ("publisher", "publishedBy", "publishingHouse"),
    ("genre", "style", "category"), ("language", "spokenLanguage", "originalLanguage"),
    ("award", "awardReceived", "prize"), ("employer", "workedFor", "affiliation"),
    ("capital", "capitalCity", "slot"), ("river", "liesOn", "waterway"),
    ("elevation", "height", "altitude"), ("owner", "ownedBy", "proprietor"),
    ("director", "directedBy", "filmDirector"), ("architect", "designedBy", "builtBy"),
    ("openingDate", "opened", "inaugurated"), ("member", "hasMember", "includes"),
    ("memberOf", "belongsTo", "partOf"), ("sport", "discipline", "plays"),
    ("position", "playingPosition", "role"), ("team", "club", "playsFor"),
    ("religion", "faith", "denomination"), ("nationality", "citizenship", "citizenOf"),
)  # fmt: skip
MONTHS = ("January", "March", "May", "June", "August", "October", "November", "December")
ROOTS = ("bel", "kor", "mar", "sten", "vil", "dun", "ras", "ola", "tem", "gri", "hof", "lund")


class Fact(Struct, frozen=True):
    """A fact of an entity: its predicate by number, and spellings of its object."""

    predicate: int
    objects: tuple[str, ...]


class World(Struct, frozen=True):
    """An entity with its facts, and elicited triples with the fact that each states (-1: none)."""

    name: str
    facts: list[Fact]
    said: list[tuple[GivenTriple, int]]


def name_of(rng: Random) -> str:
    return " ".join("".join(rng.choices(ROOTS, k=rng.randint(2, 3))).capitalize() for _ in range(2))


def object_of(rng: Random) -> tuple[str, ...]:
    kind = rng.randrange(4)
    if kind == 0:
        day, month, year = rng.randint(1, 28), rng.randrange(8), rng.randint(1700, 2020)
        return f"{day} {MONTHS[month]} {year}", f"{MONTHS[month]} {day}, {year}", f"{year}"
    if kind == 1:
        n = rng.randint(1_000, 999_999)
        return f"{n:,}", f"{n}", f"about {n:,}"
    if kind == 2:
        place = name_of(rng)
        return f"{place}, {name_of(rng)}", place, f"the town of {place}"
    person = name_of(rng)
    return person, f"{person.split()[0][0]}. {person.split()[1]}", person.split()[1]


def made_world(seed: int) -> World:
    """Return facts of which a model states half in other words, and incorrect triples.

    These have a known predicate and another object, in half of the cases one of the entity's other
    objects.
    """
    rng = Random(seed)
    name = name_of(rng)
    facts = [Fact(rng.randrange(len(PREDICATES)), object_of(rng)) for _ in range(KNOWN)]
    said: list[tuple[GivenTriple, int]] = []
    for place in rng.sample(range(KNOWN), SAID):
        fact, told = facts[place], place
        objects = fact.objects
        if rng.random() < 0.4:
            told = -1
            objects = rng.choice(facts).objects if rng.random() < 0.5 else object_of(rng)
            if objects is fact.objects:
                told = place
        predicate = rng.choice(PREDICATES[fact.predicate])
        said.append((GivenTriple(name, predicate, rng.choice(objects)), told))
    return World(name, facts, said)


def blocking(
    prompt_method: SearchMethod, embedding_model: SentenceEncoder | None
) -> tuple[int, int, int, int]:
    """Return numbers of reference triples, stated ones, those among candidates, and exhaustive
    calls."""
    known = covered = found = pairs = 0
    for seed in range(ENTITIES):
        world = made_world(seed)
        words = [triple_words(each.subject, each.predicate, each.object) for each, _ in world.said]
        index = TextIndex(words, prompt_method, embedding_model)
        queries = [
            triple_words(world.name, PREDICATES[fact.predicate][0], fact.objects[0])
            for fact in world.facts
        ]
        for place, candidates in enumerate(index.search(queries, K)):
            tell = {at for at, (_each, told) in enumerate(world.said) if told == place}
            known += 1
            pairs += len(world.said)
            covered += bool(tell)
            found += bool(tell & set(candidates))
    return known, covered, found, pairs


def blocked(embedding_model: SentenceEncoder) -> bool:
    lines = []
    prompt_methods: tuple[tuple[SearchMethod, SentenceEncoder | None], ...] = (
        ("bm25", None),
        ("hybrid", embedding_model),
    )
    for prompt_method, encoder in prompt_methods:
        known, covered, found, pairs = blocking(prompt_method, encoder)
        lost = (covered - found) / known
        lines += [
            Line(f"{prompt_method}: judge calls, exhaustive", f"{pairs:,} pairs"),
            Line(f"{prompt_method}: judge calls, blocked", f"{known:,}, 1 in {pairs / known:.0f}"),
            Line(
                f"{prompt_method}: recall lost, of {100 * covered / known:.1f}%",
                f"{100 * lost:.2f}%",
                "under 0.5%",
                lost < 0.005,
            ),
        ]
    return print_lines(f"blocking, top {K} of {SAID} ({machine()})", lines)


def searched(embedding_model: SentenceEncoder) -> bool:
    """Search passages of 40 entities, each indexed once, for all triples about them."""
    worlds = [made_world(seed) for seed in range(TIMED)]
    embedding_model.embed(["warm"])
    with timed() as made:
        corpora = [EntityCorpus(world.name, [row_of(world)], search_method="hybrid",
            embedding_model=embedding_model)
                   for world in worlds]  # fmt: skip
        for corpus in corpora:
            corpus.search([GivenTriple("x", "y", "z")], K)  # makes the index
    with timed() as search:
        for world, corpus in zip(worlds, corpora, strict=True):
            corpus.search([each for each, _told in world.said], K)
    n = sum(len(world.said) for world in worlds)
    rate = n / search.cpu_s
    lines = [
        Line("passages indexed a processor second", f"{TIMED * KNOWN / made.cpu_s:,.0f}"),
        Line("triples a second of the clock", f"{n / search.wall_s:,.0f}"),
        Line("triples a second of one processor", f"{rate:,.0f}", "500 or more", rate >= 500),
    ]
    return print_lines("retrieval for verification, by BM25 and the carried embedder", lines)


def row_of(world: World) -> ReferenceRow:
    triples = tuple(
        ReferenceTriple(
            PREDICATES[fact.predicate][0],
            fact.objects[0],
            Passage(
                f"In {world.name} the {PREDICATES[fact.predicate][0]} is said to be "
                f"{fact.objects[0]}, as older sources have it."
            ),
        )
        for fact in world.facts
    )
    return ReferenceRow((), triples)


def given_rows(entities: int, models: int, triples: int) -> Iterator[Row]:
    for model in range(models):
        for entity in range(entities):
            for place in range(triples):
                said = {"predicate": f"p{place}", "object": f"o{entity % 97}-{place}"}
                yield Row("line 1", {"model": f"m{model}", "subject_name": f"E{entity}", **said})


def known_rows(entities: int, triples: int) -> Iterator[Row]:
    for entity in range(entities):
        listed = [[f"p{place}", f"o{entity % 97}-{place}"] for place in range(triples)]
        yield Row("line 1", {"entity": f"E{entity}", "triples_wiki": listed})


def planned(entities: int, models: int, triples: int) -> None:
    """Gather and plan, then create the prompts of the sample."""
    with (
        Spool[tuple[int, int], GivenTriple](GivenTriple) as elicited,
        Spool[int, ReferenceRow](ReferenceRow) as known,
    ):
        gathered = Gathered(elicited, known)
        with timed() as read:
            gathered.take_reference(known_rows(entities, triples))
            gathered.take_elicited(given_rows(entities, models, triples), model="")
        with timed() as made:
            make_plan(gathered, VerifySettings(sample=0))
            plan = make_plan(gathered, VerifySettings())
            n = sum(1 for _posed in posed_questions(gathered, plan))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{entities * models * triples} {n} {read.wall_s} {made.wall_s} {peak}")


def ranked(entities: int, models: int, each: int) -> None:
    """Build the board from this number of verdicts per direction, model and entity."""
    rng = Random(5)
    outcomes = [rng.choices(range(3), (5, 1, 4), k=4_099) for _model in range(models)]
    labels: tuple[tuple[VerdictLabel, ...], ...] = (
        ("entailment", "contradiction", "neutral"),
        ("covered", "not covered", "not covered"),
    )

    def verdicts() -> Iterator[Verified]:
        for model in range(models):
            for entity in range(entities):
                for place in range(2 * each):
                    outcome = outcomes[model][(entity * 31 + place) % 4_099]
                    yield Verified(
                        id="", direction=DIRECTIONS[place % 2], group=model, entity=entity,
                        drawn=0, subject="", predicate="", object="",
                        family=f"f{place % 10}", source=("wiki", "web")[place // 2 % 2],
                        verdict=Verdict(label=labels[place % 2][outcome], basis="judge"),
                    )  # fmt: skip

    runs = VerifiedRuns(
        groups=tuple(Group(f"m{model}") for model in range(models)),
        runs=tuple(() for _model in range(models)),
        elicited=tuple(Elicited(entities=entities, given=entities) for _ in range(models)),
        entities=tuple(
            EntityFacts(f"E{at}", domain=f"d{at % 10}", popularity=f"t{at % 3}")
            for at in range(entities)
        ),
        judges="j", reference="r", sampling="all triples", read=verdicts,
    )  # fmt: skip
    with timed() as made:
        board = triple_board(runs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{sum(board.counts.values())} {len(board.parts)} {made.wall_s} {peak}")


def memory() -> bool:
    """Run both in separate processes."""
    total, n, read_s, made_s, peak = _apart("--planned")
    lines = [
        Line("triples read", f"{total:,.0f} in {read_s:.0f} s"),
        Line("sample planned and posed", f"{n:,.0f} in {made_s:.0f} s"),
        Line("memory at the most", f"{peak:,.0f} MB", "under 2,000 MB", peak < 2_000),
    ]
    verdicts, parts, board_s, peak = _apart("--ranked")
    lines += [
        Line("verdicts ranked", f"{verdicts:,.0f} with {parts:,.0f} parts in {board_s:.0f} s"),
        Line("memory of that", f"{peak:,.0f} MB", "under 2,000 MB", peak < 2_000),
    ]
    return print_lines("10,000 entities x 20 models x 40 triples", lines)


def _apart(what: str) -> tuple[float, ...]:
    out = subprocess.run(
        [sys.executable, __file__, what], check=True, capture_output=True, text=True
    ).stdout
    return tuple(float(word) for word in out.split())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--planned", action="store_true")
    parser.add_argument("--ranked", action="store_true")
    parser.add_argument("--searched", action="store_true")
    asked = parser.parse_args()
    if asked.planned:
        planned(10_000, 20, 40)
        return 0
    if asked.ranked:
        ranked(10_000, 20, 20)
        return 0
    if asked.memory:
        return 0 if memory() else 1
    if asked.searched:
        return 0 if searched(SentenceEncoder()) else 1
    # One BLAS thread: several threads busy-wait under load, which counts as processor time.
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    apart = subprocess.run([sys.executable, __file__, "--searched"], check=False, env=alone)
    return 0 if blocked(SentenceEncoder()) and not apart.returncode else 1


if __name__ == "__main__":
    sys.exit(main())
