"""Write question-answer pairs from passages with a model, given criteria and examples.

Also holds pairs that are not yet questions of a bank, and their supporting texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.choices.outcomes import TEXT, ask_for, list_of, object_of_all
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import missing_file
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.judging.difficulty import filtered_roles
from proofstone.judging.panel import JudgeSlots, WordedQuestions, judged_step
from proofstone.judging.question import fence
from proofstone.methods.chinese_simpleqa.payloads import (
    AnswerType,
    Closed,
    Pair,
    ShortQuestion,
    Twin,
    TwinMade,
)
from proofstone.methods.chinese_simpleqa.questions import read_pairs
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.builds import Drop, Kept, Step, StepContext, slots_of
from proofstone.records.calls import Message
from proofstone.records.ids import Draws, canonical_json, digest
from proofstone.records.knowledge import (
    BuiltFact,
    Fact,
    Role,
    SourcedPassage,
    Stratum,
    fact_id,
)
from proofstone.records.tables import Row
from proofstone.records.verdicts import JudgeQuestion
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import LANGUAGES, Prompts, bundled_text, bundled_words

# A name followed by the same name in another script in brackets.
_BOTH = re.compile(r"\A\s*([^()（）]+?)\s*[（(]\s*([^()（）]+?)\s*[)）]\s*\Z")


_HAN, _LATIN = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[A-Za-z]")


class Ground(Struct, frozen=True):
    """Hold the supporting text of a pair and its location; ids are empty outside the workspace.

    ``book`` is its title.
    """

    text: str = ""
    book: str = ""
    heading: str = ""
    page: str = ""
    passage: bytes = b""
    source: bytes = b""

    @classmethod
    def of(cls, row: SourcedPassage) -> Ground:
        """Build the support from a passage."""
        passage, source = row.passage, row.source
        return cls(
            text=passage.text,
            book=source.stratum.book or source.title,
            heading=passage.heading,
            page="" if passage.page is None else str(passage.page),
            passage=passage.id,
            source=source.id,
        )


class Written(Struct, frozen=True):
    """Hold a pair as written by a model."""

    question: str
    answer: str
    aliases: tuple[str, ...] = ()


class Draft(Struct, frozen=True, kw_only=True):
    """Hold a pair in progress.

    ``ground`` is its source text, ``support`` the text that confirms it. ``by_author``: a model
    wrote it, or part of it. ``wrong`` is how many panel members answered incorrectly (None: no
    panel). ``like`` is the question that it is too similar to, until it is reworded.

    A twin also has its ``closed`` form, its source fact (``origin``), and how it was ``made``. Its
    answer remains the correct option, even if its question changes.
    """

    question: str
    answer: str
    aliases: tuple[str, ...] = ()
    answer_type: AnswerType = ""
    tolerance: float = 0.0
    urls: tuple[str, ...] = ()
    valid_at: str | UnsetType = UNSET
    language: str = ""
    stratum: Stratum = Stratum()
    ground: Ground = Ground()
    support: Ground = Ground()
    wrong: int | None = None
    like: str = ""
    by_author: bool = False
    closed: Closed | None = None
    origin: bytes | None = None
    made: TwinMade = ""

    def asked(self) -> ShortQuestion:
        """Return the pair as a question for prompting and grading."""
        own = {name: getattr(self, name) for name in ShortQuestion.__struct_fields__}
        return ShortQuestion(**own)

    def with_pair(self, written: Written) -> Draft:
        """Return the same with another pair by the author; for a twin, only the question
        changes."""
        if self.closed is not None:
            question = " ".join(written.question.split())
            return structs.replace(self, question=question, by_author=True)
        answer = " ".join(written.answer.split())
        return structs.replace(
            self,
            question=" ".join(written.question.split()),
            answer=answer,
            aliases=with_names(answer, written.aliases),
            by_author=True,
        )


def placed(own: Stratum, primary: str, secondary: str) -> Stratum:
    """Return ``own``, with the given categories if it has no discipline."""
    if own.discipline or not primary:
        return own
    return structs.replace(own, discipline=primary, field=secondary)


def with_names(answer: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct aliases, without the answer itself.

    For a name with its original in brackets, in another script, either name alone is added.
    """
    found = _BOTH.match(answer)
    both = found.groups() if found and _of_two_scripts(found[1], found[2]) else ()
    plain = {plain_answer(answer): ""}
    for alias in (*both, *aliases):
        text = " ".join(alias.split())
        if plain_answer(text):
            plain.setdefault(plain_answer(text), text)
    return tuple(filter(None, plain.values()))


