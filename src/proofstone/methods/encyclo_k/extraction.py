"""Extract statements from passages: drafts, then true and false claims for a bank."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.choices.outcomes import TEXT, ask_for, list_of, object_of_all, object_of_texts
from proofstone.documents.passages import terms
from proofstone.errors import BadUsage
from proofstone.judging.panel import (
    JudgeSlots,
    WordedQuestions,
    judge_slots,
    judged_step,
    panel_parameters,
    why_undecided,
)
from proofstone.judging.question import fence
from proofstone.method import read_asked
from proofstone.methods.encyclo_k.filters import FILTERS_VERSION, REASONS_OF_TRUE, sift_row
from proofstone.methods.encyclo_k.payloads import ERROR_TYPES, ErrorType, Statement, read_error_type
from proofstone.methods.encyclo_k.statements import perturbed_fact
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    Drop,
    Kept,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    slots_of,
)
from proofstone.records.calls import Message, TextPart
from proofstone.records.knowledge import (
    BuiltFact,
    Fact,
    Role,
    RoleName,
    SourcedPassage,
    Stratum,
    fact_id,
)
from proofstone.records.pages import PageRegion
from proofstone.records.tables import Row, SiftedRow
from proofstone.records.verdicts import JudgeQuestion, PanelVerdict
from proofstone.search.near_duplicates import near_duplicates
from proofstone.texts.templates import Patterns, Prompts


class Ground(Struct, frozen=True):
    """Hold the evidence of a statement: the passage's ``text`` and location.

    ``passage`` is empty for a page image without passages.
    """

    text: str
    passage: bytes
    source: bytes
    book: str
    language: str
    page: str = ""
    heading: str = ""
    stratum: Stratum = Stratum()

    @classmethod
    def of(cls, row: SourcedPassage | PageRegion) -> Ground:
        """Build the evidence from a passage or a region of a page."""
        passage, source = row.passage, row.source
        said = row if isinstance(row, PageRegion) else row.passage
        book = source.stratum.book or source.title
        return cls(
            text=said.text,
            passage=passage.id if passage is not None else b"",
            source=source.id,
            book=book,
            language=said.language or source.language or "en",
            page="" if said.page is None else str(said.page),
            heading=said.heading,
            stratum=structs.replace(source.stratum, book=book),
        )


class Draft(Struct, frozen=True):
    """Hold a statement that a model extracted from its ``ground``, with a title.

    ``rewritten``: it was reworded to be self-contained.
    """

    text: str
    title: str
    ground: Ground
    rewritten: bool = False


class Falsehood(Struct, frozen=True):
    """Hold the false version of a true statement: its text, error type and reason."""

    text: str
    error_type: str
    reason: str


class Claim(Struct, frozen=True):
    """Hold a statement for the bank: the draft itself, or its false version in ``false``.

    ``turned``: it is selected for perturbation, also before that is done.
    """

    draft: Draft
    turned: bool = False
    false: Falsehood | None = None

    @property
    def text(self) -> str:
        """Return the text for the bank."""
        return self.draft.text if self.false is None else self.false.text


# Statements about their source text instead of its subject.

SPEAKING_VERSION = 1  # increment on every change of a pattern


_PATTERNS = Patterns(__package__)


_ENGLISH = _PATTERNS.one("of_passage", re.IGNORECASE)


_CHINESE = _PATTERNS.one("zh_of_passage")


def speaks_of_passage(text: str) -> str:
    """Return what in ``text`` refers to its passage, paper or authors; empty without a match."""
    found = _ENGLISH.search(text) or _CHINESE.search(text)
    return found[0] if found else ""


# Near-duplicate statements: the first one is kept.

_SAME = "same as another"


def alike_step(least: float) -> BatchStep:
    """Drop near-duplicates; the first in row order is kept."""

    def check(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        texts: Sequence[str] = [row.text for row in rows]
        found = near_duplicates(texts, least)
        return {place: Drop(_SAME, texts[first]) for place, first in found.items()}

    return BatchStep(
        name="near-duplicates",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SAME,),
        config={"least": least},
    )


# Prompts, and questions to one judge or a panel.

_PROMPTS = Prompts(__package__)

_QUESTIONS = WordedQuestions(
    __package__,
    {"standing": "stands", "support": "supported", "falsity": "false", "reason": "fits"},
    "prompts/checks",
)

_UNREADABLE, _EMPTY = "unparsed response", "no statement in it"


# A statement from an image: one knowledge point, cropped from its page (3.1.1, appendix A.1).
#
# The paper uses images of one complete knowledge point with all else masked, and asks for its name
# and its content.


class _Point(Struct, frozen=True):
    title: str
    content: str
    transcript: str = ""


def seen_step() -> Step:
    """Extract at most one statement per region.

    If the page's own text is unknown, the model also transcribes the image, and the statement is
    checked against that.
    """

    async def extract(row: PageRegion, context: StepContext) -> Kept:
        ground = Ground.of(row)
        knows_text = bool(ground.text.strip())
        prompt = _PROMPTS.render(
            "extract_seen",
            ground.language,
            book=ground.book,
            heading=ground.heading,
            page=row.page,
            transcribe=not knows_text,
        )
        message = Message("user", (row.image, TextPart(prompt)))
        names = ("title", "content") if knows_text else ("transcript", "title", "content")
        schema = object_of_texts(*names, title="knowledge_point")
        found = await ask_for(context.call, "extract", [message], _Point, schema)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        text = " ".join(found.content.split())
        if not text:
            return Drop(_EMPTY, ground.text[:200])
        if not knows_text:
            ground = structs.replace(ground, text=found.transcript.strip() or text)
        return Draft(text=text, title=found.title.strip(), ground=ground)

    return Step(
        name="extract from images",
        version=1,
        takes=PageRegion,
        work=extract,
        reasons=(_UNREADABLE, _EMPTY),
        config={"prompt": _PROMPTS.key("extract_seen")},
        asks=("writer",),
    )


# Statements from a passage: one knowledge point each, in the passage's own terms.

_TOO_SHORT, _LEAST_CHARACTERS = "too short to hold one", 12  # a heading or a single number


class _Stated(Struct, frozen=True):
    text: str
    title: str = ""


class _Statements(Struct, frozen=True):
    statements: tuple[_Stated, ...]


_STATEMENTS = object_of_all(
    {"statements": list_of(object_of_texts("title", "text"))}, title="statements"
)


def extract_step(most: int) -> Step:
    """Extract at most ``most`` statements per passage."""

    async def extract(row: SourcedPassage, context: StepContext) -> Kept:
        ground = Ground.of(row)
        if len(ground.text.strip()) < _LEAST_CHARACTERS:
            return Drop(_TOO_SHORT, ground.text)
        prompt = _PROMPTS.render(
            "extract",
            ground.language,
            passage=fence("passage", ground.text, ground.language),
            book=ground.book,
            heading=ground.heading,
            most=most,
        )
        asked = [Message("user", prompt)]
        found = await ask_for(context.call, "extract", asked, _Statements, _STATEMENTS)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        drafts = [
            Draft(text=" ".join(stated.text.split()), title=stated.title.strip(), ground=ground)
            for stated in found.statements[:most]
            if stated.text.strip()
        ]
        return list(dict.fromkeys(drafts)) or Drop(_EMPTY, ground.text[:200])

    return Step(
        name="extract",
        version=2,
        takes=SourcedPassage,
        work=extract,
        reasons=(_TOO_SHORT, _UNREADABLE, _EMPTY),
        config={"most": most, "prompt": _PROMPTS.key("extract")},
        asks=("writer",),
    )


# Judging of drafts: self-contained, and supported by the passage.

_LEANS = "needs its book"


class _Rewritten(Struct, frozen=True):
    text: str


_REWRITTEN = object_of_texts("text", title="statement")


def standing_step(judges: JudgeSlots) -> Step:
    """Drop drafts that are not self-contained, after one rewrite by the author model.

    The rewrite sees the passage.
    """

    async def check(row: Draft, context: StepContext) -> Kept:
        language = row.ground.language

        async def judged(text: str) -> PanelVerdict:
            question = _QUESTIONS.question("standing", language, {"statement": text})
            return await _QUESTIONS.ask(judges, context, "standing", question)

        first = await judged(row.text)
        if first.label == "stands":
            return row
        if not first.label:
            return Drop(why_undecided(first), row.text)
        prompt = _PROMPTS.render(
            "rewrite",
            language,
            passage=fence("passage", row.ground.text, language),
            statement=fence("statement", row.text, language),
            book=row.ground.book,
        )
        asked = [Message("user", prompt)]
        new = await ask_for(context.calls["writer"], "rewrite", asked, _Rewritten, _REWRITTEN)
        text = "" if isinstance(new, str) else " ".join(new.text.split())
        if not text or text == row.text:
            return Drop(_LEANS, row.text)
        again = await judged(text)
        if again.label != "stands":
            return Drop(_LEANS if again.label else why_undecided(again), text)
        return structs.replace(row, text=text, rewritten=True)

    return Step(
        name="self-contained",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_LEANS, *judges.silent),
        config={**_QUESTIONS.config(judges, "standing"), "prompt": _PROMPTS.key("rewrite")},
        asks=(*judges.asks, "writer"),
    )


def support_step(judges: JudgeSlots) -> Step:
    """Drop drafts that the passage does not support, by the votes of the judges."""

    def asked(row: Draft) -> tuple[str, JudgeQuestion]:
        texts = {"passage": row.ground.text, "statement": row.text}
        return "support", _QUESTIONS.question("support", row.ground.language, texts)

    return judged_step(
        judges,
        _QUESTIONS,
        "support",
        asked,
        name="support",
        takes=Draft,
        drops={"unsupported": "not supported by its passage"},
        found=lambda row: row.text,
        votes=judges.votes,
    )


# Judging of false statements: falsity, and correctness of the reason. Two questions, two rates.


def falsity_step(judges: JudgeSlots) -> Step:
    """Drop false statements that the judges do not find false given the passage."""

    def asked(row: Claim) -> tuple[str, JudgeQuestion] | None:
        ground = row.draft.ground
        if row.false is None:
            return None
        texts = {"passage": ground.text, "statement": row.false.text}
        return "falsity", _QUESTIONS.question("falsity", ground.language, texts)

    return judged_step(
        judges,
        _QUESTIONS,
        "falsity",
        asked,
        name="false",
        takes=Claim,
        drops={"true": "still true", "open": "neither true nor false"},
        found=lambda row: row.false.text,
        votes=judges.votes,
    )


def reason_step(judges: JudgeSlots) -> Step:
    """Drop false statements whose stated reason does not name the error."""

    def asked(row: Claim) -> tuple[str, JudgeQuestion] | None:
        if row.false is None:
            return None
        texts = {"true": row.draft.text, "changed": row.false.text, "reason": row.false.reason}
        return "reason", _QUESTIONS.question("reason", row.draft.ground.language, texts)

    return judged_step(
        judges,
        _QUESTIONS,
        "reason",
        asked,
        name="reason",
        takes=Claim,
        drops={"misses": "reason does not fit"},
        found=lambda row: row.false.reason,
    )


# Verbatim overlap of a statement with its passage, and the filters.

_OF_PASSAGE = "mentions its passage"


def overlap(statement: str, passage: str) -> float:
    """Return the share of a statement's words found in the passage, in [0, 1].

    Numbers count as words; Chinese uses character bigrams. 0 for a statement without words.
    """
    wanted = terms(statement)
    there = terms(passage)
    return sum(term in there for term in wanted) / len(wanted) if wanted else 0.0


def overlap_step(least: float) -> Step:
    """Drop statements with an overlap below ``least``.

    These are distant paraphrases, or knowledge that the model added.
    """

    def check(row: Draft, _context: StepContext) -> Kept:
        found = overlap(row.text, row.ground.text)
        return row if found >= least else Drop("low overlap with its passage", f"{found:.2f}")

    return Step(
        name="overlap",
        version=1,
        takes=Draft,
        work=check,
        reasons=("low overlap with its passage",),
        config={"least": least},
    )


def filter_step() -> Step:
    """Apply the cleaner and the filters for statements from books.

    A further filter drops statements about the passage instead of its subject, which only models
    write.
    """

    def check(row: Draft, _context: StepContext) -> Kept:
        if found := speaks_of_passage(row.text):
            return Drop(_OF_PASSAGE, found)
        sifted = sift_row(Row("", {"text": row.text, "correct": True}))
        if not isinstance(sifted, SiftedRow):
            return row
        if sifted.reason:
            return Drop(sifted.reason, sifted.found)
        return structs.replace(row, text=str(sifted.row.values["text"]))

    return Step(
        name="filters",
        version=FILTERS_VERSION,
        takes=Draft,
        work=check,
        reasons=(_OF_PASSAGE, *REASONS_OF_TRUE),
        config={"speaking": SPEAKING_VERSION},
    )


_UNCHANGED, _UNTYPED = "not changed", "no known type of error"


_LENGTH, _FILTERED = "of another length", "fails a filter"


# Equal length (required by the paper): a ratio of at most this factor, either way.
_MOST_LONGER = 1.6


class _Made(Struct, frozen=True):
    error_type: str
    statement: str
    reason: str
    analysis: str = ""
    right: str = ""
    wrong: str = ""


_MADE = object_of_all(
    {
        "analysis": TEXT,
        "error_type": {**TEXT, "enum": list(ERROR_TYPES)},
        **dict.fromkeys(("right", "wrong", "statement", "reason"), TEXT),
    },
    title="perturbed",
)


def claim_step(share: float) -> Step:
    """Return each draft as a claim, and a random ``share`` of them again for perturbation."""

    def claim(row: Draft, context: StepContext) -> Kept:
        true = Claim(draft=row)
        if context.draws("perturb").uniform() >= share:
            return true
        return [true, Claim(draft=row, turned=True)]

    return Step(
        name="claims", version=1, takes=Draft, work=claim, config={"share": share}, draws=True
    )


def perturb_step(types: Mapping[ErrorType, float]) -> Step:
    """Perturb the selected claims; others pass unchanged.

    Without ``types`` the model chooses the error type; otherwise one is sampled for each by weight.
    """

    async def perturb(row: Claim, context: StepContext) -> Kept:
        if not row.turned:
            return row
        language = row.draft.ground.language
        prompt = _PROMPTS.render(
            "perturb",
            language,
            statement=fence("statement", row.draft.text, language),
            book=row.draft.ground.book,
            types=(_drawn(types, context),) if types else ERROR_TYPES,
        )
        made = await ask_for(context.call, "perturb", [Message("user", prompt)], _Made, _MADE)
        return Drop(_UNREADABLE, made) if isinstance(made, str) else _checked(row, made)

    return Step(
        name="perturb",
        version=2,
        takes=Claim,
        work=perturb,
        reasons=(_UNREADABLE, _UNTYPED, _UNCHANGED, _LENGTH, _FILTERED),
        config={
            "types": dict(types),
            "filters": FILTERS_VERSION,
            "prompt": _PROMPTS.key("perturb"),
        },
        asks=("perturber",),
        draws=bool(types),
    )


def _drawn(types: Mapping[ErrorType, float], context: StepContext) -> ErrorType:
    left = context.draws("error type").uniform() * sum(types.values())
    for name, weight in types.items():
        left -= weight
        if left < 0:
            return name
    return list(types)[-1]


def _checked(row: Claim, made: _Made) -> Kept:
    text = _changed(row.draft.text, made)
    kind = read_error_type(made.error_type)
    if kind is None:
        return Drop(_UNTYPED, made.error_type)
    if _signless(text) in ("", _signless(row.draft.text)) or not made.reason.strip():
        return Drop(_UNCHANGED, text)
    ratio = len(text) / len(row.draft.text)
    if not 1 / _MOST_LONGER <= ratio <= _MOST_LONGER:
        return Drop(_LENGTH, f"{ratio:.2f} times the length")
    sifted = sift_row(Row("", {"text": text, "correct": False}))
    if isinstance(sifted, SiftedRow) and sifted.reason:
        return Drop(_FILTERED, f"{sifted.reason}: {sifted.found}")
    return structs.replace(row, false=Falsehood(text, kind, made.reason.strip()))


def _changed(true: str, made: _Made) -> str:
    """Return the false text.

    Small models often name their change and then copy the true statement; in this case the change
    is applied for them.
    """
    text, right = " ".join(made.statement.split()), made.right.strip()
    if _signless(text) == _signless(true) and right and true.count(right) == 1:
        return true.replace(right, made.wrong.strip())
    return text


def _signless(text: str) -> str:
    """Return letters and digits in order and lower case: other characters make no difference."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


