"""Find contradictory true statements of a bank: similar ones are paired, then judged.

A pair is two statements with similar embeddings. Judges label each pair in both orders. False
statements contradict true ones by design, and are left out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.judging.panel import JudgingRules, Panel
from proofstone.judging.verdicts import JudgeAccount, judge_accounts
from proofstone.method import find_method
from proofstone.models.budget import Budget
from proofstone.models.registry import leaves_to
from proofstone.records.calls import EmbeddingModel
from proofstone.records.ids import short
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelRules, PanelVerdict
from proofstone.run.forms import excluded_facts, fewer_facts
from proofstone.run.judges import AskedJudge
from proofstone.search.near_duplicates import near_pairs
from proofstone.search.retrieval import open_embedding_model
from proofstone.session.askers import on_record, session_askers
from proofstone.session.egress import Load, Loads, let_out
from proofstone.session.permits import Outgoing, joined_origins
from proofstone.session.progress import Background, start_spending
from proofstone.session.session import Session, Target
from proofstone.session.written_files import write_flagged_items_file
from proofstone.store.provenance import Origin

_AT_ONCE = 16


_ORDERS = 2


_PAIRS = 500


_MOST, _LEAST = 5, 0.6  # pairs per statement, and their minimum similarity


_CONTRADICT = "contradict"


_LABELS = (
    Label(_CONTRADICT, "both cannot be true: they say different things of the very same thing"),
    Label("agree", "they say the same, or one follows from the other"),
    Label("apart", "both can be true: they are about different things, cases, times or measures"),
)


_TASK = "Can both of these statements be true? Take each word as its subject uses it."


_LABELS_ZH = (
    Label(_CONTRADICT, "两者不能同时为真：它们对同一事物说法不同"),
    Label("agree", "它们说的是同一件事，或者一个可以从另一个推出"),
    Label("apart", "两者可以同时为真：它们说的是不同的事物、情形、时间或度量"),
)


_TASK_ZH = "这两个陈述可以同时为真吗？词语按其学科中的含义理解。"


class StatementPair(Struct, frozen=True, gc=False, kw_only=True):
    """Hold two statements in bank order, and their similarity."""

    one: bytes
    other: bytes
    text: str
    other_text: str
    near: float
    language: str

    def question(self) -> JudgeQuestion:
        """Return the question whether both can be true, in their language."""
        is_chinese = self.language.startswith("zh")
        names = ("陈述一", "陈述二") if is_chinese else ("statement 1", "statement 2")
        return JudgeQuestion(
            task=_TASK_ZH if is_chinese else _TASK,
            labels=_LABELS_ZH if is_chinese else _LABELS,
            exhibits=(Exhibit(names[0], self.text), Exhibit(names[1], self.other_text)),
            compared=(0, 1),
            language="zh" if is_chinese else "en",
        )


class Contradiction(Struct, frozen=True, kw_only=True):
    """Hold a pair and its verdict: ``label`` is "contradict" for a contradiction, empty if
    undecided.
    """

    pair: StatementPair
    label: str
    reason: str = ""


class Contradictions(Struct, frozen=True, kw_only=True):
    """Count the judged pairs of a bank.

    ``found`` contradict, ``undecided`` have no decision. ``n_pairs`` pairs of ``n_statements`` true
    statements were judged.
    """

    bank: str
    n_statements: int
    n_pairs: int
    found: tuple[Contradiction, ...]
    undecided: tuple[Contradiction, ...]
    judges: tuple[JudgeAccount, ...]
    embedding_model: str


class ContradictionRow(Struct, frozen=True, kw_only=True):
    """Hold one of two contradictory statements, as a row of flagged items.

    A person decides which of them, if any, to exclude or edit.
    """

    target: str
    text: str
    other: str
    other_text: str
    action: str = "exclude"
    decision: str = ""
    why: str


def find_near_statements(
    session: Session,
    bank: Target,
    *,
    limit: int | None = _PAIRS,
    embedding_model: EmbeddingModel | None = None,
) -> tuple[int, list[StatementPair]]:
    """Return the number of a bank's true statements in force, and its most similar pairs.

    Candidates are each statement's 5 nearest ones in its language with a different text and a
    cosine of 0.6 or more; the ``limit`` most similar pairs are returned. Makes no judge calls.
    Raises BadUsage if the method's facts are not true or false.
    """
    whole = session.store.knowledge.bank(session.find(bank, "bank").id)
    method = find_method(whole.method)
    if method.contrasts is None:
        raise BadUsage(f"{method.name} has no true and false statements")
    facts = fewer_facts(whole, excluded_facts(session.store, whole)).facts()
    languages = {fact.id: fact.language or "en" for fact in facts}
    true = {c.text: c.row for c in method.contrasts.of_facts(facts) if not c.is_second}
    by_language: dict[str, list[tuple[str, bytes]]] = {}
    for text, row in true.items():
        by_language.setdefault(languages[row], []).append((text, row))
    encoder = embedding_model or open_embedding_model(session)
    pairs = [
        StatementPair(
            one=statements[near.one][1], text=statements[near.one][0],
            other=statements[near.other][1], other_text=statements[near.other][0],
            near=near.near, language=language,
        )
        for language, statements in by_language.items()
        for near in near_pairs(
            encoder.embed([text for text, _row in statements]), most=_MOST, least=_LEAST
        )
    ]  # fmt: skip
    pairs.sort(key=lambda pair: (-pair.near, pair.one, pair.other))
    return len(true), pairs[:limit]


def find_contradictions(
    session: Session,
    bank: Target,
    *,
    judges: Sequence[str],
    limit: int | None = _PAIRS,
    budget: Budget | str | None = None,
    embedding_model: EmbeddingModel | None = None,
) -> Contradictions:
    """Judge whether the ``limit`` most similar pairs of a bank's true statements contradict each
    other.

    Each pair is judged in both orders; the majority of judges decides. Responses are stored and
    cached; ``budget`` is as in ``run``. Raises a judge's error (EndpointUnusable, BudgetReached).
    """
    found, encoder = session.find(bank, "bank"), embedding_model or open_embedding_model(session)
    n, pairs = find_near_statements(session, found, limit=limit, embedding_model=encoder)
    _clear_pairs(session, pairs, judges)
    spending = start_spending(session, budget)

    async def work(stop: asyncio.Event) -> list[PanelVerdict]:
        async with session_askers(session, judges, None, stop, spending=spending) as opened:
            askers = [opened[name] for name in judges]
            async with on_record(session.store, askers, session.clock) as kept:
                async with session.store.writer(kept) as writer:
                    panel = Panel(
                        [AskedJudge(asker, writer.write) for asker in askers],
                        asking=JudgingRules(orders=_ORDERS),
                        rules=PanelRules(quorum=len(askers) // 2 + 1),
                    )
                    slots = asyncio.Semaphore(_AT_ONCE)

                    async def judged(pair: StatementPair) -> PanelVerdict:
                        async with slots:
                            return await panel.decide(pair.question())

                    verdicts = await asyncio.gather(*map(judged, pairs))
                for asker in askers:
                    if asker.stopped is not None:
                        raise asker.stopped
            return list(verdicts)

    verdicts = Background(work).wait()
    made = []
    for pair, verdict in zip(pairs, verdicts, strict=True):
        reasons = (b.reason for b in verdict.judge_votes if b.label and b.label == verdict.label)
        made.append(Contradiction(pair=pair, label=verdict.label, reason=next(reasons, "")))
    return Contradictions(
        bank=f"{found.name}-{short(found.id, 4)}",
        n_statements=n,
        n_pairs=len(pairs),
        found=tuple(each for each in made if each.label == _CONTRADICT),
        undecided=tuple(each for each in made if not each.label),
        judges=judge_accounts(verdicts),
        embedding_model=encoder.name,
    )


def _clear_pairs(session: Session, pairs: Sequence[StatementPair], judges: Sequence[str]) -> None:
    """Check permission to send the statements to remote judges.

    They get both statements of each pair in both orders. Facts without a source are identified by
    their book.
    """
    store = session.store
    loads: Loads = {}
    for judge in judges:
        to = leaves_to(judge, session.config)
        if to is None or to.is_local or not pairs:
            continue
        facts = dict.fromkeys(fact for pair in pairs for fact in (pair.one, pair.other))
        found = store.knowledge.facts_by_id(facts).values()
        sources = store.knowledge.sources({f.source for f in found if f.source is not None})
        by_title: Counter[tuple[str, str]] = Counter()
        for fact in found:
            source = sources.get(fact.source or b"")
            title = fact.stratum.book or "statements" if source is None else source.title
            by_title[title, "" if source is None else source.license] += 1
        origins = [Origin(title, license, n, (title,)) for (title, license), n in by_title.items()]
        outgoing = Outgoing(
            items=_ORDERS * len(pairs),
            noun="pair",
            requests=_ORDERS * len(pairs),
            characters=_ORDERS * sum(len(pair.text) + len(pair.other_text) for pair in pairs),
            origins=joined_origins(origins, max),
        )
        loads[to] = loads.get(to, Load()).with_run(judge, b"pairs", outgoing)
    if loads:
        let_out(session, loads)


def write_contradictions(session: Session, found: Contradictions, path: Path) -> int:
    """Write both statements of each contradictory pair in consecutive rows of flagged items.

    ``exclude --from`` and ``edit --from`` apply the decisions. Returns the number of rows.
    """
    rows = []
    for each in found.found:
        pair, why = each.pair, " ".join(each.reason.split())
        one, other = (pair.one, pair.text), (pair.other, pair.other_text)
        for (own, text), (against, other_text) in ((one, other), (other, one)):
            named = f"fact:{short(against)}"
            row = ContradictionRow(
                target=f"fact:{short(own)}", text=text, other=named, other_text=other_text,
                why=f"contradicts {named}: {why}".rstrip(": "),
            )  # fmt: skip
            rows.append(structs.asdict(row))
    return write_flagged_items_file(path, rows, columns=ContradictionRow.__struct_fields__)
