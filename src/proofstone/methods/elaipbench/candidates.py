"""Write questions from linked passages with a model, each with its options and their evidence.

A candidate is a question whose quotes were all found verbatim in its document (section 3.2.1). It
remains marked as written by a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.choices.outcomes import TEXT, ask_for, list_of, object_of_all
from proofstone.judging.difficulty import filtered_roles
from proofstone.judging.question import fence
from proofstone.methods.elaipbench.passages import PassageSet
from proofstone.methods.elaipbench.payloads import SEVERAL, Evidence, PaperQuestion, QuestionType
from proofstone.methods.elaipbench.questions import undefined_names
from proofstone.records.builds import Drop, Kept, Step, StepContext, slots_of
from proofstone.records.calls import Message
from proofstone.records.knowledge import BuiltFact, Fact, Role, Source, Span, fact_id
from proofstone.texts.languages import is_chinese
from proofstone.texts.quotes import PageTexts
from proofstone.texts.templates import Prompts

MOST_OPTIONS = 8

_PROMPTS = Prompts(__package__)

_NEAR = 200  # characters shown of a text


class WrittenOption(Struct, frozen=True):
    """An option as written by a model, with its quotes."""

    text: str
    correct: bool
    evidence: tuple[str, ...] = ()


class _Written(Struct, frozen=True):
    question: str
    options: tuple[WrittenOption, ...] = ()


class Draft(Struct, frozen=True):
    """A question as written, its options in random order, with the passages that it links."""

    passages: PassageSet
    question: str
    options: tuple[WrittenOption, ...]


class Candidate(Struct, frozen=True, kw_only=True):
    """A question whose evidence was found in its document.

    ``n_passages`` passages are linked, at least ``distance`` tokens apart, with a cosine of
    ``link`` or more.
    """

    source: Source
    document: bytes
    language: str
    question: PaperQuestion
    n_passages: int
    distance: int
    link: float

    def fact(self) -> Fact:
        """Return the candidate as a fact of a bank."""
        stratum, title = self.source.stratum, self.source.title
        fact = Fact(
            kind="elaipbench.question",
            payload=self.question,
            language=self.language,
            stratum=structs.replace(stratum, book=stratum.book or title),
            source=self.source.id,
        )
        return structs.replace(fact, id=fact_id(fact))


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Candidate]], Iterator[BuiltFact]]:
    """Return the facts of candidates, with the models by role."""
    wrote = tuple(Role("wrote", model) for model in slots_of("author", models).values())
    checked = tuple(Role("checked", model) for model in slots_of("judge", models).values())
    roles = (*wrote, *checked, *filtered_roles(slots_of("panel", models)))

    def facts(candidates: Iterable[Candidate]) -> Iterator[BuiltFact]:
        for candidate in candidates:
            yield BuiltFact(candidate.fact(), roles=roles)

    return facts


# A question by the author.

_UNREADABLE, _NO_QUESTION = "unparsed response", "no question in it"


_MISSHAPEN = "not of the requested form"


_SCHEMA = object_of_all(
    {
        "question": TEXT,
        "options": list_of(
            object_of_all({"text": TEXT, "correct": {"type": "boolean"}, "evidence": list_of(TEXT)})
        ),
    },
    title="question",
)


def question_step(n_options: int) -> Step:
    """Return the step in which the author writes a question from each set of passages."""

    async def write(row: PassageSet, context: StepContext) -> Kept:
        prompt = [Message("user", question_prompt(row, n_options))]
        found = await ask_for(context.call, "question", prompt, _Written, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        question = " ".join(found.question.split())
        if not question:
            return Drop(_NO_QUESTION, ", ".join(row.terms))
        options = [
            structs.replace(each, text=" ".join(each.text.split())) for each in found.options
        ]
        wrong = _wrong_form(options, row.question_type, n_options)
        if wrong:
            return Drop(_MISSHAPEN, f"{wrong}: {question}")
        # In random order: authors tend to write the correct options first.
        return Draft(row, question, tuple(context.draws("options").shuffled(options)))

    return Step(
        name="question",
        version=1,
        takes=PassageSet,
        work=write,
        reasons=(_UNREADABLE, _NO_QUESTION, _MISSHAPEN),
        config={"n_options": n_options, "prompt": _PROMPTS.key("question")},
        asks=("author",),
        draws=True,
    )


def question_prompt(row: PassageSet, n_options: int) -> str:
    """Return the author's prompt for a set of passages, in their language."""
    language = row.language
    name = "文字 {n}" if is_chinese(language) else "passage {n}"
    passages = [
        {
            "heading": each.heading,
            "block": fence(name.replace("{n}", str(number)), each.text, language),
        }
        for number, each in enumerate(row.passages, start=1)
    ]
    return _PROMPTS.render(
        "question",
        language,
        passages=passages,
        terms=("、" if is_chinese(language) else ", ").join(row.terms),
        several=row.question_type == "multiple",
        n_options=n_options,
        title=row.source.title,
    )


