"""``check``: annotation artifacts, and other checks of a bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.ids import short
from proofstone.records.options import BUDGET_HELP, YES_HELP, Opt
from proofstone.session.cli_command import command
from proofstone.session.options import (
    asked_for,
    json_option,
    read_panel,
    seed_option,
    was_given,
    workspace_option,
)
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_table,
    print_text,
    say,
)

if TYPE_CHECKING:
    from proofstone.check.artifacts import Checked
    from proofstone.check.contradictions import Contradictions, StatementPair
    from proofstone.check.rules import ScreenedQuestions
    from proofstone.check.semantic_map import SemanticMap
    from proofstone.records.runs import Estimate


# ``check --map``: a map of texts in meaning, and how far their groups stand apart.

_ENDINGS = (".svg", ".png", ".html", ".json")


def show_map(target: str, path: Path, seed: int, folder: Path | None, *, as_json: bool) -> None:
    """Writes the map of a bank or form to ``path`` and prints what it says in numbers."""
    from proofstone.check.semantic_map import make_semantic_map, write_map
    from proofstone.session.session import open_session

    if path.suffix.lower() not in _ENDINGS:
        raise BadUsage(f"--map writes {', '.join(_ENDINGS)}, not {path.suffix or path.name}")
    with open_session(folder) as session:
        drawn = make_semantic_map(session, target, seed=seed)
        write_map(session, drawn, path)
    if as_json:
        print_json(drawn)
        return
    _show(drawn)
    say(f"the map is in {path}")


def _show(drawn: SemanticMap) -> None:
    from proofstone.page.section import shown_estimate
    from proofstone.records.runs import FLAGS

    apart = drawn.separation
    of = (
        f" of {drawn.n_all:,}, sampled with seed {drawn.seed}"
        if drawn.n_all > drawn.n_texts
        else ""
    )
    print_text(
        f"{drawn.target}  {drawn.n_texts:,} {drawn.nature}{of}; vectors by {drawn.embedding_model}"
    )
    index = apart.index
    print_text(
        f"separation by {drawn.level}: {index.value:.2f} [{index.low:.2f}, {index.high:.2f}]  "
        "(0 mixed, 1 apart)"
    )
    print_text(
        f"of the {apart.k} nearest others {shown_estimate(apart.agreement)}% are of the same "
        f"{drawn.level}, {100 * apart.chance:.1f}% by chance"
    )
    for text in (FLAGS[flag] for flag in FLAGS if flag in index.flags):
        print_text(f"! {text}")
    rows = [(drawn.level, "texts", "same among nearest, %", "by chance, %")]
    rows += [
        (group.name, f"{group.n:,}", f"{100 * group.agreement:.1f}", f"{100 * group.chance:.1f}")
        for group in apart.groups
    ]
    print_table(rows)


# ``check BANK --contradictions``: pairs of true statements that cannot both be true.

_SHOWN = 10


class CheckAsked(Struct, frozen=True, kw_only=True):
    """Which check is asked for, and what each takes: ``contradictions`` who judges how many pairs,
    for how much; ``yes``: nothing is asked before it leaves."""

    output: Annotated[Path | None, Opt(
        "Write flagged items to FILE.", flags=("-o", "--output"), is_folder=True,
    )] = None  # fmt: skip
    embeddings: Annotated[bool, Opt(
        "Add a classifier on text embeddings (extra 'embeddings').",
    )] = False  # fmt: skip
    contradictions: Annotated[bool, Opt(
        "Find contradictions between true statements of a bank; judges decide.",
    )] = False  # fmt: skip
    judges: Annotated[tuple[str, ...], Opt(
        "With --contradictions: LLM judge; several models vote.", flags=("--judge",),
        metavar="PROVIDER/NAME",
    )] = ()  # fmt: skip
    pairs: Annotated[int, Opt(
        "With --contradictions: number of nearest pairs to judge.", least=1,
        shows_default=True,
    )] = 500  # fmt: skip
    dry_run: Annotated[bool, Opt(
        "With --contradictions: list the pairs; make no API calls.",
    )] = False  # fmt: skip
    budget: Annotated[str | None, Opt(BUDGET_HELP, metavar="AMOUNT")] = None
    yes: Annotated[bool, Opt(YES_HELP)] = False
    rules: Annotated[bool, Opt(
        "Screen each question by the rules of its method; with --embeddings also for near "
        "duplicates.",
    )] = False  # fmt: skip
    pool: Annotated[tuple[str, ...], Opt(
        "With --rules and --embeddings: compare with the questions of this bank too (repeatable).",
        metavar="BANK",
    )] = ()  # fmt: skip
    rule_lists: Annotated[Path | None, Opt(
        "With --rules: lists of words and names that replace the method's own (TOML).",
        metavar="FILE",
    )] = None  # fmt: skip
    taxonomy: Annotated[str | None, Opt(
        "Count the facts and sources of a bank under each node of this taxonomy.",
        metavar="NAME|FILE",
    )] = None  # fmt: skip
    map_to: Annotated[Path | None, Opt(
        "Draw a map of text embeddings (.svg, .png, .html, .json), and report the separation of "
        "disciplines.", flags=("--map",), metavar="FILE",
    )] = None  # fmt: skip


def check_contradictions(
    target: str, asked: CheckAsked, folder: Path | None, *, as_json: bool
) -> None:
    """Print the judges' verdicts, and write the flagged items if requested."""
    from proofstone.check.contradictions import (
        find_contradictions,
        find_near_statements,
        write_contradictions,
    )
    from proofstone.session.session import open_session

    judges = read_panel(asked.judges)
    if not judges and not asked.dry_run:
        raise BadUsage("contradictions need a judge", hint="--judge provider/model, or --dry-run")
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=asked.yes)
        if asked.dry_run:
            n, pairs = find_near_statements(session, target, limit=asked.pairs)
            _show_pairs(n, pairs, len(judges) or 1, as_json=as_json)
            return
        found = find_contradictions(
            session, target, judges=judges, limit=asked.pairs, budget=asked.budget
        )
        if asked.output is not None:
            write_contradictions(session, found, asked.output)
    if as_json:
        print_json(found)
        return
    _show_contradictions(found)
    if asked.output is not None and found.found:
        named = pasted(asked.output)
        say(f"next, once its decisions are filled in: proofstone correct apply {named}")


