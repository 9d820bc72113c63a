"""``show BUILD --judges`` and ``--verdicts``: what judges said in a build, and what each weighs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from proofstone.records.ids import short
from proofstone.records.knowledge import TaxonomyLabel
from proofstone.session.terminal import print_json, print_table, print_text, say, visible

if TYPE_CHECKING:
    from proofstone.build.funnel import EndedRow, JudgedRow
    from proofstone.ingest.taxonomy import Coverage, NodeCover
    from proofstone.judging.question import QuestionAccount
    from proofstone.records.knowledge import Taxonomy
    from proofstone.records.verdicts import JudgeVote
    from proofstone.session.session import Session
    from proofstone.store.lookup import Found


# Rows of builds on a terminal: each value in a line, long ones cut.

_SHOWN = 400  # characters of a value


T = TypeVar("T")


def first_of(rows: list[T], limit: int, how: str) -> list[T]:
    """The first rows of those that were read, one beyond ``limit``; where it is there, it is said
    ``how`` to see more."""
    if len(rows) > limit:
        say(f"more follow: {how}")
    return rows[:limit]


def value_lines(values: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield one line per value, or a note if the text of the row was purged."""
    if values is None:
        yield "  its text was purged"
        return
    for name, value in values.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        yield f"  {name}   {short_text(text)}"