def _wrong_form(options: Sequence[WrittenOption], kind: QuestionType, n_options: int) -> str:
    """Return what is wrong with options, empty if nothing is."""
    texts = [option.text.casefold() for option in options]
    n_right = sum(option.correct for option in options)
    if not n_options <= len(options) <= MOST_OPTIONS:
        return f"{len(options)} options, expected {n_options} to {MOST_OPTIONS}"
    if not all(texts) or len(set(texts)) < len(texts):
        return "an option is empty or occurs twice"
    if kind == "single" and n_right != 1:
        return f"{n_right} correct options, expected 1"
    if kind == "multiple" and n_right not in SEVERAL:
        return f"{n_right} correct options, expected 2 or 3"
    return ""


# The quotes of a question, found in its document.

_NOT_FOUND, _UNSUPPORTED = "quote not found", "correct option without evidence"


_UNUSED, _UNDEFINED = "passage without evidence", "undefined abbreviation"


def quotes_step() -> Step:
    """Return the step that finds each quote in the document's pages, verbatim.

    Dropped are questions with a quote that is not there (with the nearest text), with a correct
    option or a passage without any quote, and with an abbreviation that the document never uses.
    """

    def check(row: Draft, context: StepContext) -> Kept:
        if context.document is None:
            raise ValueError("the step reads no documents")
        document = context.document(row.passages.source.id)
        texts = PageTexts(dict(document.pages))
        evidence: list[Evidence] = []
        for place, option in enumerate(row.options):
            spans: list[Span] = []
            for quote in filter(str.strip, option.evidence):
                at = texts.find(quote)
                if not at.spans:
                    return Drop(_NOT_FOUND, _missed(quote, at.nearest))
                spans += at.spans
            if spans:
                evidence.append(Evidence(place, tuple(dict.fromkeys(spans))))
            elif option.correct:
                return Drop(_UNSUPPORTED, option.text)
        unused = _unused(row)
        if unused:
            return Drop(_UNUSED, f"passage {', '.join(map(str, unused))}: {row.question}")
        asked = " ".join([row.question, *(option.text for option in row.options)])
        undefined = undefined_names(asked, " ".join(text for _page, text in document.pages))
        if undefined:
            return Drop(_UNDEFINED, ", ".join(undefined))
        return _candidate(row, evidence)

    return Step(
        name="quotes",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_NOT_FOUND, _UNSUPPORTED, _UNUSED, _UNDEFINED),
        reads=("documents",),
    )


def _missed(quote: str, nearest: str) -> str:
    near = f"; nearest text: {nearest[:_NEAR]}" if nearest else "; no similar text"
    return f"{quote[:_NEAR]}{near}"


def _unused(row: Draft) -> list[int]:
    """Return the numbers of passages that no quote is from."""
    quotes = [quote for option in row.options for quote in option.evidence if quote.strip()]
    return [
        number
        for number, passage in enumerate(row.passages.passages, start=1)
        if not any(PageTexts({None: passage.text}).find(quote).spans for quote in quotes)
    ]


def _candidate(row: Draft, evidence: Sequence[Evidence]) -> Candidate:
    chosen = row.passages
    question = PaperQuestion(
        question=row.question,
        options=tuple(option.text for option in row.options),
        answer_key=tuple(place for place, option in enumerate(row.options) if option.correct),
        question_type=chosen.question_type,
        evidence=tuple(evidence),
        title=chosen.source.title,
        year=chosen.source.year,
        written_by="model",
    )
    return Candidate(
        source=chosen.source,
        document=chosen.document,
        language=chosen.language,
        question=question,
        n_passages=len(chosen.passages),
        distance=chosen.distance,
        link=chosen.link,
    )