def _of_two_scripts(one: str, other: str) -> bool:
    return any(
        _HAN.search(a) and not _LATIN.search(a) and _LATIN.search(b) and not _HAN.search(b)
        for a, b in ((one, other), (other, one))
    )


# Existing pairs from files: they skip the steps that write pairs.


def ready_pairs(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Draft]:
    """Return the pairs of files (question, answer, and further columns), each with its ``passage``
    if any.

    Raises BadInput with every problem of a file.
    """
    primary, secondary = params["primary_category"], params["secondary_category"]
    for name in inputs:
        for item, passage in read_checked(Path(name), read_pairs):
            asked: ShortQuestion = item.payload
            own = structs.replace(
                asked,
                aliases=with_names(asked.answer, asked.aliases),
                valid_at=asked.valid_at or params["valid_at"] or UNSET,
            )
            yield Draft(
                **structs.asdict(own),
                language=item.language,
                stratum=placed(item.stratum, primary, secondary),
                ground=Ground(text=passage),
            )


# Results of the last step as facts of a bank.


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Draft]], Iterator[BuiltFact]]:
    """Return the facts of pairs, each with its supporting or source passage, and the models by
    role.
    """
    wrote = tuple(Role("wrote", model) for model in slots_of("author", models).values())
    looked = (slots_of(role, models) for role in ("checker", "judge", "sensitive"))
    checked = dict.fromkeys(Role("checked", model) for slots in looked for model in slots.values())
    roles = (*checked, *filtered_roles(slots_of("panel", models)))

    def facts(drafts: Iterable[Draft]) -> Iterator[BuiltFact]:
        for draft in drafts:
            yield BuiltFact(_fact(draft), roles=(*wrote, *roles) if draft.by_author else roles)

    return facts


def _fact(draft: Draft) -> Fact:
    ground = draft.support if draft.support.passage else draft.ground
    asked, closed = structs.asdict(draft.asked()), draft.closed
    payload: Pair | Twin = Pair(**asked)
    if closed is not None:
        payload = Twin(
            **asked,
            closed_question=closed.question,
            options=closed.options,
            answer_key=closed.answer_key,
            origin=draft.origin,
            made=draft.made,
        )
    fact = Fact(
        kind=str(type(payload).__struct_config__.tag),
        payload=payload,
        language=draft.language,
        stratum=draft.stratum,
        source=ground.source or None,
        passage=ground.passage or None,
        page=ground.page,
    )
    return structs.replace(fact, id=fact_id(fact))


# Few-shot examples for writing pairs: bundled ones, or a user's own from a file.

# Criteria for pairs by name, as in the prompts of authors and checkers.

CRITERIA = ("objective", "single", "lasting", "demanding", "datable", "named")


_DATED = "lasting_dated"


class Scope(Struct, frozen=True, kw_only=True):
    """Hold the knowledge scope: public knowledge on the day ``as_of``, or private documents."""

    as_of: str = ""
    is_private: bool = False

    @property
    def criteria(self) -> str:
        """Return the file of its criteria."""
        return "private_criteria" if self.is_private else "criteria"


def criteria_in(language: str, scope: Scope, valid_at: str = "") -> dict[str, str]:
    """Return the criteria in a language, by name, in the order of ``CRITERIA``.

    ``valid_at`` is the date at which a private document is valid, empty if unknown.
    """
    words = bundled_words(__package__, scope.criteria, language, dict[str, str])
    if scope.is_private and valid_at:
        words = {**words, "lasting": words[_DATED]}
    return {
        name: words[name].replace("{as_of}", scope.as_of).replace("{valid_at}", valid_at)
        for name in CRITERIA
    }


def criteria_digest(scope: Scope) -> str:
    """Return the part of a step's key that depends on the criteria."""
    words = [bundled_text(__package__, f"{scope.criteria}.{code}.toml") for code in LANGUAGES]
    return digest("".join(words).encode()).hex()


PUBLIC = Scope()


class PairExample(Struct, frozen=True, forbid_unknown_fields=True):
    """Hold a passage, and the pair to write from it."""

    passage: str
    question: str
    answer: str
    category: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def response(self) -> str:
        """Return its reference response in the requested format."""
        pair = {"question": self.question, "answer": self.answer, "aliases": list(self.aliases)}
        return msgspec.json.encode({"pairs": [pair]}).decode()


class _Examples(Struct, frozen=True):
    example: tuple[PairExample, ...]


