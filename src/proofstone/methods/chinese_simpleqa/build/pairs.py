"""Pairs from a passage, by a model that is told the criteria and shown examples: what is on its way
to a bank of short questions, and the text that it rests on.
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

# A name and in brackets the same name in another script.
_BOTH = re.compile(r"\A\s*([^()（）]+?)\s*[（(]\s*([^()（）]+?)\s*[)）]\s*\Z")


_HAN, _LATIN = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[A-Za-z]")


class Ground(Struct, frozen=True):
    """A text that a pair rests on, and where it stands: empty where it is no passage of the
    workspace. ``book`` is its title."""

    text: str = ""
    book: str = ""
    heading: str = ""
    page: str = ""
    passage: bytes = b""
    source: bytes = b""

    @classmethod
    def of(cls, row: SourcedPassage) -> Ground:
        """The ground that a passage is."""
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
    """A pair as a model writes it."""

    question: str
    answer: str
    aliases: tuple[str, ...] = ()


class Draft(Struct, frozen=True, kw_only=True):
    """A pair on its way. ``ground`` is what it was written from, ``support`` what was found to say
    it. ``by_author``: a model wrote it, or part of it. ``wrong`` members of a panel did not get it
    right (None: no panel was asked); ``like`` quotes the question that it is too near to, until it
    is worded anew.

    A twin has its ``closed`` form too, the fact that it was ``made`` from (``origin``) and how; its
    answer stays the right option, whatever becomes of its question."""

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
        """The pair as one that is asked and graded."""
        own = {name: getattr(self, name) for name in ShortQuestion.__struct_fields__}
        return ShortQuestion(**own)

    def with_pair(self, written: Written) -> Draft:
        """The same with another pair, by the author; of a twin with another question alone."""
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
    """``own``, where it has no discipline with the categories that are stated instead."""
    if own.discipline or not primary:
        return own
    return structs.replace(own, discipline=primary, field=secondary)


def with_names(answer: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """The aliases, each once and none that is the answer as it stands; of a name with its original
    in brackets, in another script, either alone is one too."""
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


# Pairs that are written already, from files: they enter behind the steps that write them.


def ready_pairs(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Draft]:
    """The pairs of files (question, answer, and what else a file of questions has), each with the
    ``passage`` that it rests on where its row has one. Raises BadInput with every problem of a
    file."""
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


# What is behind the last step as facts of a bank.


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Draft]], Iterator[BuiltFact]]:
    """The facts of pairs, each with the passage that supports it (else the one it was written
    from), and with the models of the build by seat as those who had a hand in them."""
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


# Worked examples for who writes pairs: carried ones, or a person's own from a file.

# What a pair must be, each criterion by its name: as authors are told and checkers are asked.

CRITERIA = ("objective", "single", "lasting", "demanding", "datable", "named")


_DATED = "lasting_dated"


class Scope(Struct, frozen=True, kw_only=True):
    """Which knowledge is asked for: what the world knew on the day ``as_of``, or what private
    documents say."""

    as_of: str = ""
    is_private: bool = False

    @property
    def criteria(self) -> str:
        """The file of its criteria."""
        return "private_criteria" if self.is_private else "criteria"


def criteria_in(language: str, scope: Scope, valid_at: str = "") -> dict[str, str]:
    """The criteria in the words of a language, by name, in the order of ``CRITERIA``; ``valid_at``
    is the date at which a private document is valid, empty where nobody said."""
    words = bundled_words(__package__, scope.criteria, language, dict[str, str])
    if scope.is_private and valid_at:
        words = {**words, "lasting": words[_DATED]}
    return {
        name: words[name].replace("{as_of}", scope.as_of).replace("{valid_at}", valid_at)
        for name in CRITERIA
    }


def criteria_digest(scope: Scope) -> str:
    """What a step depends on that states them."""
    words = [bundled_text(__package__, f"{scope.criteria}.{code}.toml") for code in LANGUAGES]
    return digest("".join(words).encode()).hex()


PUBLIC = Scope()


class PairExample(Struct, frozen=True, forbid_unknown_fields=True):
    """A passage, and the pair that is to be written from it."""

    passage: str
    question: str
    answer: str
    category: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def response(self) -> str:
        """The reply that it deserves, in the form that is asked for."""
        pair = {"question": self.question, "answer": self.answer, "aliases": list(self.aliases)}
        return msgspec.json.encode({"pairs": [pair]}).decode()


class _Examples(Struct, frozen=True):
    example: tuple[PairExample, ...]


class Shots(Struct, frozen=True):
    """``n`` examples a prompt, from a person's ``own``, else from those that are carried."""

    n: int
    own: tuple[PairExample, ...] = ()

    def draw(self, draws: Draws, language: str, place: Stratum) -> list[PairExample]:
        """The examples for a passage in this language: those of its categories first, the finer one
        before the coarser, the others drawn."""
        known = self.own or _bundled(language)
        shuffled = draws.shuffled(known)
        names = [name.casefold() for name in (place.field, place.discipline) if name]

        def rank(example: PairExample) -> int:
            name = example.category.casefold()
            return names.index(name) if name in names else len(names)

        return sorted(shuffled, key=rank)[: self.n]

    def key(self) -> str:
        """What a step depends on that shows them."""
        known = self.own or (_bundled("en"), _bundled("zh"))
        return digest(canonical_json([self.n, known])).hex()


