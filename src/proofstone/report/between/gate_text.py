"""A gate's answer as text, as Markdown for a CI step's summary, and as JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from proofstone.report.between.compare_text import labelled, shown_item
from proofstone.report.between.compared import FILE, Party, SideShown
from proofstone.report.between.gated import Check, Gated
from proofstone.report.columns import printable
from proofstone.report.numbers import points
from proofstone.report.terminal import SIMULATED_BANNER
from proofstone.wording import counted, joined

__all__ = ["render_gate", "to_junit", "to_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#&~])")


def render_gate(gated: Gated, *, most: int = 5, width: int = 100) -> str:
    """The answer, each check, what differs, the first ``most`` items lost, the rule; it ends in a
    newline."""
    pair = gated.pair
    lines = [SIMULATED_BANNER] if _is_simulated(gated) else []
    lines += labelled("gate", gated.verdict.upper(), width)
    for name, side, party in _sides(gated):
        lines += labelled(name, _who(side, party), width)
    compared = gated.compared
    lines += labelled("measure", f"{compared.measure} ({compared.denominator})", width)
    for check in gated.checks:
        lines += labelled(check.name, f"{check.verdict}: {check.said}", width)
    for change in pair.changes:
        said = f"{change.factor}: {change.before} -> {change.after}; {change.consequence}"
        lines += labelled("differs", said, width)
    if pair.means:
        lines += labelled("so", pair.means, width)
    if pair.difference is not None:
        found = pair.difference
        counts = f"won {found.rises:,}, lost {found.falls:,}, level {found.level:,}"
        lines += labelled("items", counts, width)
        for item in pair.lost[:most]:
            lines += labelled("lost", f"{shown_item(item)}  {item.text}"[: width - 12], width)
    for note in _notes(gated):
        lines += labelled("note", note, width)
    lines += labelled("rule", rule_sentence(gated), width)
    return "".join(f"{line}\n" for line in lines)


def rule_sentence(gated: Gated) -> str:
    """What passes and what fails, which look it is, and the error over all looks."""
    look = gated.look
    drop = points(gated.rule.max_drop)
    said = (
        f"pass where the interval of run - baseline lies above -{drop} points, fail where it lies "
        "below, else cannot tell"
    )
    if gated.rule.minimum is not None:
        said += f"; the same of the run's own score and {points(gated.rule.minimum)}"
    level = f"{100 * look.confidence:.4g}%"
    if look.single:
        said += f". The only look planned at this pair: {level} interval"
    elif look.earlier:
        seen = joined([f"{n:,}" for n in look.earlier])
        said += f". Look {look.number} at this pair (before: {seen} items): {level} interval"
    else:
        said += f". First look at this pair: {level} interval"
    over = "" if look.single else ", over all looks"
    each = f"{50 * look.error:.2g}%"
    return f"{said}. False-pass rate for a run exactly at the limit{over}: at most about {each}"


def to_markdown(gated: Gated, *, most: int = 20) -> str:
    """A summary for a CI step. Items are named by id alone, as such pages may be public."""
    pair = gated.pair
    lines = [f"## Gate: {gated.verdict.upper()}", ""]
    if _is_simulated(gated):
        lines += [f"**{SIMULATED_BANNER}**", ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {_escaped(_who(side, party))} |" for name, side, party in _sides(gated)]
    lines += ["", "| check | answer | |", "|---|---|---|"]
    lines += [f"| {c.name} | **{c.verdict}** | {_escaped(c.said)} |" for c in gated.checks]
    if pair.changes:
        lines += ["", "What differs:", ""]
        lines += [
            f"- {_escaped(f'{c.factor}: {c.before} -> {c.after}; {c.consequence}')}"
            for c in pair.changes
        ]
    if pair.means:
        lines += ["", _escaped(pair.means)]
    if pair.difference is not None:
        lines += ["", f"{counted(pair.difference.rises, 'item')} won, {len(pair.lost):,} lost."]
        named = ", ".join(_escaped(shown_item(item)) for item in pair.lost[:most])
        more = f" and {len(pair.lost) - most:,} more" if len(pair.lost) > most else ""
        lines += [f"Lost: {named}{more}."] if named else []
    lines += ["", *(f"Note: {_escaped(note)}" for note in _notes(gated))]
    lines += [f"Rule: {_escaped(rule_sentence(gated))}."]
    return "".join(f"{line}\n" for line in lines)


def to_junit(gated: Gated) -> str:
    """One test case a check: a failure where it fails, an error where it cannot be told."""
    verdicts = [check.verdict for check in gated.checks]
    counts = {
        "tests": str(len(verdicts)),
        "failures": str(verdicts.count("fail")),
        "errors": str(verdicts.count("cannot tell")),
    }
    root = ET.Element("testsuites", {"name": "proofstone gate", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": "proofstone gate", **counts})
    for check in gated.checks:
        suite.append(_case(check, printable(gated.pair.after.label)))
    ET.SubElement(suite, "system-out").text = "\n".join(
        printable(line) for line in render_gate(gated, most=0).splitlines()
    )
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(check: Check, label: str) -> ET.Element:
    names = {"classname": "proofstone.gate", "name": f"{check.name}: {label}", "time": "0"}
    case = ET.Element("testcase", names)
    told = printable(check.said)
    if check.verdict != "pass":
        kind = "failure" if check.verdict == "fail" else "error"
        ET.SubElement(case, kind, {"message": told, "type": check.verdict}).text = told
    return case


def _sides(gated: Gated) -> Iterator[tuple[str, SideShown, Party]]:
    yield "run", gated.compared.after, gated.pair.after
    yield "baseline", gated.compared.before, gated.pair.before


def _who(side: SideShown, party: Party) -> str:
    on = f", {FILE}" if side.holds == FILE else f" on {side.holds}"
    retired = f", {side.n_retired:,} retired left out" if side.n_retired else ""
    return f"{party.label}; {side.name}{on}, {counted(side.n_items, 'item')}{retired}"


def _notes(gated: Gated) -> tuple[str, ...]:
    rescore = (gated.compared.rescore,) if gated.compared.rescore else ()
    return (*gated.compared.notes, *rescore)


def _is_simulated(gated: Gated) -> bool:
    return gated.pair.before.simulated or gated.pair.after.simulated


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))