# Claims of the last step as facts: every true statement, followed by its false one.


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Claim]], Iterator[BuiltFact]]:
    """Return the facts of claims, with the models of the build by role."""

    def roles(name: RoleName, slot: str) -> tuple[Role, ...]:
        return tuple(Role(name, model) for model in slots_of(slot, models).values())

    wrote, checked = roles("wrote", "writer"), roles("checked", "judge")
    perturbed = roles("perturbed", "perturber")

    def facts(claims: Iterable[Claim]) -> Iterator[BuiltFact]:
        for claim in claims:
            draft, ground, false = claim.draft, claim.draft.ground, claim.false
            fact = Fact(
                kind="encyclo_k.statement",
                payload=Statement(text=draft.text, correct=True, title=draft.title),
                language=ground.language,
                stratum=ground.stratum,
                source=ground.source,
                passage=ground.passage or None,
                page=ground.page,
            )
            true = structs.replace(fact, id=fact_id(fact))
            if false is None:
                yield BuiltFact(true, roles=(*wrote, *checked))
                continue
            fact = perturbed_fact(true, false.text, false.error_type, false.reason)
            yield BuiltFact(fact, roles=(*wrote, *perturbed, *checked))

    return facts


# From passages to true and false statements (3.1.1, 3.1.2, appendices A and C): the steps.