def short_text(text: str) -> str:
    """A text in one line, cut where it is long."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


_HEAD: tuple[str, ...] = (
    "judge", "n", "voted", "unparsed", "failed", "split", "asked again", "turned", "wavered",
    "against", "weighs",
)  # fmt: skip


_NONE = "no verdicts are stored for this build: it had no judges, or predates stored verdicts"


def _show_judges(session: Session, found: Found, *, as_json: bool) -> None:
    """Each question of a build with what its judges did."""
    from proofstone.build.funnel import read_accounts

    key, build = session.store.builds.build(found.id)
    accounts = read_accounts(session.store, key, build)
    if as_json:
        print_json(accounts)
    elif accounts:
        print_text("\n\n".join("\n".join(account_lines(each)) for each in accounts))
        say(f"each verdict with its reasons: proofstone show build:{short(build.id)} --verdicts")
    else:
        say(_NONE)


def _show_rows(rows: list[T], text: Callable[[T], str], none: str, *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
    elif rows:
        print_text("\n\n".join(map(text, rows)))
    else:
        say(none)


def account_lines(account: QuestionAccount) -> list[str]:
    """Return a line on a question, and a table of its judges without empty columns."""
    from proofstone.page.text import aligned, without_empty

    rows = [_HEAD]
    for judge in account.judges:
        numbers = (
            judge.unparsed, judge.failed, judge.split, judge.reasked, judge.turned, judge.wavered,
            judge.against_panel, judge.otherwise,
        )  # fmt: skip
        shown = (f"{n:,}" if n else "" for n in numbers)
        rows.append((visible(judge.judge), f"{judge.n:,}", f"{judge.voted:,}", *shown))
    labels = [f"{label} {n:,}" for label, n in account.labels.items()]
    labels += [f"tied {account.tied:,}"] if account.tied else []
    labels += [f"no quorum {account.no_quorum:,}"] if account.no_quorum else []
    by_rule = f", {account.by_rule:,} by the rule for ties" if account.by_rule else ""
    several = len(account.judges) > 1
    agreed = f"; unanimous {account.unanimous:,} of {account.n:,}" if several else ""
    came = f"{', '.join(labels)}{by_rule}{agreed}"
    table = aligned(without_empty(rows, first=3), left=(0,))
    return [f"{account.step}: {account.question}   {came}", *table]


def _judged_text(judged: JudgedRow) -> str:
    verdict = judged.verdict
    came = verdict.label or verdict.state.replace("_", " ")
    rule = " by the rule for ties" if verdict.by_rule else ""
    head = f"row {judged.row}   {judged.step}: {judged.question}: {came}{rule}"
    judge_votes = [
        f"  {visible(judge_vote.judge)}: {_judge_vote(judge_vote)}"
        for judge_vote in verdict.judge_votes
    ]
    return "\n".join([head, *judge_votes, *value_lines(judged.values)])


def _judge_vote(judge_vote: JudgeVote) -> str:
    said = judge_vote.label or ": ".join(filter(None, (judge_vote.state, judge_vote.trouble)))
    heard: Sequence[str] = [each.label or each.trouble for each in judge_vote.heard]
    several = f" ({', '.join(heard)})" if len(set(heard)) > 1 else ""
    reason = f". {short_text(judge_vote.reason)}" if judge_vote.reason else ""
    return f"{said}{several}{reason}"


# ``list build`` and ``show BUILD``: builds, their funnels, and every row that was dropped.


def list_builds(session: Session, *, as_json: bool) -> None:
    """Print all builds with progress and bank, newest first."""
    from proofstone.build.funnel import build_states

    states = build_states(session.store)
    if as_json:
        print_json(states)
        return
    rows: list[tuple[Any, ...]] = [("build", "kind", "name", "entered", "left", "bank")]
    rows += [
        (
            f"build:{short(state.id)}", state.kind, state.name, f"{state.n_inputs:,}",
            "incomplete" if state.funnel is None else f"{state.funnel.left:,}",
            "" if state.bank is None else f"bank:{short(state.bank)}",
        )
        for state in states
    ]  # fmt: skip
    if states:
        print_table(rows)
    else:
        say("No builds yet. Create one: proofstone build statements SOURCE -m PROVIDER/NAME")


def show_build(
    session: Session,
    found: Found,
    *,
    dropped: bool,
    pending: bool,
    judges: bool,
    verdicts: bool,
    step: str | None,
    reason: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """A build with its funnel; or the rows that it dropped, or that are held up; or what its judges
    did, or said of each row."""
    if judges + verdicts + (dropped or pending) > 1:
        raise click.UsageError("--judges, --verdicts and --dropped are shown one at a time")
    from proofstone.build.funnel import (
        describe_build,
        funnel_lines,
        list_ended,
        list_verdicts,
    )

    store = session.store
    if verdicts and reason is None:
        judged = list_verdicts(store, found, step=step, limit=limit + 1)
        none = _NONE if step is None else "no verdict is kept of this step"
        judged = first_of(judged, limit, f"-n {limit * 10}")
        _show_rows(judged, _judged_text, none, as_json=as_json)
        return
    if judges and step is None and reason is None:
        _show_judges(session, found, as_json=as_json)
        return
    if dropped or pending:
        ended = list_ended(store, found, pending=pending, step=step, reason=reason, limit=limit + 1)
        every = f"proofstone export build:{short(found.id)} -o FILE"
        ended = first_of(ended, limit, f"-n {limit * 10}, or all of them in a file: {every}")
        _show_rows(ended, _ended_text, "no such row", as_json=as_json)
        return
    if step is not None or reason is not None:
        raise click.UsageError(
            "--step goes with --dropped, --pending or --verdicts, --with-reason with --dropped"
        )
    description, funnel = describe_build(store, found)
    if as_json:
        counts = {**msgspec.structs.asdict(funnel), "left": funnel.left}
        print_json({**msgspec.structs.asdict(description), "funnel": counts})
        return
    print_text("\n".join([str(description), "", *funnel_lines(funnel)]))


def _ended_text(ended: EndedRow) -> str:
    """A row with why it ended, in a few lines."""
    why = ended.reason or (f"failed: {ended.error}" if ended.error else "not worked on yet")
    found = [f"  found   {short_text(ended.found)}"] if ended.found else []
    return "\n".join([f"row {ended.row}   {ended.step}: {why}", *found, *value_lines(ended.values)])


# ``list taxonomy``, ``show taxonomy:NAME``, and a bank's coverage of one.

_MOST_ELSEWHERE = 12


_PREFIX = "taxonomy:"


def named_taxonomy(identity: str) -> str | None:
    """Return the name or file after ``taxonomy:``; None without this prefix."""
    return identity.removeprefix(_PREFIX) if identity.startswith(_PREFIX) else None


def list_taxonomies(*, as_json: bool) -> None:
    """The taxonomies that come with the package."""
    from proofstone.ingest.taxonomy import bundled_names, bundled_taxonomy

    bundled = [bundled_taxonomy(name) for name in bundled_names()]
    if as_json:
        print_json([{"name": t.name, "title": t.title, "source": t.source} for t in bundled])
        return
    print_table([(f"{_PREFIX}{t.name}", t.title, t.source) for t in bundled])


def show_taxonomy(name: str, *, as_json: bool) -> None:
    """Print all nodes of a bundled taxonomy or of a file, with their counts."""
    from proofstone.ingest.taxonomy import find_taxonomy

    taxonomy = find_taxonomy(name)
    if as_json:
        print_json(taxonomy)
        return
    print_text(f"{_PREFIX}{taxonomy.name}  {taxonomy.title}")
    if taxonomy.source:
        print_text(f"from  {taxonomy.source}")
    for note in taxonomy.notes:
        print_text(f"note  {note}")
    _print_nodes(_node_rows(taxonomy))


def _node_rows(taxonomy: Taxonomy) -> list[tuple[str, ...]]:
    counted = list(dict.fromkeys(name for node in taxonomy.nodes for name in node.counts))
    stated = list(dict.fromkeys(name for node in taxonomy.nodes for name in node.stated))
    rows = [("", *counted, *stated)]
    for node in taxonomy.nodes:
        numbers = {**node.counts, **node.stated}
        rows.append((_indented(node.path), *(_count(numbers.get(name)) for name in rows[0][1:])))
    return rows


def _print_nodes(rows: Sequence[tuple[str, ...]]) -> None:
    """Rows with a node's name first, then numbers."""
    from proofstone.page.text import aligned

    for line in aligned([[visible(cell) for cell in row] for row in rows], left=(0,)):
        print_text(line)