class Shots(Struct, frozen=True):
    """Hold ``n`` examples per prompt, from a user's ``own`` or the bundled ones."""

    n: int
    own: tuple[PairExample, ...] = ()

    def draw(self, draws: Draws, language: str, place: Stratum) -> list[PairExample]:
        """Return the examples for a passage in this language.

        Those of its categories come first, the finer before the coarser; the others are sampled.
        """
        known = self.own or _bundled(language)
        shuffled = draws.shuffled(known)
        names = [name.casefold() for name in (place.field, place.discipline) if name]

        def rank(example: PairExample) -> int:
            name = example.category.casefold()
            return names.index(name) if name in names else len(names)

        return sorted(shuffled, key=rank)[: self.n]

    def key(self) -> str:
        """Return the part of a step's key that depends on the examples."""
        known = self.own or (_bundled("en"), _bundled("zh"))
        return digest(canonical_json([self.n, known])).hex()


def read_shots(n: int, file: str) -> Shots:
    """Read ``n`` examples per prompt, from ``file`` if set.

    Rows (JSONL, CSV, Parquet) have passage, question, answer and optionally category and aliases.
    Raises BadUsage, NotFound, or BadInput with every problem of the file.
    """
    if n < 0:
        raise BadUsage(f"--shots must be 0 or more, got {n}")
    if file and not Path(file).is_file():
        raise missing_file(file, "--examples takes a file")
    own = read_checked(Path(file), _examples) if file else ()
    most = len(own) or min(len(_bundled("en")), len(_bundled("zh")))
    if n > most:
        raise BadUsage(f"--shots must be at most {most}, the number of examples, got {n}")
    return Shots(n, own)


def _examples(rows: Iterable[Row]) -> tuple[PairExample, ...]:
    problems: list[Problem] = []
    found = tuple(
        PairExample(
            passage=fields.required_text("passage"),
            question=fields.required_text("question"),
            answer=fields.required_text("answer"),
            category=fields.label("category", "primary_category").strip(),
            aliases=tuple(fields.texts("aliases")),
        )
        for fields in (Fields(row, problems) for row in rows)
    )
    if problems:
        raise BadInput("The examples cannot be read.", problems)
    if not found:
        raise BadInput("The file has no examples.")
    return found


def _bundled(language: str) -> tuple[PairExample, ...]:
    return bundled_words(__package__, "examples", language, _Examples).example


# Prompts of building, in Chinese for Chinese texts, otherwise in English.

_NAMES = {
    "passage": "文字",
    "question": "问题",
    "answer": "答案",
    "known question": "已有的问题",
}


PROMPTS = Prompts(__package__)


# Questions to judges, each with the label that keeps a row.
QUESTIONS = WordedQuestions(
    __package__,
    {
        "knowledge": "enough",
        "criteria": "meets",
        "category": "meets",
        "evidence": "supported",
        "alias": "same",
        "source": "none",
        "rewritten": "sound",
        "sensitive": "harmless",
        "type": "other",
        "grade": "INCORRECT",
        "opened": "same",
        "distractor": "wrong",
    },
)


_PRIVATE = WordedQuestions(__package__, QUESTIONS.keeps, "private_questions")


def questions_for(scope: Scope) -> WordedQuestions:
    """Return the judge questions for public knowledge, or for private documents.

    They are about knowledge, criteria, category, evidence and sensitive content.
    """
    return _PRIVATE if scope.is_private else QUESTIONS


def block(name: str, text: str, language: str) -> str:
    """Return a text block for a prompt with its name in the prompt's language."""
    shown = _NAMES[name] if is_chinese(language) else name
    return fence(shown, text, language)


_UNREADABLE, _NONE = "unparsed response", "no question in it"


_PAIR = {"question": TEXT, "answer": TEXT, "aliases": list_of(TEXT)}

PAIR_SCHEMA = object_of_all(_PAIR, title="pair")

_SCHEMA = object_of_all({"pairs": list_of(object_of_all(_PAIR))}, title="pairs")


class PairsAsked(Struct, frozen=True, kw_only=True):
    """Hold the settings for writing pairs.

    They are the number of pairs per passage, the scope, the language (that of the passage by
    default), and default categories. ``valid_at`` is the date at which private documents are valid,
    by default their stated year.
    """

    most: int
    scope: Scope
    valid_at: str = ""
    write_in: str = ""
    primary: str = ""
    secondary: str = ""


class _Pairs(Struct, frozen=True):
    pairs: tuple[Written, ...]


