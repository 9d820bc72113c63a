"""The funnel, counted from the journal alone."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from numbered import Bench

from proofstone.build.flow import MemoryJournal, make_row, plain_keys
from proofstone.build.funnel import ended_rows, read_funnel
from proofstone.records.builds import Drop, Outcome, PipelineRow, Step, StepFunnel, StepName


def test_each_row_counts_once_at_each_step_that_it_reaches() -> None:
    """Every reason stands in it, also one that took none."""
    bench = Bench()
    funnel = bench.perform([bench.drop_odd(), bench.copies()], list(range(6))).funnel
    assert funnel.entered == 6
    assert funnel.steps == (
        StepFunnel(name="even", version=1, entered=6, kept=3, dropped={"odd": 3}),
        StepFunnel(  # of 0, 2 and 4: none of 0, two of 2, one of 4
            name="copy", version=1, entered=3, kept=2 + 1, dropped={"multiple of 3": 1}
        ),
    )
    assert funnel.left == 3
    assert funnel.complete


def test_the_share_that_passed_is_of_the_processed_rows() -> None:
    """Neither pending rows nor several rows of one count; without any there is no share."""
    step = StepFunnel(name="even", version=1, entered=10, kept=12, dropped={"odd": 2}, pending=2)
    assert step.passed == 1 - 2 / (10 - 2)
    assert StepFunnel(name="even", version=1, entered=2, pending=2).passed is None


class Raw(Struct, frozen=True):
    """One raw statement."""

    number: int


RAW = 25_563
DROPPED = (("figure", 3_269), ("reference", 642), ("ambiguous", 127))


def papers_journal() -> tuple[list[StepName], list[bytes], MemoryJournal]:
    """The journal that Encyclo-K's build would have left (section 3.1): each filter drops so many
    of the rows that the one before it kept."""
    steps = [
        Step(name=reason, version=1, takes=Raw, work=lambda *_: Drop(""), reasons=(reason,))
        for reason, _n in DROPPED
    ]
    keys = list(plain_keys(steps, {}, 0))
    names = [StepName(s.name, 1, key, s.reasons) for s, key in zip(steps, keys, strict=True)]
    journal, start = MemoryJournal(), 0
    for key, (reason, n) in zip(keys, DROPPED, strict=True):
        rows = [make_row(Raw(number)).id for number in range(start, RAW)]
        outcomes = [Outcome(reason=reason)] * n + [Outcome()] * (len(rows) - n)
        fill(journal, key, list(zip(rows, outcomes, strict=True)))
        start += n
    return names, keys, journal


def fill(journal: MemoryJournal, key: bytes, outcomes: list[tuple[bytes, Outcome]]) -> None:
    """Writes without a loop: this journal never waits."""
    writing = journal.write(key, outcomes)
    try:
        writing.send(None)  # type: ignore[attr-defined]
    except StopIteration:
        return
    raise AssertionError("it waited")


def raw_pages() -> Iterator[list[PipelineRow]]:
    """The raw statements in pages."""
    for start in range(0, RAW, 1000):
        yield [make_row(Raw(n)) for n in range(start, min(start + 1000, RAW))]


def test_the_papers_funnel() -> None:
    """25,563 raw; 3,269, 642 and 127 dropped; 21,525 kept; and 21,494 falsified of these."""
    names, keys, journal = papers_journal()
    funnel = read_funnel(names, keys, raw_pages, journal)
    assert funnel.entered == 25_563
    assert [step.dropped for step in funnel.steps] == [
        {"figure": 3_269},
        {"reference": 642},
        {"ambiguous": 127},
    ]
    assert [step.kept for step in funnel.steps] == [
        25_563 - 3_269,
        25_563 - 3_269 - 642,
        25_563 - 3_269 - 642 - 127,
    ]
    assert funnel.left == 21_525
    perturbed = read_funnel(*falsifying(names, keys, journal), raw_pages, journal)
    assert perturbed.left == 21_494 == 21_525 - 31
    assert perturbed.steps[-1].dropped == {"not falsified": 31}


def falsifying(
    names: list[StepName], keys: list[bytes], journal: MemoryJournal
) -> tuple[list[StepName], list[bytes]]:
    """The paper's last step: 31 statements could not be falsified."""
    step = Step(
        name="perturb", version=1, takes=Raw, work=lambda *_: Drop(""), reasons=("not falsified",)
    )
    (key,) = plain_keys([step], {}, 0)
    first = sum(n for _reason, n in DROPPED)
    rows = [make_row(Raw(number)) for number in range(first, RAW)]
    outcomes = [
        (row.id, Outcome(reason="not falsified") if place < 31 else Outcome((row,)))
        for place, row in enumerate(rows)
    ]
    fill(journal, key, outcomes)
    return [*names, StepName("perturb", 1, key, step.reasons)], [*keys, key]


def test_every_dropped_row_can_be_listed_with_its_reason() -> None:
    """As many as the funnel counts, with what gave the reason."""
    names, keys, journal = papers_journal()
    ended = list(ended_rows(names, keys, raw_pages, journal))
    assert len(ended) == 3_269 + 642 + 127
    assert {(e.step, e.reason) for e in ended} == {(r, r) for r, _n in DROPPED}
    bench = Bench()
    bench.failing = {4}
    steps = [bench.drop_odd(), bench.copies()]
    bench.perform(steps, [1, 4])
    named = [
        StepName(s.name, 1, key, s.reasons)
        for s, key in zip(steps, plain_keys(steps, {}, 0), strict=True)
    ]
    from numbered import Number  # noqa: PLC0415

    rows = [make_row(Number(1)), make_row(Number(4))]
    listed = list(ended_rows(named, [n.key for n in named], lambda: [rows], bench.journal))
    assert [(e.step, e.reason, e.found, e.is_dropped) for e in listed] == [
        ("even", "odd", "1", True),
        ("copy", "", "", False),
    ]