def _show_pairs(n: int, pairs: Sequence[StatementPair], n_judges: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"statements": n, "pairs": pairs})
        return
    print_text(
        f"{n:,} true statements, {len(pairs):,} near pairs: {2 * n_judges * len(pairs):,} calls, "
        "more if responses are unparsed"
    )
    for pair in pairs[:_SHOWN]:
        print_text(_pair_lines(pair))


def _show_contradictions(found: Contradictions) -> None:
    print_text(
        f"{found.bank}  {found.n_statements:,} true statements, {found.n_pairs:,} near pairs "
        f"judged: {len(found.found):,} contradict, {len(found.undecided):,} not decided"
    )
    for each in found.found[:_SHOWN]:
        print_text(f"{_pair_lines(each.pair)}\n  {each.reason}".rstrip())
    if len(found.found) > _SHOWN:
        print_text(f"and {len(found.found) - _SHOWN:,} more (-o FILE, or --json, has all)")
    for account in found.judges:
        if account.failed or account.unparsed or account.split:
            print_text(
                f"! {account.judge}: of {account.n:,} pairs {account.failed:,} failed, "
                f"{account.unparsed:,} without a label, {account.split:,} other with the order"
            )


def _pair_lines(pair: StatementPair) -> str:
    return (
        f"{pair.near:.2f}  fact:{short(pair.one)}  {pair.text}\n"
        f"      fact:{short(pair.other)}  {pair.other_text}"
    )


# ``check BANK --rules``: what each question breaks of its method's rules.


def screen_questions(target: str, asked: CheckAsked, folder: Path | None, *, as_json: bool) -> None:
    """Print the findings of the rules, by rule and then by question."""
    from proofstone.check.rules import screen_target
    from proofstone.search.retrieval import open_embedding_model
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        embedding_model = open_embedding_model(session) if asked.embeddings else None
        found = screen_target(
            session,
            target,
            pool=asked.pool,
            lists=asked.rule_lists,
            embedding_model=embedding_model,
        )
    if as_json:
        print_json(found)
        return
    _show_screened(found)