_ASKED = read_asked(__package__, "extraction")

PARAMETERS = (
    *_ASKED.parameters,
    *panel_parameters(
        votes="Votes of each judge on support and falsity; more than half are its vote.",
        orders="Orders of the labels in which each vote is asked for; more than half decide.",
        tie="Tie rule of a panel: drop or keep the row.",
        usual_tie="drop",
    ),
)


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps for these parameters. Raises BadUsage for invalid ones."""
    _check(params)
    types = _types(params["error_types"])
    judges = judge_slots(params, models)
    return Pipeline(
        steps=(
            seen_step() if params["from_regions"] else extract_step(params["statements"]),
            overlap_step(params["overlap"]),
            filter_step(),
            standing_step(judges),
            support_step(judges),
            alike_step(params["alike"]),
            claim_step(params["perturbed"]),
            perturb_step(types),
            falsity_step(judges),
            reason_step(judges),
        ),
        gives=Claim,
        facts=facts_by(models),
    )


def _check(params: Mapping[str, Any]) -> None:
    for name in ("overlap", "alike", "perturbed"):
        if not 0 <= params[name] <= 1:
            raise BadUsage(f"--{name} must be a share from 0 to 1, got {params[name]}")
    if params["statements"] < 1:
        raise BadUsage(f"--statements must be 1 or more, got {params['statements']}")


def _types(text: str) -> dict[ErrorType, float]:
    """Parse ``TYPE=WEIGHT,...``; a type alone has weight 1, the empty text gives none."""
    weights: dict[ErrorType, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _sign, number = part.partition("=")
        kind = read_error_type(name)
        try:
            weight = float(number or 1)
        except ValueError:
            weight = -1.0
        if kind is None or not 0 < weight < float("inf"):
            raise BadUsage(
                f"--error-types: expected TYPE=WEIGHT with a weight above 0, got {part!r}"
            )
        weights[kind] = weight
    return weights


PIPELINES = {
    "statements": StepBuilder(
        make=make_pipeline,
        roles=_ASKED.roles,
        parameters=PARAMETERS,
        regions=("from_regions", "writer"),
        help="A model writes statements from source passages, and false statements "
        "from true ones. Each step is verified.",
        example="Handbook -m openai/gpt-5.1 --judge other/model --budget 5USD",
    )
}