def export_taxonomy(name: str, output: Path) -> int:
    """Writes a taxonomy's nodes as the table that it can be read from; returns how many."""
    from proofstone.files.write import write_rows
    from proofstone.ingest.taxonomy import find_taxonomy, taxonomy_rows

    return write_rows(output, taxonomy_rows(find_taxonomy(name)))


def show_coverage(coverage: Coverage, *, as_json: bool) -> None:
    """Print the statements of a bank under each node, next to the taxonomy's own counts. Below the
    disciplines only nodes with statements are shown."""
    if as_json:
        print_json(coverage)
        return
    print_text(
        f"{coverage.bank}  {coverage.facts:,} statements of {coverage.sources:,} sources over "
        f"{coverage.title}"
    )
    counted = list(dict.fromkeys(name for node in coverage.nodes for name in node.counts))
    totals = {
        name: sum(node.counts.get(name, 0) for node in coverage.nodes if len(node.path) == 1)
        for name in counted
    }
    head = ("", "sources", "statements", "share")
    theirs = [title for name in counted for title in (f"its {name}", "share")]
    shown = [node for node in coverage.nodes if len(node.path) == 1 or node.facts]
    _print_nodes([(*head, *theirs), *(_cover_row(node, coverage.facts, totals) for node in shown)])
    empty = [n for n in coverage.nodes if not n.facts]
    if empty:
        levels = _by_level(empty, coverage)
        print_text(f"without a statement: {levels}")
    if coverage.nowhere:
        print_text(f"! {coverage.nowhere:,} statements have no discipline")
    for why, n in coverage.elsewhere[:_MOST_ELSEWHERE]:
        print_text(f"! {n:,} statements are elsewhere: {why}")
    if len(coverage.elsewhere) > _MOST_ELSEWHERE:
        print_text(f"and {len(coverage.elsewhere) - _MOST_ELSEWHERE} more places (--json has all)")


def _cover_row(node: NodeCover, facts: int, totals: dict[str, int]) -> tuple[str, ...]:
    theirs: list[str] = []
    for name, total in totals.items():
        count = node.counts.get(name)
        theirs += [_count(count), _share(count, total)]
    return (
        _indented(node.path),
        f"{node.sources:,}",
        f"{node.facts:,}",
        _share(node.facts, facts),
        *theirs,
    )


def _by_level(empty: list[NodeCover], coverage: Coverage) -> str:
    names = ("disciplines", "fields", "subfields", "books")
    parts = []
    for depth, name in enumerate(names, start=1):
        n = sum(len(node.path) == depth for node in empty)
        total = sum(len(node.path) == depth for node in coverage.nodes)
        if n:
            parts.append(f"{n:,} of {total:,} {name}")
    return ", ".join(parts)


def _indented(path: tuple[str, ...]) -> str:
    return "  " * (len(path) - 1) + path[-1]


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _share(count: int | None, total: int) -> str:
    return "" if count is None or not total else f"{100 * count / total:.1f}%"


# ``show --statistics``: what a method counts of a bank or a form.


def show_statistics(session: Session, found: Found, *, as_json: bool) -> None:
    """Prints the tables of a bank, a form or a build, as text or as JSON.

    Those of a bank include those of the builds that made it.
    """
    from proofstone.build.funnel import build_tables, tables_of_bank
    from proofstone.page.text import tabulation_text
    from proofstone.results.report import describe

    store = session.store
    if found.kind == "build":
        tables = build_tables(store, *store.builds.build(found.id))
    else:
        tables = describe(session, found)
    if found.kind == "bank":
        tables = [*tables, *tables_of_bank(store, found.id)]
    if as_json:
        shown = [
            {"title": table.title, "rows": table.records(), "notes": table.notes}
            for table in tables
        ]
        print_json(shown)
    elif tables:
        print_text("\n\n".join(map(tabulation_text, tables)))
    else:
        say("nothing is counted of it")


# What a build of strata came to: each source with its place.

_MOST_PLACED = 40


def show_placed(placed: Sequence[TaxonomyLabel], build: str = "") -> None:
    """The sources by their place, the first of them where there are many."""
    rows: list[tuple[Any, ...]] = []
    for one in placed[:_MOST_PLACED]:
        levels = [level for level in msgspec.structs.astuple(one.stratum) if level]
        rows.append((f"source:{short(one.source)}", " / ".join(levels)))
    print_table(rows)
    if len(placed) > _MOST_PLACED:
        print_text(f"and {len(placed) - _MOST_PLACED:,} more (--json has all)")
    if build:
        noun = "source" if len(placed) == 1 else "sources"
        print_text(f"placed   {len(placed):,} {noun}   {build}")