def read_shots(n: int, file: str) -> Shots:
    """``n`` examples a prompt, of ``file`` where one is named: rows (JSONL, CSV, Parquet) with
    passage, question, answer and perhaps category and aliases. Raises BadUsage, or BadInput with
    every problem of the file."""
    if n < 0:
        raise BadUsage(f"--shots is 0 or more, not {n}")
    if file and not Path(file).is_file():
        raise BadUsage(f"--examples {Path(file)}: there is no such file")
    own = read_checked(Path(file), _examples) if file else ()
    most = len(own) or min(len(_bundled("en")), len(_bundled("zh")))
    if n > most:
        raise BadUsage(f"there are {most} examples, and --shots asks for {n} a prompt")
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
        raise BadInput("There is no example in the file.")
    return found


def _bundled(language: str) -> tuple[PairExample, ...]:
    return bundled_words(__package__, "examples", language, _Examples).example


# The prompts of building, in Chinese for Chinese texts, else in English.

_NAMES = {
    "passage": "文字",
    "question": "问题",
    "answer": "答案",
    "known question": "已有的问题",
}


PROMPTS = Prompts(__package__)


# What judges are asked, and of each the label that keeps a row.
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
    """The questions about knowledge, criteria, category, evidence and sensitive content as they are
    put of public knowledge, or of private documents."""
    return _PRIVATE if scope.is_private else QUESTIONS


def block(name: str, text: str, language: str) -> str:
    """A text set apart in a prompt under its name in the prompt's language."""
    shown = _NAMES[name] if is_chinese(language) else name
    return fence(shown, text, language)


_UNREADABLE, _NONE = "unreadable reply", "no question in it"


_PAIR = {"question": TEXT, "answer": TEXT, "aliases": list_of(TEXT)}

PAIR_SCHEMA = object_of_all(_PAIR, title="pair")

_SCHEMA = object_of_all({"pairs": list_of(object_of_all(_PAIR))}, title="pairs")


class PairsAsked(Struct, frozen=True, kw_only=True):
    """What is asked for: so many pairs of a passage, of which knowledge, in the passage's language
    or in another, and the categories of what has none; ``valid_at`` is the date at which private
    documents are valid, else the year that they state."""

    most: int
    scope: Scope
    valid_at: str = ""
    write_in: str = ""
    primary: str = ""
    secondary: str = ""


class _Pairs(Struct, frozen=True):
    pairs: tuple[Written, ...]


def write_step(asked: PairsAsked, shots: Shots) -> Step:
    """At most so many pairs of each passage; those without a question or an answer are none."""

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
    """The prompt for one passage, in the words of the language that is to be written in."""
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
    """A category as people read it: the coarse name, and the fine one behind it."""
    return " / ".join(filter(None, (place.discipline, place.field)))


def _validity(row: SourcedPassage, asked: PairsAsked) -> str:
    """The date at which a private document is valid: the one that is named, else its year."""
    if not asked.scope.is_private:
        return ""
    return asked.valid_at or (str(row.source.year) if row.source.year else "")


def _place(row: SourcedPassage, asked: PairsAsked) -> Stratum:
    own = placed(row.source.stratum, asked.primary, asked.secondary)
    return Stratum(own.discipline, own.field, own.subfield, own.book or row.source.title)


# Which passages hold knowledge that is worth asking for: by rules, then by a quality judge.

_SHORT, _SIGNS, _NO_SENTENCE = "too short", "hardly any words", "no sentence"


_UNPLACED = "no category"


_LEAST_WIDTH = 80  # a Han character counts as three letters: so long is a sentence with a fact


_LEAST_LETTERS = 0.6  # of all that is not space: listings, tables and link lists have fewer


_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*(?:\s|$)|[。！？]")


def rules_step(primary: str, *, needs_category: bool) -> Step:
    """Drops what is too short for a fact, what is hardly text, and where it ``needs_category`` the
    passages of sources that have no place."""

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
    """Drops passages in which a judge finds too little, and of public ones those that hold only
    what concerns themselves."""
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