def _show_screened(found: ScreenedQuestions) -> None:
    from proofstone.wording.messages import counted

    print_text(
        f"{found.target}  {counted(found.n, 'question')}, {found.n_clean:,} without a finding"
    )
    rows = [("rule", "questions", "requires")]
    for each in found.rules:
        n = "not checked" if each.broken is None else f"{each.broken:,}"
        rows.append((each.rule, n, each.requires))
    print_table(rows)
    for question in found.questions[:_SHOWN]:
        print_text(f"{question.row[:8]}  {question.text}")
        for finding in question.findings[:_SHOWN]:
            print_text(f"  {finding.rule}, {finding.where}: {finding.found}; {finding.fix}")
        if len(question.findings) > _SHOWN:
            print_text(f"  and {len(question.findings) - _SHOWN:,} more (--json has all)")
    if len(found.questions) > _SHOWN:
        print_text(f"and {len(found.questions) - _SHOWN:,} more questions (--json has all)")
    if any(each.broken is None for each in found.rules):
        say("near duplicates are found with --embeddings")


_MOST_LEAKS = 12


_FAIR = 0.55  # a bank above this has annotation artifacts to fix


@command(
    "check",
    basic=(
        "drop_to",
        "output",
        "embeddings",
        "contradictions",
        "judges",
        "dry_run",
        "budget",
        "rules",
        "taxonomy",
        "map_to",
    ),
)
@click.argument("target")
@click.option(
    "--drop-to",
    type=click.FloatRange(0.5, 1.0, min_open=True),
    metavar="AREA",
    help="List the statements to drop until the AUROC is at most this, such as 0.55.",
)
@asked_for(CheckAsked)
@seed_option
@workspace_option
@json_option
@click.pass_context
def check_command(
    context: click.Context,
    /,
    target: str,
    drop_to: float | None,
    asked: CheckAsked,
    seed: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Check an item bank or form for annotation artifacts.

    TARGET is a bank or a form. Classifiers see only surface features (length, punctuation, words).
    They try to separate true from false statements of a bank, or correct from incorrect options of
    a form. They are tested on books held out from training. An AUROC of 50 is chance. A confidence
    interval above 50 shows that surface features predict the answer; the predictive features are
    listed.

    \b
    Further checks, one at a time:
      --embeddings      adds a classifier on text embeddings (extra 'embeddings')
      --drop-to AREA    lists statements to drop until new classifiers on held-out books do
                        no better; nothing is excluded before 'correct apply'
      --contradictions  judges compare true statements with similar embeddings, both orders
      --rules           lists what each question breaks of its method's rules, where, and how to
                        fix it
      --taxonomy NAME   counts facts and sources under each node of a taxonomy
      --map FILE        draws a t-SNE map of up to 1,200 texts, one panel per discipline, and
                        reports how many nearest neighbors share a text's discipline

    -o writes flagged items: fill in the column decision, then run 'correct apply FILE'.

    \b
    Example:
      proofstone check facts --drop-to 0.55 -o drop.csv
    """
    from proofstone.check.artifacts import check_target, write_told
    from proofstone.search.retrieval import open_embedding_model
    from proofstone.session.session import open_session

    _refuse_mixed(context)
    if asked.contradictions:
        check_contradictions(target, asked, folder, as_json=as_json)
        return
    if asked.rules:
        screen_questions(target, asked, folder, as_json=as_json)
        return
    if asked.map_to is not None:
        show_map(target, asked.map_to, seed, folder, as_json=as_json)
        return
    if asked.taxonomy is not None:
        _check_coverage(target, asked.taxonomy, folder, as_json=as_json)
        return
    output = asked.output
    with open_session(folder) as session:
        embedding_model = open_embedding_model(session) if asked.embeddings else None
        checked = check_target(session, target, drop_to=drop_to, embedding_model=embedding_model)
        if output is not None:
            write_told(session, checked, output)
    if as_json:
        print_json(checked)
        return
    _show_checked(checked)
    if output is not None:
        say(f"the statements to drop are in {output}")
        say(f"next, once you have looked at them: proofstone correct apply {pasted(str(output))}")


# Checks that are asked for by an option; without one it is the give-away audit.
_CHECKS = {
    "contradictions": "--contradictions",
    "rules": "--rules",
    "taxonomy": "--taxonomy",
    "map_to": "--map",
}


_OF_JUDGES = {
    "judges": "--judge", "pairs": "--pairs", "dry_run": "--dry-run", "budget": "--budget",
}  # fmt: skip


_OF_RULES = {"pool": "--pool", "rule_lists": "--rule-lists"}


_OF_AUDIT = {"drop_to": "--drop-to", "embeddings": "--embeddings"}


def _refuse_mixed(context: click.Context) -> None:
    """Raises BadUsage where more than one check is asked for, or what belongs to another one."""

    def given(options: Mapping[str, str]) -> list[str]:
        return [option for name, option in options.items() if was_given(context, name)]

    asked, of_judges, of_audit = given(_CHECKS), given(_OF_JUDGES), given(_OF_AUDIT)
    if len(asked) > 1:
        raise BadUsage(
            f"{', '.join(asked[:-1])} and {asked[-1]} are separate checks",
            hint="run one of them at a time",
        )
    if of_judges and asked != ["--contradictions"]:
        raise BadUsage(f"{', '.join(of_judges)}: only with --contradictions")
    if (of_rules := given(_OF_RULES)) and asked != ["--rules"]:
        raise BadUsage(f"{', '.join(of_rules)}: only with --rules")
    if asked == ["--rules"] and of_audit == ["--embeddings"]:
        of_audit = []
    if of_audit and asked:
        raise BadUsage(f"{', '.join(of_audit)}: not with {asked[0]}, which is a separate check")
    writes = {"--contradictions", "--drop-to"} & {*asked, *of_audit}
    if was_given(context, "output") and not writes:
        hint = f"{asked[0]} writes no list" if asked else "add --drop-to 0.55"
        raise BadUsage("-o writes the statements to drop", hint=hint)


def _check_coverage(target: str, taxonomy: str, folder: Path | None, *, as_json: bool) -> None:
    from proofstone.build.cli_show import show_coverage
    from proofstone.ingest.taxonomy import coverage_of, find_taxonomy
    from proofstone.session.session import open_session

    found = find_taxonomy(taxonomy)
    with open_session(folder) as session:
        coverage = coverage_of(session, target, found)
    show_coverage(coverage, as_json=as_json)


def _show_checked(checked: Checked) -> None:
    from proofstone.wording.messages import counted

    first, second = checked.kinds
    print_text(
        f"{checked.target}  {checked.counts[0]:,} {first}, {checked.counts[1]:,} {second}, "
        f"{counted(checked.sources, 'source')} in {checked.folds} folds"
    )
    rows = [("classifier", "AUROC", "pairs")]
    rows += [(name, _shown(area), f"{area.n:,}") for name, area in checked.areas.items()]
    print_table(rows)
    print_text(_verdict(checked))
    for flag in checked.flags:
        print_text(f"! {flag}")
    if checked.embedding_model:
        print_text(_seen_by_embeddings(checked))
    if checked.leaks:
        table = [("feature", "AUROC", first, second)]
        table += [
            (leak.feature, _shown(leak.area), f"{leak.mean_first:.3g}", f"{leak.mean_second:.3g}")
            for leak in checked.leaks[:_MOST_LEAKS]
        ]
        print_table(table)
        if len(checked.leaks) > _MOST_LEAKS:
            print_text(f"and {len(checked.leaks) - _MOST_LEAKS} more (--json has all)")
    if (dropped := checked.dropped) is not None:
        ending = "" if dropped.reached else ", above the target"
        print_text(
            f"dropping {len(dropped.rows):,} of {sum(checked.counts):,} takes "
            f"{_shown(dropped.before)} to {_shown(dropped.after)} on {dropped.held_out} sources "
            f"held out of training{ending}"
        )


def _seen_by_embeddings(checked: Checked) -> str:
    if not checked.companions:
        return f"No surface feature correlates with the score of {checked.embedding_model}."
    named = ", ".join(f"{name} ({value:+z.2f})" for name, value in checked.companions)
    return f"Rank correlations with the score of {checked.embedding_model}: {named}"


def _verdict(checked: Checked) -> str:
    if not checked.worst:
        return "Nothing could be measured."
    worst = checked.areas[checked.worst]
    if worst.low > 0.5:
        hardly = f" The AUROC is small, at most {100 * _FAIR:g}." if worst.value <= _FAIR else ""
        return (
            f"The {checked.kinds[1]} can be separated from the {checked.kinds[0]} without "
            f"knowledge, by {checked.worst}. The 95% CI of its AUROC is above 50 (chance).{hardly}"
        )
    none = "No classifier has an AUROC with a 95% CI above 50 (chance)"
    if checked.leaks:
        n = len(checked.leaks)
        do = "1 feature does" if n == 1 else f"{n:,} features do"
        return f"{none}, but {do}, adjusted for the number of features."
    return f"{none}."


def _shown(estimate: Estimate) -> str:
    from proofstone.page.section import shown_estimate

    return shown_estimate(estimate)
