"""True statements of a bank that contradict each other: near ones paired, then judged.

A pair is two statements whose vectors are near; each is put to judges with a closed label, in both
orders. Falsified statements contradict by design, and are left out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.check.semantic_map import SemanticMap, drawn_figure, keep_map, map_texts
from proofstone.errors import BadUsage
from proofstone.judging.panel import JudgeModel, JudgingRules, Panel
from proofstone.judging.verdicts import JudgeAccount, judge_accounts
from proofstone.method import Method, find_method
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget
from proofstone.models.registry import leaves_to
from proofstone.page.figure import FIGURE_KINDS, figure_files
from proofstone.records.calls import CallRecord, Embedder
from proofstone.records.ids import short
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelRules, PanelVerdict
from proofstone.run.forms import fewer_facts, retired_facts
from proofstone.run.judges import AskedJudge
from proofstone.search.near_duplicates import near_pairs
from proofstone.search.retrieval import open_embedder
from proofstone.session.askers import on_record, session_askers
from proofstone.session.egress import Load, Loads, let_out
from proofstone.session.permits import Outgoing, joined_origins
from proofstone.session.progress import Background, start_spending
from proofstone.session.session import Session, Target, find_target
from proofstone.session.written_files import write_work_file
from proofstone.store.lookup import Found
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_AT_ONCE = 16


_ORDERS = 2


_CONTRADICT = "contradict"


_LABELS = (
    Label(_CONTRADICT, "both cannot be true: they say different things of the very same thing"),
    Label("agree", "they say the same, or one follows from the other"),
    Label("apart", "both can be true: they speak of different things, cases, times or measures"),
)


_TASK = "Can both of these statements be true? Take each word as its subject uses it."


_LABELS_ZH = (
    Label(_CONTRADICT, "两者不能同时为真：它们对同一事物说法不同"),
    Label("agree", "它们说的是同一件事，或者一个可以从另一个推出"),
    Label("apart", "两者可以同时为真：它们说的是不同的事物、情形、时间或度量"),
)


_TASK_ZH = "这两个陈述可以同时为真吗？词语按其学科中的含义理解。"


class StatementPair(Struct, frozen=True, gc=False, kw_only=True):
    """Two statements, the one with the lower place in the bank first, and how near they are."""

    one: bytes
    other: bytes
    text: str
    other_text: str
    near: float
    language: str


class Contradiction(Struct, frozen=True, kw_only=True):
    """A pair and what judges came to: only ``label`` "contradict" says that they contradict;
    empty where nothing was decided."""

    pair: StatementPair
    label: str
    reason: str = ""


class Contradictions(Struct, frozen=True, kw_only=True):
    """Pairs of a bank that were judged: ``found`` contradict, ``undecided`` were not decided;
    ``n_pairs`` were asked about of ``n_statements`` true statements."""

    bank: str
    n_statements: int
    n_pairs: int
    found: tuple[Contradiction, ...]
    undecided: tuple[Contradiction, ...]
    judges: tuple[JudgeAccount, ...]
    embedder: str


class ContradictionRow(Struct, frozen=True, kw_only=True):
    """One of two statements that contradict each other, as a row of a work list: a person decides
    which of them, if any, is to be retired or edited."""

    target: str
    text: str
    other: str
    other_text: str
    action: str = "retire"
    decision: str = ""
    why: str


def near_statements(
    store: Store,
    method: Method,
    found: Found,
    embedder: Embedder,
    *,
    most: int = 5,
    least: float = 0.6,
    limit: int | None = None,
) -> tuple[int, list[StatementPair]]:
    """How many true statements in force a bank has, and its nearest pairs of different texts: each
    statement's ``most`` nearest of its language that are at least ``least`` near, the ``limit``
    nearest pairs of all. Raises BadUsage where the method's facts are not true or false.
    """
    if method.contrasts is None:
        raise BadUsage(f"{method.name} has no true and falsified statements")
    whole = store.knowledge.bank(found.id)
    facts = fewer_facts(whole, retired_facts(store, whole)).facts()
    languages = {fact.id: fact.language or "en" for fact in facts}
    true = {c.text: c.row for c in method.contrasts.of_facts(facts) if not c.is_second}
    pairs: list[StatementPair] = []
    by_language: dict[str, list[tuple[str, bytes]]] = {}
    for text, row in true.items():
        by_language.setdefault(languages[row], []).append((text, row))
    for language, statements in by_language.items():
        vectors = embedder.embed([text for text, _row in statements])
        for near in near_pairs(vectors, most=most, least=least):
            (text, one), (other_text, other) = statements[near.one], statements[near.other]
            pairs.append(
                StatementPair(
                    one=one, other=other, text=text, other_text=other_text, near=near.near,
                    language=language,
                )
            )  # fmt: skip
    pairs.sort(key=lambda pair: (-pair.near, pair.one, pair.other))
    return len(true), pairs[:limit]


async def judge_statements(
    store: Store,
    bank: str,
    n_statements: int,
    pairs: Sequence[StatementPair],
    askers: Sequence[Asker],
    *,
    embedder: str,
    kept: Callable[[CallRecord], None] | None = None,
) -> Contradictions:
    """Judges each pair in both orders; more than half of the judges decide. Every call is kept: a
    second time comes from the cache.

    Raises what stopped an asker (EndpointUnusable, BudgetReached).
    """
    async with store.writer(kept) as writer:
        panel = _panel([AskedJudge(asker, writer.write) for asker in askers])
        slots = asyncio.Semaphore(_AT_ONCE)

        async def judged(pair: StatementPair) -> PanelVerdict:
            async with slots:
                return await panel.decide(_question(pair))

        verdicts = await asyncio.gather(*map(judged, pairs))
    for asker in askers:
        if asker.stopped is not None:
            raise asker.stopped
    made = [_made(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]
    return Contradictions(
        bank=bank,
        n_statements=n_statements,
        n_pairs=len(pairs),
        found=tuple(each for each in made if each.label == _CONTRADICT),
        undecided=tuple(each for each in made if not each.label),
        judges=judge_accounts(verdicts),
        embedder=embedder,
    )


def pairs_would_leave(store: Store, pairs: Sequence[StatementPair]) -> Outgoing:
    """What judging pairs would send to one judge: each in both orders."""
    facts = [fact for pair in pairs for fact in (pair.one, pair.other) * _ORDERS]
    characters = _ORDERS * sum(len(pair.text) + len(pair.other_text) for pair in pairs)
    return facts_would_leave(store, facts, "pair", characters)


def contradiction_rows(found: Contradictions) -> Iterator[ContradictionRow]:
    """Both statements of each pair that contradicts, the one below the other, to be decided."""
    for each in found.found:
        pair, why = each.pair, " ".join(each.reason.split())
        sides = (
            (pair.one, pair.text, pair.other, pair.other_text),
            (pair.other, pair.other_text, pair.one, pair.text),
        )
        for one, text, other, other_text in sides:
            named = f"fact:{short(other)}"
            yield ContradictionRow(
                target=f"fact:{short(one)}",
                text=text,
                other=named,
                other_text=other_text,
                why=f"contradicts {named}: {why}".rstrip(": "),
            )


def _panel(judges: Sequence[JudgeModel]) -> Panel:
    return Panel(
        judges,
        asking=JudgingRules(orders=_ORDERS),
        rules=PanelRules(quorum=len(judges) // 2 + 1),
    )


def _question(pair: StatementPair) -> JudgeQuestion:
    is_chinese = pair.language.startswith("zh")
    names = ("陈述一", "陈述二") if is_chinese else ("statement 1", "statement 2")
    return JudgeQuestion(
        task=_TASK_ZH if is_chinese else _TASK,
        labels=_LABELS_ZH if is_chinese else _LABELS,
        exhibits=(Exhibit(names[0], pair.text), Exhibit(names[1], pair.other_text)),
        compared=(0, 1),
        language="zh" if is_chinese else "en",
    )


def _made(pair: StatementPair, verdict: PanelVerdict) -> Contradiction:
    reason = next((b.reason for b in verdict.ballots if b.label and b.label == verdict.label), "")
    return Contradiction(pair=pair, label=verdict.label, reason=reason)


# Contradictions of a bank: near statements are found, and judges asked.

_PAIRS = 500


def make_semantic_map(
    session: Session, target: Target, *, seed: int = 0, embedder: Embedder | None = None
) -> SemanticMap:
    """Where a bank's true statements, or a form's questions, lie in meaning, and how far their
    groups stand apart. It is kept, without its texts, for cards and pages."""

    found = find_target(session.store, target, ("bank", "form"))
    owner = session.store.items.item_set if found.kind == "form" else session.store.knowledge.bank
    method = find_method(owner(found.id).method)
    drawn = map_texts(session.store, method, found, embedder or open_embedder(session), seed=seed)
    keep_map(session.store, found, drawn, session.clock.now())
    return drawn


def write_map(session: Session, drawn: SemanticMap, path: Path) -> None:
    """Writes the figure of a map as its suffix says: .svg, .png, .html or .json."""

    kind = path.suffix.lower().lstrip(".")
    kinds = [each for each in FIGURE_KINDS if each == kind]
    files = figure_files(drawn_figure(drawn), kinds)
    path.write_bytes(files.get(kind, files["vl.json"]))


def find_near_statements(
    session: Session, bank: Target, *, limit: int | None = _PAIRS, embedder: Embedder | None = None
) -> tuple[int, list[StatementPair]]:
    """How many true statements a bank has, and its nearest pairs; asks nobody."""

    found = find_target(session.store, bank, ("bank",))
    method = find_method(session.store.knowledge.bank(found.id).method)
    return near_statements(
        session.store, method, found, embedder or open_embedder(session), limit=limit
    )


def find_contradictions(
    session: Session,
    bank: Target,
    *,
    judges: Sequence[str],
    limit: int | None = _PAIRS,
    budget: Budget | str | None = None,
    embedder: Embedder | None = None,
) -> Contradictions:
    """Which true statements of a bank contradict each other, of its ``limit`` nearest pairs, by
    these judges. Calls are kept and cached; ``budget`` is as of ``run``."""

    found = find_target(session.store, bank, ("bank",))
    encoder = embedder or open_embedder(session)
    n, pairs = find_near_statements(session, found, limit=limit, embedder=encoder)
    _clear_pairs(session, pairs, judges)
    spending = start_spending(session, budget)
    named = f"{found.name}-{short(found.id, 4)}"

    async def work(stop: asyncio.Event) -> Contradictions:
        async with session_askers(session, judges, None, stop, spending=spending) as askers:
            asked = [askers[name] for name in judges]
            async with on_record(session.store, asked, session.clock) as kept:
                return await judge_statements(
                    session.store, named, n, pairs, asked, embedder=encoder.name, kept=kept
                )

    return Background(work).wait()


def write_contradictions(session: Session, found: Contradictions, path: Path) -> int:
    """Writes a work list of statements that contradict each other, which ``retire --from`` and
    ``edit --from`` carry out once somebody has decided; returns how many rows."""

    rows = [structs.asdict(row) for row in contradiction_rows(found)]
    return write_work_file(path, rows, columns=ContradictionRow.__struct_fields__)


def _clear_pairs(session: Session, pairs: Sequence[StatementPair], judges: Sequence[str]) -> None:
    """Lets out the statements that remote judges would see, once that is allowed."""

    loads: Loads = {}
    for judge in judges:
        to = leaves_to(judge, session.config)
        if to is not None and not to.is_local and pairs:
            outgoing = pairs_would_leave(session.store, pairs)
            loads[to] = loads.get(to, Load()).with_run(judge, b"pairs", outgoing)
    if loads:
        let_out(session, loads)


def facts_would_leave(store: Store, facts: Sequence[bytes], noun: str, characters: int) -> Outgoing:
    """What one request for each ``noun`` sends, whose texts are of ``facts``, two a request; facts
    without a source are known by their book."""
    found = store.knowledge.facts_by_id(dict.fromkeys(facts))
    sources = store.knowledge.sources({f.source for f in found.values() if f.source is not None})
    by_title: Counter[tuple[str, str]] = Counter()
    for fact in found.values():
        source = sources.get(fact.source or b"")
        title = fact.stratum.book or "statements" if source is None else source.title
        by_title[title, "" if source is None else source.licence] += 1
    origins = [Origin(title, licence, n, (title,)) for (title, licence), n in by_title.items()]
    return Outgoing(
        items=len(facts) // 2,
        noun=noun,
        requests=len(facts) // 2,
        characters=characters,
        origins=joined_origins(origins, max),
    )