def write_step(asked: PairsAsked, shots: Shots) -> Step:
    """Write pairs from each passage, up to the limit; those without question or answer are
    dropped."""

    async def write(row: SourcedPassage, context: StepContext) -> Kept:
        ground = Ground.of(row)
        place = _place(row, asked)
        read_in = row.passage.language or row.source.language or "en"
        examples = shots.draw(context.draws("examples"), asked.write_in or read_in, place)
        valid_at = _validity(row, asked)
        prompt = write_prompt(ground, place, read_in, asked, examples, valid_at)
        found = await ask_for(context.call, "write", [Message("user", prompt)], _Pairs, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        blank = Draft(
            question="", answer="", language=asked.write_in or read_in, stratum=place,
            ground=ground, valid_at=valid_at or UNSET,
        )  # fmt: skip
        drafts = [blank.with_pair(pair) for pair in found.pairs[: asked.most]]
        whole = [draft for draft in drafts if draft.question and plain_answer(draft.answer)]
        return list(dict.fromkeys(whole)) or Drop(_NONE, ground.text[:200])

    return Step(
        name="pairs",
        version=1,
        takes=SourcedPassage,
        work=write,
        reasons=(_UNREADABLE, _NONE),
        config={
            "asked": asked,
            "shots": shots.key(),
            "criteria": criteria_digest(asked.scope),
            "prompt": PROMPTS.key("write"),
        },
        asks=("author",),
        draws=True,
    )


def write_prompt(
    ground: Ground,
    place: Stratum,
    read_in: str,
    asked: PairsAsked,
    examples: Sequence[PairExample],
    valid_at: str = "",
) -> str:
    """Return the prompt for one passage, in the target language."""
    language = asked.write_in or read_in
    return PROMPTS.render(
        "write",
        language,
        most=asked.most,
        private=asked.scope.is_private,
        criteria=tuple(criteria_in(language, asked.scope, valid_at).values()),
        category=category_of(place),
        write_in=asked.write_in,
        examples=examples,
        book=ground.book,
        heading=ground.heading,
        passage=block("passage", ground.text, language),
    )


def category_of(place: Stratum) -> str:
    """Return a category for display: the coarse name, then the fine one."""
    return " / ".join(filter(None, (place.discipline, place.field)))


def _validity(row: SourcedPassage, asked: PairsAsked) -> str:
    """Return the validity date of a private document: the given one, or its year."""
    if not asked.scope.is_private:
        return ""
    return asked.valid_at or (str(row.source.year) if row.source.year else "")


def _place(row: SourcedPassage, asked: PairsAsked) -> Stratum:
    own = placed(row.source.stratum, asked.primary, asked.secondary)
    return Stratum(own.discipline, own.field, own.subfield, own.book or row.source.title)


# Suitable passages: by rules, then by a quality judge.

_SHORT, _SIGNS, _NO_SENTENCE = "too short", "hardly any words", "no sentence"


_UNPLACED = "no category"


_LEAST_WIDTH = (
    80  # a Han character counts as three letters: minimum length of a sentence with a fact
)


_LEAST_LETTERS = (
    0.6  # minimum share of letters, without spaces: listings, tables and link lists have fewer
)


_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*(?:\s|$)|[。！？]")


def rules_step(primary: str, *, needs_category: bool) -> Step:
    """Drop passages that are too short or hardly text.

    With ``needs_category``, also drop those of sources without a taxonomy label.
    """

    def check(row: SourcedPassage, _context: StepContext) -> Kept:
        text = row.passage.text.strip()
        dropped = _by_rule(text)
        if dropped:
            return Drop(dropped, text[:200])
        if needs_category and not placed(row.source.stratum, primary, "").discipline:
            return Drop(_UNPLACED, row.source.title)
        return row

    return Step(
        name="rules",
        version=1,
        takes=SourcedPassage,
        work=check,
        reasons=(_SHORT, _SIGNS, _NO_SENTENCE, _UNPLACED),
        config={"primary": bool(primary), "needs_category": needs_category},
    )


def knowledge_step(judges: JudgeSlots, scope: Scope) -> Step:
    """Drop passages with too little knowledge by a judge's verdict.

    Of public passages, also drop those with knowledge only about themselves.
    """
    questions = questions_for(scope)

    def asked(row: SourcedPassage) -> tuple[str, JudgeQuestion]:
        language = row.passage.language or row.source.language
        texts = {"passage": row.passage.text, "heading": row.passage.heading}
        shown = {name: text for name, text in texts.items() if text}
        return "knowledge", questions.question("knowledge", language, shown)

    specific = {} if scope.is_private else {"specific": "too specific"}
    return judged_step(
        judges,
        questions,
        "knowledge",
        asked,
        name="knowledge",
        takes=SourcedPassage,
        drops={"little": "too little information", **specific},
        found=lambda row: row.passage.text[:200],
        version=2,
    )


def _by_rule(text: str) -> str:
    if len(text) + 2 * len(_HAN.findall(text)) < _LEAST_WIDTH:
        return _SHORT
    letters = sum(sign.isalpha() for sign in text)
    if letters < _LEAST_LETTERS * len("".join(text.split())):
        return _SIGNS
    return "" if _SENTENCE.search(text) else _NO_SENTENCE
