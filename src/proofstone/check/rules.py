"""Screen the questions of a bank or form by their method's rules, and for near duplicates."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, NotFound, Problem
from proofstone.method import ItemRules, RuleFinding, RuleSubject, every_method
from proofstone.records.calls import EmbeddingModel
from proofstone.records.ids import short
from proofstone.run.forms import excluded_facts, fewer_facts
from proofstone.search.near_duplicates import close_pairs
from proofstone.session.session import Session, Target, method_of
from proofstone.store.lookup import Found

Lists = Mapping[str, tuple[str, ...]]


class RuleCount(Struct, frozen=True, kw_only=True):
    """How many questions break a rule; None if it was not checked."""

    rule: str
    requires: str
    broken: int | None


class QuestionFindings(Struct, frozen=True, kw_only=True):
    """A question that breaks a rule: its fact or item, the first line of its text, the findings."""

    row: str
    text: str
    findings: tuple[RuleFinding, ...]


class ScreenedQuestions(Struct, frozen=True, kw_only=True):
    """The report of a bank or form: ``n`` questions, of which ``n_clean`` break no checked rule."""

    target: str
    n: int
    n_clean: int
    rules: tuple[RuleCount, ...]
    questions: tuple[QuestionFindings, ...]
    embedding_model: str = ""


def screen_target(
    session: Session,
    target: Target,
    *,
    pool: Sequence[Target] = (),
    lists: Path | None = None,
    embedding_model: EmbeddingModel | None = None,
) -> ScreenedQuestions:
    """Screen the questions of a bank, or of a form, by the rules of their method.

    With an ``embedding_model`` each question is compared with all others, and with those of the
    banks in ``pool``. The file ``lists`` replaces lists of words of the method.

    Raises BadUsage for a method without rules and a target without questions, and what reading the
    lists raises.
    """
    found = session.find(target, "bank", "form")
    rules = _rules_of(session, found)
    words = rules.lists if lists is None else {**rules.lists, **read_lists(lists, rules.lists)}
    subjects = _subjects(session, found, rules, words)
    if not subjects:
        raise BadUsage(f"{found.name} has no questions to screen")
    if embedding_model is None and pool:
        raise BadUsage("near duplicates are found with embeddings", hint="add --embeddings")
    if embedding_model is not None and rules.near:
        others = {each.row: each for bank in pool for each in _of_pool(session, bank)}
        for subject in subjects:
            others.pop(subject.row, None)
        subjects = _compared(subjects, list(others.values()), rules, embedding_model)
    return _report(found, rules, subjects, "" if embedding_model is None else embedding_model.name)


def _rules_of(session: Session, found: Found) -> ItemRules:
    method = method_of(session, found)
    if method.rules is None:
        named = ", ".join(each.name for each in every_method() if each.rules is not None)
        raise BadUsage(f"{method.name} has no rules for its questions", hint=f"with rules: {named}")
    return method.rules


def _subjects(session: Session, found: Found, rules: ItemRules, words: Lists) -> list[RuleSubject]:
    if found.kind == "bank":
        whole = session.store.knowledge.bank(found.id)
        facts = fewer_facts(whole, excluded_facts(session.store, whole)).facts()
        return list(rules.of_facts(facts, words))
    pages = session.store.items.pages(found.id)
    return list(rules.of_items((stored.loaded for page in pages for stored in page), words))


def _of_pool(session: Session, bank: Target) -> list[RuleSubject]:
    found = session.find(bank, "bank")
    rules = _rules_of(session, found)
    return _subjects(session, found, rules, rules.lists)


def _compared(
    subjects: Sequence[RuleSubject],
    others: Sequence[RuleSubject],
    rules: ItemRules,
    embedding_model: EmbeddingModel,
) -> list[RuleSubject]:
    """Return the subjects with a finding for each question that is too much alike."""
    every = [*subjects, *others]
    vectors = embedding_model.embed([each.text for each in every])
    told: dict[int, list[RuleFinding]] = {}
    for pair in close_pairs(vectors, least=rules.most_alike):
        for one, other in ((pair.one, pair.other), (pair.other, pair.one)):
            if one < len(subjects):
                name = f"{short(every[other].row)} {_first_line(every[other].text)}"
                told.setdefault(one, []).append(
                    RuleFinding(
                        rules.near,
                        "question",
                        f"cosine {pair.near:.2f} to {name}",
                        "drop one of the two, or ask something else",
                    )
                )
    return [
        structs.replace(each, findings=(*each.findings, *told.get(place, ())))
        for place, each in enumerate(subjects)
    ]


def _report(
    found: Found, rules: ItemRules, subjects: Sequence[RuleSubject], embedding_model: str
) -> ScreenedQuestions:
    broken = Counter(rule for each in subjects for rule in {f.rule for f in each.findings})
    return ScreenedQuestions(
        target=found.name,
        n=len(subjects),
        n_clean=sum(not each.findings for each in subjects),
        rules=tuple(
            RuleCount(
                rule=name,
                requires=requires,
                broken=None if name == rules.near and not embedding_model else broken[name],
            )
            for name, requires in rules.rules.items()
        ),
        questions=tuple(
            QuestionFindings(
                row=each.row.hex(), text=_first_line(each.text), findings=each.findings
            )
            for each in subjects
            if each.findings
        ),
        embedding_model=embedding_model,
    )


_SHOWN = 70


def _first_line(text: str) -> str:
    line = " ".join(text.split("\n", 1)[0].split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def read_lists(path: Path, known: Lists) -> dict[str, tuple[str, ...]]:
    """Return the lists of words in a TOML file.

    Raises NotFound without the file, and BadInput with every list that is unknown or no list of
    texts.
    """
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as cause:
        raise NotFound(f"{path} not found") from cause
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise BadInput(f"cannot read {path} as TOML: {cause}") from cause
    problems = []
    for name, words in held.items():
        if name not in known:
            problems.append(Problem(name, f"unknown list; expected one of {', '.join(known)}"))
        elif not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            problems.append(Problem(name, "expected a list of texts"))
    if problems:
        raise BadInput(f"cannot read the lists of {path}", problems)
    return {name: tuple(words) for name, words in held.items()}
